"""Small tables for a statement, as views of its session: whole numbers as they are, everything else as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np

from dpsql.engine.loading import Forward, registered
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sources import Array, ArrowStream, Columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def load(session: SparkSession, name: str, data: Columns | ArrowStream) -> None:
    import pyarrow

    if isinstance(data, Mapping):
        table = pyarrow.table({column: _typed(values) for column, values in data.items()})
    else:
        table = _of_stream(data)
    session.createDataFrame(table).createOrReplaceTempView(name)


def _typed(values: Array) -> Any:
    import pyarrow

    if values.dtype.kind in "iu":
        return pyarrow.array(np.ma.asarray(values).tolist(), pyarrow.int64())
    if values.dtype.kind in "OU":
        return pyarrow.array(values.tolist(), pyarrow.string())
    raise TypeError("a table for the vault holds integers and texts")


def _of_stream(stream: ArrowStream) -> Any:
    """Rows of a public relation: all but integers travel as text that reads back as the same value. Moments are kept within
    the years 1 to 9999, as every cleaned column's are; infinite ones are NULL."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    try:
        connection.execute("SET TimeZone = 'UTC'")
        with registered(connection, Forward(stream)) as view:
            connection.execute(f"CREATE TABLE load AS SELECT * FROM {view}")
        described = connection.execute("DESCRIBE load").fetchall()
        items = [f"{_item(quote_identifier(name), type_)} AS {quote_identifier(name)}" for name, type_, *_ in described]
        return connection.sql(f"SELECT {', '.join(items)} FROM load").to_arrow_table()
    finally:
        connection.close()


def _item(column: str, type_: str) -> str:
    if type_ in INTEGERS:
        return f"CAST({column} AS BIGINT)"
    if type_ in ("DATE", "TIMESTAMP"):
        last = "9999-12-31" if type_ == "DATE" else "9999-12-31 23:59:59.999999"
        within = f"greatest(least({column}, {type_} '{last}'), {type_} '0001-01-01')"
        return f"CASE WHEN NOT isinf({column}) THEN CAST({within} AS VARCHAR) END"
    return f"CAST({f'CAST({column} AS DOUBLE)' if type_ == 'FLOAT' else column} AS VARCHAR)"
