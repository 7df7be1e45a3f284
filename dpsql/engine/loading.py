"""Rows from numpy arrays or an Arrow stream into a table of a connection, without pandas and without pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import numpy as np

from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sources import Array, ArrowStream, Column, Columns

_VIEW = "dpsql_loading"
LOADING = quote_identifier(_VIEW)


class Forward:
    """Passes a stream on. Registered in place of the object itself, whose class DuckDB might treat specially (it
    refuses another database's relation, for one)."""

    def __init__(self, stream: ArrowStream) -> None:
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._stream.__arrow_c_stream__(requested_schema)


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, data: object) -> Iterator[str]:
    """The SQL name under which `data` can be read inside the block. Unregistered after it, or it would leak."""
    connection.register(_VIEW, data)
    try:
        yield quote_identifier(_VIEW)
    finally:
        connection.unregister(_VIEW)


def load_columns(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Columns,
    *,
    types: Mapping[str, str] | None = None,
) -> None:
    """CREATE TABLE `table` (SQL text, may say TEMP) from equally long arrays; `types` casts the columns it names."""
    if not columns:
        raise ValueError("a table needs at least one column")
    if len({len(values) for values in columns.values()}) != 1:
        raise ValueError("the columns of a table have the same number of rows")
    wanted = types or {}
    # Positions, not names, on the Python side: DuckDB renames a mapping's keys that differ only in case.
    data = {f"c{i}": plain(values) for i, values in enumerate(columns.values())}
    items = [f"CAST(c{i} AS {wanted[name]})" if name in wanted else f"c{i}" for i, name in enumerate(columns)]
    names = ", ".join(quote_identifier(name) for name in columns)
    with registered(connection, data) as view:
        connection.execute(f"CREATE {table} ({names}) AS SELECT {', '.join(items)} FROM {view}").fetchall()


def load_stream(connection: duckdb.DuckDBPyConnection, table: str, stream: ArrowStream) -> None:
    """CREATE TABLE `table` from an Arrow stream, its names and types."""
    with registered(connection, Forward(stream)) as view:
        connection.execute(f"CREATE {table} AS SELECT * FROM {view}").fetchall()


def load_typed(
    connection: duckdb.DuckDBPyConnection, table: str, stream: ArrowStream, columns: Sequence[Column], names: str = ""
) -> None:
    """CREATE TABLE `table` from an Arrow stream, with the types the rows had before: Arrow has no UUIDs, JSON, or integers
    of 128 bits. names: a list in parentheses, where they are not the stream's."""
    items = ", ".join(
        f"CAST({quote_identifier(f'c{i}')} AS {column.type}) AS {quote_identifier(f'c{i}' if names else column.name)}"
        for i, column in enumerate(columns)
    )
    given = ", ".join(quote_identifier(f"c{i}") for i in range(len(columns)))
    with registered(connection, Forward(stream)) as view:
        connection.execute(f"CREATE {table} {names} AS SELECT {items} FROM {view} AS t({given})").fetchall()


def columns_of(relation: duckdb.DuckDBPyRelation) -> tuple[Column, ...]:
    return tuple(
        Column(name=name, type=str(type_)) for name, type_ in zip(relation.columns, relation.types, strict=True)
    )


def carried(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The same rows, where Arrow would change values: bits, times with a zone and unsigned integers of 128 bits are text.
    `load_typed` makes of them what they were."""
    types = [_carried(type_) for type_ in relation.types]
    if types == [str(type_) for type_ in relation.types]:
        return relation
    names = map(quote_identifier, relation.columns)
    items = (f"CAST(#{i} AS {type_}) AS {name}" for i, (type_, name) in enumerate(zip(types, names, strict=True), 1))
    return relation.project(", ".join(items))


def _carried(type_: Any) -> str:
    match type_.id:
        case "bit" | "uhugeint" | "time with time zone":
            return "VARCHAR"
        case "list":
            return f"{_carried(type_.children[0][1])}[]"
        case "array":
            (_, child), (_, size) = type_.children
            return f"{_carried(child)}[{size}]"
        case "map":
            return f"MAP({', '.join(_carried(child) for _, child in type_.children)})"
        case "tuple":
            return f"TUPLE({', '.join(_carried(child) for _, child in type_.children)})"
        case "struct" | "union":
            parts = (f"{quote_identifier(name)} {_carried(child)}" for name, child in type_.children if name)
            return f"{type_.id.upper()}({', '.join(parts)})"
    return str(type_)


def plain(values: Array) -> Array:
    """The same values in a dtype that DuckDB reads as itself: it makes an ENUM of fixed-width text, and knows no days,
    no foreign byte order and no rows that are backwards in memory."""
    values = values.copy() if values.strides[0] < 0 else values
    match values.dtype.kind:
        case "U" | "S":
            return values.astype(object)
        case "M":
            return values.astype("datetime64[us]")
        case "O":
            return values
        case _:
            return np.ma.asanyarray(values).astype(values.dtype.newbyteorder("="), copy=False)
