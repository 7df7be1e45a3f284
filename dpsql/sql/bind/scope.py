"""Scopes: which names mean which columns, in one SELECT block and, for correlated subqueries, in the blocks around it."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field

from dpsql.catalog.model import fold
from dpsql.errors import Span, SqlError
from dpsql.ir.expr import Expr
from dpsql.ir.nodes import Field


@dataclass(frozen=True, slots=True)
class Source:
    """One FROM item: its alias, further qualifiers that name it (schema.table), and its columns."""

    alias: str
    fields: tuple[Field, ...]
    qualified: tuple[str, ...] = ()
    hidden: frozenset[int] = frozenset()  # columns that USING merged away: found only with their qualifier


@dataclass(slots=True)
class Scope:
    """merged: the columns of USING and NATURAL, which any unqualified use of the name means."""

    sources: tuple[Source, ...]
    merged: dict[str, Expr] = field(default_factory=dict)
    parent: Scope | None = None

    def find(self, name: str, qualifier: str | None, at: Span | None) -> Expr | None:
        """The column of that name in this block; None if there is none. More than one is an error."""
        folded = fold(name)
        if qualifier is None and folded in self.merged:
            return self.merged[folded]
        hits: list[tuple[Source, Field]] = []
        for source in self.sources:
            if qualifier is not None and fold(qualifier) not in (fold(source.alias), *source.qualified):
                continue
            hits += [
                (source, column)
                for column in source.fields
                if fold(column.name) == folded and (qualifier is not None or column.id not in source.hidden)
            ]
        if len(hits) > 1:
            names = " or ".join(f"{source.alias}.{column.name}" for source, column in hits[:3])
            raise SqlError(
                f'column "{name}" could be {names}', code=104, at=at, fix=f"Write which one you mean: {names}."
            )
        return hits[0][1].column() if hits else None

    def star(self, qualifier: str | None, at: Span | None) -> Iterator[tuple[str, Expr]]:
        """The columns that * (or t.*) stands for, in order."""
        if qualifier is not None and not any(self._named(source, qualifier) for source in self.sources):
            raise unknown_table(qualifier, [source.alias for source in self.sources], at)
        for source in self.sources:
            if qualifier is not None and not self._named(source, qualifier):
                continue
            for column in source.fields:
                if qualifier is None and column.id in source.hidden:
                    continue
                merged = self.merged.get(fold(column.name)) if qualifier is None else None
                yield column.name, column.column() if merged is None else merged

    @staticmethod
    def _named(source: Source, qualifier: str) -> bool:
        return fold(qualifier) in (fold(source.alias), *source.qualified)

    def names(self) -> list[str]:
        return [column.name for source in self.sources for column in source.fields]


def unknown_column(name: str, scope: Scope, at: Span | None) -> SqlError:
    near = difflib.get_close_matches(name.lower(), [n.lower() for n in scope.names()], n=1)
    known = [n for n in scope.names() if near and n.lower() == near[0]]
    if known:
        fix = f'Did you mean "{known[0]}"?'
    elif at is not None and at.end - at.start == len(name) + len('""'):
        single = name.replace("'", "''")
        fix = f"Double quotes are for names; a text is written '{single}'."
    elif scope.names():
        fix = f"The columns here are: {', '.join(dict.fromkeys(scope.names()[:20]))}."
    else:
        fix = "There is no FROM clause, so there are no columns."
    return SqlError(f'there is no column "{name}"', code=102, at=at, fix=fix)


def unknown_table(name: str, known: list[str], at: Span | None) -> SqlError:
    sought = name.lower() if name.lower() in map(str.lower, known) else name.lower().rpartition(".")[2]
    near = difflib.get_close_matches(sought, [n.lower() for n in known], n=1)
    hit = [n for n in known if near and n.lower() == near[0]]
    fix = f'Did you mean "{hit[0]}"?' if hit else f"The tables here are: {', '.join(known[:20]) or '(none)'}."
    return SqlError(f'there is no table "{name}"', code=101, at=at, fix=fix)
