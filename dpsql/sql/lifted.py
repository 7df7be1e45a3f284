"""What becomes of a SELECT whose aggregates are lifted (sql/lifting.py)."""

from __future__ import annotations

from dataclasses import dataclass


class NotLiftable(Exception):
    """The statement has another form."""


@dataclass(frozen=True, slots=True)
class Item:
    """Of the SELECT list: the pieces of its expression, and its alias as it is written."""

    begin: int
    end: int
    alias: str


@dataclass(frozen=True, slots=True)
class Lifted:
    """below: the query of aggregates and keys, at their places; columns: their names. above: the rest, which reads it as
    `name`."""

    below: str
    above: str
    columns: tuple[str, ...]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def unquoted(text: str) -> str:
    return text[1:-1].replace('""', '"') if text.startswith('"') else text
