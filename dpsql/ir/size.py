"""How large a relation is, in parts of equal work for the planner (`python -m benchmarks planning` measures it)."""

from __future__ import annotations

from typing import assert_never

from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall, children
from dpsql.ir.expr import walk as parts_of
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

CONSTANT, PART, RELATION, JOIN, SET, AGGREGATE, WINDOW, BIN, RESULT, FURTHER = 1, 2, 8, 48, 12, 24, 16, 18, 4, 4
FEW = 3  # arguments; each one more than these is FURTHER


def own_size(node: Node) -> int:
    """A node without its inputs."""
    match node:
        case Scan() | UserTable() | Noisy() | Loaded() | Sort() | Limit():
            return RELATION + sum(_expr(key.expr) for key in (node.keys if isinstance(node, Sort) else ()))
        case OneRow() | PublicText():
            return 0
        case SetOp():
            return PART
        case Project():
            return (CONSTANT if isinstance(node.input, OneRow) else RELATION) + sum(map(_expr, node.exprs))
        case Filter():
            return RELATION + _expr(node.predicate)
        case Join() | SemiJoin():
            return JOIN + (0 if node.on is None else _expr(node.on))
        case Window():
            return RELATION + sum(map(_expr, node.calls))
        case Aggregate():
            sets = 1 if node.sets is None else len(node.sets)
            keys = sum(map(_expr, node.keys)) + PART * (sets - 1) * len(node.keys)
            return RELATION + SET * (sets - 1) + keys + sum(map(_expr, node.calls)) + SET * (sets - 1) * len(node.calls)
        case _:
            assert_never(node)


def _expr(expr: Expr) -> int:
    return sum(map(_part, parts_of(expr)))


def _part(expr: Expr) -> int:
    match expr:
        case Literal():
            return CONSTANT
        case Column():
            return PART
        case AggregateCall():
            return AGGREGATE + _bins(expr)
        case WindowCall():
            return WINDOW
        case Call():
            return PART + FURTHER * sum(not isinstance(part, Literal) for part in children(expr)[FEW:])
        case _:
            assert_never(expr)


def _bins(call: AggregateCall) -> int:
    """A list of constants (bins, fractions): each has an answer of its own."""
    return sum(BIN * len(part.args) for part in call.args if isinstance(part, Call) and part.function == "list_value")
