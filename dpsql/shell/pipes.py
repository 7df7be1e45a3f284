"""`.output |less`, `\\o |gzip > n.gz`: results go into another program, as in psql and duckdb."""

from __future__ import annotations

import codecs
import io
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from dpsql.errors import InterfaceError
from dpsql.sources.file_access import restricted_error


class Pipe:
    """Another program's standard input, as a place for results (like sources.file_access.NewFile)."""

    def __init__(self, command: str, *, restricted: bool = False) -> None:
        if restricted:
            raise restricted_error("a restricted shell starts no program")
        if not command.strip():
            raise InterfaceError("no program is named", code=622, fix="Write .output |less.")
        self.path = Path(f"|{command}")
        self._process = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE)

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        with self.binary() as raw:
            yield cast(TextIO, codecs.getwriter("utf-8")(raw))  # a TextIOWrapper would close the pipe with itself

    @contextmanager
    def binary(self) -> Iterator[BinaryIO]:
        stream = self._process.stdin
        assert isinstance(stream, io.BufferedWriter)
        try:
            yield stream
            stream.flush()
        except BrokenPipeError:
            raise InterfaceError(
                f"the program {str(self.path)[1:41]!r} has ended",
                code=622,
                why="The result was released, and the same query on this connection may be free.",
                fix="Write .output to come back to the terminal.",
            ) from None

    def place(self) -> None:
        """What is written is already there."""

    def close(self) -> None:
        """Wait until the program has read all of it, and has ended."""
        stream = self._process.stdin
        if stream is not None and not stream.closed:
            with suppress(BrokenPipeError):
                stream.close()
        self._process.wait()
