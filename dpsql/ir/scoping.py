"""What a relation's expressions say: which columns it uses that nothing in it introduces (the outer columns of a
correlated subquery), and where it stands in the text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from dpsql.errors import Span
from dpsql.ir.expr import Expr, columns_of, place
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
    inputs,
)


def exprs_of(node: Node) -> tuple[Expr, ...]:
    """The expressions a node itself evaluates, over its inputs' columns."""
    match node:
        case Scan() | UserTable() | Noisy() | Loaded() | OneRow() | Limit() | SetOp() | PublicText():
            return ()
        case Filter():
            return (node.predicate,)
        case Project():
            return node.exprs
        case Join():
            return () if node.on is None else (node.on,)
        case SemiJoin():
            return (node.on,)
        case Aggregate():
            return (*node.keys, *node.calls)
        case Window():
            return node.calls
        case Sort():
            return tuple(key.expr for key in node.keys)
        case _:
            assert_never(node)


def free_columns(node: Node) -> frozenset[int]:
    """Ids used in the relation that are not columns of what they are used over."""
    below: Iterable[Node] = inputs(node)
    have = frozenset(field.id for child in below for field in child.fields)
    used = frozenset(id_ for expr in exprs_of(node) for id_ in columns_of(expr))
    free = used - have
    for child in inputs(node):
        free |= free_columns(child)
    return free


def where(node: Node) -> Span | None:
    """Where a relation stands in the text: its own place, else that of its first expression that has one, else its
    inputs'."""
    here = node.at if isinstance(node, Join | SemiJoin | Limit | SetOp | PublicText) else None
    places = (here, *(place(expr) for expr in exprs_of(node)), *(where(child) for child in inputs(node)))
    return next((at for at in places if at is not None), None)
