"""The second database: it only ever holds released rows, public tables and the user's own, and finishes results.

It is hardened and locked at birth, before it sees an analyst's text. Nothing in it is private, so DuckDB's messages may
be shown.

Threads: a Scratch may be used from several threads; statements on it run one at a time. Each ScratchResult has a cursor
of its own and reads a finished table, so results may be fetched in any order and in parallel; one result belongs to one
thread at a time.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import duckdb

from dpsql.engine.failures import Failure, classify, first_line
from dpsql.engine.hardening import Hardened, Limits
from dpsql.engine.interruptible import interruptible
from dpsql.engine.loading import load_columns, load_stream
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sealed import Closing, Sealed
from dpsql.engine.snapshot import snapshot
from dpsql.engine.sources import ArrowStream, Column, Columns
from dpsql.engine.statements import one_select
from dpsql.errors import Error, InterfaceError, InternalError, Interrupted, PostProcessingError, SqlError

T = TypeVar("T")
_RESULTS = "dpsql_results"


class Scratch(Sealed, Closing):
    """An in-memory DuckDB for post-processing. Tables live in its schema main, by the names they are loaded under."""

    def __init__(
        self, *, memory_limit: str | None = None, threads: int | None = None, temp_directory: Path | None = None
    ) -> None:
        self._database = Hardened(Limits(memory=memory_limit, threads=threads, temp_directory=temp_directory))
        self._connection = self._database.connection
        self._connection.execute(f"CREATE SCHEMA {_RESULTS}").fetchall()
        self._database.lock()
        self._statement = threading.Lock()
        self._counter = itertools.count(1)
        # Results that were closed or forgotten: dropped by the next statement, since a finaliser may run anywhere.
        self._dead: deque[str] = deque()
        self._closed = False

    def load(self, name: str, columns: Columns, types: Mapping[str, str] | None = None) -> None:
        """CREATE OR REPLACE TABLE from equally long arrays (zero rows too), each column CAST to its SQL type.

        NaN in a float array becomes NULL, as DuckDB reads numpy.
        """
        table = f"OR REPLACE TABLE {quote_identifier(name)}"
        self._run(lambda: load_columns(self._connection, table, columns, types=types))

    def load_stream(self, name: str, stream: ArrowStream) -> None:
        """CREATE OR REPLACE TABLE from an Arrow stream, its names and types."""
        table = f"OR REPLACE TABLE {quote_identifier(name)}"
        self._run(lambda: load_stream(self._connection, table, stream))

    def load_frame(self, name: str, frame: object) -> None:
        """CREATE OR REPLACE TABLE from a frame, its columns read as those of a private frame are: no cell can fail."""

        def load() -> None:
            table = quote_identifier(name)
            self._connection.execute(f"DROP TABLE IF EXISTS {table}").fetchall()
            snapshot(self._connection, name, table, frame)

        self._run(load)

    def columns(self, name: str) -> tuple[Column, ...]:
        """The columns of a table."""
        return self.describe(f"SELECT * FROM {quote_identifier(name)}")

    def execute(self, sql: str) -> int | None:
        """A statement without a result. The number of rows it changed, where DuckDB says one."""
        rows = self._run(lambda: self._connection.execute(sql).fetchall())
        return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], int) else None

    def drop(self, name: str) -> None:
        """Drop a table if it is there."""
        self.execute(f"DROP TABLE IF EXISTS {quote_identifier(name)}")

    def describe(self, sql: str) -> tuple[Column, ...]:
        """A query's columns, without running it. SqlError 105 with DuckDB's message where it cannot be bound."""
        return self._run(lambda: _describe(self._connection, sql), SqlError, 105)

    def query(self, sql: str, *, shown: bool = False) -> ScratchResult:
        """Run a query once; the result serves its rows as often as asked. PostProcessingError 502 if it fails.

        shown: to a user. Columns of HUGEINT, which DuckDB's sums of integers are, become BIGINT if every value is one."""
        table = f"{_RESULTS}.r{next(self._counter)}"
        columns = self._run(lambda: _create(self._connection, table, sql, narrow=shown))
        return ScratchResult(self._database.cursor, table, columns, self._dead.append, shown=shown)

    def _run(self, work: Callable[[], T], kind: type[Error] = PostProcessingError, code: int = 502) -> T:
        """One statement at a time; DuckDB's errors come out as `kind`."""
        with self._statement:
            if self._closed:
                raise InterfaceError("the connection is closed", code=601)
            try:
                while self._dead:
                    self._connection.execute(f"DROP TABLE IF EXISTS {self._dead.popleft()}").fetchall()
                return interruptible(work, self._connection.interrupt)
            except (duckdb.Error, RuntimeError, MemoryError, KeyboardInterrupt) as error:
                raise _failed(kind, code, error) from None

    def interrupt(self) -> None:
        """Stop the statement that runs now; callable from any thread."""
        self._connection.interrupt()

    def close(self) -> None:
        with self._statement:
            self._closed = True
            self._database.close()


def _describe(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Column, ...]:
    if one_select(connection, sql) is None:
        connection.extract_statements(sql)  # a syntax error speaks for itself
        raise InternalError("scratch was given something else than one SELECT")
    rows = connection.execute(f"DESCRIBE {sql}").fetchall()
    return tuple(Column(name=name, type=type_) for name, type_, *_ in rows)


def _create(connection: duckdb.DuckDBPyConnection, table: str, sql: str, *, narrow: bool) -> tuple[Column, ...]:
    columns = _describe(connection, sql)
    # Positions for names: a result may have two columns of one name, a table may not.
    names = ", ".join(f"c{i}" for i in range(len(columns)))
    connection.execute(f"CREATE TABLE {table} ({names}) AS {sql}").fetchall()
    return _narrowed(connection, table, columns) if narrow else columns


def _narrowed(connection: duckdb.DuckDBPyConnection, table: str, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """HUGEINT as BIGINT where it fits: pandas and Arrow have no integers of 128 bits."""
    wide = [i for i, column in enumerate(columns) if column.type == "HUGEINT"]
    if not wide:
        return columns
    fit = ", ".join(f"count(TRY_CAST(c{i} AS BIGINT)) = count(c{i})" for i in wide)
    (fitting,) = connection.execute(f"SELECT {fit} FROM {table}").fetchall()
    narrow = {i for i, fits in zip(wide, fitting, strict=True) if fits}
    for i in narrow:
        connection.execute(f"ALTER TABLE {table} ALTER c{i} TYPE BIGINT").fetchall()
    return tuple(dataclasses.replace(c, type="BIGINT") if i in narrow else c for i, c in enumerate(columns))


def _failed(kind: type[Error], code: int, error: BaseException) -> Error:
    match classify(error):
        case Failure.INTERRUPTED if isinstance(error, KeyboardInterrupt):
            return Interrupted("the query was interrupted")
        case Failure.INTERRUPTED:
            return PostProcessingError("the query was interrupted", code=503)
        case Failure.OUT_OF_MEMORY:
            return PostProcessingError("finishing the result needed more memory than it may use", code=504)
        case _:
            return kind(f"over the released rows: {first_line(error)}", code=code)
