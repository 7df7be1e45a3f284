"""The state of binding one SELECT block: its scope, its aliases, and the scalar subqueries it has met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from dpsql.catalog.model import fold
from dpsql.errors import Span, SqlError
from dpsql.ir.expr import Expr
from dpsql.ir.nodes import Field, Node
from dpsql.sql.bind.context import Context, Env
from dpsql.sql.bind.scope import Scope, unknown_column


@dataclass(frozen=True, slots=True)
class ScalarJoin:
    """A scalar subquery, to be joined below the place that uses its column. on: None for one row, always."""

    node: Node
    on: Expr | None
    at: Span | None = None
    correlated: bool = False  # an aggregate with a row for each value of the outer columns that `on` names
    of_rows: bool = False  # made of the rows that it is joined to
    single: bool = False  # that it has one row at most is to be counted, see Join
    mark: Field | None = None  # no join: whether a row of `node` satisfies `on`


@dataclass(slots=True)
class Block:
    """aliases: the SELECT list's names, found after columns (in ORDER BY: before them; in HAVING, where `keys` are the keys
    of GROUP BY: before columns that are no keys)."""

    context: Context
    env: Env
    scope: Scope
    aliases: Mapping[str, exp.Expr] = field(default_factory=dict)
    windows: Mapping[str, exp.Window] = field(default_factory=dict)
    scalars: dict[int, ScalarJoin] = field(default_factory=dict)
    bound: dict[str, Expr] = field(
        default_factory=dict
    )  # its subqueries, by their text: one that is there twice is one
    aliases_first: bool = False
    expanding: tuple[str, ...] = ()
    keys: tuple[Expr, ...] | None = None
    rows: Node | None = None  # of FROM

    def expr(self, node: exp.Expr) -> Expr:
        return self.context.expr(node, self)

    def column(self, name: str, qualifier: str | None, at: Span | None) -> Expr | exp.Expr:
        """What a name means: a column, or the expression behind an alias of the SELECT list."""
        alias = self._alias(name) if qualifier is None else None
        if alias is not None and self.aliases_first:
            return alias
        expr = self.scope.find(name, qualifier, at)
        if expr is not None and (alias is None or self.keys is None or expr in self.keys):
            return expr
        if alias is not None:
            return alias
        outer = self.scope.parent
        while outer is not None:
            expr = outer.find(name, qualifier, at)
            if expr is not None:
                return expr
            outer = outer.parent
        if qualifier is not None and not any(
            fold(qualifier) in (fold(s.alias), *s.qualified) for s in self.scope.sources
        ):
            known = ", ".join(s.alias for s in self.scope.sources) or "(none)"
            raise SqlError(
                f'there is no table "{qualifier}" in this FROM', code=101, at=at, fix=f"The tables here are: {known}."
            )
        raise unknown_column(name, self.scope, at)

    def _alias(self, name: str) -> exp.Expr | None:
        folded = fold(name)
        return None if folded in self.expanding else self.aliases.get(folded)
