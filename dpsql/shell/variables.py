"""psql's variables: -v name=value and \\set name value; :name, :'name' and :"name" in statements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dpsql.engine.quoting import quote_identifier, quote_text
from dpsql.errors import InterfaceError

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Quoted text, comments and :: are left as they are; then :name, :'name' and :"name".
_PIECE = re.compile(
    r"'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|--[^\n]*|/\*.*?(?:\*/|\Z)|::"
    r"|:(?:(?P<plain>[A-Za-z_]\w*)|'(?P<text>[A-Za-z_]\w*)'|\"(?P<name>[A-Za-z_]\w*)\")",
    re.DOTALL,
)


def replaced(sql: str, variables: Mapping[str, str]) -> str:
    """The statement with its variables' values; what is no variable stays as it is, as in psql."""
    if not variables:
        return sql

    def value(match: re.Match[str]) -> str:
        for group, form in (("plain", str), ("text", quote_text), ("name", quote_identifier)):
            name = match[group]
            if name is not None and name in variables:
                return form(variables[name])
        return match[0]

    return _PIECE.sub(value, sql)


def pair(word: str) -> tuple[str, str]:
    """name=value, as in -v."""
    name, equals, value = word.partition("=")
    if not equals:
        raise InterfaceError(f"{word[:40]!r} gives no value", code=620, fix="Write -v name=value.")
    return checked(name), value


def pairs(words: Sequence[str]) -> dict[str, str]:
    return dict(map(pair, words))


def checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InterfaceError(
            f"{name[:40]!r} cannot be a variable", code=620, fix="A name has letters, digits and _; write \\set n 5."
        )
    return name
