"""SQL spelling of names and texts, for the few statements the engine writes itself."""

from __future__ import annotations

from collections.abc import Iterable


def quote_identifier(name: str) -> str:
    """A name in double quotes: exactly this name, whatever it contains."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """A text literal. DuckDB knows no escapes inside '…' but the doubled quote."""
    return "'" + text.replace("'", "''") + "'"


def quote_list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(quote_text(text) for text in texts) + "]"


def fold(name: str) -> str:
    """How DuckDB compares names: without case, in ASCII only."""
    return "".join(c.lower() if c.isascii() else c for c in name)


def repeated(names: Iterable[str]) -> str | None:
    """The first name that an earlier one already stands for."""
    seen: set[str] = set()
    for name in names:
        if fold(name) in seen:
            return name
        seen.add(fold(name))
    return None
