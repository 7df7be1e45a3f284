"""The tables of a .duckdb file and their declared keys, by name: for an owner who begins metadata."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.hardening import Hardened, Limits
from dpsql.engine.quoting import quote_text
from dpsql.errors import SourceError

_TABLES = """
    SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_catalog = 'database' ORDER BY 1
"""


_KEYS = """
    SELECT schema_name || '.' || table_name, constraint_type, constraint_column_names,
        schema_name || '.' || referenced_table, referenced_column_names
    FROM duckdb_constraints()
    WHERE database_name = 'database' AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class Reference:
    """A declared foreign key. table: schema.name of the table it leads to."""

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys a table declares; a primary key of no column is none."""

    primary: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()


def database_tables(path: Path) -> list[str]:
    """schema.name of each table and view. SourceError where the file is missing or cannot be read."""
    return [name for (name,) in _asked(path, _TABLES)]


def database_keys(path: Path) -> dict[str, Keys]:
    """The declared keys by schema.name; no row is read."""
    keys: dict[str, Keys] = {}
    for name, kind, columns, table, to in _asked(path, _KEYS):
        before = keys.get(name, Keys())
        if kind == "PRIMARY KEY":
            keys[name] = replace(before, primary=tuple(columns))
        else:
            reference = Reference(tuple(columns), table, tuple(to))
            keys[name] = replace(before, references=(*before.references, reference))
    return keys


def _asked(path: Path, sql: str) -> list[tuple[Any, ...]]:
    if not path.is_file():
        raise SourceError(f"there is no file {path}", code=301, fix="Check the path.")
    database = Hardened(Limits())
    try:
        database.connection.execute(f"ATTACH {quote_text(str(path.absolute()))} AS database (TYPE duckdb, READ_ONLY)")
        return database.connection.execute(sql).fetchall()
    except duckdb.Error:
        raise SourceError(
            f"{path} is not a DuckDB database that this version can read, or is open for writing elsewhere",
            code=307,
            fix="Check the file; close other connections to it.",
        ) from None
    finally:
        database.close()
