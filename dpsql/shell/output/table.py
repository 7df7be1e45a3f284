"""A table with lines around it, for terminals."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from dpsql.shell.output.mode import NULL, Mode, NullText, Page, is_number, numeric, shown

if TYPE_CHECKING:
    from rich.text import Text

ANY_WIDTH = 100_000
MOST_ROWS = 1000  # on a terminal: nobody reads more there, and a million take minutes to set


def write(page: Page, out: TextIO) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ROUNDED, show_header=page.headers, header_style="bold" if page.colour else "", show_edge=True)
    for i, name in enumerate(page.names):
        table.add_column(Text(shown(name)), justify="right" if numeric(page.rows, i) else "left", overflow="fold")
    rows = page.rows if page.width is None else page.rows[:MOST_ROWS]
    for number, row in enumerate(rows):
        halves = page.halves(number) if page.colour and page.intervals else {}
        table.add_row(*(_cell(value, halves.get(name)) for name, value in zip(page.names, row, strict=True)))
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


def _cell(value: object, half: float | None) -> Text:
    """Dim where there is nothing, or nothing but noise."""
    from rich.text import Text

    text = shown(value)
    noise = half is not None and is_number(value) and abs(float(value)) < half  # type: ignore[arg-type]  # it is one
    return Text(text, style="dim" if noise or text == NULL or isinstance(value, NullText) else "")


TABLE = Mode(name="table", doc="a table with lines, for terminals", write=write, for_people=True)
