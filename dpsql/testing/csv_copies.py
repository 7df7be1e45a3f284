"""A CSV's rows in memory: lines are cut here by the documented rule, and not by the reader's code."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from pathlib import Path

from dpsql.engine import plain
from dpsql.engine.sources import Files, Source
from dpsql.testing.cells import Cell
from dpsql.testing.one_copy import Copy, Places, named_in


def csv_copy(table: str, source: Files) -> Copy:
    """Physical lines that are rows, and their fields, all text."""
    lines: list[bytes] = []
    names, header = list(source.names), b""
    for path in plain.file_paths(table, source):
        path_lines = _lines(path)
        if source.header:
            header = path_lines.pop(0)
            named = fields(header.decode("utf-8-sig"), source)
            names = [name or "" for name in named or ()]
        lines += path_lines
    split = [_fields_of(line, source) for line in lines]
    kept = [(line, row) for line, row in zip(lines, split, strict=True) if row and len(row) == len(names)]
    columns = {name: [row[at] for _, row in kept] for at, name in enumerate(names)}

    def cells(name: str) -> list[Cell]:
        return list(columns[named_in(names, name)])

    def rows(places: Places) -> object:
        import pyarrow

        return pyarrow.table(
            {name: pyarrow.array([column[at] for at in places], pyarrow.string()) for name, column in columns.items()}
        )

    def written(places: Places, folder: Path) -> Source:
        path = folder / f"{table}.csv"
        some = [kept[at][0] for at in places]
        path.write_bytes(b"".join(line + b"\n" for line in ([header] if source.header else []) + some))
        return replace(source, paths=(path,))

    return Copy(count=len(kept), cells=cells, rows=rows, written=written)


def _lines(path: Path) -> list[bytes]:
    data = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
    return [line for line in re.split(rb"\r\n|\n|\r", data) if line]


def _fields_of(line: bytes, source: Files) -> list[str | None] | None:
    try:
        return fields(line.decode("utf-8"), source)
    except UnicodeDecodeError:
        return None


def fields(line: str, source: Files) -> list[str | None] | None:
    """The fields of one line, character by character; None where a quote is open at its end. An empty field is NULL,
    an empty text in quotes is empty. Quotes that are not around the whole field belong to it."""
    raw, inside, at = [""], False, 0
    while at < len(line):
        one = line[at]
        escaped = source.escape not in ("", source.quote) and one == source.escape
        if source.quote and escaped and line[at + 1 : at + 2] in (source.escape, source.quote):
            one = line[at : at + 2]
        elif source.quote and one == source.quote:
            inside = not inside
        elif not inside and line.startswith(source.delimiter, at):
            raw.append("")
            at += len(source.delimiter)
            continue
        raw[-1] += one
        at += len(one)
    return None if inside else [_field(text, source) for text in raw]


def _field(raw: str, source: Files) -> str | None:
    quote, escape = source.quote, source.escape
    if raw == "":
        return None
    if not quote or len(raw) < 2 or raw[0] != quote or raw[-1] != quote:
        return raw
    text = raw[1:-1]
    if not escape:
        return text
    if escape == quote:
        return text.replace(quote * 2, quote)
    marks = re.escape(escape)
    return re.sub(f"{marks}([{re.escape(quote)}{marks}])", r"\1", text)
