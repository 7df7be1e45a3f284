"""Bars with their error intervals, drawn with characters.

    cardiology   ████████████████████████├──┼──┤   3717 ±108

The bar ends where the interval begins; ┼ is the released value, ├ and ┤ are the ends of its 95 % interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from dpsql.shell.output.mode import Mode, Page, is_number, numeric, shown
from dpsql.shell.output.table import TABLE

BAR_WIDTH, LABEL_WIDTH = 50, 30


def write(page: Page, out: TextIO) -> None:
    columns = [i for i in range(len(page.names)) if numeric(page.rows, i) and not _is_label(page, i)]
    if not columns:  # \\d, SHOW TABLES: there is nothing to draw
        TABLE.write(page, out)  # type: ignore[misc]  # a table is text
        return
    labels = _labels(page, [i for i in range(len(page.names)) if i not in columns])
    for number, column in enumerate(columns):
        if number:
            out.write("\n")
        _plot(page, column, labels, out)


def _is_label(page: Page, column: int) -> bool:
    """Numeric keys are labels: the columns before the first one with an interval, if that leaves something to draw."""
    measured = [i for i, name in enumerate(page.names) if name in page.intervals]
    return bool(measured) and column < measured[0]


def _labels(page: Page, columns: Sequence[int]) -> list[str]:
    labels = (", ".join(shown(row[i]) for i in columns) for row in page.rows)
    return [label if len(label) <= LABEL_WIDTH else label[: LABEL_WIDTH - 1] + "…" for label in labels]


def _plot(page: Page, column: int, labels: Sequence[str], out: TextIO) -> None:
    name = page.names[column]
    values = [float(row[column]) if is_number(row[column]) else None for row in page.rows]
    halves = [page.halves(number).get(name, 0.0) for number in range(len(page.rows))]
    present = [(v, half) for v, half in zip(values, halves, strict=True) if v is not None]
    low, high = min(0.0, *(v - half for v, half in present)), max(0.0, *(v + half for v, half in present))
    width = _bar_width(page.width)
    label_width = max((len(label) for label in labels), default=0)
    widest, narrowest = max(halves, default=0.0), min(halves, default=0.0)
    least = f"{shown(narrowest)} to " if narrowest < widest else ""
    note = f" (95 % confidence intervals: ±{least}{shown(widest)})" if widest else ""
    out.write(f"{shown(name)}{note}\n")
    for label, value, half, row in zip(labels, values, halves, page.rows, strict=True):
        drawn = "" if value is None else bar(value, half, low, high, width)
        out.write(f"{label.ljust(label_width)}  {drawn.ljust(width)}  {shown(row[column])}\n")


def _bar_width(terminal: int | None) -> int:
    return BAR_WIDTH if terminal is None else max(10, min(BAR_WIDTH, terminal - LABEL_WIDTH - 20))


def bar(value: float, half: float, low: float, high: float, width: int) -> str:
    """One bar on the scale from low to high, which has 0 and value ± half in it."""

    def at(x: float) -> int:
        return 0 if high == low else round((x - low) / (high - low) * (width - 1))

    cells = [" "] * width
    zero, end = at(0.0), at(value)
    for i in range(min(zero, end), max(zero, end) + 1) if value else ():
        cells[i] = "█"
    if half:
        left, right = at(value - half), at(value + half)
        cells[left : right + 1] = "─" * (right - left + 1)
        if right > left:
            cells[left], cells[right] = "├", "┤"
        cells[end] = "┼"
    if low < 0 and cells[zero] == " ":
        cells[zero] = "│"
    return "".join(cells)


PLOT = Mode(name="plot", doc="bars with their 95 % confidence intervals", write=write, for_people=True)
