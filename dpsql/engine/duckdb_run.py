"""One query on DuckDB: each statement on a cursor of its own, which its temporary tables end with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from dpsql.engine.backend import BIGINT, Changed, Loads
from dpsql.engine.loading import load_columns, load_stream
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sealed import Sealed
from dpsql.engine.sources import Array, ArrowStream, Columns
from dpsql.engine.statements import one_select


class DuckdbRun(Sealed):
    """cursor: makes one. state: of the sources; equal states are the same rows."""

    def __init__(
        self, cursor: Callable[[], duckdb.DuckDBPyConnection], state: Callable[[], tuple[object, ...]]
    ) -> None:
        self._new_cursor = cursor
        self._state = state
        self._begun: tuple[object, ...] | None = None
        self._cursor: duckdb.DuckDBPyConnection | None = None

    def start(self) -> None:
        if self._begun is None:
            self._begun = self._state()

    def execute(self, sql: str, loads: Loads) -> Sequence[tuple[str, str]] | None:
        self.start()
        self.close()
        self._cursor = cursor = self._new_cursor()
        for name, data in loads.items():
            _load(cursor, name, data)
        select = one_select(cursor, sql)
        if select is None:
            return None
        cursor.execute(select)
        return [(column[0], str(column[1])) for column in cursor.description or ()]

    def fetch(self) -> dict[str, Array]:
        assert self._cursor is not None
        types = {column[0]: str(column[1]) for column in self._cursor.description or ()}
        fetched: dict[str, Any] = dict(self._cursor.fetchnumpy())
        return {name: _exact(fetched[name], type_) for name, type_ in types.items()}

    def check(self) -> None:
        """Files may be read twice, in one statement or in several: they must be the same then."""
        if self._state() != self._begun:
            raise Changed

    def interrupt(self) -> None:
        if (cursor := self._cursor) is not None:
            cursor.interrupt()

    def close(self) -> None:
        if (cursor := self._cursor) is not None:
            self._cursor = None
            cursor.close()


def _load(cursor: duckdb.DuckDBPyConnection, name: str, data: Columns | ArrowStream) -> None:
    table = f"TEMP TABLE {quote_identifier(name)}"
    if isinstance(data, Mapping):
        # what holds nothing but NULL says nothing of its type by itself
        types = {name: "VARCHAR" for name, values in data.items() if values.dtype.kind == "O"}
        load_columns(cursor, table, data, types=types)
    else:
        load_stream(cursor, table, data)


def _exact(values: Array, type_: str) -> Array:
    if type_ == BIGINT:
        return values if np.ma.isMaskedArray(values) else np.asarray(values, dtype=np.int64)
    mask = np.ma.getmask(values)
    if mask is np.ma.nomask:
        return np.asarray(values, dtype=object)
    texts = np.array(np.ma.getdata(values), dtype=object)
    texts[mask] = None
    return texts
