"""Columns of the analyst's own tables that a query does not use: their types may be ones that dpsql has no name for (TIME,
UUID, lists), and a join with private rows needs all types beforehand."""

from __future__ import annotations

from dpsql.domain.types import Kind
from dpsql.ir.expr import columns_of
from dpsql.ir.nodes import Field, Node, Project, PublicText, SetOp, inputs, walk, with_inputs
from dpsql.ir.scoping import exprs_of


def without_unused(node: Node) -> Node:
    """The same relation, without columns of unknown types that nothing reads."""
    return _kept(node, _used(node))


def _used(node: Node) -> set[int]:
    """Ids of the columns that something reads: by an expression, or by position; a column of an unknown type reads others
    only where it is read itself."""
    used = {field.id for field in node.fields}
    passed_on: dict[int, frozenset[int]] = {}
    for each in walk(node):
        if isinstance(each, SetOp | PublicText):
            used |= {field.id for child in inputs(each) for field in child.fields}
        if isinstance(each, Project):
            for field, expr in zip(each.fields, each.exprs, strict=True):
                if _is_unknown(field):
                    passed_on[field.id] = columns_of(expr)
                else:
                    used |= columns_of(expr)
        else:
            used |= {id_ for expr in exprs_of(each) for id_ in columns_of(expr)}
    waiting = [id_ for id_ in used if id_ in passed_on]
    while waiting:
        more = passed_on[waiting.pop()] - used
        used |= more
        waiting += [id_ for id_ in more if id_ in passed_on]
    return used


def _is_unknown(field: Field) -> bool:
    return field.type.kind is Kind.ANY


def _kept(node: Node, used: set[int]) -> Node:
    made = with_inputs(node, tuple(_kept(child, used) for child in inputs(node)))
    if not isinstance(made, Project):
        return made
    kept = [
        pair for pair in zip(made.fields, made.exprs, strict=True) if pair[0].id in used or not _is_unknown(pair[0])
    ]
    if not kept or len(kept) == len(made.fields):  # a relation has a column
        return made
    return Project(made.input, tuple(field for field, _ in kept), tuple(expr for _, expr in kept))


__all__ = ["without_unused"]
