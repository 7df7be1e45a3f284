"""The rows a frame stands for, as a FROM item: the base table, narrowed and widened step by step."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from dpsql.catalog.model import TableSpec
from dpsql.domain.types import DATE, TIMESTAMP
from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.expressions import END

Ends = tuple[float, float]
ALIAS = "df"
_BLANK = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*", re.DOTALL)
_WITH = re.compile(r"with\b", re.IGNORECASE)
_EXPLAIN = re.compile(r"explain\b", re.IGNORECASE)
_QUERY = re.compile(r"select\b|from\b|values\b|\(", re.IGNORECASE)
_JOINS = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "outer": "FULL JOIN"}


@dataclass(frozen=True, slots=True)
class Base:
    """A table by its name in the session; another session may know it by another."""

    name: str


Pieces = tuple[str | Base, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Relation:
    """pieces: SQL of a FROM item without its alias. where: conditions not yet in it. bounds, keys: declared ones.

    given: the user's own expressions that it is made of.
    """

    pieces: Pieces
    columns: tuple[str, ...]
    where: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    bounds: Mapping[str, Ends] = field(default_factory=lambda: MappingProxyType({}))
    keys: Mapping[str, tuple[object, ...]] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, table: TableSpec) -> Relation:
        bounds: dict[str, Ends] = {}
        for column in table.columns:
            ends = column.interval
            if ends.lower is not None and ends.upper is not None and column.type not in (DATE, TIMESTAMP):
                bounds[column.name] = (float(ends.lower), float(ends.upper))
        columns = tuple(column.name for column in table.columns)
        keys = {column.name: tuple(column.keys) for column in table.columns if column.keys is not None}
        frozen = MappingProxyType(bounds), MappingProxyType(keys)
        return cls(pieces=(Base(table.name),), columns=columns, bounds=frozen[0], keys=frozen[1])

    @property
    def sql(self) -> str:
        """The FROM item, called df."""
        return _text(self._item(ALIAS))

    def over(self, sql: str) -> str:
        """The statement with the name df meaning these rows."""
        if self.pieces == (Base(ALIAS),) and not self.where:
            return sql
        blank = _BLANK.match(sql)
        start = 0 if blank is None else blank.end()
        if explain := _EXPLAIN.match(sql, start):
            return f"EXPLAIN {self.over(sql[explain.end() :])}"
        listed = ", ".join(words.name(column) for column in self.columns)
        definition = f"WITH {ALIAS} AS (SELECT {listed} FROM {self.sql})"
        if _WITH.match(sql, start):
            return f"{definition}, {sql[start + len('with') :].lstrip()}"
        return f"{definition} {sql[start:]}" if _QUERY.match(sql, start) else sql

    def filtered(self, condition: str, given: Sequence[str]) -> Relation:
        """given: the user's own text in it."""
        return replace(self, where=(*self.where, condition), given=(*self.given, *given))

    def assigned(self, computed: Mapping[str, str], given: Sequence[str]) -> Relation:
        """New columns, or others in the place of old ones."""
        kept = tuple(column for column in self.columns if column not in computed)
        made = [f"({sql}{END}) AS {words.name(column)}" for column, sql in computed.items()]
        made_of = replace(self, given=(*self.given, *given))
        return made_of._projected([*map(words.name, kept), *made], (*kept, *computed), kept)

    def selected(self, columns: Sequence[str]) -> Relation:
        self.check(columns)
        if not columns:
            raise InterfaceError(
                "the list of columns is empty", code=608, fix=f"It has {', '.join(self.columns[:20])}."
            )
        return self._projected([words.name(column) for column in columns], tuple(columns), columns)

    def _projected(self, items: Sequence[str], columns: tuple[str, ...], unchanged: Sequence[str]) -> Relation:
        bounds = {column: self.bounds[column] for column in unchanged if column in self.bounds}
        keys = MappingProxyType({column: self.keys[column] for column in unchanged if column in self.keys})
        pieces = (f"(SELECT {', '.join(items)} FROM ", *self._item(ALIAS), ")")
        return Relation(pieces=pieces, columns=columns, bounds=MappingProxyType(bounds), keys=keys, given=self.given)

    def relabelled(self, names: Mapping[str, str]) -> Relation:
        """The columns under other names."""
        made = tuple(names.get(column, column) for column in self.columns)
        twice = next((name for name in made if made.count(name) > 1), None)
        if twice is not None:
            raise InterfaceError(f"two columns would be called {twice!r}", code=608, fix="Choose another name.")
        items = [f"{words.name(old)} AS {words.name(new)}" for old, new in zip(self.columns, made, strict=True)]
        bounds = {names.get(column, column): ends for column, ends in self.bounds.items()}
        keys = {names.get(column, column): values for column, values in self.keys.items()}
        plain = self._projected(items, made, ())
        return replace(plain, bounds=MappingProxyType(bounds), keys=MappingProxyType(keys))

    def joined(
        self, other: Relation, *, how: str, left_on: Sequence[str], right_on: Sequence[str], suffixes: Sequence[str]
    ) -> Relation:
        """pandas' merge: keys of one name once, other columns of one name with the suffixes."""
        self.check(left_on)
        other.check(right_on)
        shared = {one for one, two in zip(left_on, right_on, strict=True) if one == two}
        items = {column: _key(column, how) for column in self.columns if column in shared}
        for side, relation, theirs, suffix in (("l", self, other, suffixes[0]), ("r", other, self, suffixes[1])):
            for column in relation.columns:
                if column not in shared:
                    made = column + suffix if column in theirs.columns else column
                    items[made] = f"{side}.{words.name(column)}"
        listed = ", ".join(f"{sql} AS {words.name(made)}" for made, sql in items.items())
        pairs = zip(left_on, right_on, strict=True)
        on = " AND ".join(f"l.{words.name(one)} = r.{words.name(two)}" for one, two in pairs)
        pieces = (f"(SELECT {listed} FROM ", *self._item("l"), f" {_JOINS[how]} ", *other._item("r"), f" ON {on})")
        bounds = {
            c: e for one in (self, other) for c, e in one.bounds.items() if items.get(c, "").endswith(words.name(c))
        }
        keys = {c: e for one in (self, other) for c, e in one.keys.items() if items.get(c, "").endswith(words.name(c))}
        frozen = MappingProxyType(bounds), MappingProxyType(keys)
        given = (*self.given, *other.given)
        return Relation(pieces=pieces, columns=tuple(items), bounds=frozen[0], keys=frozen[1], given=given)

    def renamed(self, names: Mapping[str, str]) -> Relation:
        """The same over tables of other names."""
        pieces = tuple(Base(names.get(p.name, p.name)) if isinstance(p, Base) else p for p in self.pieces)
        return replace(self, pieces=pieces)

    def _item(self, alias: str) -> Pieces:
        if not self.where:
            return (*self.pieces, f" AS {alias}")
        conditions = " AND ".join(f"({condition}{END})" for condition in self.where)
        listed = ", ".join(words.name(column) for column in self.columns)
        return (f"(SELECT {listed} FROM ", *self.pieces, f" AS {ALIAS} WHERE {conditions}) AS {alias}")

    def check(self, columns: Sequence[str]) -> None:
        """Refuse what is no column of the frame."""
        for column in columns:
            if column not in self.columns:
                near = difflib.get_close_matches(str(column), self.columns, n=1)
                raise InterfaceError(
                    f"the frame has no column {column!r}",
                    code=608,
                    why=f"Did you mean {near[0]!r}?" if near else "",
                    fix=f"It has {', '.join(self.columns[:20])}.",
                )


def _key(column: str, how: str) -> str:
    quoted = words.name(column)
    return f"COALESCE(l.{quoted}, r.{quoted})" if how == "outer" else f"{'r' if how == 'right' else 'l'}.{quoted}"


def _text(pieces: Pieces) -> str:
    return "".join(words.name(piece.name) if isinstance(piece, Base) else piece for piece in pieces)
