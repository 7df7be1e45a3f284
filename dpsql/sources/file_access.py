"""What an interface may read or write for an analyst: one decision, `permitted`, asked by everything that opens a file.

Asked by -o and .output, by -f and .read, by the history, by the owner's reports and exports, by write() of cursors and of
frames' results. Nothing of an open catalog is touched (belongings.py), no ledger at all, and in a restricted session no
file. What is written is written beside its place, under a name of its own, and moved there: no file that is there already
is ever opened for writing, whatever links lead to it.
"""

from __future__ import annotations

import io
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self, TextIO

from dpsql.accounting.ledger_place import is_ledger
from dpsql.errors import InterfaceError
from dpsql.sources.belongings import Target, folded, owned_by_any

Use = Literal["read", "write"]


def permitted(path: Path, use: Use, *, restricted: bool = False) -> Path:
    """The place to open, its links followed; or InterfaceError 626 (not this file), 627 (no file at all), 622 (no place)."""
    if restricted:
        raise restricted_error("this session neither reads nor writes files")
    try:
        target = Target.of(path)
        owned = owned_by_any(target) or _is_of_a_ledger(target)
    except (OSError, ValueError, RuntimeError) as error:  # too long, a NUL in it, links in a circle
        raise unusable(path, use, error) from None
    if owned:
        raise InterfaceError(
            f"{shown(path)} is the metadata, its ledger or its data",
            code=626,
            why="No interface reads or writes these files, under any name.",
            fix="Name another file.",
        )
    return target.path


def _is_of_a_ledger(target: Target) -> bool:
    """Whether it is a ledger or one of its other files, also of a catalog that is not open: known by its beginning."""
    try:
        names = os.listdir(target.path.parent)
    except OSError:
        return False
    wanted = folded(target.path.name)
    return any(wanted.startswith(folded(name)) and is_ledger(target.path.parent / name) for name in names)


def restricted_error(what: str) -> InterfaceError:
    return InterfaceError(
        f"restricted: {what}",
        code=627,
        why="The session was opened with --restricted, or the metadata says `restricted: true`.",
    )


def unusable(path: Path, use: Use, error: Exception) -> InterfaceError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not a place for a file"
    done = "read" if use == "read" else "written"
    return InterfaceError(f"{shown(path)} cannot be {done}: {why}", code=622, fix="Name another file.")


def shown(path: Path) -> str:
    """A path for a message: its unprintable characters escaped."""
    text = str(path)[:200]
    return text if text.isprintable() else repr(text)


def read_text(path: Path, *, restricted: bool = False) -> str:
    """A file's text. No message about it quotes what is in it."""
    place = permitted(path, "read", restricted=restricted)
    try:
        return place.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unusable(path, "read", error) from None
    except UnicodeDecodeError:
        raise InterfaceError(f"{path} is not UTF-8 text", code=622, fix="Save it as UTF-8.") from None


_NUMBERS = itertools.count(1)


class NewFile:
    """A file that is written under a name of its own beside its place, and moved there by `place`.

    After that it goes on being written to, by its descriptor and not by its name. A terminal, a pipe or /dev/null has no
    place of its own and is written to at once.
    """

    def __init__(self, path: Path, *, restricted: bool = False) -> None:
        self.path = path
        self._restricted = restricted
        self._temporary: Path | None = None
        target = permitted(path, "write", restricted=restricted)
        try:
            self._descriptor = self._opened(path, target)
        except OSError as error:
            raise unusable(path, "write", error) from None

    def _opened(self, path: Path, target: Path) -> int:
        mode = _mode_of(path)
        if mode is not None and (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
            return os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOCTTY", 0))
        if mode is not None and not stat.S_ISREG(mode):
            raise OSError(0, "it is not a file")
        self._target = target
        self._temporary = target.with_name(f".dpsql-{os.getpid()}-{next(_NUMBERS)}.part")
        descriptor = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(descriptor, stat.S_IMODE(mode) & 0o777)  # who could read the old one may read the new one
        return descriptor

    @property
    def beside(self) -> Path:
        """The name under which it is written until it is placed: for a writer that wants a path."""
        return self.path if self._temporary is None else self._temporary

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        with self.binary() as file, io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
            yield text

    @contextmanager
    def binary(self) -> Iterator[BinaryIO]:
        with os.fdopen(os.dup(self._descriptor), "ab") as file:
            yield file

    def place(self) -> None:
        """Move it to its place, once; asked again, since others may have moved things there meanwhile."""
        if self._temporary is None:
            return
        try:
            permitted(self._target, "write", restricted=self._restricted)
            os.replace(self._temporary, self._target)
        except OSError as error:
            raise unusable(self.path, "write", error) from None
        self._temporary = None

    def close(self) -> None:
        """What was not placed is given up. Idempotent."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.place()
        self.close()


def _mode_of(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def write_text(path: Path, text: str, *, restricted: bool = False) -> None:
    """A whole file."""
    with NewFile(path, restricted=restricted) as new, new.text() as file:
        file.write(text)
