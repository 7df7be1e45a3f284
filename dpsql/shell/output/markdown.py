"""A Markdown table."""

from __future__ import annotations

from typing import TextIO

from dpsql.shell.output.mode import Mode, Page, numeric, shown


def _cell(value: object) -> str:
    return shown(value).replace("\\", "\\\\").replace("|", "\\|")


def write(page: Page, out: TextIO) -> None:
    out.write("| " + " | ".join(_cell(name) for name in page.names) + " |\n")
    out.write("|" + "|".join("--:" if numeric(page.rows, i) else "---" for i in range(len(page.names))) + "|\n")
    out.writelines("| " + " | ".join(_cell(value) for value in row) + " |\n" for row in page.rows)


MARKDOWN = Mode(name="markdown", doc="a Markdown table", write=write, suffixes=(".md",), for_people=True)
