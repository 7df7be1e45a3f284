"""Files and databases read and written on a connection that is nothing but DuckDB's own: no views, no cleaning, no locks.

For dpsql.testing alone, which compares what the reader makes of a source with what the source holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.files import exact_path, exact_paths
from dpsql.engine.quoting import quote_identifier, quote_list, quote_text
from dpsql.engine.sources import Database, Files


def file_paths(table: str, source: Files) -> tuple[Path, ...]:
    """The files that a source means now."""
    return exact_paths(table, source)


def parquet_table(table: str, source: Files) -> Any:
    """A pyarrow table of the rows of Parquet files, in the order of the files."""
    names = quote_list(str(path) for path in exact_paths(table, source))
    with _connected() as connection:
        return _arrow(
            connection.sql(
                f"SELECT * FROM read_parquet({names}, union_by_name = true, hive_partitioning = false,"
                " utf8_validation = 'replace')"
            )
        )


def database_table(table: str, source: Database) -> Any:
    """A pyarrow table of the rows of a table or view in a .duckdb file, in the order in which they are stored."""
    with _connected() as connection:
        path = quote_text(str(exact_path(table, source.path)))
        connection.execute(f"ATTACH {path} AS given (TYPE duckdb, READ_ONLY)")
        return _arrow(connection.sql(f"SELECT * FROM given.{_name(source)}"))


def write_database_table(source: Database, rows: object) -> None:
    """Put rows (anything with an Arrow stream) into a .duckdb file, which is made where there is none."""
    with _connected() as connection:
        connection.execute(f"ATTACH {quote_text(str(source.path))} AS made (TYPE duckdb)")
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS made.{quote_identifier(source.schema)}")
        connection.register("given_rows", rows)
        connection.execute(f"CREATE TABLE made.{_name(source)} AS SELECT * FROM given_rows")


def _name(source: Database) -> str:
    return f"{quote_identifier(source.schema)}.{quote_identifier(source.table)}"


def _arrow(relation: duckdb.DuckDBPyRelation) -> Any:
    return relation.to_arrow_table()


@contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(config={"threads": 1})
    try:
        yield connection
    finally:
        connection.close()
