"""Where results go: the terminal, standard output, or a file, each in the mode that suits it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO, cast

from dpsql.dbapi.display import without_midnights
from dpsql.errors import InterfaceError
from dpsql.report.privacy import NO_INTERVALS, Privacy
from dpsql.shell.output import BY_NAME, Mode, Page, mode_of_file
from dpsql.shell.output.mode import NullText, Row, shown
from dpsql.shell.pipes import Pipe
from dpsql.shell.stderr import coloured, is_terminal
from dpsql.sources.file_access import NewFile

Expanded = Literal["on", "off", "auto"]
FOREIGN = frozenset(
    """
    .xlsx .xls .ods .docx .feather .arrow .orc .avro .xml .pdf .db .duckdb .sqlite .png .jpg .jpeg .gif .svg .gz .zip .zst
    .dta .sav .rds
    .pkl
    """.split()
)


def check_ending(path: Path) -> None:
    """Refuse a file whose name promises a form that nobody writes here: it would be CSV."""
    if path.suffix.lower() in FOREIGN:
        raise InterfaceError(
            f"no mode writes {path.suffix} files",
            code=621,
            fix="Name it .csv, .json, .parquet or .html, or choose a mode: .mode csv, -m csv.",
        )


def too_wide(page: Page) -> bool:
    """Whether a table would not fit into the terminal's lines."""
    columns = (
        zip(*([shown(v) for v in row] for row in page.rows), strict=True) if page.rows else ((),) * len(page.names)
    )
    widest = [max(map(len, (shown(name), *values))) for name, values in zip(page.names, columns, strict=True)]
    return sum(widest) + 3 * len(widest) + 1 > (page.width or 0)


class Results:
    """mode: None means table on a terminal, the file's own by its ending, and CSV otherwise.

    apart: a blank line between two results for people; not at a prompt, which keeps them apart by itself.
    """

    def __init__(self, *, mode: Mode | None = None, path: Path | None = None, restricted: bool = False) -> None:
        """restricted: no files."""
        self.mode = mode
        self.expanded: Expanded = "off"
        self.null: str | None = None  # what stands for NULL, where it is not what the mode has
        self.headers = True
        self._restricted = restricted
        self._file: NewFile | Pipe | None = None
        self.apart = True
        self._written = 0
        self.to(path)

    def to(self, path: Path | None) -> None:
        """From now on into this file, overwritten with the first result; None: to standard output."""
        if path is not None and self.mode is None:
            check_ending(path)
        self._go(None if path is None else NewFile(path, restricted=self._restricted))

    def to_program(self, command: str) -> None:
        """From now on into another program."""
        self._go(Pipe(command, restricted=self._restricted))

    def _go(self, new: NewFile | Pipe | None) -> None:
        self.close()
        self._file, self._written = new, 0

    @contextmanager
    def for_once(self, *, expanded: Expanded) -> Iterator[None]:
        """One result in another form."""
        before, self.expanded = self.expanded, expanded
        try:
            yield
        finally:
            self.expanded = before

    @contextmanager
    def elsewhere(self, where: Path | str) -> Iterator[None]:
        """One result into a file, or (a str) into a program."""
        before = self._file, self._written
        self._file = None
        try:
            self.to(where) if isinstance(where, Path) else self.to_program(where)
            yield
        finally:
            self.close()
            self._file, self._written = before

    def close(self) -> None:
        """What was written stays; a file is not created if nothing was written."""
        if self._file is not None:
            self._file.close()
        self._file = None

    @property
    def path(self) -> Path | None:
        return None if self._file is None else self._file.path

    @property
    def chosen(self) -> Mode:
        if self.expanded == "on":
            return BY_NAME["line"]
        if self.mode is not None:
            return self.mode
        if isinstance(self._file, Pipe):
            return BY_NAME["table" if is_terminal(sys.stdout) else "csv"]
        if self.path is not None:
            return mode_of_file(self.path) or BY_NAME["csv"]
        return BY_NAME["table" if is_terminal(sys.stdout) else "csv"]

    @property
    def _in_passing(self) -> bool:
        """Neither mode nor file was given."""
        return self.mode is None and self.path is None

    def check(self) -> None:
        """Whether a result could be written now: asked before a query is charged."""
        mode = self.chosen
        if mode.write_bytes is None:
            return
        if self.path is None and is_terminal(sys.stdout):
            raise InterfaceError(
                f"{mode.name} cannot be shown on a terminal", code=621, fix="Give a file: -o FILE, or .output FILE."
            )
        if self._written:
            raise InterfaceError(
                f"a {mode.name} file holds one result", code=621, fix="Give the next result a file of its own."
            )

    def write(self, page: Page) -> None:
        mode = self.chosen
        page = self._prepared(page, mode)
        if self.expanded == "auto" and mode.name == "table" and page.width is not None and too_wide(page):
            mode = BY_NAME["line"]
        if mode.write_bytes is not None:
            with self._bytes() as out_bytes:
                mode.write_bytes(page, out_bytes)
        elif mode.write is not None:
            with self._text() as out:
                if mode.for_people and self._written and (self.apart or self.path):
                    out.write("\n")
                if page.text and (mode.name == "table" or self._in_passing):
                    out.writelines(f"{row[0]}\n" for row in page.rows)
                else:
                    mode.write(page, out)
        self._written += 1

    def _prepared(self, page: Page, mode: Mode) -> Page:
        """As was asked for, and as people read it."""
        rows = without_midnights(page.rows) if mode.for_people else page.rows
        if self.null is not None and mode.name not in ("json", "jsonl", "parquet"):
            null = NullText(self.null)
            rows = [[null if value is None else value for value in row] for row in rows]
        return replace(page, rows=rows, released=page.rows, headers=self.headers)

    def line(self, text: str) -> None:
        """A line of text in place of a result, such as what \\d shows."""
        with self._text() as out:
            out.write(text + "\n")
        self._written += 1

    @contextmanager
    def _text(self) -> Iterator[TextIO]:
        if self._file is None:
            yield sys.stdout
            sys.stdout.flush()
        else:
            with self._file.text() as file:
                yield file
            self._file.place()

    @contextmanager
    def _bytes(self) -> Iterator[BinaryIO]:
        if self._file is None:
            yield cast(BinaryIO, sys.stdout.buffer)
            sys.stdout.flush()
        else:
            with self._file.binary() as file:
                yield file
            self._file.place()

    def page(self, cursor: Any, privacy: Privacy | None, *, text: bool = False) -> Page:
        """A cursor's rows, ready for a mode."""
        none = privacy is None or privacy.exact
        names = tuple(column[0] for column in cursor.description or ())
        page = self.plain_page(names, cursor.fetchall())
        return replace(
            page, intervals=NO_INTERVALS if none or privacy is None else privacy.intervals, stream=cursor, text=text
        )

    def plain_page(self, names: tuple[str, ...], rows: Sequence[Row]) -> Page:
        """Rows of our own, ready for a mode."""
        here = self.path is None and is_terminal(sys.stdout)
        return Page(
            names=names,
            rows=rows,
            width=shutil.get_terminal_size().columns if here else None,
            colour=here and coloured(sys.stdout),
        )
