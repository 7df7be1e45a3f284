"""The public tables of a catalog: their rows in scratch, and the values of their columns; each is read once per session."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.domain.types import Atom
from dpsql.engine.public import PublicReader
from dpsql.engine.reader import relation
from dpsql.engine.scratch import Scratch
from dpsql.engine.sealed import Sealed
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.render.clean import cleaned
from dpsql.plan.transport import is_text
from dpsql.sources.table_sources import scan_of

PUBLIC = "p_"  # their prefix in scratch: no table of a user's meets one of them


@dataclass(slots=True, repr=False)
class PublicTables(Sealed):
    """keys: the distinct values of the columns that were asked for."""

    catalog: Catalog
    opened: Callable[[], PublicReader]
    keys: dict[tuple[str, str], tuple[Atom, ...]] = field(default_factory=dict)
    _reader: PublicReader | None = None
    _loaded: set[str] = field(default_factory=set)

    def load(self, name: str, scratch: Scratch) -> str:
        """The scratch table with a public table's cleaned rows."""
        spec = self._spec(name)
        table = PUBLIC + fold(spec.name)
        if table not in self._loaded:
            if self._reader is None:
                self._reader = self.opened()
            types = {c.name: c.type for c in self._reader.columns(spec.name)}
            scan = scan_of(spec)
            rows = cleaned(scan, spec, relation(spec.name), types)
            named = ", ".join(f'c{f.id} AS "{i}"' for i, f in enumerate(scan.fields))
            scratch.load_stream(table, self._reader.stream(f"SELECT {named} FROM ({rows}) AS t"))
            self._loaded.add(table)
        return table

    def read_keys(self, table: str, column: str, scratch: Scratch) -> None:
        """The distinct values of a column, NULL among them if it occurs, into `keys`."""
        if (table, column) not in self.keys:
            self.keys[table, column] = self._values(table, column, scratch)

    def _values(self, table: str, column: str, scratch: Scratch) -> tuple[Atom, ...]:
        spec = self._spec(table)
        declared = spec.column(column)
        assert declared is not None
        position = [c.name for c in spec.columns].index(declared.name)
        loaded = self.load(table, scratch)
        value = f'"{position}"'
        if not is_text(declared.type):
            value = DUCKDB.travelled(value, declared.type)
        with closing(scratch.query(f'SELECT DISTINCT {value} FROM "{loaded}"')) as result:
            return tuple(row[0] for row in result.fetchall())

    def _spec(self, name: str) -> TableSpec:
        spec = self.catalog.table(name)
        assert spec is not None
        return spec

    def forget(self) -> None:
        """The rows are gone with scratch, and the reader is another process's; values stay what they are."""
        self._reader = None
        self._loaded.clear()

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
