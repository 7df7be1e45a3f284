"""Small tables in front of a statement: arrays that are unnested, so that a role needs nothing but SELECT.

WITH "keys" ("ordinal", "value") AS (SELECT c0, c1 FROM unnest($1::bigint[], $2::text[]) AS u (c0, c1)) SELECT …
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from dpsql.engine.backend import Loads
from dpsql.engine.loading import Forward, registered
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sources import Array, ArrowStream, Columns

WITH = "WITH "
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
Loaded = tuple[str, str, list[Any]]  # a column's name, its PostgreSQL type, its values: of text where the type is cast


def with_loads(sql: str, loads: Loads) -> tuple[str, list[Any]] | None:
    """The statement with its loads in front, and its parameters. None for what is not one WITH or SELECT."""
    if not sql.startswith((WITH, "SELECT ")) or sql.startswith("WITH RECURSIVE"):
        return None
    tables: list[str] = []
    parameters: list[Any] = []
    for name, data in loads.items():
        columns = _of_columns(data) if isinstance(data, Mapping) else _of_stream(data)
        tables.append(_table(name, columns, len(parameters)))
        parameters += [values for _, _, values in columns]
    if not tables:
        return sql, parameters
    rest = f", {sql.removeprefix(WITH)}" if sql.startswith(WITH) else f" {sql}"
    return f"{WITH}{', '.join(tables)}{rest}", parameters


def _table(name: str, columns: Sequence[Loaded], before: int) -> str:
    arrays = ", ".join(
        f"${before + i + 1}::{'bigint' if type_ == 'bigint' else 'text'}[]" for i, (_, type_, _) in enumerate(columns)
    )
    items = ", ".join(
        f"c{i}" if type_ in ("bigint", "text") else f"CAST(c{i} AS {type_})" for i, (_, type_, _) in enumerate(columns)
    )
    aliases = ", ".join(f"c{i}" for i in range(len(columns)))
    names = ", ".join(quote_identifier(column) for column, _, _ in columns)
    return f"{quote_identifier(name)} ({names}) AS (SELECT {items} FROM unnest({arrays}) AS u ({aliases}))"


def _of_columns(columns: Columns) -> list[Loaded]:
    """Integers and texts. A row with a NUL in a text is left out: PostgreSQL holds none, so no row of its meets it."""
    texts = [values for values in columns.values() if values.dtype.kind in "OU"]
    kept = [i for i in range(len(next(iter(columns.values())))) if not any("\0" in (v[i] or "") for v in texts)]
    return [(name, *_typed(values[kept])) for name, values in columns.items()]


def _typed(values: Array) -> tuple[str, list[Any]]:
    if values.dtype.kind in "iu":
        return "bigint", np.ma.asarray(values).tolist()
    if values.dtype.kind in "OU":
        return "text", values.tolist()
    raise TypeError("a table for the vault holds integers and texts")


def _of_stream(stream: ArrowStream) -> list[Loaded]:
    """Rows of a public relation: all but integers travel as text that reads back as the same value. Moments are kept within
    the years 1 to 9999, as every cleaned column's are; infinite ones are NULL."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    try:
        connection.execute("SET TimeZone = 'UTC'")
        with registered(connection, Forward(stream)) as view:
            connection.execute(f"CREATE TABLE load AS SELECT * FROM {view}")
        described = connection.execute("DESCRIBE load").fetchall()
        items = [_item(quote_identifier(name), type_) for name, type_, *_ in described]
        rows = connection.execute(f"SELECT {', '.join(sql for sql, _ in items)} FROM load").fetchall()
    finally:
        connection.close()
    values = list(zip(*rows, strict=True)) or [()] * len(items)
    if any(isinstance(cell, str) and "\0" in cell for column in values for cell in column):
        raise ValueError("a text of a public table holds a NUL, which PostgreSQL cannot hold")
    names = [name for name, *_ in described]
    return [(name, type_, list(column)) for name, (_, type_), column in zip(names, items, values, strict=True)]


def _item(column: str, type_: str) -> tuple[str, str]:
    if type_ in INTEGERS:
        return f"CAST({column} AS BIGINT)", "bigint"
    if type_ in ("DATE", "TIMESTAMP"):
        last = "9999-12-31" if type_ == "DATE" else "9999-12-31 23:59:59.999999"
        within = f"greatest(least({column}, {type_} '{last}'), {type_} '0001-01-01')"
        return f"CASE WHEN NOT isinf({column}) THEN CAST({within} AS VARCHAR) END", type_.lower()
    words = {"DOUBLE": "double precision", "FLOAT": "double precision", "BOOLEAN": "boolean", "VARCHAR": "text"}
    wide = type_.startswith("DECIMAL") or type_ in ("HUGEINT", "UHUGEINT", "UBIGINT")
    item = f"CAST(CAST({column} AS DOUBLE) AS VARCHAR)" if type_ == "FLOAT" else f"CAST({column} AS VARCHAR)"
    return item, "numeric" if wide else words.get(type_, "text")
