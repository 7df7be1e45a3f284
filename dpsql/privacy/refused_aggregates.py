"""Aggregates of private rows that are not answered: why, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ONE_PERSON = "Its answer is a value of one row, so it would show one person's."
DECIDES = "One person's row alone can decide it, however large the noise is."
NOT_YET = "No differentially private form of it is offered here."

REFUSED: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "bool_and": (
            DECIDES,
            "Write COUNT_IF(NOT condition) and compare it with the noise: COUNT_IF(NOT condition) < 20.",
        ),
        "bool_or": (DECIDES, "Write COUNT_IF(condition) and compare it with the noise: COUNT_IF(condition) > 20."),
        "any_value": (ONE_PERSON, "Write MODE(x) over declared keys, or GROUP BY x."),
        "first": (ONE_PERSON, "Write MIN(x) or MODE(x), or GROUP BY x."),
        "last": (ONE_PERSON, "Write MAX(x) or MODE(x), or GROUP BY x."),
        **dict.fromkeys(
            ("arg_min", "arg_max", "min_by", "max_by"),
            (ONE_PERSON, "Write AVG(x) … GROUP BY the other column, and sort the result."),
        ),
        **dict.fromkeys(("list", "array_agg"), (ONE_PERSON, "Write COUNT(*) … GROUP BY x, or HISTOGRAM(x, 20).")),
        "string_agg": (ONE_PERSON, "Write COUNT(*) … GROUP BY x, or APPROX_TOP_K(x, 5) over declared keys."),
        **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), (DECIDES, "Write COUNT_IF of the bit you ask for.")),
        "product": (DECIDES, "Write EXP(SUM(LN(x))) with bounds on LN(x)."),
        **dict.fromkeys(("geomean", "geometric_mean"), (NOT_YET, "Write EXP(AVG(LN(x))) with bounds on LN(x).")),
        **dict.fromkeys(
            ("skewness", "kurtosis", "kurtosis_pop"),
            (NOT_YET, "Write VAR_POP(x), or QUANTILE_CONT(x, [0.1, 0.5, 0.9])."),
        ),
        "entropy": (NOT_YET, "Write COUNT(*) … GROUP BY x, and compute it over the result."),
        "mad": (NOT_YET, "Write QUANTILE_CONT(x, [0.25, 0.5, 0.75])."),
        "sem": (NOT_YET, "Write STDDEV_SAMP(x) / SQRT(COUNT(x))."),
        "approx_quantile": ("Its sketch has no noise of its own.", "Write QUANTILE_CONT(x, 0.95)."),
        "approx_count_distinct": ("Its sketch has no noise of its own.", "Write COUNT(DISTINCT x)."),
        "weighted_avg": (NOT_YET, "Write SUM(x * w) / SUM(w)."),
        **dict.fromkeys(("fsum", "kahan_sum", "sumkahan"), ("Sums are exact here already.", "Write SUM(x).")),
        "favg": ("Averages come from exact sums already.", "Write AVG(x)."),
    }
)

ORDERLY = "A list is not a value to group by or to measure, and it has as many elements as the person has rows."
TOGETHER = "Two columns can only be compared over the rows of all people."
EXACTLY = "Its floating-point sum depends on the order of the rows."
BITS = "Write MAX or MIN of the bit, BOOL_OR(x & 4 > 0), or SUM."
ONE_BY_ONE = "Write FIRST(x ORDER BY t), MODE(x), COUNT(DISTINCT x), or LAG(x) OVER (PARTITION BY the unit ORDER BY t)."
SPREAD = "Write STDDEV(x), VAR_POP(x), or QUANTILE_CONT(x, 0.9) - QUANTILE_CONT(x, 0.1)."
MEANS = "Write AVG(x) and AVG(y) inside and compare them outside, or put the aggregate outside, over all rows."

# The same over one person's rows: why not, and what to write.
OF_ONE_PERSON: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("list", "array_agg", "string_agg", "histogram"), (ORDERLY, ONE_BY_ONE)),
        **dict.fromkeys(("product",), (EXACTLY, "Write EXP(SUM(LN(x))).")),
        **dict.fromkeys(("geomean", "geometric_mean"), (EXACTLY, "Write EXP(AVG(LN(x))).")),
        **dict.fromkeys(("fsum", "kahan_sum", "sumkahan"), ("Sums are exact here already.", "Write SUM(x).")),
        "favg": ("Averages come from exact sums already.", "Write AVG(x)."),
        "weighted_avg": (EXACTLY, "Write SUM(x * w) / SUM(w)."),
        **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), ("", BITS)),
        **dict.fromkeys(("skewness", "kurtosis", "kurtosis_pop", "mad", "sem"), ("", SPREAD)),
        "entropy": ("", "GROUP BY the unit and x, COUNT(*), and compute it from the shares one level up."),
        "approx_count_distinct": ("It is an estimate by a sketch.", "Write COUNT(DISTINCT x)."),
        "approx_quantile": ("It is an estimate by a sketch.", "Write QUANTILE_CONT(x, 0.9)."),
        "approx_top_k": (ORDERLY, "Write MODE(x)."),
        **dict.fromkeys(("corr", "covar_pop", "covar_samp"), (TOGETHER, MEANS)),
        **{
            f"regr_{part}": (TOGETHER, MEANS)
            for part in ("slope", "intercept", "r2", "count", "avgx", "avgy", "sxx", "syy", "sxy")
        },
    }
)
