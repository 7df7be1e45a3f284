"""The parser's nodes of scalar functions: what each is called in the function table, and every argument that may be set."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.sql.arguments import Takes, names, taking

# Nodes whose arguments stand in the table's order.
_OF_ONE: dict[type[exp.Expr], str] = {
    exp.Neg: "negate", exp.Not: "not", exp.Cast: "cast", exp.TryCast: "try_cast", exp.Abs: "abs", exp.Sign: "sign",
    exp.Floor: "floor", exp.Ceil: "ceil", exp.Trunc: "trunc", exp.Sqrt: "sqrt", exp.Cbrt: "cbrt", exp.Exp: "exp",
    exp.Ln: "ln", exp.Sin: "sin", exp.Cos: "cos", exp.Tan: "tan", exp.Cot: "cot", exp.Asin: "asin",
    exp.Acos: "acos", exp.Atan: "atan", exp.Sinh: "sinh", exp.Cosh: "cosh", exp.Tanh: "tanh",
    exp.Degrees: "degrees", exp.Radians: "radians", exp.IsNan: "isnan", exp.IsInf: "isinf", exp.Lower: "lower",
    exp.Upper: "upper", exp.Reverse: "reverse", exp.Length: "length", exp.LastDay: "last_day",
    exp.Dayname: "dayname", exp.Monthname: "monthname",
}  # fmt: skip
_OF_TWO: dict[type[exp.Expr], str] = {
    exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply", exp.Div: "divide", exp.IntDiv: "integer_divide",
    exp.Mod: "modulo", exp.DPipe: "concat", exp.EQ: "equal", exp.NEQ: "not_equal", exp.LT: "less",
    exp.LTE: "less_equal", exp.GT: "greater", exp.GTE: "greater_equal", exp.NullSafeNEQ: "is_distinct",
    exp.NullSafeEQ: "is_not_distinct", exp.And: "and", exp.Or: "or", exp.Nullif: "nullif", exp.Pow: "power",
    exp.Atan2: "atan2", exp.Left: "left", exp.Right: "right", exp.StartsWith: "starts_with",
    exp.EndsWith: "ends_with", exp.Contains: "contains", exp.RegexpLike: "regexp_matches",
    exp.RegexpFullMatch: "regexp_full_match",
}  # fmt: skip
SIMPLE: Mapping[type[exp.Expr], Takes] = MappingProxyType(
    {
        **taking("this", _OF_ONE),
        **taking("this expression", _OF_TWO),
        **taking("expressions", {exp.Concat: "concat_all", exp.ConcatWs: "concat_ws"}),
        **taking("this low high", {exp.Between: "between"}),
        **taking("this expressions", {exp.Coalesce: "coalesce", exp.Least: "least", exp.Greatest: "greatest"}),
        **taking("this decimals", {exp.Round: "round"}),
        **taking("", {exp.Pi: "pi", exp.CurrentTimestamp: "current_localtimestamp"}),
        **taking("", {exp.Localtimestamp: "current_localtimestamp"}),
        **taking("this start length", {exp.Substring: "substring"}),
        **taking("this expression replacement", {exp.Replace: "replace"}),
        **taking("this from_ to", {exp.Translate: "translate"}),
        **taking("this delimiter part_index", {exp.SplitPart: "split_part"}),
        **taking("this substr", {exp.StrPosition: "strpos"}),
        **taking("this format", {exp.TimeToStr: "strftime", exp.StrToTime: "strptime"}),
    }
)

# Functions that are EXTRACT by another name.
PARTS: Mapping[type[exp.Expr], str] = {
    exp.Year: "year", exp.Quarter: "quarter", exp.Month: "month", exp.Week: "week", exp.WeekOfYear: "week",
    exp.Day: "day", exp.DayOfMonth: "day", exp.DayOfWeek: "dayofweek", exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "dayofyear", exp.Hour: "hour", exp.Minute: "minute", exp.Second: "second",
    exp.TimeToUnix: "epoch",
}  # fmt: skip
NAMED_PARTS = ("weekday", "isoyear", "yearweek", "era", "decade", "century", "millennium", "millisecond", "microsecond")

# Rows that only syntax reaches; a call by such a name is somebody else's function.
SYNTAX = frozenset(
    """
    negate equal not_equal less less_equal greater greater_equal is_distinct is_not_distinct and or not is_null
    is_not_null is_true is_false is_not_true is_not_false in between like not_like ilike not_ilike case cast try_cast
    modulo concat concat_all
    """.split()
)

# Spellings that sqlglot leaves as calls by name.
SPELLED: Mapping[str, str] = {
    "datepart": "date_part", "date_part": "date_part", "datesub": "date_sub", "date_sub": "date_sub",
    "suffix": "ends_with", "prefix": "starts_with", "divide": "integer_divide", "add": "add",
    "subtract": "subtract", "multiply": "multiply",
    **dict.fromkeys(("now", "get_current_timestamp", "transaction_timestamp"), "current_localtimestamp"),
}  # fmt: skip

# Arguments sqlglot sets by itself while it parses, beside those that `read` uses.
SET_BY_PARSER: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType(
    {
        exp.Div: names("typed safe"),
        exp.DPipe: names("safe"),
        **dict.fromkeys((exp.Concat, exp.ConcatWs), names("safe coalesce")),
        exp.Least: names("ignore_nulls"),
        exp.Greatest: names("ignore_nulls"),
        exp.Cast: names("to"),
        exp.TryCast: names("to safe"),
    }
)
ALLOWED: Mapping[type[exp.Expr], frozenset[str]] = MappingProxyType(
    {
        **{node: frozenset(keys) | SET_BY_PARSER.get(node, frozenset()) for node, (_, keys) in SIMPLE.items()},
        **dict.fromkeys((*PARTS, exp.Paren), names("this")),
        **dict.fromkeys((exp.Is, exp.Escape, exp.Log, exp.Extract, exp.DateAdd), names("this expression")),
        **dict.fromkeys((exp.Like, exp.ILike), names("this expression negate")),
        **dict.fromkeys((exp.TimestampTrunc, exp.DateTrunc), names("this unit")),
        exp.Case: names("this ifs default"),
        exp.If: names("this true false"),
        exp.Trim: names("this expression position"),
        exp.DateDiff: names("this expression unit date_part_boundary"),
        exp.UnixToTime: names("this scale"),
    }
)
