"""What the other checks take for granted of a relation: that a column's id means one thing where it is read, that
expressions read columns of what they stand over, and that they are functions of one row."""

from __future__ import annotations

from dpsql.functions.function import unchecked
from dpsql.functions.table import FUNCTIONS
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall, children, walk
from dpsql.ir.nodes import Aggregate, Node, Project, SetOp, Window, inputs
from dpsql.ir.nodes import walk as walk_nodes
from dpsql.ir.scoping import exprs_of
from dpsql.privacy.kernel.unproved import unproved


def check_forms(node: Node) -> None:
    """Lemma: where an expression reads a column, its id stands for one value in a row. Proof: it reads columns of its
    node's inputs, no two of which have an id in common. (Below them an id may come again: nobody reads it there.)"""
    for part in walk_nodes(node):
        read = () if isinstance(part, SetOp) else tuple(f for child in inputs(part) for f in child.fields)
        for fields in (part.fields, read):
            if len({f.id for f in fields}) < len(fields):
                raise unproved(part, "two of its columns are one")
        _check_exprs(part)


def _check_exprs(node: Node) -> None:
    have = {f.id: f.type for child in inputs(node) for f in child.fields}
    for expr in exprs_of(node):
        for part in walk(expr):
            if isinstance(part, Column) and have.get(part.id) != part.type:
                raise unproved(node, f"column {part.id} is none of its input's")
        outer = (isinstance(node, Aggregate) and isinstance(expr, AggregateCall)) or isinstance(node, Window)
        if isinstance(node, Window) and not isinstance(expr, WindowCall):
            raise unproved(node, "one of its calls is none")
        for part in children(expr) if outer else (expr,):
            _check_scalar(node, part)
    match node:
        case Project():
            types = zip(node.fields, node.exprs, strict=True)
        case Aggregate():
            types = zip(node.fields, (*node.keys, *node.calls), strict=True)
        case Window():
            types = zip(node.call_fields, node.calls, strict=True)
        case _:
            return
    for f, expr in types:
        if f.type != expr.type:
            raise unproved(node, f'"{f.name}" has another type than what it is')


def _check_scalar(node: Node, expr: Expr) -> None:
    """A function of one row: every function of the table is one."""
    for part in walk(expr):
        if not isinstance(part, Column | Literal | Call):
            raise unproved(node, "an aggregate or window is inside an expression")
        if isinstance(part, Call) and unchecked(part.function) not in FUNCTIONS:
            raise unproved(node, f"{part.function} is not a function of the vault")
