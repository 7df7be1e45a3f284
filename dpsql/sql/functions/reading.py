"""From sqlglot's nodes (30.30, DuckDB dialect) to the names of the function table.

sqlglot rewrites as it parses: DATE_DIFF's arguments change places, LOG2(x) becomes LOG(2, x), NOT LIKE an argument of
LIKE. Each is undone here; ALLOWED lists every argument of a node that may be set, so that nothing passes unread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.domain.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    HUGEINT,
    INTEGER,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TINYINT,
    Type,
    decimal,
)
from dpsql.errors import Refused, Span, SqlError
from dpsql.ir.expr import Literal
from dpsql.sql.functions.dates import PART
from dpsql.sql.functions.literals import interval_literal
from dpsql.sql.functions.scratch import SCRATCH_FUNCTIONS
from dpsql.sql.functions.table import FUNCTIONS

Node = exp.Expression
Read = tuple[str, tuple[Node, ...]]

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
    [
        "negate",
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "is_distinct",
        "is_not_distinct",
        "and",
        "or",
        "not",
        "is_null",
        "is_not_null",
        "is_true",
        "is_false",
        "is_not_true",
        "is_not_false",
        "in",
        "between",
        "like",
        "not_like",
        "ilike",
        "not_ilike",
        "case",
        "cast",
        "try_cast",
        "modulo",
        "concat",
        "concat_all",
    ]
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


def read(node: Node) -> Read | None:
    """The table's name and the arguments in its order; None where the node is no scalar function dpsql knows."""
    while isinstance(node, exp.Paren):
        node = node.this
    special = SPECIAL.get(type(node))
    if special is not None:
        return special(node)
    if type(node) in PARTS:
        return "date_part", (exp.Literal.string(PARTS[type(node)]), node.this)
    simple = SIMPLE.get(type(node))
    if simple is None:
        return None
    name, keys = simple
    return name, _given(node, keys)


def _given(node: Node, keys: tuple[str, ...]) -> tuple[Node, ...]:
    found: list[Node] = []
    for key in keys:
        value = node.args.get(key)
        if isinstance(value, list):
            found.extend(value)
        elif isinstance(value, Node):
            found.append(value)
    return tuple(found)


def _is(node: Node) -> Read | None:
    match node.expression:
        case exp.Null():
            return "is_null", (node.this,)
        case exp.Boolean() as truth:
            return ("is_true" if truth.this else "is_false"), (node.this,)
        case _:
            return None


def _not(node: Node) -> Read | None:
    """NOT (x IS NULL) is a test of its own."""
    inner = node.this
    if isinstance(inner, exp.Is):
        found = _is(inner)
        if found is not None:
            return found[0].replace("is_", "is_not_", 1), found[1]
    return "not", (inner,)


def _in(node: Node) -> Read | None:
    values = node.args.get("expressions")
    if not values or node.args.get("query") is not None:
        return None
    return "in", (node.this, *values)


def _like(node: Node) -> Read:
    name = "ilike" if isinstance(node, exp.ILike) else "like"
    return ("not_" + name if node.args.get("negate") else name), (node.this, node.expression)


def _escape(node: Node) -> Read | None:
    if not isinstance(node.this, exp.Like | exp.ILike):
        return None
    name, args = _like(node.this)
    return name, (*args, node.expression)


def _case(node: Node) -> Read:
    """CASE x WHEN v is CASE WHEN x = v."""
    args: list[Node] = []
    for branch in node.args["ifs"]:
        condition = branch.this if node.this is None else exp.EQ(this=node.this, expression=branch.this)
        args += (condition, branch.args["true"])
    default = node.args.get("default")
    return "case", (*args, *([] if default is None else [default]))


def _if(node: Node) -> Read:
    otherwise = node.args.get("false")
    return "case", (node.this, node.args["true"], *([] if otherwise is None else [otherwise]))


def _log(node: Node) -> Read:
    """LOG(x) is to base 10; sqlglot makes LOG10(x) and LOG2(x) into LOG(10, x) and LOG(2, x)."""
    if node.expression is None:
        return "log10", (node.this,)
    if isinstance(node.this, exp.Literal) and node.this.this in ("2", "10"):
        return f"log{node.this.this}", (node.expression,)
    return "log", (node.this, node.expression)


def _trim(node: Node) -> Read:
    where = (node.args.get("position") or "").upper()
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(where, "trim")
    return name, _given(node, ("this", "expression"))


def _extract(node: Node) -> Read:
    return "date_part", (_word(node.this), node.expression)


def _trunc(node: Node) -> Read:
    return "date_trunc", (_word(node.args["unit"]), node.this)


def _diff(node: Node) -> Read:
    unit = node.args.get("unit") or exp.Var(this="day")
    return "date_diff", (_word(unit), node.expression, node.this)


def _word(unit: Node) -> Node:
    """A bare word such as YEAR as the text constant the table takes; its place stays."""
    if isinstance(unit, exp.Var | exp.Literal | exp.Identifier):
        word = exp.Literal.string(str(unit.this).lower())
        word.meta.update(unit.meta)
        return word
    return unit


def _epoch_ms(node: Node) -> Read | None:
    """EPOCH_MS(timestamp); of a number it would be the timestamp, which the type rule refuses."""
    scale = node.args.get("scale")
    return ("epoch_ms", (node.this,)) if isinstance(scale, exp.Literal) and scale.this == "3" else None


def _by_name(node: Node) -> Read | None:
    name = str(node.this).lower()
    args = tuple(node.expressions)
    if name in NAMED_PARTS or name in ("dayofmonth", "weekofyear"):
        return "date_part", (exp.Literal.string(PART[name]), *args)
    name = SPELLED.get(name, name)
    if name in ("date_part", "date_sub") and args:
        return name, (_word(args[0]), *args[1:])
    if name in FUNCTIONS and name not in SYNTAX:
        return name, args
    return (name, args) if name in SCRATCH_FUNCTIONS else None


def _date_add(node: Node) -> Read | None:
    return "add", (node.this, node.expression)


SPECIAL: Mapping[type[Node], Callable[[Node], Read | None]] = MappingProxyType(
    {
        exp.Is: _is,
        exp.Not: _not,
        exp.In: _in,
        exp.Like: _like,
        exp.ILike: _like,
        exp.Escape: _escape,
        exp.Case: _case,
        exp.If: _if,
        exp.Log: _log,
        exp.Trim: _trim,
        exp.Extract: _extract,
        exp.TimestampTrunc: _trunc,
        exp.DateTrunc: _trunc,
        exp.DateDiff: _diff,
        exp.DateAdd: _date_add,
        exp.UnixToTime: _epoch_ms,
        exp.Anonymous: _by_name,
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

TYPES: Mapping[exp.DType, Type] = MappingProxyType(
    {
        exp.DType.BOOLEAN: BOOLEAN,
        exp.DType.TINYINT: TINYINT,
        exp.DType.SMALLINT: SMALLINT,
        exp.DType.INT: INTEGER,
        exp.DType.BIGINT: BIGINT,
        exp.DType.INT128: HUGEINT,
        exp.DType.DOUBLE: REAL,
        exp.DType.TEXT: TEXT,
        exp.DType.VARCHAR: TEXT,
        exp.DType.DATE: DATE,
        exp.DType.TIMESTAMP: TIMESTAMP,
        exp.DType.TIMESTAMPNTZ: TIMESTAMP,
    }
)


def read_type(node: Node, at: Span | None = None) -> Type:
    """The type a CAST names; Refused 120 for those dpsql has no columns of."""
    kind = node.this
    if kind is exp.DType.DECIMAL:
        return _read_decimal(node, at)
    found = TYPES.get(kind) if isinstance(kind, exp.DType) else None
    if found is not None:
        return found
    name = str(getattr(kind, "value", kind))
    fix = (
        "Write DOUBLE."
        if name == "FLOAT"
        else "Use BOOLEAN, BIGINT, DOUBLE, DECIMAL(p, s), VARCHAR, DATE or TIMESTAMP."
    )
    raise Refused(f"the type {name} is not supported", at=at, why="Columns and results have other types.", fix=fix)


def _read_decimal(node: Node, at: Span | None) -> Type:
    try:
        params = [int(param.name) for param in node.expressions]
    except ValueError:
        params = [0]
    precision, scale = (*params, 0)[:2] if params else (18, 3)
    if not 1 <= precision <= 38 or not 0 <= scale <= precision or len(params) > 2:
        raise SqlError(
            "there is no such decimal type", code=105, at=at, fix="Write DECIMAL(p, s) with 1 <= p <= 38, 0 <= s <= p."
        )
    return decimal(precision, scale)


def read_interval(node: Node, at: Span | None = None) -> Literal:
    """INTERVAL 3 DAY, INTERVAL '1 month 2 days': the constant; SqlError 105 otherwise."""
    amounts = _amounts(node)
    if amounts is None:
        raise SqlError(
            "an interval must be a constant number of a known part",
            code=105,
            at=at,
            fix="Write INTERVAL 1 DAY, or INTERVAL '1 month 2 days'.",
        )
    return interval_literal(amounts, at)


PLAIN_PARTS = frozenset(
    [
        "microsecond",
        "millisecond",
        "second",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "quarter",
        "year",
        "decade",
        "century",
        "millennium",
    ]
)


def _amounts(node: Node) -> tuple[tuple[int, str], ...] | None:
    this, unit, sign = node.this, node.args.get("unit"), 1
    while isinstance(this, exp.Paren | exp.Neg):
        sign = -sign if isinstance(this, exp.Neg) else sign
        this = this.this
    if not isinstance(this, exp.Literal):
        return None
    words = str(this.this).replace("_", "").split()
    if unit is not None:
        words.append(str(unit.this))
    if not words or len(words) % 2:
        return None
    found = []
    for count, word in zip(words[::2], words[1::2], strict=True):
        part = PART.get(word.lower())
        digits = count.lstrip("+-")
        if part not in PLAIN_PARTS or not (digits.isascii() and digits.isdigit()) or len(digits) > 18:
            return None
        found.append((sign * int(count), str(part)))
    return tuple(found)
