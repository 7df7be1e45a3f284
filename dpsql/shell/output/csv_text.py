"""CSV: a header, nothing for NULL, "" for a text without a character, every digit."""

from __future__ import annotations

from typing import TextIO

from dpsql.engine.result_files import csv_line
from dpsql.shell.output.mode import Mode, Page


def write(page: Page, out: TextIO) -> None:
    if page.headers:
        out.write(csv_line(page.names))
    out.writelines(csv_line(row) for row in page.rows)


CSV = Mode(name="csv", doc="comma-separated, the default for files and pipes", write=write, suffixes=(".csv",))
