"""The sources without one unit: which rows only it reaches, found in Python, without the engine.

A row of a table with a unit column is reached by that unit. A row of a table with a unit path is reached by whoever
reaches a row of the other table that equals it in every pair of columns. A row as unit is reached by itself, and nothing
reaches a row of a public table. Removed are the rows that the unit alone reaches; what another one reaches too stays, and
so do rows that nobody reaches: those without a unit.

That is what a neighbour in the promise is. `orphans` keeps the rows of path tables that the unit alone reached: nobody
reaches them any more, so no answer may show whether they are there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsql.catalog.model import Catalog, ColumnSpec, TableSpec, fold, format_of
from dpsql.errors import InterfaceError
from dpsql.metadata.load import load
from dpsql.testing.copies import public, read, shuffled
from dpsql.testing.one_copy import Copy

CatalogLike = str | Path | Mapping[str, object] | Catalog


Unit = int | str  # of a table whose rows are units: the row's number, from 0
Reach = Mapping[str, Sequence[frozenset[Unit]]]  # table → whose each row is
Places = Mapping[str, Sequence[int]]  # table → rows


def neighbour(catalog: CatalogLike, source: object, unit: object, *, orphans: bool = False) -> dict[str, object]:
    """The sources without a unit, as frames that connect(source=…) takes. A row as unit is given by its number,
    from 0. orphans: rows stay that only this unit reached by a path.

    Tables of a database server become tables beside them, in schemas dpsql_judge_… that stay: the role must be allowed
    to make them."""
    return Copies.read(catalog, source).without(unit, orphans=orphans)


def neighbour_files(
    catalog: CatalogLike, source: object, unit: object, folder: Path, *, orphans: bool = False
) -> dict[str, object]:
    """The same in each source's own format, written into a folder: CSV, Parquet, .duckdb; frames stay frames."""
    copies = Copies.read(catalog, source)
    return copies.written(copies.places(unit, orphans=orphans), folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """Every private table's rows in memory, and whose they are. public: what public tables are given as."""

    catalog: Catalog
    copies: Mapping[str, Copy]
    reach: Reach
    public: Mapping[str, object]

    @classmethod
    def read(cls, catalog: CatalogLike, source: object = None) -> Copies:
        described = catalog if isinstance(catalog, Catalog) else load(catalog)
        copies = read(described, source)
        return cls(catalog=described, copies=copies, reach=reached(described, copies), public=public(described, source))

    def units(self, tables: Sequence[str] | None = None) -> list[Unit]:
        """Everybody who reaches a row (of these tables)."""
        wanted = {fold(name) for name in tables} if tables is not None else None
        units = {
            unit
            for name, whose in self.reach.items()
            if wanted is None or fold(name) in wanted
            for row in whose
            for unit in row
        }
        return sorted(units, key=lambda unit: (type(unit).__name__, unit))

    def everything(self, *, last: object = None) -> Places:
        """All rows. last: a unit whose rows are moved to the end."""
        if last is None:
            return {name: range(copy.count) for name, copy in self.copies.items()}
        kept = self.places(last)
        return {
            name: [*kept[name], *sorted(set(range(copy.count)) - set(kept[name]))] for name, copy in self.copies.items()
        }

    def places(self, unit: object, *, orphans: bool = False) -> Places:
        """All rows but those that the unit alone reaches."""
        gone = frozenset([_checked(unit)])
        kept: dict[str, list[int]] = {}
        for table in _private(self.catalog):
            stay = orphans and table.unit_path is not None
            whose = self.reach[table.name]
            kept[table.name] = [at for at, row in enumerate(whose) if stay or row != gone]
        return kept

    def without(self, unit: object, *, orphans: bool = False) -> dict[str, object]:
        return self.frames(self.places(unit, orphans=orphans))

    def frames(self, places: Places, *, seed: int | None = None) -> dict[str, object]:
        """Those rows as frames, or tables of the same server; seed: in another order."""
        private = {name: self.copies[name].rows(_ordered(rows, seed)) for name, rows in places.items()}
        return {**self.public, **private}

    def close(self) -> None:
        """Remove the copies that were written into a database server."""
        for copy in self.copies.values():
            copy.close()

    def written(self, places: Places, folder: Path) -> dict[str, object]:
        return {**self.public, **{name: self.copies[name].written(rows, folder) for name, rows in places.items()}}


def _checked(unit: object) -> Unit:
    if not isinstance(unit, int | str):
        raise InterfaceError(f"a unit is not a {type(unit).__name__}")
    return unit


def _private(catalog: Catalog) -> list[TableSpec]:
    return [table for table in catalog.tables if not table.public]


def _ordered(rows: Sequence[int], seed: int | None) -> Sequence[int]:
    return rows if seed is None else [rows[at] for at in shuffled(len(rows), seed)]


def reached(catalog: Catalog, copies: Mapping[str, Copy]) -> Reach:
    """Whose each row is: the least sets that hold every step, found by taking steps until none adds anybody."""
    units_of: dict[str, list[frozenset[Unit]]] = {
        t.name: _whose_rows(t, copies[t.name], catalog) for t in _private(catalog)
    }
    keys = {t.name: _keys(t, catalog, copies) for t in _private(catalog) if t.unit_path is not None}
    changed = True
    while changed:
        changed = False
        for name, (through, mine, others) in keys.items():
            whose: dict[tuple[Any, ...], set[Unit]] = defaultdict(set)
            for other, row in zip(others, units_of[through], strict=True):
                whose[other] |= row
            now = [frozenset[Unit](() if None in key else whose.get(key, ())) for key in mine]
            changed = changed or now != units_of[name]
            units_of[name] = now
    return units_of


def _whose_rows(table: TableSpec, copy: Copy, catalog: Catalog) -> list[frozenset[Unit]]:
    """Whose the rows are by themselves."""
    if table.row_is_unit:
        return [frozenset[Unit]([at]) for at in range(copy.count)]
    if table.unit_column is None:
        return [frozenset()] * copy.count
    assert catalog.unit_type is not None
    units = [copy.unit(cell, catalog.unit_type) for cell in copy.cells(table.unit_column)]
    return [frozenset() if unit is None else frozenset([unit]) for unit in units]


Keys = list[tuple[Any, ...]]


def _keys(table: TableSpec, catalog: Catalog, copies: Mapping[str, Copy]) -> tuple[str, Keys, Keys]:
    """The table that the path goes through, and the rows' keys here and there."""
    path = table.unit_path
    assert path is not None
    through = catalog.table(path.through)
    assert through is not None
    ours = _values(copies[table.name], [_column(table, mine) for mine, _ in path.on], catalog, table)
    others = _values(copies[through.name], [_column(through, other) for _, other in path.on], catalog, through)
    return through.name, ours, others


def _column(table: TableSpec, name: str) -> ColumnSpec:
    column = table.column(name)
    assert column is not None
    return column


def _values(copy: Copy, columns: Sequence[ColumnSpec], catalog: Catalog, table: TableSpec) -> Keys:
    """The values of the columns; a path may also start from the unit's own column, which has its own rule."""
    by_column: list[list[Any]] = []
    for column in columns:
        cells = copy.cells(column.name)
        if table.unit_column is not None and fold(column.name) == fold(table.unit_column):
            assert catalog.unit_type is not None
            by_column.append([copy.unit(cell, catalog.unit_type) for cell in cells])
        else:
            form = format_of(table, column)
            by_column.append([copy.value(cell, column, form) for cell in cells])
    return list(zip(*by_column, strict=True))
