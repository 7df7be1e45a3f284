"""The tables of one PostgreSQL database, and one transaction for each query over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsql.engine.backend import BIGINT, VARCHAR, Changed, Failure, Loads
from dpsql.engine.hardening import Limits
from dpsql.engine.postgres import describing, settings
from dpsql.engine.postgres.connecting import OwnerLog, connect, driver
from dpsql.engine.postgres.loads import with_loads
from dpsql.engine.sealed import Sealed
from dpsql.engine.sources import Array, Column, Server
from dpsql.errors import SourceError

if TYPE_CHECKING:
    import psycopg

TYPES = {20: BIGINT, 25: VARCHAR}  # by oid
CANCEL_SECONDS = 5.0
State = tuple[tuple[str, str], dict[str, describing.Table]]  # which database it is, and its tables


class Postgres(Sealed):
    """PostgreSQL as a backend (engine/backend.py). Between queries there is no connection: servers restart, processes
    fork."""

    name = "postgresql"

    def __init__(self, sources: Mapping[str, Server], limits: Limits, owner_log: OwnerLog | None) -> None:
        """All sources are at one address. Describes them; SourceError."""
        (self._address,) = {source.address for source in sources.values()}
        self._sources, self._limits, self._owner_log = dict(sources), limits, owner_log
        settings.work_memory(limits)  # refused before anything is connected to
        self.system, self.tables = self._described()

    def _described(self) -> State:
        said, why = "", ""
        run = PostgresRun(self, None)
        try:
            return run.describe()
        except driver().Error as error:  # the message may quote anything
            said = f"{type(error).__name__}: {error}"
            if classify(error) is Failure.OUT_OF_TIME:
                why = " within its `timeout:`; perhaps somebody has locked them"
        finally:
            run.close()
        if self._owner_log is not None:
            self._owner_log(said)
        raise SourceError(
            f"the PostgreSQL database of `source:` does not describe its tables{why}",
            code=315,
            fix="Details are in the owner's log.",
        )

    def columns(self, table: str) -> tuple[Column, ...]:
        return self.tables[table].columns

    def relation(self, table: str, *, row_number: bool = False) -> str:
        return self.tables[table].numbered if row_number else self.tables[table].relation

    def unnumbered(self, table: str) -> str | None:
        return self.tables[table].unnumbered

    def computed(self, table: str) -> str | None:
        return self.tables[table].computed

    def identity(self, table: str) -> Mapping[str, str]:
        source, (system, database) = self._sources[table], self.system
        return {
            "kind": self.name,
            "system": system,
            "database": database,
            "schema": source.schema,
            "table": source.table,
        }

    def begin(self) -> PostgresRun:
        return PostgresRun(self, (self.system, self.tables))

    def classify(self, error: BaseException) -> Failure:
        return classify(error)

    def close(self) -> None:
        """There is nothing to close."""

    def connect(self) -> psycopg.Connection[Any]:
        return connect(self._address, self._owner_log)

    def begin_transaction(self, connection: psycopg.Connection[Any], locked: Sequence[str]) -> None:
        settings.begin(connection, locked, self._address.timeout, self._limits)

    def describe(self, connection: psycopg.Connection[Any]) -> State:
        describing.check_casts(connection)
        system = describing.identity(connection)
        for table, source in self._sources.items():
            if source.system not in (None, system[0]):
                raise SourceError(
                    f"table {table}: the server's system identifier is {system[0]}, and `system:` says {source.system}",
                    code=317,
                    fix="Connect to the server with the declared data, or correct `system:`.",
                )
        return system, {t: describing.described(connection, t, source) for t, source in self._sources.items()}


class PostgresRun(Sealed):
    """expected: what the sources were when they were opened; None: not known yet."""

    def __init__(self, backend: Postgres, expected: State | None) -> None:
        self._backend = backend
        self._expected = expected
        self._connection: psycopg.Connection[Any] | None = None
        self._cursor: Any = None
        self._stopped = False

    def start(self) -> None:
        """One transaction over the tables as they were described."""
        if self._connection is None:
            if self.describe() != self._expected:
                raise Changed
            assert self._connection is not None
            settings.for_stages(self._connection)

    def describe(self) -> State:
        tables = {} if self._expected is None else self._expected[1]
        self._connection = connection = self._backend.connect()
        if self._stopped:
            raise InterruptedError
        errors = driver().errors
        try:
            self._backend.begin_transaction(connection, [t.relation for t in tables.values() if t.lockable])
        except (errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege, errors.WrongObjectType):
            connection.execute("ROLLBACK")
            self._backend.begin_transaction(connection, ())  # to say which table is gone, or may be read no more
        return self._backend.describe(connection)

    def execute(self, sql: str, loads: Loads) -> Sequence[tuple[str, str]] | None:
        statement = with_loads(sql, loads)
        if statement is None:
            return None
        self.start()
        assert self._connection is not None
        self._cursor = self._connection.cursor(binary=True)
        self._cursor.execute(*statement)  # by the extended protocol, which takes one statement
        return [
            (column.name, TYPES.get(column.type_code, f"type {column.type_code}"))
            for column in self._cursor.description
        ]

    def fetch(self) -> dict[str, Array]:
        described = self._cursor.description
        rows = self._cursor.fetchall()
        columns = list(zip(*rows, strict=True)) or [()] * len(described)
        return {
            column.name: _integers(values) if TYPES[column.type_code] == BIGINT else _texts(values)
            for column, values in zip(described, columns, strict=True)
        }

    def check(self) -> None:
        """One transaction sees one snapshot."""

    def interrupt(self) -> None:
        self._stopped = True
        connection = self._connection
        if connection is not None and not connection.closed:
            psycopg = driver()
            with suppress(psycopg.Error, OSError):  # it is asked again
                connection.cancel_safe(timeout=CANCEL_SECONDS)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()  # which rolls back


def classify(error: BaseException) -> Failure:
    """By the five letters of the SQL standard alone."""
    if isinstance(error, Changed):
        return Failure.CHANGED
    if isinstance(error, InterruptedError | KeyboardInterrupt):
        return Failure.INTERRUPTED
    if isinstance(error, MemoryError):
        return Failure.OUT_OF_MEMORY
    state = str(getattr(error, "sqlstate", None) or "")
    if state == "57014":
        return Failure.OUT_OF_TIME
    return Failure.OUT_OF_MEMORY if state.startswith("53") else Failure.FAILED


def _integers(values: Sequence[int | None]) -> Array:
    absent = [value is None for value in values]
    numbers = np.array([0 if value is None else value for value in values], dtype=np.int64)
    return np.ma.MaskedArray(numbers, absent) if any(absent) else numbers


def _texts(values: Sequence[str | None]) -> Array:
    texts = np.empty(len(values), dtype=object)
    texts[:] = values
    return texts
