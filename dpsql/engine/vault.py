"""The private data: opened, hardened, and answered from in integers and text only.

Every failure after opening is one opaque error; the engine's own words go to the owner's log and nowhere else, not even
into an exception's context.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dpsql.engine.failures import Failure, classify
from dpsql.engine.hardening import Limits
from dpsql.engine.interruptible import interruptible
from dpsql.engine.loading import load_columns, load_stream
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.reader import Reader, relation
from dpsql.engine.sealed import Closing, Sealed
from dpsql.engine.sources import Array, ArrowStream, Column, Columns, Source
from dpsql.engine.statements import one_select
from dpsql.errors import ExecutionError, InterfaceError, InternalError, Interrupted

OwnerLog = Callable[[str], None]
Described = tuple[str, str, bool]  # a column's name, its type, whether it may be NULL


class Vault(Sealed, Closing):
    """Private tables behind one hardened connection. Runs may overlap: each has a cursor of its own."""

    def __init__(self, reader: Reader, owner_log: OwnerLog | None) -> None:
        self._reader = reader
        self._owner_log = owner_log
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self._guard = threading.Lock()
        self._closed = False

    @classmethod
    def open(
        cls,
        sources: Mapping[str, Source],
        *,
        memory_limit: str | None = None,
        threads: int | None = None,
        temp_directory: Path | None = None,
        owner_log: OwnerLog | None = None,
    ) -> Vault:
        """Open every source. Reads schemas (and copies frames), raises SourceError with a code and no cell in it."""
        limits = Limits(memory=memory_limit, threads=threads, temp_directory=temp_directory)
        return cls(Reader(sources, limits), owner_log)

    @staticmethod
    def relation(table: str, *, row_number: bool = False) -> str:
        """The SQL to put after FROM: source."t", or source_rows."t" with the BIGINT column "__row"."""
        return relation(table, row_number=row_number)

    def columns(self, table: str) -> tuple[Column, ...]:
        """The source's own columns, from its schema only."""
        return self._reader.columns(table)

    def has_row_numbers(self, table: str) -> bool:
        """Whether the table's rows can be units of their own."""
        return self._reader.has_row_numbers(table)

    def run(
        self,
        sql: str,
        *,
        loads: Mapping[str, Columns | ArrowStream] | None = None,
        columns: Sequence[Described] | None = None,
    ) -> dict[str, Array]:
        """One query's columns: BIGINT as int64 (masked if a NULL came), VARCHAR as objects (str or None).

        columns: what they must be, in order; anything else is a bug and stops here.

        `loads` are temporary tables for this call alone. ExecutionError 500 for any failure of the engine, 503 when
        interrupted (Ctrl-C too; the vault stays usable), 504 when memory or disk ran out.
        """
        failure: Failure | None = None
        by_signal = False
        result: dict[str, Array] = {}
        wrong = ""
        with self._guard:
            if self._closed:
                raise InterfaceError("the vault is closed")
            cursor = self._reader.cursor()
            self._running.add(cursor)
        try:
            before = self._reader.state()
            result, wrong = interruptible(lambda: _answer(cursor, sql, loads or {}, columns), cursor.interrupt)
            if self._reader.state() != before:  # a statement may read its rows twice: they must be the same
                failure, result = Failure.CHANGED, {}
        except (Exception, KeyboardInterrupt) as error:  # whatever it is, its message may quote a cell
            failure, by_signal = classify(error), isinstance(error, KeyboardInterrupt)
            self._tell_owner(error)
        finally:
            self._forget(cursor)
        if failure is not None:
            raise Interrupted("the query was interrupted") if by_signal else _opaque(failure)
        if wrong:
            raise InternalError(wrong)
        return result

    def _forget(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Close a run's cursor, and with it its temporary tables."""
        with self._guard:
            self._running.discard(cursor)
        cursor.close()

    def _tell_owner(self, error: BaseException) -> None:
        if self._owner_log is not None:
            self._owner_log(f"{type(error).__name__}: {error}")

    def interrupt(self) -> None:
        """Stop whatever runs now; callable from any thread."""
        with self._guard:
            running = tuple(self._running)
        for cursor in running:
            cursor.interrupt()

    def close(self) -> None:
        self._closed = True
        self._reader.close()


def _answer(
    cursor: duckdb.DuckDBPyConnection,
    sql: str,
    loads: Mapping[str, Columns | ArrowStream],
    expected: Sequence[Described] | None,
) -> tuple[dict[str, Array], str]:
    for name, data in loads.items():
        _load(cursor, name, data)
    return _fetch(cursor, sql, expected)


def _load(cursor: duckdb.DuckDBPyConnection, name: str, data: Columns | ArrowStream) -> None:
    table = f"TEMP TABLE {quote_identifier(name)}"
    if isinstance(data, Mapping):
        # what holds nothing but NULL says nothing of its type by itself
        types = {name: "VARCHAR" for name, values in data.items() if values.dtype.kind == "O"}
        load_columns(cursor, table, data, types=types)
    else:
        load_stream(cursor, table, data)


def _fetch(
    cursor: duckdb.DuckDBPyConnection, sql: str, expected: Sequence[Described] | None
) -> tuple[dict[str, Array], str]:
    """The columns, or what is wrong with them: anything but BIGINT and VARCHAR would be fetched inexactly."""
    select = one_select(cursor, sql)
    if select is None:
        return {}, "the vault was given something else than one SELECT"
    cursor.execute(select)
    described = [(column[0], str(column[1])) for column in cursor.description or ()]
    names = [name for name, _ in described]
    for name, type_ in described:
        if type_ not in ("BIGINT", "VARCHAR"):
            return {}, f"the vault's column {name} is a {type_}, neither BIGINT nor VARCHAR"
    if expected is not None and described != [(name, type_) for name, type_, _ in expected]:
        return {}, "the vault's columns are not those of the statement"
    fetched: dict[str, Any] = dict(cursor.fetchnumpy())
    if list(fetched) != names:
        return {}, "two of the vault's columns have one name"
    exact = {name: _exact(fetched[name], type_) for name, type_ in described}
    if any(not nullable and _has_null(exact[name]) for name, _, nullable in expected or ()):
        return {}, "the vault answered NULL where there is none"
    return exact, ""


def _has_null(values: Array) -> bool:
    if values.dtype.kind == "O":
        return any(value is None for value in values)
    return bool(np.ma.getmaskarray(values).any())


def _exact(values: Array, type_: str) -> Array:
    if type_ == "BIGINT":
        return values if np.ma.isMaskedArray(values) else np.asarray(values, dtype=np.int64)
    mask = np.ma.getmask(values)
    if mask is np.ma.nomask:
        return np.asarray(values, dtype=object)
    texts = np.array(np.ma.getdata(values), dtype=object)
    texts[mask] = None
    return texts


def _opaque(failure: Failure) -> ExecutionError:
    match failure:
        case Failure.INTERRUPTED:
            return ExecutionError("the query was interrupted", code=503)
        case Failure.CHANGED:
            return ExecutionError(
                "a source's files were written to while the query ran",
                code=505,
                fix="Nothing was released, and the charge stays. Replace files as a whole, between queries.",
            )
        case Failure.OUT_OF_MEMORY:
            return ExecutionError(
                "the query needed more memory or disk than it may use", code=504, fix="The owner can raise the limits."
            )
        case _:
            return ExecutionError(
                "the engine could not finish the query", code=500, fix="Details are in the owner's log."
            )
