"""How DuckDB prints an expression: that is how it names a SELECT item without an alias.

A pure function of text. The connection that computes it holds no table, reads no file and can be told nothing else.
"""

from __future__ import annotations

from functools import lru_cache

import duckdb

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "threads": "1",
    "memory_limit": "256MB",
    "max_temp_directory_size": "0KiB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "enable_external_access": "false",
    "lock_configuration": "true",
}
_PRINT = "SELECT json_deserialize_sql(json_serialize_sql(?))"
_SELECT = "SELECT "


@lru_cache(maxsize=1)
def _connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:", config=_SETTINGS)


@lru_cache(maxsize=4096)
def printed(item: str) -> str | None:
    """`item`, one SELECT item and perhaps a WINDOW clause, as DuckDB prints it; None where DuckDB cannot read it."""
    if "\x00" in item:  # where its printing would end
        return None
    connection = _connection()
    try:
        with connection.cursor() as cursor:
            rows = cursor.execute(_PRINT, [_SELECT + item]).fetchall()
    except duckdb.Error:
        return None
    return str(rows[0][0]).removeprefix(_SELECT)
