"""Where results go: the terminal, standard output, or a file, each in the mode that suits it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from dpsql.errors import InterfaceError
from dpsql.result import NO_INTERVALS, Privacy
from dpsql.shell.output import BY_NAME, Mode, Page, mode_of_file
from dpsql.shell.output.model import Row
from dpsql.shell.voice import coloured, is_terminal


class Results:
    """mode: None says table on a terminal, the file's own by its ending, and CSV otherwise.

    apart: a blank line between two results for people; not at a prompt, which keeps them apart by itself.
    """

    def __init__(
        self, *, mode: Mode | None = None, path: Path | None = None, kept: Callable[[Path], bool] = lambda path: False
    ) -> None:
        """kept: whether a path must not be written over: the metadata, its ledger, the data."""
        self.mode = mode
        self._kept = kept
        self._path: Path | None = None
        self.apart = True
        self._written = 0
        self.to(path)

    def to(self, path: Path | None) -> None:
        """From now on into this file, begun anew; None: to standard output."""
        if path is not None:
            if self._kept(path):
                raise InterfaceError(
                    f"{path} is the metadata, its ledger or its data", code=622, fix="Name another file."
                )
            try:
                path.write_bytes(b"")
            except OSError as error:
                raise InterfaceError(
                    f"{path} cannot be written: {error.strerror}", code=622, fix="Name another file."
                ) from None
        self._path, self._written = path, 0

    @property
    def path(self) -> Path | None:
        return self._path

    @property
    def chosen(self) -> Mode:
        if self.mode is not None:
            return self.mode
        if self._path is not None:
            return mode_of_file(self._path) or BY_NAME["csv"]
        return BY_NAME["table" if is_terminal(sys.stdout) else "csv"]

    @property
    def _in_passing(self) -> bool:
        """Nobody said how or whereto."""
        return self.mode is None and self._path is None

    def check(self) -> None:
        """Whether a result could be written now: asked before a query is charged."""
        mode = self.chosen
        if mode.write_bytes is None:
            return
        if self._path is None and is_terminal(sys.stdout):
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
                if mode.for_people and self._written and (self.apart or self._path):
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
        if self._path is None:
            yield sys.stdout
            sys.stdout.flush()
        else:
            with self._path.open("a", encoding="utf-8", newline="") as file:
                yield file

    @contextmanager
    def _bytes(self) -> Iterator[BinaryIO]:
        if self._path is None:
            yield cast(BinaryIO, sys.stdout.buffer)
            sys.stdout.flush()
        else:
            with self._path.open("ab") as file:
                yield file

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
        here = self._path is None and is_terminal(sys.stdout)
        return Page(
            names=names,
            rows=rows,
            width=shutil.get_terminal_size().columns if here else None,
            colour=here and coloured(sys.stdout),
        )
