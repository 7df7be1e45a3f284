"""The calls of the allow-list: sqlglot's classes for aggregates, window functions, operators and scalar functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sqlglot import exp

Arguments = Mapping[type[exp.Expr], frozenset[str]]


def _all(arguments: str, classes: Iterable[type[exp.Expr]]) -> dict[type[exp.Expr], frozenset[str]]:
    return dict.fromkeys(classes, frozenset(arguments.split()))


_PAIRS = (
    exp.CovarPop,
    exp.CovarSamp,
    exp.Corr,
    exp.RegrSlope,
    exp.RegrIntercept,
    exp.RegrR2,
    exp.RegrCount,
    exp.RegrAvgx,
    exp.RegrAvgy,
    exp.RegrSxx,
    exp.RegrSxy,
    exp.RegrSyy,
    exp.PercentileCont,
    exp.PercentileDisc,
    exp.ApproxTopK,
)
_SINGLE = (
    exp.Sum,
    exp.Avg,
    exp.Median,
    exp.Variance,
    exp.VariancePop,
    exp.Stddev,
    exp.StddevSamp,
    exp.StddevPop,
    exp.CountIf,
    exp.Mode,
    exp.LogicalAnd,
    exp.LogicalOr,
    exp.AnyValue,
    exp.ArrayAgg,
    exp.First,
    exp.Last,
    exp.BitwiseAndAgg,
    exp.BitwiseOrAgg,
    exp.BitwiseXorAgg,
    exp.Skewness,
    exp.Kurtosis,
    exp.ApproxDistinct,
)
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

_BINARY = (
    exp.And,
    exp.Or,
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.IntDiv,
    exp.Mod,
    exp.Pow,
    exp.Is,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Escape,
    exp.Nullif,
    exp.Left,
    exp.Right,
    exp.Extract,
)
_UNARY = (
    exp.Not,
    exp.Neg,
    exp.Abs,
    exp.Sqrt,
    exp.Ln,
    exp.Exp,
    exp.Sign,
    exp.Lower,
    exp.Upper,
    exp.Length,
    exp.Year,
    exp.Month,
    exp.Day,
    exp.Quarter,
    exp.Week,
    exp.Floor,
    exp.Ceil,
)
SCALARS: Arguments = MappingProxyType(
    {
        **_all("this expression", _BINARY),
        **_all("this", _UNARY),
        **_all("this expression typed safe", (exp.Div,)),
        **_all("this expression safe", (exp.DPipe,)),
        **_all("this expression negate", (exp.Like, exp.ILike)),
        **_all("this low high", (exp.Between,)),
        **_all("this ifs default", (exp.Case,)),
        **_all("this true false", (exp.If,)),
        **_all("this to safe", (exp.TryCast,)),
        **_all("this to", (exp.Cast,)),
        **_all("this expressions", (exp.Coalesce,)),
        **_all("this expressions ignore_nulls", (exp.Least, exp.Greatest)),
        **_all("this decimals", (exp.Round,)),
        **_all("this unit", (exp.TimestampTrunc, exp.DateTrunc)),
        **_all("this start length", (exp.Substring,)),
        **_all("this position expression", (exp.Trim,)),
        **_all("this expression unit date_part_boundary", (exp.DateDiff,)),
    }
)
