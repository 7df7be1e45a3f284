"""Aggregates of private rows that are not answered: why, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ONE_PERSON = "Its answer is a value of one row, so it would show one person's."
DECIDES = "One person's row alone can decide it, whatever the noise."
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
        "arg_min": (ONE_PERSON, "Write AVG(x) … GROUP BY the other column, and sort the result."),
        "arg_max": (ONE_PERSON, "Write AVG(x) … GROUP BY the other column, and sort the result."),
        "list": (ONE_PERSON, "Write COUNT(*) … GROUP BY x, or HISTOGRAM(x, 20)."),
        "array_agg": (ONE_PERSON, "Write COUNT(*) … GROUP BY x, or HISTOGRAM(x, 20)."),
        "string_agg": (ONE_PERSON, "Write COUNT(*) … GROUP BY x, or APPROX_TOP_K(x, 5) over declared keys."),
        "bit_and": (DECIDES, "Write COUNT_IF of the bit you ask for."),
        "bit_or": (DECIDES, "Write COUNT_IF of the bit you ask for."),
        "bit_xor": (DECIDES, "Write COUNT_IF of the bit you ask for."),
        "product": (DECIDES, "Write EXP(SUM(LN(x))) with bounds on LN(x)."),
        "geomean": (NOT_YET, "Write EXP(AVG(LN(x))) with bounds on LN(x)."),
        "geometric_mean": (NOT_YET, "Write EXP(AVG(LN(x))) with bounds on LN(x)."),
        "skewness": (NOT_YET, "Write VAR_POP(x), or QUANTILE_CONT(x, [0.1, 0.5, 0.9])."),
        "kurtosis": (NOT_YET, "Write VAR_POP(x), or QUANTILE_CONT(x, [0.1, 0.5, 0.9])."),
        "kurtosis_pop": (NOT_YET, "Write VAR_POP(x), or QUANTILE_CONT(x, [0.1, 0.5, 0.9])."),
        "entropy": (NOT_YET, "Write COUNT(*) … GROUP BY x, and compute it over the result."),
        "mad": (NOT_YET, "Write QUANTILE_CONT(x, [0.25, 0.5, 0.75])."),
        "sem": (NOT_YET, "Write STDDEV_SAMP(x) / SQRT(COUNT(x))."),
        "approx_quantile": ("Its sketch has no noise of its own.", "Write QUANTILE_CONT(x, 0.95)."),
        "approx_count_distinct": ("Its sketch has no noise of its own.", "Write COUNT(DISTINCT x)."),
        "weighted_avg": (NOT_YET, "Write SUM(x * w) / SUM(w)."),
        "fsum": ("Sums are exact here already.", "Write SUM(x)."),
        "kahan_sum": ("Sums are exact here already.", "Write SUM(x)."),
        "sumkahan": ("Sums are exact here already.", "Write SUM(x)."),
        "favg": ("Averages come from exact sums already.", "Write AVG(x)."),
        "min_by": (ONE_PERSON, "Write AVG(x) … GROUP BY the other column, and sort the result."),
        "max_by": (ONE_PERSON, "Write AVG(x) … GROUP BY the other column, and sort the result."),
    }
)
