"""A table with lines around it, for terminals."""

from __future__ import annotations

from typing import TextIO

from dpsql.shell.output.mode import NULL, Mode, Page, numeric, shown

ANY_WIDTH = 100_000
MOST_ROWS = 1000  # on a terminal: nobody reads more there, and a million take minutes to set


def write(page: Page, out: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ROUNDED, header_style="bold" if page.colour else "", show_edge=True)
    for i, name in enumerate(page.names):
        table.add_column(Text(shown(name)), justify="right" if numeric(page.rows, i) else "left", overflow="fold")
    rows = page.rows if page.width is None else page.rows[:MOST_ROWS]
    for row in rows:
        table.add_row(*(Text(shown(value), style="dim" if shown(value) == NULL else "") for value in row))
    console = Console(
        file=out,
        width=page.width or ANY_WIDTH,
        force_terminal=page.colour,
        color_system="standard" if page.colour else None,
        no_color=not page.colour,
        legacy_windows=False,
    )
    console.print(table)
    if len(rows) < len(page.rows):
        out.write(f"… and {len(page.rows) - len(rows):,} more rows; .output FILE writes them all\n")


TABLE = Mode(name="table", doc="a table with lines, for terminals", write=write, for_people=True)
