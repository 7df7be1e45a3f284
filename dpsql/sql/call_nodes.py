"""sqlglot's nodes and the rows of the table they stand for; and every argument of a node that may be set."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

Node = exp.Expression

# Nodes whose arguments stand in order: class → (name in the table, argument names; a list is spread).
SIMPLE: Mapping[type[Node], tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        exp.Neg: ("negate", ("this",)),
        exp.Add: ("add", ("this", "expression")),
        exp.Sub: ("subtract", ("this", "expression")),
        exp.Mul: ("multiply", ("this", "expression")),
        exp.Div: ("divide", ("this", "expression")),
        exp.IntDiv: ("integer_divide", ("this", "expression")),
        exp.Mod: ("modulo", ("this", "expression")),
        exp.DPipe: ("concat", ("this", "expression")),
        exp.Concat: ("concat_all", ("expressions",)),
        exp.EQ: ("equal", ("this", "expression")),
        exp.NEQ: ("not_equal", ("this", "expression")),
        exp.LT: ("less", ("this", "expression")),
        exp.LTE: ("less_equal", ("this", "expression")),
        exp.GT: ("greater", ("this", "expression")),
        exp.GTE: ("greater_equal", ("this", "expression")),
        exp.NullSafeNEQ: ("is_distinct", ("this", "expression")),
        exp.NullSafeEQ: ("is_not_distinct", ("this", "expression")),
        exp.Between: ("between", ("this", "low", "high")),
        exp.And: ("and", ("this", "expression")),
        exp.Or: ("or", ("this", "expression")),
        exp.Not: ("not", ("this",)),
        exp.Coalesce: ("coalesce", ("this", "expressions")),
        exp.Nullif: ("nullif", ("this", "expression")),
        exp.Least: ("least", ("this", "expressions")),
        exp.Greatest: ("greatest", ("this", "expressions")),
        exp.Cast: ("cast", ("this",)),
        exp.TryCast: ("try_cast", ("this",)),
        exp.Abs: ("abs", ("this",)),
        exp.Sign: ("sign", ("this",)),
        exp.Floor: ("floor", ("this",)),
        exp.Ceil: ("ceil", ("this",)),
        exp.Trunc: ("trunc", ("this",)),
        exp.Round: ("round", ("this", "decimals")),
        exp.Sqrt: ("sqrt", ("this",)),
        exp.Cbrt: ("cbrt", ("this",)),
        exp.Exp: ("exp", ("this",)),
        exp.Ln: ("ln", ("this",)),
        exp.Pow: ("power", ("this", "expression")),
        exp.Sin: ("sin", ("this",)),
        exp.Cos: ("cos", ("this",)),
        exp.Tan: ("tan", ("this",)),
        exp.Cot: ("cot", ("this",)),
        exp.Asin: ("asin", ("this",)),
        exp.Acos: ("acos", ("this",)),
        exp.Atan: ("atan", ("this",)),
        exp.Atan2: ("atan2", ("this", "expression")),
        exp.Sinh: ("sinh", ("this",)),
        exp.Cosh: ("cosh", ("this",)),
        exp.Tanh: ("tanh", ("this",)),
        exp.Degrees: ("degrees", ("this",)),
        exp.Radians: ("radians", ("this",)),
        exp.Pi: ("pi", ()),
        exp.IsNan: ("isnan", ("this",)),
        exp.IsInf: ("isinf", ("this",)),
        exp.Lower: ("lower", ("this",)),
        exp.Upper: ("upper", ("this",)),
        exp.Left: ("left", ("this", "expression")),
        exp.Right: ("right", ("this", "expression")),
        exp.Substring: ("substring", ("this", "start", "length")),
        exp.Reverse: ("reverse", ("this",)),
        exp.Replace: ("replace", ("this", "expression", "replacement")),
        exp.Translate: ("translate", ("this", "from_", "to")),
        exp.SplitPart: ("split_part", ("this", "delimiter", "part_index")),
        exp.Length: ("length", ("this",)),
        exp.StartsWith: ("starts_with", ("this", "expression")),
        exp.EndsWith: ("ends_with", ("this", "expression")),
        exp.Contains: ("contains", ("this", "expression")),
        exp.StrPosition: ("strpos", ("this", "substr")),
        exp.RegexpLike: ("regexp_matches", ("this", "expression")),
        exp.RegexpFullMatch: ("regexp_full_match", ("this", "expression")),
        exp.LastDay: ("last_day", ("this",)),
        exp.Dayname: ("dayname", ("this",)),
        exp.Monthname: ("monthname", ("this",)),
        exp.TimeToStr: ("strftime", ("this", "format")),
        exp.StrToTime: ("strptime", ("this", "format")),
    }
)

# Functions that are EXTRACT by another name.
PARTS: Mapping[type[Node], str] = MappingProxyType(
    {
        exp.Year: "year",
        exp.Quarter: "quarter",
        exp.Month: "month",
        exp.Week: "week",
        exp.WeekOfYear: "week",
        exp.Day: "day",
        exp.DayOfMonth: "day",
        exp.DayOfWeek: "dayofweek",
        exp.DayOfWeekIso: "isodow",
        exp.DayOfYear: "dayofyear",
        exp.Hour: "hour",
        exp.Minute: "minute",
        exp.Second: "second",
        exp.TimeToUnix: "epoch",
    }
)
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
SPELLED = MappingProxyType(
    {
        "datepart": "date_part",
        "date_part": "date_part",
        "datesub": "date_sub",
        "date_sub": "date_sub",
        "suffix": "ends_with",
        "prefix": "starts_with",
        "divide": "integer_divide",
        "add": "add",
        "subtract": "subtract",
        "multiply": "multiply",
    }
)

# Arguments sqlglot sets by itself while it parses, beside those that `read` uses.
SET_BY_PARSER: Mapping[type[Node], frozenset[str]] = MappingProxyType(
    {
        exp.Div: frozenset(("typed", "safe")),
        exp.DPipe: frozenset(("safe",)),
        exp.Concat: frozenset(("safe", "coalesce")),
        exp.Least: frozenset(("ignore_nulls",)),
        exp.Greatest: frozenset(("ignore_nulls",)),
        exp.Cast: frozenset(("to",)),
        exp.TryCast: frozenset(("to", "safe")),
    }
)
ALLOWED: Mapping[type[Node], frozenset[str]] = MappingProxyType(
    {
        **{node: frozenset(keys) | SET_BY_PARSER.get(node, frozenset()) for node, (_, keys) in SIMPLE.items()},
        **dict.fromkeys(PARTS, frozenset(("this",))),
        exp.Paren: frozenset(("this",)),
        exp.Is: frozenset(("this", "expression")),
        exp.In: frozenset(("this", "expressions")),
        exp.Like: frozenset(("this", "expression", "negate")),
        exp.ILike: frozenset(("this", "expression", "negate")),
        exp.Escape: frozenset(("this", "expression")),
        exp.Case: frozenset(("this", "ifs", "default")),
        exp.If: frozenset(("this", "true", "false")),
        exp.Log: frozenset(("this", "expression")),
        exp.Trim: frozenset(("this", "expression", "position")),
        exp.Extract: frozenset(("this", "expression")),
        exp.TimestampTrunc: frozenset(("this", "unit")),
        exp.DateTrunc: frozenset(("this", "unit")),
        exp.DateDiff: frozenset(("this", "expression", "unit", "date_part_boundary")),
        exp.DateAdd: frozenset(("this", "expression")),
        exp.UnixToTime: frozenset(("this", "scale")),
        exp.Anonymous: frozenset(("this", "expressions")),
        exp.Interval: frozenset(("this", "unit")),
        exp.DataType: frozenset(("this", "expressions", "nested")),
        exp.DataTypeParam: frozenset(("this",)),
        exp.Var: frozenset(("this",)),
        exp.Literal: frozenset(("this", "is_string")),
        exp.Boolean: frozenset(("this",)),
        exp.Null: frozenset(),
    }
)
