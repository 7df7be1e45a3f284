"""Views of the system tell of settings, files and working tables: statements on the analyst's tables do not name them."""

from __future__ import annotations

import re

from dpsql.catalog.model import fold
from dpsql.engine.apart.tree import system_names
from dpsql.errors import Refused, Span
from dpsql.sql.changes import Word, words

_PERHAPS = re.compile(r"duckdb_|sqlite_|pragma_|pg_|information_schema|show", re.IGNORECASE)  # nearly no text has one
_READING = frozenset("FROM JOIN PIVOT UNPIVOT DESCRIBE DESC SUMMARIZE SHOW".split())
_LISTED = frozenset("ALL DATABASES TABLES SCHEMAS VARIABLES".split())


def check_system_names(text: str) -> None:
    """Refused 120 where a text names a view of the system, in whatever quotes: `FROM 'pg_settings'` reads it, too."""
    if _PERHAPS.search(text) is None:
        return
    read = words(text)
    reads = any(word.upper in _READING for word in read)
    for word, following in zip(read, [*read[1:], None], strict=True):
        if word.names and fold(word.text) in system_names():
            raise _refused(word.text, word.at)
        if reads and word.kind == "text" and fold(word.text[1:-1]) in system_names():
            raise _refused(word.text[1:-1], word.at)
        if word.upper == "SHOW" and _is_listed(following):
            raise _refused("SHOW", word.at)


def _is_listed(following: Word | None) -> bool:
    return following is not None and following.upper in _LISTED


def _refused(name: str, at: Span) -> Refused:
    return Refused(
        f'"{name}" is the system\'s',
        code=120,
        at=at,
        why="Statements on your tables reach no file, no setting and no other statement.",
        fix="SHOW TABLES and DESCRIBE tell of tables. Give a column another name; a text can be a parameter.",
    )


__all__ = ["check_system_names"]
