"""The calls of the allow-list that are no scalar functions: sqlglot's classes for aggregates and window functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sqlglot import exp

Arguments = Mapping[type[exp.Expr], frozenset[str]]


def _all(arguments: str, classes: Iterable[type[exp.Expr]]) -> dict[type[exp.Expr], frozenset[str]]:
    return dict.fromkeys(classes, frozenset(arguments.split()))


_PAIRS = (
    exp.CovarPop, exp.CovarSamp, exp.Corr, exp.RegrSlope, exp.RegrIntercept, exp.RegrR2, exp.RegrCount,
    exp.RegrAvgx, exp.RegrAvgy, exp.RegrSxx, exp.RegrSxy, exp.RegrSyy, exp.PercentileCont, exp.PercentileDisc,
    exp.ApproxTopK,
)  # fmt: skip
_SINGLE = (
    exp.Sum, exp.Avg, exp.Median, exp.Variance, exp.VariancePop, exp.Stddev, exp.StddevSamp, exp.StddevPop,
    exp.CountIf, exp.Mode, exp.LogicalAnd, exp.LogicalOr, exp.AnyValue, exp.ArrayAgg, exp.First, exp.Last,
    exp.BitwiseAndAgg, exp.BitwiseOrAgg, exp.BitwiseXorAgg, exp.Skewness, exp.Kurtosis, exp.ApproxDistinct,
)  # fmt: skip
AGGREGATES: Arguments = MappingProxyType(
    {
        **_all("this", _SINGLE),
        **_all("this expression", _PAIRS),
        **_all("this expressions big_int", (exp.Count,)),
        **_all("this count expressions", (exp.Min, exp.Max)),
        **_all("this expression count", (exp.ArgMin, exp.ArgMax)),
        **_all("this quantile", (exp.Quantile, exp.ApproxQuantile)),
        **_all("this separator", (exp.GroupConcat,)),
        **_all("expressions", (exp.Grouping,)),
    }
)

WINDOWS: Arguments = MappingProxyType(
    {
        **_all("", (exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)),
        **_all("this", (exp.Ntile, exp.FirstValue, exp.LastValue)),
        **_all("this offset default", (exp.Lag, exp.Lead)),
        **_all("this offset", (exp.NthValue,)),
    }
)
