"""Where results go: the terminal, standard output, or a file, each in the mode that suits it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from dpsql.errors import InterfaceError
from dpsql.report.privacy import NO_INTERVALS, Privacy
from dpsql.shell.output import BY_NAME, Mode, Page, mode_of_file
from dpsql.shell.output.mode import Row
from dpsql.shell.stderr import coloured, is_terminal
from dpsql.sources.file_access import NewFile


class Results:
    """mode: None says table on a terminal, the file's own by its ending, and CSV otherwise.

    apart: a blank line between two results for people; not at a prompt, which keeps them apart by itself.
    """

    def __init__(self, *, mode: Mode | None = None, path: Path | None = None, restricted: bool = False) -> None:
        """restricted: no files."""
        self.mode = mode
        self._restricted = restricted
        self._file: NewFile | None = None
        self.apart = True
        self._written = 0
        self.to(path)

    def to(self, path: Path | None) -> None:
        """From now on into this file, begun anew with the first result; None: to standard output."""
        new = None if path is None else NewFile(path, restricted=self._restricted)
        self.close()
        self._file, self._written = new, 0

    def close(self) -> None:
        """What was written stays; a file that nothing was written to is not begun."""
        if self._file is not None:
            self._file.close()
        self._file = None

    @property
    def path(self) -> Path | None:
        return None if self._file is None else self._file.path

    @property
    def chosen(self) -> Mode:
        if self.mode is not None:
            return self.mode
        if self.path is not None:
            return mode_of_file(self.path) or BY_NAME["csv"]
        return BY_NAME["table" if is_terminal(sys.stdout) else "csv"]

    @property
    def _in_passing(self) -> bool:
        """Nobody said how or whereto."""
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
