"""The parser's nodes of aggregates and window functions: DuckDB's name of each, and every argument that may be set."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.sql.arguments import Takes, names, taking

_OF_ONE: dict[type[exp.Expr], str] = {
    exp.Sum: "sum", exp.Avg: "avg", exp.Median: "median", exp.Variance: "var_samp", exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp", exp.StddevSamp: "stddev_samp", exp.StddevPop: "stddev_pop", exp.CountIf: "count_if",
    exp.ApproxDistinct: "approx_count_distinct", exp.Mode: "mode", exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or", exp.AnyValue: "any_value", exp.ArrayAgg: "list", exp.First: "first", exp.Last: "last",
    exp.BitwiseAndAgg: "bit_and", exp.BitwiseOrAgg: "bit_or", exp.BitwiseXorAgg: "bit_xor",
    exp.Skewness: "skewness", exp.Kurtosis: "kurtosis",
}  # fmt: skip
_OF_TWO: dict[type[exp.Expr], str] = {
    exp.CovarPop: "covar_pop", exp.CovarSamp: "covar_samp", exp.Corr: "corr", exp.RegrSlope: "regr_slope",
    exp.RegrIntercept: "regr_intercept", exp.RegrR2: "regr_r2", exp.RegrCount: "regr_count",
    exp.RegrAvgx: "regr_avgx", exp.RegrAvgy: "regr_avgy", exp.RegrSxx: "regr_sxx", exp.RegrSyy: "regr_syy",
    exp.RegrSxy: "regr_sxy", exp.PercentileCont: "quantile_cont", exp.PercentileDisc: "quantile_disc",
    exp.ApproxTopK: "approx_top_k",
}  # fmt: skip
AGGREGATES: Mapping[type[exp.Expr], Takes] = MappingProxyType(
    {
        **taking("this", _OF_ONE),
        **taking("this expression", _OF_TWO),
        **taking("this expressions", {exp.Count: "count"}),
        **taking("this count expressions", {exp.Min: "min", exp.Max: "max"}),
        **taking("this quantile", {exp.Quantile: "quantile_disc", exp.ApproxQuantile: "approx_quantile"}),
        **taking("this separator", {exp.GroupConcat: "string_agg"}),
        **taking("this expression count", {exp.ArgMin: "arg_min", exp.ArgMax: "arg_max"}),
    }
)
# Spellings of other engines that sqlglot leaves as calls by name.
SPELLED: Mapping[str, str] = MappingProxyType({"var": "var_samp", "std": "stddev_samp"})
_RANKS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "row_number", exp.Rank: "rank", exp.DenseRank: "dense_rank", exp.PercentRank: "percent_rank",
    exp.CumeDist: "cume_dist",
}  # fmt: skip
WINDOWS: Mapping[type[exp.Expr], Takes] = MappingProxyType(
    {
        **taking("", _RANKS),
        **taking("this", {exp.Ntile: "ntile", exp.FirstValue: "first_value", exp.LastValue: "last_value"}),
        **taking("this offset default", {exp.Lag: "lag", exp.Lead: "lead"}),
        **taking("this offset", {exp.NthValue: "nth_value"}),
    }
)
AGGREGATE_ARGUMENTS: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType(
    {
        **{node: frozenset(arguments) for node, (_, arguments) in AGGREGATES.items()},
        exp.Count: names("this expressions big_int"),
        exp.Grouping: names("expressions"),
    }
)
WINDOW_ARGUMENTS: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType(
    {node: frozenset(arguments) for node, (_, arguments) in WINDOWS.items()}
)
