"""One value a line, for results with many columns (psql's \\x)."""

from __future__ import annotations

from typing import TextIO

from dpsql.shell.output.mode import Mode, Page, shown


def write(page: Page, out: TextIO) -> None:
    width = max((len(shown(name)) for name in page.names), default=0)
    for number, row in enumerate(page.rows, 1):
        out.write(f"- row {number}\n")
        for name, value in zip(page.names, row, strict=True):
            out.write(f"{shown(name).ljust(width)} = {shown(value)}\n")


LINE = Mode(name="line", doc="one value per line", write=write, for_people=True)
