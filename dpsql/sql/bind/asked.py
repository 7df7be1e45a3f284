"""Subquery tests as written: EXISTS, IN, ANY and ALL, with NOT before them, in one form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

SIGNS: Mapping[type[exp.Expr], str] = MappingProxyType(
    {
        exp.EQ: "equal",
        exp.NEQ: "not_equal",
        exp.LT: "less",
        exp.LTE: "less_equal",
        exp.GT: "greater",
        exp.GTE: "greater_equal",
    }
)
OPPOSITE: Mapping[str, str] = MappingProxyType(
    {
        "equal": "not_equal",
        "not_equal": "equal",
        "less": "greater_equal",
        "less_equal": "greater",
        "greater": "less_equal",
        "greater_equal": "less",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Whether the query has a row (sign None), or one to whose values `left` compares so. negated: whether it has none.

    x <> ALL (S) is NOT (x = ANY (S)), also where a comparison is unknown; so are the others.
    """

    query: exp.Expr
    left: tuple[exp.Expr, ...] = ()
    sign: str | None = None
    negated: bool = False


def read_test(node: exp.Expr) -> Asked | None:
    """The node as a subquery test, or None if it is something else."""
    match node:
        case exp.Paren():
            return read_test(node.this)
        case exp.Not():
            inner = read_test(node.this)
            return None if inner is None else dataclasses.replace(inner, negated=not inner.negated)
        case exp.Exists():
            return Asked(query=node.this)
        case exp.In() if node.args.get("query") is not None:
            return Asked(query=node.args["query"], left=_sides(node.this), sign="equal")
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            sign, right = SIGNS[type(node)], node.expression
            if isinstance(right, exp.Any):
                return Asked(query=right.this, left=(node.this,), sign=sign)
            if isinstance(right, exp.All):
                return Asked(query=right.this, left=(node.this,), sign=OPPOSITE[sign], negated=True)
    return None


def _sides(left: exp.Expr) -> tuple[exp.Expr, ...]:
    return tuple(left.expressions) if isinstance(left, exp.Tuple) else (left,)


def as_condition(node: exp.Expr) -> bool:
    """Whether only truth counts where it stands: unknown and false are the same there."""
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.And | exp.Or):
        node, parent = parent, parent.parent
    if isinstance(parent, exp.If):
        simple = isinstance(parent.parent, exp.Case) and parent.parent.this is not None
        return node.arg_key == "this" and not simple
    return isinstance(parent, exp.Where | exp.Having | exp.Qualify)
