"""The tables of a .duckdb file, by name: for an owner who begins metadata."""

from __future__ import annotations

from pathlib import Path

import duckdb

from dpsql.engine.hardening import Hardened, Limits
from dpsql.engine.quoting import quote_text
from dpsql.errors import SourceError

_TABLES = """
    SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_catalog = 'database' ORDER BY 1
"""


def database_tables(path: Path) -> list[str]:
    """schema.name of each table and view. SourceError where the file is missing or cannot be read."""
    if not path.is_file():
        raise SourceError(f"there is no file {path}", code=301, fix="Check the path.")
    database = Hardened(Limits())
    try:
        database.connection.execute(f"ATTACH {quote_text(str(path.absolute()))} AS database (TYPE duckdb, READ_ONLY)")
        return [name for (name,) in database.connection.execute(_TABLES).fetchall()]
    except duckdb.Error:
        raise SourceError(
            f"{path} is not a DuckDB database that this version can read, or is open elsewhere for writing",
            code=307,
            fix="Check the file; close other connections to it.",
        ) from None
    finally:
        database.close()
