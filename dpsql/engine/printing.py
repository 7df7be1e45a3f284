"""How DuckDB prints an expression: that is how it names a SELECT item without an alias.

A pure function of text. The connection that computes it holds no table, reads no file and can be told nothing else.
"""

from __future__ import annotations

import os
from functools import lru_cache

import duckdb

from dpsql.engine.hardening import never_ends

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
_PRINT = "SELECT json_deserialize_sql(json_serialize_sql(item)) FROM unnest(?::VARCHAR[]) AS items(item)"
_SELECT = "SELECT "


@lru_cache(maxsize=1)
def parser() -> duckdb.DuckDBPyConnection:
    """A connection that holds nothing, for questions about texts."""
    return duckdb.connect(":memory:", config=_SETTINGS)


def _after_fork() -> None:
    if parser.cache_info().currsize:
        never_ends(parser())
        parser.cache_clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)


def keywords() -> list[str]:
    """The words of DuckDB's grammar: as names it prints them in quotes."""
    return [word for (word,) in parser().execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()]


@lru_cache(maxsize=1024)
def printed(items: tuple[str, ...]) -> tuple[str | None, ...]:
    """SELECT items, each perhaps with a WINDOW clause, as DuckDB prints them; None for one that it cannot read.

    All at once, which costs a tenth; one by one where one of them cannot be read."""
    text = _printed(items)
    if text is not None:
        return text
    return (None,) if len(items) == 1 else tuple(printed((item,))[0] for item in items)


def _printed(items: tuple[str, ...]) -> tuple[str, ...] | None:
    if any("\x00" in item for item in items):  # where its printing would end
        return None
    connection = parser()
    try:
        with connection.cursor() as cursor:
            rows = cursor.execute(_PRINT, [[_SELECT + item for item in items]]).fetchall()
    except duckdb.Error:
        return None
    return tuple(text.removeprefix(_SELECT) for (text,) in rows)
