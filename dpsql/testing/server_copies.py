"""A PostgreSQL table's rows in memory: lines as COPY writes them, cut here, and what a cell is as a unit or in a unit path.

The rule of plan/dialects/postgres/reading.py, written a second time and not imported. Copies are written into the same
database, into a schema of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

from dpsql.catalog.model import ColumnSpec, Format
from dpsql.domain.types import Kind, Type
from dpsql.engine.postgres import plain
from dpsql.engine.sources import Server, Source
from dpsql.testing.cells import DAY, FIRST, INT64, LAST, Cell, Moment, Value, unit_of, value_of
from dpsql.testing.one_copy import Copy, Places, named_in

ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
MOMENT = re.compile(r"(\d{4,7})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:\+00)?)?( BC)?")
NUMBER = re.compile(r" *[-+]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][-+]?[0-9]{1,2})? *")
DAY_TEXT = re.compile(r" *([0-9]{4}-[0-9]{2}-[0-9]{2}) *")
TIME_TEXT = re.compile(r" *([0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?)?) *")
TRUE, FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
UNIT_TEXT = re.compile(r"0|-?[1-9][0-9]{0,17}")
SMALLEST = Decimal("1e-300")
MOST_BYTES = 2**20


def server_copy(source: Server) -> Copy:
    lines = plain.server_table(source)
    made = plain.Made(source)

    def cells(name: str) -> list[Cell]:
        at = lines.names.index(named_in(lines.names, name))
        convert = _conversion(lines.types[at])
        texts = (_field(row.split(b"\t")[at]) for row in lines.rows)
        return [None if text is None or is_too_long(text) else convert(text) for text in texts]

    def rows(places: Places) -> Source:
        return made.table(lines.rows[at] for at in places)

    def written(places: Places, folder: Path) -> Source:
        del folder  # copies are tables beside the source
        return rows(places)

    return Copy(
        count=len(lines.rows),
        cells=cells,
        rows=rows,
        written=written,
        unit=stored_unit,
        value=stored_value,
        close=made.drop,
    )


def is_too_long(text: str) -> bool:
    """As it is stored, with what pads it."""
    return 4 * len(text) > MOST_BYTES and len(text.encode()) > MOST_BYTES


def _field(raw: bytes) -> str | None:
    return (
        None if raw == b"\\N" else re.sub(r"\\(.)", lambda one: ESCAPES.get(one[1], one[1]), raw.decode(), flags=re.S)
    )


def _conversion(type_: str) -> Callable[[str], Cell]:
    match type_:
        case "int2" | "int4" | "int8":
            return int
        case "float4" | "float8":
            return float
        case "bool":
            return lambda text: text == "t"
        case "numeric":  # 1.0 and 1.00 are one value
            return lambda text: Decimal(text.rstrip("0").rstrip(".") if "." in text else text)
        case _ if type_.startswith("numeric("):
            return Decimal
        case "bpchar":
            return lambda text: text.rstrip(" ")
        case "date" | "timestamp" | "timestamptz":
            return lambda text: _moment(text, is_day=type_ == "date")
        case _:
            return str


def _moment(text: str, *, is_day: bool) -> Moment:
    """Moments beyond the years 1 to 9999 are the one before them, and the one after them."""
    if text in ("infinity", "-infinity"):
        return Moment(0, is_day=is_day, forever=True)
    match = MOMENT.fullmatch(text)
    assert match is not None, "PostgreSQL writes no other moments"
    if match[8]:
        return Moment(FIRST * DAY - 1, is_day=is_day)
    if int(match[1]) > 9999:
        return Moment((LAST + 1) * DAY, is_day=is_day)
    days = date(int(match[1]), int(match[2]), int(match[3])).toordinal() - date(1970, 1, 1).toordinal()
    hours, minutes, seconds = (int(part or 0) for part in match.group(4, 5, 6))
    micros = int((match[7] or "").ljust(6, "0"))
    return Moment(days * DAY + ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros, is_day=is_day)


def stored_unit(cell: Cell, type_: Type) -> int | str | None:
    if type_.kind is Kind.INTEGER:
        if isinstance(cell, Decimal):
            return int(cell) if cell.is_finite() and cell == int(cell) and int(cell) in INT64 else None
        if isinstance(cell, str):
            return int(cell) if UNIT_TEXT.fullmatch(cell) else None
    return unit_of(cell, type_)


def stored_value(cell: Cell, column: ColumnSpec, form: Format | None = None) -> Value:
    del form  # of files
    kind = column.type.kind
    if isinstance(cell, str) and kind is not Kind.TEXT:
        cell = _of_text(cell, kind)
    if isinstance(cell, Decimal) and kind is not Kind.TEXT:
        if cell.is_nan() or (cell.is_infinite() and kind is not Kind.REAL):
            return None
        cell = Decimal(0) if kind is Kind.REAL and abs(cell) < SMALLEST else cell
    return value_of(cell, column)


def _of_text(text: str, kind: Kind) -> Cell:
    if kind is Kind.BOOLEAN:
        return True if text.lower() in TRUE else False if text.lower() in FALSE else None
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        match = (DAY_TEXT if kind is Kind.DATE else TIME_TEXT).fullmatch(text)
        return None if match is None else match[1]
    return Decimal(text.strip(" ")) if NUMBER.fullmatch(text) else None
