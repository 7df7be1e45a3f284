"""From sqlglot's nodes (30.30, DuckDB dialect) to the names of the function table.

sqlglot rewrites as it parses: DATE_DIFF's arguments change places, LOG2(x) becomes LOG(2, x), NOT LIKE an argument of
LIKE. Each is undone here; ALLOWED (call_nodes.py) lists every argument of a node that may be set: nothing passes unread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.functions.date_parts import PART
from dpsql.functions.scratch import SCRATCH_FUNCTIONS
from dpsql.functions.table import FUNCTIONS
from dpsql.sql.arguments import Node, given
from dpsql.sql.call_nodes import NAMED_PARTS, PARTS, SIMPLE, SPELLED, SYNTAX

Read = tuple[str, tuple[Node, ...]]


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
    return name, given(node, keys)


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
        predicate = _is(inner)
        if predicate is not None:
            return predicate[0].replace("is_", "is_not_", 1), predicate[1]
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
    return "case", (*args, *given(node, ("default",)))


def _if(node: Node) -> Read:
    return "case", given(node, ("this", "true", "false"))


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
    return name, given(node, ("this", "expression"))


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
