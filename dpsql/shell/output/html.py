"""An HTML table."""

from __future__ import annotations

from html import escape
from typing import TextIO

from dpsql.shell.output.mode import Mode, Page, is_number, shown


def _cell(value: object) -> str:
    kind = ' align="right"' if is_number(value) else ""
    return f"<td{kind}>{escape(shown(value))}</td>"


def write(page: Page, out: TextIO) -> None:
    out.write("<table>\n<tr>" + "".join(f"<th>{escape(shown(name))}</th>" for name in page.names) + "</tr>\n")
    out.writelines("<tr>" + "".join(_cell(value) for value in row) + "</tr>\n" for row in page.rows)
    out.write("</table>\n")


HTML = Mode(name="html", doc="an HTML table", write=write, suffixes=(".html", ".htm"))
