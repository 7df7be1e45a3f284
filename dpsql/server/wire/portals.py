"""Prepared statements, and portals with the rows they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dpsql.server.wire import messages, types
from dpsql.server.wire.copying import Copy
from dpsql.server.wire.texts import first_words

Columns = list[list[str]]
TAGS = {
    "set": "SET",
    "create_table": "CREATE TABLE",
    "drop_table": "DROP TABLE",
    "explain": "EXPLAIN",
    "transaction": "BEGIN",
}
COUNTED = {"insert": "INSERT 0", "update": "UPDATE", "delete": "DELETE", "merge": "MERGE"}


@dataclass(slots=True)
class Prepared:
    """oids: of its parameters, as far as the client said. columns: None before it is described, or without a result.
    size: in bytes, as it was sent."""

    sql: str
    oids: tuple[int, ...]
    described: bool = False
    columns: Columns | None = None
    size: int = 0


@dataclass(slots=True)
class Result:
    """What a statement gave. tag: of its completion. copy: how its rows are sent instead of as rows. size: of its rows, in
    bytes."""

    tag: str
    columns: Columns | None = None
    rows: Sequence[Sequence[Any]] = ()
    notice: str = ""
    copy: Copy | None = None
    size: int = 0


@dataclass(slots=True)
class Portal:
    """A bound statement; result: once it ran. at: how many of its rows were sent. size: of its values, in bytes. declared:
    by DECLARE; other portals end with their batch, outside of a transaction."""

    prepared: Prepared
    values: list[Any]
    forms: tuple[int, ...] = ()
    columns: Columns | None = None
    result: Result | None = None
    at: int = 0
    oids: list[int] = field(default_factory=list)
    size: int = 0
    declared: bool = False

    @property
    def rows_size(self) -> int:
        """Of the rows that it keeps."""
        return 0 if self.result is None else self.result.size

    def fields(self, columns: Columns) -> list[messages.Field]:
        """Of its columns, in the formats that were asked for: none is text, one is for all."""
        self.oids = [types.oid_of(type_) for _, type_ in columns]
        forms = self._forms(len(columns))
        return [
            messages.Field(name, oid, types.size_of(oid), form)
            for (name, _), oid, form in zip(columns, self.oids, forms, strict=True)
        ]

    def rows(self, most: int) -> tuple[list[bytes], bool]:
        """The next rows as messages (0: all of them), and whether more are left."""
        assert self.result is not None
        if len(self.oids) != len(self.result.columns or ()):
            self.fields(self.result.columns or [])
        end = len(self.result.rows) if most == 0 else min(len(self.result.rows), self.at + most)
        forms = self._forms(len(self.oids))
        sent = []
        for row in self.result.rows[self.at : end]:
            cells = [types.encoded(v, oid, form) for v, oid, form in zip(row, self.oids, forms, strict=True)]
            sent.append(messages.data_row(cells))
        self.at = end
        return sent, end < len(self.result.rows)

    def _forms(self, count: int) -> list[int]:
        if len(self.forms) > 1:
            if len(self.forms) != count:
                raise messages.WireError("formats that do not fit the columns")
            return list(self.forms)
        return [self.forms[0] if self.forms else 0] * count


def tag_of(kind: str, sql: str, changed: int, rows: Sequence[object] | None) -> str:
    """What a statement is completed with."""
    verb = next(iter(first_words(sql)), "select")
    if rows is not None:
        return "EXPLAIN" if kind == "explain" else f"SELECT {len(rows)}"
    if verb in COUNTED and changed >= 0:
        return f"{COUNTED[verb]} {changed}"
    if kind == "create_table_as":
        return f"SELECT {max(0, changed)}"
    return TAGS.get(kind) or " ".join(first_words(sql, 2)).upper() or "SELECT"


def without_count(tag: str, rows: int) -> str:
    """A tag that counts the rows which were sent, where that is what it counts."""
    return f"{tag.partition(' ')[0]} {rows}" if tag.startswith(("SELECT", "FETCH")) else tag
