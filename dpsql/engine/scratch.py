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
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import duckdb

from dpsql.engine.backend import Failure
from dpsql.engine.failures import classify, first_line
from dpsql.engine.hardening import Hardened, Limits
from dpsql.engine.interruptible import Watch, interruptible
from dpsql.engine.loading import carried, columns_of, load_columns, load_stream, load_typed
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sealed import Closing
from dpsql.engine.snapshot import snapshot
from dpsql.engine.sources import ArrowStream, Column, Columns
from dpsql.engine.statements import one_select
from dpsql.engine.user_database import DATABASE, USER_CODE, Host, UserConnection
from dpsql.errors import (
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    Interrupted,
    OperationalError,
    PostProcessingError,
    SqlError,
)

T = TypeVar("T")
_RESULTS = "dpsql_results"
# What is wrong with a statement itself, whatever is stored.
_WRITTEN = (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException, duckdb.NotImplementedException)


class Scratch(Host, Closing):
    """An in-memory DuckDB for post-processing. Tables live in its schema main, by the names they are loaded under."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._database = Hardened(limits or Limits())
        self._connection = self._database.connection
        self._connection.execute(f"CREATE SCHEMA {_RESULTS}").fetchall()
        self._connection.execute(f"ATTACH ':memory:' AS {DATABASE}").fetchall()
        self._database.lock()
        self._statement = threading.Lock()
        self._counter = itertools.count(1)
        # Results that were closed or forgotten: dropped by the next statement, since a finaliser may run anywhere.
        self._dead: deque[str] = deque()
        self._users: weakref.WeakSet[UserConnection] = weakref.WeakSet()
        self.time_limit: float | None = None
        """Seconds that a statement with the analyst's own words in it may take."""
        self.user_version = 0
        """Counts the changes of the analyst's database: what is remembered of it is right as long as this stays."""
        self._closed = False

    def user_connection(self) -> UserConnection:
        """A connection to the analyst's tables, with transactions of its own."""
        cursor = self._database.lasting_cursor()
        self.run(lambda: cursor.execute(f"USE {DATABASE}").fetchall())
        user = UserConnection(self, cursor)
        self._users.add(user)
        return user

    def copy(self, user: UserConnection, name: str, table: str) -> None:
        """A working table with the rows of a relation as the user's connection sees it."""
        user.copy_into(self._connection, f"OR REPLACE TABLE {quote_identifier(table)}", name)

    def keep(self, stream: ArrowStream, columns: tuple[Column, ...]) -> ScratchResult:
        """Rows as a result, inside a statement that runs."""
        table = f"{_RESULTS}.r{next(self._counter)}"
        names = f"({', '.join(f'c{i}' for i in range(len(columns)))})"
        load_typed(self._connection, f"TABLE {table}", stream, columns, names)
        shown = _narrowed(self._connection, table, columns)
        return ScratchResult(self._database.cursor, table, shown, self._dead.append)

    def load(self, name: str, columns: Columns, types: Mapping[str, str] | None = None) -> None:
        """CREATE OR REPLACE TABLE from equally long arrays (zero rows too), each column CAST to its SQL type.

        NaN in a float array becomes NULL, as DuckDB reads numpy.
        """
        table = f"OR REPLACE TABLE {quote_identifier(name)}"
        self.run(lambda: load_columns(self._connection, table, columns, types=types))

    def load_stream(self, name: str, stream: ArrowStream) -> None:
        """CREATE OR REPLACE TABLE from an Arrow stream, its names and types."""
        table = f"OR REPLACE TABLE {quote_identifier(name)}"
        self.run(lambda: load_stream(self._connection, table, stream))

    def load_frame(self, name: str, frame: object) -> None:
        """CREATE OR REPLACE TABLE from a frame, its columns read as those of a private frame are: no cell can fail."""

        def load() -> None:
            table = quote_identifier(name)
            self._connection.execute(f"DROP TABLE IF EXISTS {table}").fetchall()
            snapshot(self._connection, name, table, frame)

        self.run(load)

    def columns(self, name: str) -> tuple[Column, ...]:
        """The columns of a table."""
        return self.describe(f"SELECT * FROM {quote_identifier(name)}")

    def execute(self, sql: str) -> int | None:
        """A statement without a result. The number of rows it changed, where DuckDB says one."""
        rows = self.run(lambda: self._connection.execute(sql).fetchall())
        return rows[0][0] if len(rows) == 1 and len(rows[0]) == 1 and isinstance(rows[0][0], int) else None

    def drop(self, name: str) -> None:
        """Drop a table if it is there."""
        self.execute(f"DROP TABLE IF EXISTS {quote_identifier(name)}")

    def describe(self, sql: str) -> tuple[Column, ...]:
        """A query's columns, without running it. SqlError 105 with DuckDB's message where it cannot be bound."""
        return self.run(lambda: _describe(self._connection, sql), SqlError, 105)

    def values(self, sql: str, parameters: list[list[object]]) -> list[tuple[Any, ...]]:
        """The few rows of a query of our own, as Python values."""
        return self.run(lambda: self._connection.execute(sql, parameters).fetchall())

    def query(self, sql: str, *, shown: bool = False) -> ScratchResult:
        """Run a query once; the result serves its rows as often as asked. PostProcessingError 502 if it fails.

        shown: to a user. Columns of HUGEINT, which DuckDB's sums of integers are, become BIGINT if every value is one."""
        table = f"{_RESULTS}.r{next(self._counter)}"
        columns = self.run(lambda: _create(self._connection, table, sql, narrow=shown), limited=shown)
        return ScratchResult(self._database.cursor, table, columns, self._dead.append, shown=shown)

    def carried(self, sql: str) -> tuple[ArrowStream, tuple[Column, ...]]:
        """The rows of a query of our own for another database, inside a statement that runs."""
        relation = self._connection.sql(sql)
        return carried(relation), columns_of(relation)

    def run(
        self, work: Callable[[], T], kind: type[Error] = PostProcessingError, code: int = 502, *, limited: bool = False
    ) -> T:
        """One statement at a time; DuckDB's errors come out as `kind`, but for those of constraints and transactions.
        limited: to `time_limit`."""
        with self._statement:
            if self._closed:
                raise InterfaceError("the connection is closed", code=601)
            try:
                while self._dead:
                    self._connection.execute(f"DROP TABLE IF EXISTS {self._dead.popleft()}").fetchall()
                with Watch(self.time_limit if limited else None, self.interrupt) as watch:
                    return interruptible(work, self.interrupt)
            except (duckdb.Error, RuntimeError, MemoryError, KeyboardInterrupt) as error:
                raise (watch.late_error() if watch.late else _failed(kind, code, error)) from None

    def interrupt(self) -> None:
        """Stop the statement that runs now; callable from any thread."""
        self._connection.interrupt()
        for user in list(self._users):
            user.interrupt()

    def close(self) -> None:
        with self._statement:
            self._closed = True
            for user in self._users:
                user.close()
            self._database.close()


def _describe(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[Column, ...]:
    if one_select(connection, sql) is None:
        connection.extract_statements(sql)  # a syntax error speaks for itself
        raise InternalError("scratch was given something other than one SELECT")
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
            return PostProcessingError("finishing the result needed more memory than is allowed", code=504)
        case _ if isinstance(error, duckdb.InvalidInputException) and "failed: OutOfMemoryException" in str(error):
            return _failed(kind, code, MemoryError())  # while it read another statement's rows
        case _ if isinstance(error, duckdb.ConstraintException):
            return IntegrityError(first_line(error), code=507)
        case _ if isinstance(error, duckdb.TransactionException):
            return OperationalError(first_line(error), code=508, fix="ROLLBACK ends the transaction.")
        case _ if code == USER_CODE and isinstance(error, duckdb.InvalidInputException) and "arameter" in str(error):
            return kind(first_line(error), code=109)
        case _ if code == USER_CODE:
            return kind(first_line(error), code=code) if isinstance(error, _WRITTEN) else DataError(first_line(error))
        case _:
            return kind(f"over the released rows: {first_line(error)}", code=code)
