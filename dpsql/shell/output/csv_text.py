"""CSV: a header, empty for NULL, every digit."""

from __future__ import annotations

import csv
from typing import TextIO

from dpsql.engine.result_files import csv_text
from dpsql.shell.output.mode import Mode, Page


def write(page: Page, out: TextIO) -> None:
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(page.names)
    writer.writerows([[csv_text(value) for value in row] for row in page.rows])


CSV = Mode(name="csv", doc="comma-separated, the default for files and pipes", write=write, suffixes=(".csv",))
