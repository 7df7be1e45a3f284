"""Rows to look at, as text and as HTML: noisy numbers with their 95 % intervals, and what they cost below."""

from __future__ import annotations

import datetime
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeGuard

from dpsql.report.privacy import Privacy, swamped

Line = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """rows: the first of `total`. widths: of the values' 95 % intervals, where the rows are not those that were released."""

    columns: tuple[str, ...]
    rows: tuple[Line, ...]
    total: int
    privacy: Privacy | None
    widths: tuple[tuple[float | None, ...], ...] | None = None

    @property
    def left_out(self) -> int:
        return self.total - len(self.rows)

    @property
    def cells(self) -> list[list[str]]:
        return [_cells(row, halves) for row, halves in zip(without_midnights(self.rows), self.half_widths, strict=True)]

    @property
    def half_widths(self) -> list[list[float | None]]:
        """Of the 95 % intervals of each row's values."""
        if self.privacy is None or self.privacy.exact:
            return [[None] * len(row) for row in self.rows]
        if self.widths is not None:
            return [list(each) for each in self.widths]
        by_name = [self.privacy.intervals.of_row(row) for row in self.rows]
        return [[each.get(name) or None for name in self.columns] for each in by_name]

    @property
    def swamped(self) -> tuple[str, ...]:
        """What to say of columns that are mostly noise."""
        if self.privacy is None or not any(half for row in self.half_widths for half in row):
            return ()
        return swamped(self.columns, self.rows, self.half_widths)


def without_midnights(rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Timestamps as dates in the columns in which all of them are midnights: months, weeks and days read better so."""
    columns = range(len(rows[0])) if rows else range(0)
    midnights = [i for i in columns if _all_midnights([row[i] for row in rows])]
    if not midnights:
        return rows
    return [[v.date() if i in midnights and v is not None else v for i, v in enumerate(row)] for row in rows]


def _all_midnights(values: Sequence[object]) -> bool:
    moments = [value for value in values if isinstance(value, datetime.datetime)]
    present = [value for value in values if value is not None]
    return bool(moments) and len(moments) == len(present) and all(m.time() == datetime.time() for m in moments)


def half_width(privacy: Privacy | None, column: str) -> float | None:
    """Of a column's 95 % interval, the widest over the rows; None where it has none."""
    return None if privacy is None or privacy.exact else privacy.intervals.get(column) or None


def with_interval(value: float | Decimal, width: float | None) -> str:
    """A number to the digits that its interval leaves it: two of the interval's."""
    if width is None:
        return str(value) if isinstance(value, int) else f"{value:.6g}"
    places = _places(width)
    return f"{_digits(value, places)} ± {_digits(width, places)}"


def text_table(shown: Shown) -> str:
    """Columns of equal width, numbers to the right."""
    heads = [_safe(name) for name in shown.columns]
    cells = [[_safe(text) for text in row] for row in shown.cells]
    right = [_is_numeric(shown, i) for i in range(len(heads))]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    lines = [_line(heads, widths, right), _line(["-" * width for width in widths], widths, right)]
    lines += [_line(row, widths, right) for row in cells]
    return "\n".join([*lines, *_below(shown)])


def html_table(shown: Shown) -> str:
    """The same for a notebook. Every text is escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in shown.columns)
    rows = zip(shown.rows, shown.cells, shown.half_widths, strict=True)
    body = "".join(f"<tr>{''.join(_html_cells(*row))}</tr>" for row in rows)
    below = "".join(f"<div><small>{html.escape(line)}</small></div>" for line in _below(shown))
    return f'<div class="dpsql"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>'


def html_text(lines: Sequence[str]) -> str:
    """Lines of our own for a notebook."""
    return f'<pre class="dpsql">{html.escape(chr(10).join(lines))}</pre>'


def _html_cells(values: Line, texts: Sequence[str], halves: Sequence[float | None]) -> list[str]:
    """Grey where the noise is larger than the number."""
    cells = []
    for value, text, half in zip(values, texts, halves, strict=True):
        align = "right" if _number(value) else "left"
        noise = half is not None and _number(value) and abs(float(value)) < half
        style = f"text-align: {align}; white-space: pre-wrap{'; color: #888' if noise else ''}"
        cells.append(f'<td style="{style}">{html.escape(text)}</td>')
    return cells


def _below(shown: Shown) -> list[str]:
    lines = [f"… and {shown.left_out} more rows"] if shown.left_out else []
    privacy = shown.privacy
    if privacy is None:
        return lines
    if privacy.exact:
        return [*lines, str(privacy)]
    spent = "a repeat, nothing charged" if privacy.repeated else str(privacy.cost)
    intervals = any(" ± " in text for row in shown.cells for text in row)
    lines.append(f"{spent}; unit: {privacy.unit}" + ("; ± is a 95 % confidence interval" if intervals else ""))
    if privacy.threshold is not None:
        lines.append(f"keys of fewer than about {privacy.threshold:.0f} units are withheld")
    return [*lines, *shown.swamped, *privacy.notes]


def _cells(row: Sequence[Any], halves: Sequence[float | None]) -> list[str]:
    return [_cell(value, width) for value, width in zip(row, halves, strict=True)]


def _cell(value: object, width: float | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, dict) and width is not None:  # a histogram: of each bin
        return f"{value} ± {_digits(width, _places(width))}"
    return with_interval(value, width) if _number(value) else str(value)


def _places(half_width: float) -> int:
    """Two significant digits of the interval: what lies behind them is noise."""
    if not 0 < half_width < math.inf:
        return 0
    return min(12, max(0, 1 - math.floor(math.log10(half_width))))


def _digits(value: float | Decimal, places: int) -> str:
    """A whole number as it is; other numbers to so many places."""
    return str(value) if isinstance(value, int) else f"{value:.{places}f}"


def _number(value: object) -> TypeGuard[int | float | Decimal]:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_numeric(shown: Shown, position: int) -> bool:
    return any(_number(row[position]) for row in shown.rows)


def _safe(text: str) -> str:
    """One line, and nothing a terminal would obey."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _line(cells: list[str], widths: list[int], right: list[bool]) -> str:
    padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
    return "  ".join(padded).rstrip()
