"""Conditions inner = outer, which connect a subquery to the outer query."""

from __future__ import annotations

import dataclasses

from dpsql.ir.expr import Call, Column, Expr, columns_of, place
from dpsql.ir.nodes import Field, Node, Project
from dpsql.sql.bind.context import Context


def with_columns(node: Node, pairs: list[tuple[Expr, Expr]], context: Context) -> tuple[Node, list[tuple[Expr, Expr]]]:
    """The rows with each inner side as a column of its own."""
    computed: dict[Expr, Field] = {
        inner_key: context.ids.field("", inner_key.type) for inner_key, _ in pairs if not isinstance(inner_key, Column)
    }
    if not computed:
        return node, pairs
    every = (*(f.column() for f in node.fields), *computed)
    node = Project(node, (*node.fields, *computed.values()), every)
    at: dict[Expr, Expr] = {
        inner_key: dataclasses.replace(f.column(), at=place(inner_key)) for inner_key, f in computed.items()
    }
    return node, [(at.get(inner_key, inner_key), other) for inner_key, other in pairs]


def split_equality(condition: Expr, node: Node) -> tuple[Expr, Expr] | None:
    """(inner side, outer side) of a correlated equality; None for another condition."""
    have = {f.id for f in node.fields}
    if isinstance(condition, Call) and condition.function == "equal":
        for inner_key, other in (condition.args, condition.args[::-1]):
            if columns_of(inner_key) <= have and columns_of(inner_key) and not columns_of(other) & have:
                return inner_key, other
    return None
