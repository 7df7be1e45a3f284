"""COPY … TO STDOUT: a query's rows as text, CSV or PostgreSQL's binary form."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.errors import NotSupportedError
from dpsql.server.wire import messages, types
from dpsql.server.wire.texts import Token

BINARY_HEAD = b"PGCOPY\n\xff\r\n\x00" + struct.pack("!ii", 0, 0)
BINARY_END = struct.pack("!h", -1)
ESCAPED = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v"}


@dataclass(frozen=True, slots=True)
class Copy:
    """The query whose rows are sent; form: text, csv or binary. header: names first."""

    query: str
    form: str = "text"
    header: bool = False


def copy_of(sql: str, parts: Sequence[Token]) -> Copy:
    """What a COPY asks for; NotSupportedError for what is not TO STDOUT."""
    words = [part.word or part.text for part in parts]
    if words[1:2] == ["("]:
        end = _closing(parts, 1)
        query = sql[parts[1].start + 1 : parts[end].start] if end < len(parts) else ""
    else:
        end = next((i for i, word in enumerate(words) if word in ("to", "from")), len(words)) - 1
        opening = next((i for i in range(1, end + 1) if words[i] == "("), end + 1)
        table = "".join(part.text for part in parts[1:opening])
        columns = "*" if opening > end else " ".join(part.text for part in parts[opening + 1 : end])
        query = f"SELECT {columns} FROM {table}"
    if words[end + 1 : end + 3] != ["to", "stdout"] or not query.strip():
        raise NotSupportedError("of COPY there is only COPY … TO STDOUT", code=122, fix="Fill tables with INSERT.")
    return _with_options(query, [word for word in words[end + 3 :] if word not in ("(", ")", ",", "with")])


def _closing(parts: Sequence[Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(parts)):
        depth += {"(": 1, ")": -1}.get(parts[index].text, 0)
        if depth == 0:
            return index
    return len(parts)


def _with_options(query: str, options: list[str]) -> Copy:
    form, header = "text", False
    while options:
        match options:
            case ["format", ("text" | "csv" | "binary") as form, *options]:
                pass
            case [("csv" | "binary") as form, *options]:
                pass
            case ["header", "true" | "on" | "1", *options]:
                header = True
            case ["header", "false" | "off" | "0", *options]:
                header = False
            case ["header", *options]:
                header = True
            case ["encoding", _, *options]:
                pass  # it is UTF-8, as the session's
            case [other, *_]:
                raise NotSupportedError(
                    f"COPY has no option {other[:40]!r} here", code=122, fix="Give FORMAT and HEADER."
                )
    return Copy(query, form, header)


def copied(copy: Copy, columns: Sequence[Sequence[str]], rows: Sequence[Sequence[Any]]) -> Iterator[bytes]:
    """The messages: what comes, the rows, the end. The binary head is in one message with the first row."""
    form = int(copy.form == "binary")
    yield messages.message(b"H", struct.pack(f"!bh{len(columns)}h", form, len(columns), *[form] * len(columns)))
    oids = [types.oid_of(type_) for _, type_ in columns]
    if form:
        head = BINARY_HEAD
        for row in rows:
            yield messages.message(b"d", head, _binary(row, oids))
            head = b""
        yield messages.message(b"d", head, BINARY_END)
    else:
        line = _csv if copy.form == "csv" else _text
        if copy.header:
            yield messages.message(b"d", line([name for name, _ in columns]))
        for row in rows:
            yield messages.message(b"d", line([None if cell is None else types.as_text(cell) for cell in row]))
    yield messages.message(b"c")


def _binary(row: Sequence[Any], oids: Sequence[int]) -> bytes:
    cells = [types.encoded(cell, oid, 1) for cell, oid in zip(row, oids, strict=True)]
    return struct.pack("!h", len(cells)) + b"".join(
        b"\xff" * 4 if cell is None else struct.pack("!i", len(cell)) + cell for cell in cells
    )


def _text(cells: Sequence[str | None]) -> bytes:
    shown = ("\\N" if cell is None else "".join(ESCAPED.get(c, c) for c in cell) for cell in cells)
    return ("\t".join(shown) + "\n").encode("utf-8", "replace")


def _csv(cells: Sequence[str | None]) -> bytes:
    return (",".join("" if cell is None else _csv_cell(cell) for cell in cells) + "\n").encode("utf-8", "replace")


def _csv_cell(cell: str) -> str:
    """NULL is nothing, an empty text is two quotes."""
    if cell and not set(cell) & set(',"\n\r') and cell != "\\.":
        return cell
    doubled = cell.replace('"', '""')
    return f'"{doubled}"'
