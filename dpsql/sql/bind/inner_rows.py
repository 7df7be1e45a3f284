"""Subqueries before they are joined: their shape, their rows, and what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from sqlglot import exp

from dpsql.errors import Refused, SqlError
from dpsql.ir.expr import Column, Expr, rewrite
from dpsql.ir.nodes import Field, Node
from dpsql.ir.scoping import free_columns
from dpsql.sql.bind.aggregates import read_aggregate
from dpsql.sql.bind.block import Block


@dataclass(frozen=True, slots=True)
class InnerRows:
    """The rows of a subquery's FROM and WHERE. tied: what connects them to the outer query's; copied: outer columns that
    they have beside them, by the ids of the outer ones (then they are made of the outer rows)."""

    node: Node
    tied: list[Expr]
    block: Block
    copied: Mapping[int, Field] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def of_rows(self) -> bool:
        return bool(self.copied)


def over(expr: Expr, copied: Mapping[int, Field]) -> Expr:
    """The expression over the copies of the outer query's columns."""

    def copy(part: Expr) -> Expr | None:
        there = copied.get(part.id) if isinstance(part, Column) else None
        return None if there is None else dataclasses.replace(there.column(), at=part.at)

    return rewrite(expr, copy)


def simple_select(query: exp.Expr) -> exp.Select | None:
    """The SELECT of a subquery that is nothing but FROM and WHERE; None for any other."""
    while isinstance(query, exp.Subquery | exp.Paren) and not any(
        query.args.get(a) for a in ("limit", "offset", "with_")
    ):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    busy = ("group", "having", "qualify", "limit", "offset", "with_", "windows")
    return None if any(query.args.get(a) for a in busy) else query


def has_aggregate(select: exp.Select, block: Block) -> bool:
    return any(
        read_aggregate(node, block.context) is not None and not isinstance(node.parent, exp.Window)
        for item in select.expressions
        for node in item.walk(prune=lambda n: isinstance(n, exp.Subquery | exp.Select))
    )


def only_field(node: Node, query: exp.Expr, block: Block) -> Field:
    if len(node.fields) != 1:
        raise columns_needed(len(node.fields), 1, query, block)
    return node.fields[0]


def columns_needed(count: int, needed: int, query: exp.Expr, block: Block) -> SqlError:
    of = f"{count} column{'' if count == 1 else 's'}"
    number = "one" if needed == 1 else str(needed)
    return SqlError(
        f"this subquery has {of}, {number} {'is' if needed == 1 else 'are'} needed",
        code=105,
        at=block.context.at(query),
        fix=f"Select {'one column' if needed == 1 else f'{needed} columns'}.",
    )


def refuse_free(node: Node, query: exp.Expr, block: Block) -> None:
    if free_columns(node):
        raise tangled(query, block)


def tangled(query: exp.Expr, block: Block) -> Refused:
    return Refused(
        "this subquery uses a column of the outer query in a way that dpsql cannot untangle",
        code=121,
        at=block.context.at(query),
        why="A correlated subquery is answered as a join, so its outer columns are possible in WHERE, its own and that of "
        "subqueries in it, and in nothing else.",
        fix="Write it as a JOIN with a GROUP BY.",
    )
