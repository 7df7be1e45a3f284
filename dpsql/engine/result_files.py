"""Released rows into files. Scratch has no file access, so Python writes."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.loading import Forward, registered
from dpsql.engine.quoting import quote_text
from dpsql.engine.sources import ArrowStream, Column


def write_csv(path: Path, columns: tuple[Column, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(csv_line([column.name for column in columns]))
        file.writelines(csv_line(row) for row in rows)


def csv_line(values: Iterable[object]) -> str:
    """A line as DuckDB and PostgreSQL write it: nothing for NULL, "" for a text without a character."""
    return ",".join(_csv_cell(value) for value in values) + "\n"


def _csv_cell(value: object) -> str:
    text = csv_text(value)
    if value is None:
        return text
    quoted = not text or any(sign in text for sign in ',"\r\n')
    return '"' + text.replace('"', '""') + '"' if quoted else text


def csv_text(value: object) -> str:
    """A value as DuckDB would write it; NULL is empty."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case _:
            return str(value)


def write_json(path: Path, columns: tuple[Column, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """A list of objects, one a line. Two columns of one name: the later one counts, as everywhere in JSON."""
    names = [column.name for column in columns]
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number, row in enumerate(rows):
            record = {name: json_value(value) for name, value in zip(names, row, strict=True)}
            file.write(",\n" if number else "\n")
            json.dump(record, file, ensure_ascii=False, allow_nan=False)
        file.write("\n]\n")


def json_value(value: object) -> object:
    """JSON has no dates and no NaN: dates are ISO text, what is not finite is null, decimals are numbers."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case decimal.Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case list() | tuple():
            return [json_value(item) for item in value]
        case dict():
            return {str(key): json_value(item) for key, item in value.items()}
        case _:
            return str(value)


def write_parquet(path: Path, stream: ArrowStream) -> None:
    """A database of its own writes, so that this needs no pyarrow and scratch keeps its locks."""
    place = quote_text(str(path))
    with duckdb.connect() as connection, registered(connection, Forward(stream)) as view:
        connection.execute(f"COPY (SELECT * FROM {view}) TO {place} (FORMAT parquet)").fetchall()
