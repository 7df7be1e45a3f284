"""The analyst's part of scratch: a database beside scratch's working tables, with their tables, views and sequences.

Statements on them are DuckDB's, as text. An unqualified name means something in this database alone, so no working table
is met by its name; what a statement may say is checked by its caller (sql/changes.py), what kind it is here, by DuckDB's
own parser. Each connection has a cursor of its own, and so transactions of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from dpsql.engine.loading import Forward, carried, columns_of, load_typed, registered
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sealed import Sealed
from dpsql.engine.sources import ArrowStream, Column
from dpsql.engine.statements import kinds_of
from dpsql.errors import Error, InternalError, SqlError

if TYPE_CHECKING:
    from dpsql.engine.scratch_result import ScratchResult

T = TypeVar("T")
DATABASE = "scratch"
USER_CODE = 108  # of an error in a statement on the analyst's tables
Given = Sequence[object] | Mapping[str, object] | None
_KINDS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE_INTO", "CREATE", "ALTER", "DROP"})
_COUNTED = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE_INTO", "CREATE"})
_RELATIONS = """
    SELECT c.table_name, c.column_name, c.data_type, c.database_name = 'temp' OR v.view_name IS NOT NULL AS passing
    FROM duckdb_columns() AS c
    LEFT JOIN duckdb_views() AS v ON v.view_name = c.table_name AND v.database_name = c.database_name
        AND v.schema_name = c.schema_name
    WHERE NOT c.internal AND c.schema_name = 'main' AND c.database_name IN ('scratch', 'temp')
    ORDER BY c.database_name, c.table_name, c.column_index
"""


@dataclass(frozen=True, slots=True)
class Changed:
    """rows: what RETURNING gives. count: rows that were changed; -1 where nothing is counted."""

    rows: ScratchResult | None
    count: int


@dataclass(frozen=True, slots=True)
class UserRelation:
    """A table or a view of the analyst's. passing: only their connection sees it, or it may be other rows each time."""

    columns: tuple[Column, ...]
    passing: bool


def user_relation(name: str) -> str:
    """The SQL of a relation of the analyst's, anywhere in scratch."""
    return f"{DATABASE}.main.{quote_identifier(name)}"


def working_table(name: str) -> str:
    """The SQL of a working table of scratch, for views that we make in the analyst's database."""
    return f"memory.main.{quote_identifier(name)}"


class Host(Sealed):
    """What of scratch a UserConnection needs: one statement at a time, and results that outlive a transaction."""

    def run(self, work: Callable[[], T], kind: type[Error], code: int, *, limited: bool = False) -> T:
        raise NotImplementedError  # scratch has it

    def keep(self, stream: ArrowStream, columns: tuple[Column, ...]) -> ScratchResult:
        raise NotImplementedError  # scratch has it


class UserConnection(Sealed):
    """One connection to the analyst's database."""

    def __init__(self, host: Host, cursor: duckdb.DuckDBPyConnection) -> None:
        self._host = host
        self._cursor = cursor
        self.in_transaction = False

    def begin(self) -> None:
        self._execute("BEGIN TRANSACTION")
        self.in_transaction = True

    def commit(self) -> None:
        """Nothing, where there is no transaction. One that cannot be committed is over, too."""
        if self.in_transaction:
            self.in_transaction = False
            self._execute("COMMIT")

    def rollback(self) -> None:
        if self.in_transaction:
            self.in_transaction = False
            self._execute("ROLLBACK")

    def change(self, sql: str, parameters: Given = None, *, returning: bool = False) -> Changed:
        """A statement that makes, changes or drops something of the analyst's."""

        def work() -> Changed:
            kind = self._kind(sql)
            given = list(parameters) if isinstance(parameters, Sequence) else parameters
            if returning:
                relation = self._cursor.sql(sql, params=given or None)
                return Changed(self._host.keep(carried(relation), columns_of(relation)), len(relation))
            rows = self._cursor.execute(sql, given or None).fetchall()
            return Changed(None, rows[0][0] if kind in _COUNTED and rows and isinstance(rows[0][0], int) else -1)

        return self._host.run(work, SqlError, USER_CODE, limited=True)

    def query(self, sql: str, parameters: Given = None) -> ScratchResult:
        """The rows of a query over the analyst's database, as text that was checked."""

        def work() -> ScratchResult:
            if kinds_of(self._cursor, sql) != ["SELECT"]:
                raise InternalError("what was taken for a query is something else")
            given = list(parameters) if isinstance(parameters, Sequence) else parameters
            relation = self._cursor.sql(sql, params=given or None)
            return self._host.keep(carried(relation), columns_of(relation))

        return self._host.run(work, SqlError, USER_CODE, limited=True)

    def _kind(self, sql: str) -> str:
        kinds = kinds_of(self._cursor, sql)
        if kinds == ["MULTI"]:
            raise SqlError(
                "this statement cannot have a PIVOT without IN",
                code=USER_CODE,
                why="DuckDB makes several statements of it.",
                fix="Name the values: PIVOT … ON k IN ('a', 'b') …, or make a table of it first.",
            )
        if len(kinds) != 1 or kinds[0] not in _KINDS:
            raise InternalError("what was taken for a change of a table is something else")
        return str(kinds[0])

    def fill(self, sql: str, stream: ArrowStream) -> int:
        """A statement of ours that reads the stream under the name LOADING; how many rows it changed."""

        def work() -> int:
            with registered(self._cursor, Forward(stream)):
                rows = self._cursor.execute(sql).fetchall()
            return rows[0][0] if rows else 0

        return self._host.run(work, SqlError, USER_CODE)

    def relations(self) -> dict[str, UserRelation]:
        """By name, as this connection sees them now."""
        seen: dict[str, UserRelation] = {}
        for name, column, type_, passing in self._execute(_RELATIONS):
            before = seen[name].columns if name in seen and seen[name].passing is passing else ()
            seen[name] = UserRelation((*before, Column(name=column, type=type_)), passing)
        return seen

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The few rows of a query of our own, as Python values."""
        return self._execute(sql, list(parameters))

    def copy_into(self, connection: duckdb.DuckDBPyConnection, table: str, name: str) -> None:
        """A copy of a relation, as this connection sees it, into a table of another."""

        def work() -> None:
            relation = self._cursor.sql(f"SELECT * FROM {quote_identifier(name)}")
            load_typed(connection, table, carried(relation), columns_of(relation))

        self._host.run(work, SqlError, USER_CODE, limited=True)

    def _execute(self, sql: str, parameters: list[object] | None = None) -> list[tuple[Any, ...]]:
        return self._host.run(lambda: self._cursor.execute(sql, parameters).fetchall(), SqlError, USER_CODE)

    def interrupt(self) -> None:
        self._cursor.interrupt()

    def close(self) -> None:
        """What was not committed is taken back."""
        self._cursor.close()
