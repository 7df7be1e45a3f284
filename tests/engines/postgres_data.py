"""The rows of tests' frames in tables of a PostgreSQL server."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

import duckdb
import psycopg

from dpsql.engine.sources import Server as Source
from tests.engines.postgres import OWNER, PLAIN, READER, Server

TYPES = {
    "BOOLEAN": "boolean", "TINYINT": "smallint", "SMALLINT": "smallint", "INTEGER": "integer", "BIGINT": "bigint",
    "HUGEINT": "numeric", "UBIGINT": "numeric", "FLOAT": "real", "DOUBLE": "double precision", "VARCHAR": "text",
    "DATE": "date", "TIMESTAMP": "timestamp", "TIMESTAMP_NS": "timestamp", "TIMESTAMP_MS": "timestamp",
    "TIMESTAMP_S": "timestamp", '"NULL"': "text",
}  # fmt: skip
_SCHEMAS = itertools.count(1)


def stored(server: Server, catalog: Mapping[str, Any], frames: Mapping[str, object]) -> dict[str, Source]:
    """A table for each frame, in a schema that no other has, with types like DuckDB's own. Doubles that are declared decimal
    are stored as the decimals that DuckDB reads: PostgreSQL's reading of them is refused."""
    schema = f"data_{next(_SCHEMAS)}"
    with duckdb.connect() as reader, psycopg.connect(host=str(server.folder), dbname=PLAIN, user=OWNER) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema} TO {READER}")
        for name, frame in frames.items():
            reader.register("frame", _registered(frame))
            described = [_as_declared(*each[:2], catalog["tables"][name]["columns"]) for each in _described(reader)]
            columns = ", ".join(f'"{column}" {_type(type_)}' for column, type_ in described)
            shown = ", ".join(_shown(column, type_) for column, type_ in described)
            connection.execute(f'CREATE TABLE {schema}."{name}" ({columns})')
            rows = [_storable(row) for row in reader.execute(f"SELECT {shown} FROM frame").fetchall()]
            with connection.cursor() as cursor:
                marks = ", ".join(["%s"] * len(described))
                cursor.executemany(f'INSERT INTO {schema}."{name}" VALUES ({marks})', rows)
            reader.unregister("frame")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {READER}")
    return {name: server.table(name, schema) for name in frames}


def _storable(row: tuple[Any, ...]) -> list[Any]:
    """Texts of PostgreSQL have no NUL; its moments before our era are written otherwise."""
    return [cell.replace("\0", "").replace(" (BC)", " BC") if isinstance(cell, str) else cell for cell in row]


def _described(reader: duckdb.DuckDBPyConnection) -> list[tuple[str, ...]]:
    return reader.execute("DESCRIBE frame").fetchall()


def _as_declared(column: str, type_: str, columns: Mapping[str, Any]) -> tuple[str, str]:
    declared = columns.get(column, "")
    kind = declared if isinstance(declared, str) else declared["type"]
    return (
        (column, kind.upper().replace(" ", "")) if kind.startswith("decimal") and type_ == "DOUBLE" else (column, type_)
    )


def _registered(frame: object) -> Any:
    if isinstance(frame, dict):
        import pandas as pd

        return pd.DataFrame(frame)
    return frame


def _type(type_: str) -> str:
    digits = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", type_)
    if type_.startswith("ENUM"):
        return "text"
    return f"numeric({digits[1]},{digits[2]})" if digits else TYPES[type_]


def _shown(column: str, type_: str) -> str:
    name = f'"{column}"'
    if type_.startswith("DECIMAL"):
        return f"CAST(TRY_CAST({name} AS {type_}) AS VARCHAR)"
    if type_.startswith(("HUGEINT", "UBIGINT", "ENUM")) or type_ in ("DATE", "TIMESTAMP", '"NULL"'):
        return f"CAST({name} AS VARCHAR)"  # beyond Python's digits and years
    return f"CAST(CAST({name} AS TIMESTAMP) AS VARCHAR)" if type_.startswith("TIMESTAMP") else name
