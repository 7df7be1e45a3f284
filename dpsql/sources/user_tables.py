"""The tables of the user's own, as one connection sees them: what is in a transaction of it that has not ended, too."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Mapping
from contextlib import closing
from types import MappingProxyType
from typing import Any

from dpsql.catalog.model import Catalog, TableSpec, in_schemas, spellings
from dpsql.domain.types import (
    ANY,
    BIGINT,
    BOOLEAN,
    DATE,
    HUGEINT,
    INTEGER,
    REAL,
    SMALLINT,
    TEXT,
    TIMESTAMP,
    TINYINT,
    Type,
    decimal,
)
from dpsql.engine.loading import LOADING
from dpsql.engine.quoting import fold, quote_identifier
from dpsql.engine.scratch import Scratch
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sealed import Sealed
from dpsql.engine.sources import ArrowStream
from dpsql.engine.user_database import Changed, Given, UserRelation, user_relation, working_table

Columns = tuple[tuple[str, Type], ...]
_COPIES = itertools.count(1)
_KEPT = 16


class UserTables(Sealed):
    """known: the columns of each table and view, by folded name."""

    def __init__(self, scratch: Scratch, catalog: Catalog) -> None:
        self._scratch = scratch
        self._hidden = frozenset(spelling for spec in catalog.tables for spelling in spellings(spec) | in_schemas(spec))
        self._shown: set[str] = set()
        self._connection = scratch.user_connection()
        self._version = -1
        self.autocommit = True
        """Whether each statement is a transaction of its own; if not, the first change begins one."""
        self._relations: Mapping[str, UserRelation] = {}
        self._known: Mapping[str, Columns] = {}
        self._copies: dict[str, str] = {}
        self._old: deque[str] = deque()

    @property
    def known(self) -> Mapping[str, Columns]:
        self._look()
        return self._known

    def _look(self) -> None:
        version = self._scratch.user_version
        if version == self._version:
            return
        relations = {fold(name): relation for name, relation in self._connection.relations().items()}
        self._relations = {name: relation for name, relation in relations.items() if name not in self._hidden}
        self._known = MappingProxyType(
            {
                name: tuple((column.name, type_of(column.type)) for column in relation.columns)
                for name, relation in self._relations.items()
            }
        )
        self._version = version
        self._old += self._copies.values()
        self._copies.clear()
        while len(self._old) > _KEPT:  # what a statement in another thread may still read
            self._scratch.drop(self._old.popleft())

    def relation(self, name: str) -> str:
        """The SQL by which scratch reads a relation: a copy, where only this connection sees its rows, and of a view, so
        that every step of a query sees the same."""
        self._look()
        if not (self.in_transaction or self._relations[name].passing):
            return user_relation(name)
        if name not in self._copies:
            copy = f"t_{next(_COPIES)}"
            self._scratch.copy(self._connection, name, copy)
            self._copies[name] = copy
        return quote_identifier(self._copies[name])

    def change(self, sql: str, parameters: Given = None, *, returning: bool = False) -> Changed:
        """One statement on the tables, as text that was checked."""
        try:
            return self._connection.change(sql, parameters, returning=returning)
        finally:
            self._changed()

    def query(self, sql: str, parameters: Given = None) -> ScratchResult:
        """The rows of a query over the user's database, as text that was checked."""
        return self._connection.query(sql, parameters)

    def fill(self, sql: str, stream: ArrowStream) -> int:
        """A statement of ours that reads the stream under the name LOADING; how many rows it changed."""
        try:
            return self._connection.fill(sql, stream)
        finally:
            self._changed()

    def show(self, spec: TableSpec, table: str) -> None:
        """A public table under its names, for statements that are text. table: of scratch, its columns numbered."""
        if spec.name in self._shown:
            return
        items = ", ".join(f'"{i}" AS {quote_identifier(c.name)}' for i, c in enumerate(spec.columns))
        if self.in_transaction and not self._sees(table):
            return self._show_copy(spec.name, f"SELECT {items} FROM {working_table(table)}")
        for spelling in sorted(spellings(spec)):
            schema, _, name = spelling.rpartition(".")
            if "." not in schema:  # of catalog.schema.table the last two parts are enough
                self._show(schema or "main", name, f"SELECT {items} FROM {working_table(table)}")
        self._shown.add(spec.name)

    def _show(self, schema: str, name: str, query: str) -> None:
        self._connection.rows(f"CREATE SCHEMA IF NOT EXISTS {quote_identifier(schema)}")
        self._connection.rows(f"CREATE OR REPLACE VIEW {quote_identifier(schema)}.{quote_identifier(name)} AS {query}")

    def _sees(self, table: str) -> bool:
        """A transaction sees the working tables that were there when it first looked."""
        sql = "SELECT 1 FROM duckdb_tables() WHERE database_name = 'memory' AND schema_name = 'main' AND table_name = ?"
        return bool(self._connection.rows(sql, (table,)))

    def _show_copy(self, name: str, query: str) -> None:
        """A table of this connection alone, with the rows."""
        with closing(self._scratch.query(query)) as rows:
            self._connection.fill(f"CREATE OR REPLACE TEMP TABLE {quote_identifier(name)} AS FROM {LOADING}", rows)

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def begin(self) -> None:
        self._connection.begin()
        self._changed()

    def commit(self) -> None:
        try:
            self._connection.commit()
        finally:
            self._changed()

    def rollback(self) -> None:
        try:
            self._connection.rollback()
        finally:
            self._shown.clear()  # what was shown in the transaction is gone
            self._changed()

    def has_schema(self, name: str) -> bool:
        sql = "SELECT 1 FROM duckdb_schemas() WHERE database_name = 'scratch' AND lower(schema_name) = ?"
        return bool(self._connection.rows(sql, (name,)))

    def rows(self, sql: str, parameters: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The few rows of a query of ours over the user's database, its catalog say."""
        return self._connection.rows(sql, parameters)

    def _changed(self) -> None:
        self._scratch.user_version += 1

    def close(self) -> None:
        """What was not committed is taken back."""
        self._connection.close()


def type_of(sql: str) -> Type:
    """A type of scratch as one of ours; ANY for the ones we have no name for."""
    known = (BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, REAL, DATE, TIMESTAMP, TEXT)
    ours = next((type_ for type_ in known if type_.sql == sql), None)
    if ours is None and sql.startswith("DECIMAL(") and sql.endswith(")"):
        precision, scale = sql.removeprefix("DECIMAL(").removesuffix(")").split(",")
        ours = decimal(int(precision), int(scale))
    return ours or ANY


__all__ = ["UserTables", "type_of"]
