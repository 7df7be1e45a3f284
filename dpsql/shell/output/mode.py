"""What an output mode is, and what it is given."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, BinaryIO, TextIO

from dpsql.engine.result_files import csv_text
from dpsql.engine.sources import ArrowStream
from dpsql.report.privacy import NO_INTERVALS, Intervals

Row = Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One result. intervals: 95 % half-widths by column. width: the terminal's, None for a file or a pipe. headers: whether
    the columns' names are written. released: the rows as they were released, where they are shown otherwise.

    stream: the same rows as Arrow, where there are any; text: a text of ours that only looks like a table (EXPLAIN).
    """

    names: tuple[str, ...]
    rows: Sequence[Row]
    intervals: Intervals = field(default_factory=lambda: NO_INTERVALS)
    width: int | None = None
    colour: bool = False
    stream: ArrowStream | None = None
    text: bool = False
    headers: bool = True

    released: Sequence[Row] | None = None

    def halves(self, number: int) -> dict[str, float]:
        """The 95 % half-widths of one row, by column."""
        return self.intervals.of_row((self.rows if self.released is None else self.released)[number])


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """write puts a page into a text stream; write_bytes, where there is one, into a binary one instead.

    for_people: values are rounded for reading, and several results are kept apart by a blank line.
    """

    name: str
    doc: str
    write: Callable[[Page, TextIO], None] | None = None
    write_bytes: Callable[[Page, BinaryIO], None] | None = None
    suffixes: tuple[str, ...] = ()
    for_people: bool = False


NULL = "NULL"
DIGITS = 6


class NullText(str):
    """What stands for NULL where another text than NULL was asked for."""

    __slots__ = ()


def shown(value: object) -> str:
    """A value for people: NULL is said, floats are rounded to six digits (never fewer than two decimals), and nothing
    in it can move the cursor or recolour the terminal."""
    match value:
        case None:
            return NULL
        case float() if math.isfinite(value):
            return rounded(value)
        case Decimal():
            return format(value, "f")
        case _:
            return printable(csv_text(value))


def rounded(value: float) -> str:
    size = abs(value)
    if size and not 1e-4 <= size < 1e15:
        return f"{value:.6g}"
    before = len(str(int(size))) if size >= 1 else 0
    leading = 0 if size >= 1 or not size else -math.floor(math.log10(size)) - 1
    text = f"{value:.{max(2, DIGITS - before + leading)}f}"
    return text.rstrip("0").rstrip(".") if size >= 1e-4 or not size else text


def printable(text: str) -> str:
    """Keys are text from the data: control characters come out as \\x1b, not as what they do."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def numeric(rows: Sequence[Row], column: int) -> bool:
    """Whether a column holds numbers only (NULLs aside, and at least one number)."""
    values = [row[column] for row in rows if row[column] is not None and not isinstance(row[column], NullText)]
    return bool(values) and all(is_number(value) for value in values)
