"""How many rows a relation has, by its form: a subquery that is used as a value may have one at most."""

from __future__ import annotations

from enum import IntEnum
from typing import assert_never

from dpsql.functions.conjunctions import conjuncts
from dpsql.ir.expr import Call, Column, Expr, Literal, columns_of
from dpsql.ir.nodes import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Loaded,
    Node,
    Noisy,
    OneRow,
    Project,
    PublicText,
    Scan,
    SemiJoin,
    SetOp,
    Sort,
    UserTable,
    Window,
)


class Rows(IntEnum):
    """ONE: always, whatever is stored."""

    ONE = 1
    AT_MOST_ONE = 2
    SEVERAL = 3


def rows(node: Node, pinned: frozenset[int] = frozenset()) -> Rows:
    """pinned: the columns that have one value on all rows that are asked for."""
    match node:
        case OneRow():
            return Rows.ONE
        case Scan() | UserTable() | Noisy() | Loaded() | SetOp() | PublicText():
            return Rows.SEVERAL
        case Project():
            pairs = zip(node.fields, node.exprs, strict=True)
            return rows(node.input, frozenset(e.id for f, e in pairs if f.id in pinned and isinstance(e, Column)))
        case Sort() | Window():
            return rows(node.input, pinned)
        case Filter():
            below = frozenset(column.id for column in _pinned(node) if isinstance(column, Column))
            return max(rows(node.input, pinned | below), Rows.AT_MOST_ONE)
        case SemiJoin():
            left = rows(node.left, pinned)
            return left if node.mark is not None else max(left, Rows.AT_MOST_ONE)
        case Join():
            return _joined(node, pinned)
        case Aggregate():
            return _grouped(node, pinned)
        case Limit():
            return _limited(node)
        case _:
            assert_never(node)


def _pinned(node: Filter) -> list[Expr]:
    """The expressions that have one value on all rows that pass: WHERE k = 3."""
    values: list[Expr] = []
    for condition in conjuncts(node.predicate):
        if isinstance(condition, Call) and condition.function == "equal":
            one, other = condition.args
            values += [mine for mine, constant in ((one, other), (other, one)) if isinstance(constant, Literal)]
    return values


def _grouped(node: Aggregate, pinned: frozenset[int]) -> Rows:
    """The groups of one row are one; so are those that have one value of each key."""
    if node.sets is not None:
        return Rows.SEVERAL
    if not node.keys:
        return Rows.ONE
    below, fixed = node.input, list[Expr]()
    while isinstance(below, Filter):
        fixed += _pinned(below)
        below = below.input
    keys = zip(node.key_fields, node.keys, strict=True)
    if all(field.id in pinned or key in fixed or not columns_of(key) for field, key in keys):
        return Rows.AT_MOST_ONE
    return rows(node.input)


def _joined(node: Join, pinned: frozenset[int]) -> Rows:
    left, right = rows(node.left, pinned), rows(node.right, pinned)
    match node.kind:
        case "cross":
            return max(left, right)
        case "inner":
            return max(left, right, Rows.AT_MOST_ONE)
        case "left" if right is not Rows.SEVERAL:
            return left
        case "right" if left is not Rows.SEVERAL:
            return right
    return Rows.SEVERAL


def _limited(node: Limit) -> Rows:
    below = rows(node.input)
    if node.limit is not None and node.limit <= 1:
        return Rows.ONE if below is Rows.ONE and node.limit == 1 and node.offset == 0 else Rows.AT_MOST_ONE
    return below if node.offset == 0 else max(below, Rows.AT_MOST_ONE)
