"""What every part of one binding shares: fresh ids, the catalog, the user's tables, the aggregates, the parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from dpsql.catalog.model import Catalog
from dpsql.domain.types import Type
from dpsql.errors import Span
from dpsql.ir.expr import Expr
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Node
from dpsql.sql.bind.scope import Scope
from dpsql.sql.naming import Printed
from dpsql.sql.statement import Statement
from dpsql.sql.tokens import Hulls, span

if TYPE_CHECKING:
    from dpsql.sql.bind.block import Block

UserTables = Mapping[str, tuple[tuple[str, Type], ...]]  # folded name → columns


class BindQuery(Protocol):
    def __call__(self, query: exp.Expr, context: Context, env: Env, parent: Scope | None) -> Node: ...


class AggregateSignature(Protocol):
    """What the binder must know of a private aggregate; aggregates/ provides it."""

    @property
    def name(self) -> str: ...

    def result(self, args: tuple[Expr, ...]) -> Type:
        """DuckDB's result type; raises functions.TypeProblem."""


@dataclass(slots=True)
class Cte:
    """A WITH entry: bound when it is first used, then shared, so that using it twice is answered once."""

    query: exp.Expr
    columns: tuple[str, ...]
    env: Env
    bound: Node | None = None


@dataclass(frozen=True, slots=True)
class Env:
    """The CTEs in sight, innermost last."""

    ctes: Mapping[str, Cte] = field(default_factory=dict)
    views: tuple[str, ...] = ()  # views being expanded, to find a view that uses itself


@dataclass(slots=True)
class Context:
    statement: Statement
    catalog: Catalog
    aggregates: Mapping[str, AggregateSignature]
    user_tables: UserTables
    ids: Ids
    printed: Printed  # what names an item without an alias
    query: BindQuery  # bind_query, bind_view and bind_expr, handed down so that FROM and subqueries can call them
    view: Callable[[str, Context, Env], Node]
    expr: Callable[[exp.Expr, Block], Expr]
    views: dict[str, Node] = field(default_factory=dict)  # each view is bound once
    hulls: Hulls = field(default_factory=dict)

    def at(self, node: exp.Expr) -> Span | None:
        return span(node, self.statement.text, self.hulls)
