"""Tables opened for reading on a hardened connection: what the vault and the public reader have in common.

Each table t is two views with predictable names: source."t" has the source's own columns, source_rows."t" has one more,
"__row", a BIGINT that no two rows share and that is the same in every scan of a statement.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import duckdb

from dpsql.engine import csv_lines, files, parquet_columns
from dpsql.engine.backend import Failure
from dpsql.engine.duckdb_run import DuckdbRun
from dpsql.engine.failures import classify
from dpsql.engine.hardening import Hardened, Limits
from dpsql.engine.quoting import fold, quote_identifier, quote_list, quote_text
from dpsql.engine.sealed import Sealed
from dpsql.engine.snapshot import refuse, snapshot
from dpsql.engine.sources import Column, Database, Files, Frame, Server, Source, SparkTable
from dpsql.errors import InternalError, SourceError

FOLDED = "VARCHAR COLLATE"  # the type of a column whose collation may take different texts for equal
COLLATED = re.compile(r'(?:"((?:[^"]|"")*)"|(\w+)) VARCHAR COLLATE ')
SCHEMA, ROWS_SCHEMA, FRAME_SCHEMA = "source", "source_rows", "frame"


def relation(table: str, *, row_number: bool = False) -> str:
    """What to put after FROM to read a table; with row_number it has the column "__row" too."""
    return f"{ROWS_SCHEMA if row_number else SCHEMA}.{quote_identifier(table)}"


class Reader(Sealed):
    """DuckDB as a backend (backend.py): opens every source, checks that each has a schema, then locks the connection."""

    name = "duckdb"

    def __init__(self, sources: Mapping[str, Source], limits: Limits) -> None:
        self._database = Hardened(limits)
        self._attached: dict[Path, str] = {}
        self._columns: dict[str, tuple[Column, ...]] = {}
        self._unnumbered: set[str] = set()
        self._paths: tuple[Path, ...] = ()
        try:
            self._open(sources)
        except BaseException:  # whatever it is: nobody else could close it; raised again
            self._database.close()
            raise

    def _open(self, sources: Mapping[str, Source]) -> None:
        connection = self._database.connection
        for schema in (SCHEMA, ROWS_SCHEMA, FRAME_SCHEMA):
            connection.execute(f"CREATE SCHEMA {schema}").fetchall()
        exact = {t: files.exact_paths(t, source) for t, source in sources.items() if isinstance(source, Files)}
        for table, source in sources.items():
            match source:
                case Files(kind="parquet"):
                    self._open_parquet(table, source, exact[table])
                case Files():
                    self._open_csv(table, source, exact[table])
                case Database():
                    self._open_database(table, source)
                case Frame():
                    self._open_frame(table, source)
                case Server() | SparkTable():
                    raise InternalError("a table of a server has a backend of its own")
        self._paths = tuple(dict.fromkeys(path for paths in exact.values() for path in paths))
        self._database.allow(self._paths)
        self._database.lock()

    def columns(self, table: str) -> tuple[Column, ...]:
        """The source's own columns: from its schema only, never from its rows."""
        return self._columns[table]

    def relation(self, table: str, *, row_number: bool = False) -> str:
        return relation(table, row_number=row_number)

    def unnumbered(self, table: str) -> str | None:
        """A view may give its rows in any order: there "__row" is NULL."""
        return "a view" if table in self._unnumbered else None

    def computed(self, table: str) -> str | None:
        """DuckDB says of no function whether it can fail."""
        return self.unnumbered(table)

    def identity(self, table: str) -> Mapping[str, str]:
        """None but the place that the metadata says."""
        return {}

    def begin(self) -> DuckdbRun:
        return DuckdbRun(self.cursor, self.state)

    def classify(self, error: BaseException) -> Failure:
        return classify(error)

    def state(self) -> tuple[object, ...]:
        """Of the files which they are and when they were last written; equal states are one snapshot. (Frames are copies,
        and a database is read inside one transaction.)"""
        statuses = (path.stat() for path in self._paths)
        return tuple((s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns) for s in statuses)

    def cursor(self) -> duckdb.DuckDBPyConnection:
        return self._database.cursor()

    def close(self) -> None:
        self._database.close()

    def _describe(self, relation_sql: str) -> tuple[Column, ...]:
        rows = self._database.connection.execute(f"DESCRIBE SELECT * FROM {relation_sql}").fetchall()
        return tuple(Column(name=name, type=type_) for name, type_, *_ in rows)

    def _publish(
        self,
        table: str,
        columns: tuple[Column, ...],
        source: str,
        *,
        row_number: str,
        item: Callable[[Column], str] = files.item,
    ) -> None:
        """Create the table's two views."""
        published = [column for column in columns if fold(column.name) != files.ROW_NUMBER]
        items = [item(column) for column in published]
        execute = self._database.connection.execute
        execute(f"CREATE VIEW {relation(table)} AS SELECT {', '.join(items)} FROM {source}").fetchall()
        numbered = [*items, f"{row_number} AS {quote_identifier(files.ROW_NUMBER)}"]
        target = relation(table, row_number=True)
        execute(f"CREATE VIEW {target} AS SELECT {', '.join(numbered)} FROM {source}").fetchall()
        self._columns[table] = tuple(files.total(column) for column in published)

    def _open_parquet(self, table: str, source: Files, paths: tuple[Path, ...]) -> None:
        text = files.read_parquet(paths)
        try:
            columns = self._describe(text)
        except duckdb.Error:
            columns = ()  # the message may quote a cell
        if not columns:
            what = (
                str(paths[0]) if len(paths) == 1 else f"one of its {len(paths)} files (or their columns differ in type)"
            )
            raise SourceError(
                f"table {table}: {what} cannot be read as Parquet", code=302, fix="Check the file, or its `source:`."
            )
        raising = self._raising_columns(paths)
        columns = tuple(dataclasses.replace(c, type=raising.get(fold(c.name), c.type)) for c in columns)
        folded = {fold(name) for name in source.exact}
        number = files.parquet_row_number(frozenset(fold(column.name) for column in columns))

        def item(column: Column) -> str:
            return files.parquet_item(column, exact=fold(column.name) in folded)

        self._publish(table, columns, text, row_number=number, item=item)

    def _raising_columns(self, paths: tuple[Path, ...]) -> dict[str, str]:
        nodes = self._database.connection.execute(
            f"SELECT {parquet_columns.COLUMNS} FROM parquet_schema({quote_list(str(path) for path in paths)})"
        ).fetchall()
        return parquet_columns.raising_columns(nodes)

    def _open_csv(self, table: str, source: Files, paths: tuple[Path, ...]) -> None:
        select, names = csv_lines.read_csv(table, source, paths)
        columns = tuple(Column(name=name, type="VARCHAR") for name in names)
        self._publish(table, columns, f"({select}) AS rows", row_number="row_number() OVER ()")

    def _open_frame(self, table: str, source: Frame) -> None:
        name = f"{FRAME_SCHEMA}.{quote_identifier(table)}"
        refused: SourceError | None = None
        try:
            snapshot(self._database.connection, table, name, source.data)
        except SourceError as error:
            refused = error
        except Exception:  # a frame is any object at all; what it raises may quote a cell
            refused = refuse(table, "its frame cannot be read")
        if refused is not None:
            refused.__context__ = None
            raise refused
        self._publish(table, self._describe(name), name, row_number="rowid")

    def _open_database(self, table: str, source: Database) -> None:
        alias = self._attach(table, source.path)
        kinds = self._database.connection.execute(
            "SELECT table_type FROM information_schema.tables"
            " WHERE table_catalog = ? AND table_schema = ? AND table_name = ?",
            [alias, source.schema, source.table],
        ).fetchall()
        name = f"{alias}.{quote_identifier(source.schema)}.{quote_identifier(source.table)}"
        try:
            columns = self._describe(name) if kinds else ()
        except duckdb.Error:
            columns = ()  # a view that reads what this connection may not
        if not columns:
            raise SourceError(
                f"table {table}: {source.path} has no readable table {source.schema}.{source.table}",
                code=303,
                fix="Check `source: {database: …, table: schema.name}`.",
            )
        folded = self._folded(alias, source)
        columns = tuple(dataclasses.replace(c, type=FOLDED) if fold(c.name) in folded else c for c in columns)
        generated = self._generated(alias, source)
        columns = tuple(
            dataclasses.replace(c, type=f"{files.GENERATED} {c.type}") if c.name in generated else c for c in columns
        )
        is_table = kinds[0][0] == "BASE TABLE"
        if not is_table:
            self._unnumbered.add(table)
        self._publish(table, columns, name, row_number="rowid" if is_table else "CAST(NULL AS BIGINT)")

    def _generated(self, alias: str, source: Database) -> frozenset[str]:
        """Columns that are computed whenever they are read."""
        rows = self._database.connection.execute(
            "SELECT column_name FROM information_schema.columns WHERE is_generated = 'ALWAYS'"
            " AND table_catalog = ? AND table_schema = ? AND table_name = ?",
            [alias, source.schema, source.table],
        ).fetchall()
        return frozenset(name for (name,) in rows)

    def _folded(self, alias: str, source: Database) -> frozenset[str]:
        """Columns with a collation, of which DuckDB tells only in the statement that makes the table."""
        made = self._database.connection.execute(
            "SELECT sql FROM duckdb_tables() WHERE database_name = ? AND schema_name = ? AND table_name = ?",
            [alias, source.schema, source.table],
        ).fetchall()
        names = COLLATED.findall(made[0][0]) if made else []
        return frozenset(fold(quoted.replace('""', '"') or plain) for quoted, plain in names)

    def _attach(self, table: str, path: Path) -> str:
        path = files.exact_path(table, path)
        if path in self._attached:
            return self._attached[path]
        alias = f"database_{len(self._attached)}"
        failure = None
        try:
            target = quote_text(str(path))
            self._database.connection.execute(f"ATTACH {target} AS {alias} (TYPE duckdb, READ_ONLY)").fetchall()
        except duckdb.Error as error:
            failure = Failure.IN_USE if _is_locked(error) else classify(error)
        if failure is Failure.IN_USE:
            raise SourceError(
                f"table {table}: {path} is open for writing elsewhere",
                code=304,
                fix="Close that connection, or pass one of its relations as the table's frame.",
            )
        if failure is not None:
            raise SourceError(
                f"table {table}: {path} is not a DuckDB database this version can read", code=307, fix="Check the file."
            )
        self._attached[path] = alias
        return alias


def _is_locked(error: duckdb.Error) -> bool:
    """Another process holds the file: DuckDB has no class for it."""
    return isinstance(error, duckdb.IOException) and "lock on file" in str(error)
