"""The columns of a frame by its schema alone: an empty slice of it is read, never a cell."""

from __future__ import annotations

import re
from typing import Any

import duckdb

from dpsql.engine.snapshot import is_pandas, snapshot
from dpsql.engine.sources import Column

_TABLE = "df"
_OBJECTS = '"NULL"'  # what DuckDB calls a column of Python objects without rows
_ARROW_DECIMAL = re.compile(r"decimal128\((\d+), (\d+)\)")


def frame_columns(data: Any) -> tuple[Column, ...]:
    """Names and DuckDB's types; Python objects are text. SourceError 306 if it is no frame."""
    with duckdb.connect(":memory:") as connection:
        snapshot(connection, _TABLE, _TABLE, _emptied(data))
        rows = connection.execute(f"DESCRIBE {_TABLE}").fetchall()
    dtypes = [str(dtype) for dtype in data.dtypes] if is_pandas(data) else [""] * len(rows)
    return tuple(
        Column(name=name, type=_of_objects(dtype) if type_ == _OBJECTS else type_)
        for (name, type_, *_), dtype in zip(rows, dtypes, strict=True)
    )


def _of_objects(dtype: str) -> str:
    """pandas' Arrow dtypes say more than their objects do."""
    if dtype.startswith("date32"):
        return "DATE"
    match = _ARROW_DECIMAL.match(dtype)
    return f"DECIMAL({match[1]},{match[2]})" if match is not None else "VARCHAR"


def _emptied(data: Any) -> Any:
    """The frame without its rows; of a bare Arrow stream there is only all of it, of which the schema is read."""
    if is_pandas(data):
        return data.iloc[:0]
    if isinstance(data, dict):
        return {name: values[:0] if hasattr(values, "__getitem__") else values for name, values in data.items()}
    if callable(getattr(data, "slice", None)):  # polars, pyarrow
        return data.slice(0, 0)
    return data
