"""The one folder in which a session's engines may write rows down: private, and gone when the session is.

It is `dpsql-…` (0700) in the place that is asked for, else in the system's temporary folder. A lock in it, which the
operating system gives back however a process ends, shows whether it is in use: the next session removes the folders
of those who are gone. A forked child neither removes its parent's folder nor gives the lock back.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from dpsql.errors import InterfaceError, SourceError

try:
    import fcntl
except ImportError:  # Windows: there a file that is open cannot be removed, which says the same
    fcntl = None  # type: ignore[assignment]  # looked at before it is used

PREFIX, LOCK = "dpsql-", "lock"
VARIABLE = "DPSQL_TEMP_FOLDER"
_BEGUN_SECONDS = 3600  # a folder without a lock is being made, unless it is older
_SWEPT: set[Path] = set()
_SWEEPING = threading.Lock()


class TemporaryFolder:
    """Made when it is asked for; removed by close(), when it is forgotten, and at the process's end."""

    def __init__(self, place: Path | None = None) -> None:
        self.place = Path(tempfile.gettempdir()) if place is None else place
        self._path: Path | None = None
        self._guard = threading.Lock()
        self._remove: weakref.finalize[[Path, int, int], TemporaryFolder] | None = None

    @property
    def path(self) -> Path:
        with self._guard:
            if self._path is None or self._remove is None or not self._remove.alive:
                self._path, lock = _made(self.place)
                self._remove = weakref.finalize(self, _removed, self._path, lock, os.getpid())
            return self._path

    def inner(self, name: str) -> Path:
        """A folder in it."""
        folder = self.path / name
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def close(self) -> None:
        """Idempotent; asked for again, it is another folder."""
        if self._remove is not None:
            self._remove()

    def __repr__(self) -> str:
        return "<a temporary folder>"


def place_from(declared: Path | None, given: str | Path | None) -> Path | None:
    """Where folders are made: the metadata's place, else the caller's, else the environment's; None: the system's."""
    if declared is not None:
        return declared
    said = given if given is not None else os.environ.get(VARIABLE)
    if isinstance(said, bytes) or (said is not None and not isinstance(said, str | os.PathLike)):
        raise InterfaceError("temp_folder= must be a path", fix="Write temp_folder='/srv/temp', or leave it out.")
    return Path(os.path.abspath(os.path.expanduser(said))) if said else None


def _made(place: Path) -> tuple[Path, int]:
    """A new folder and its lock, held."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        _sweep_once(place)
        while True:
            folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
            lock = _locked(folder / LOCK, os.O_CREAT)
            if lock is not None:
                return folder, lock
    except (OSError, ValueError) as error:  # a NUL in it
        why = error.strerror if isinstance(error, OSError) else None
        raise SourceError(
            f"rows cannot be spilled to {str(place).replace(chr(0), '?')}: {why or 'no such folder can be created'}",
            code=312,
            fix=f"Name another folder: `temp_folder:` in the metadata, temp_folder=, or {VARIABLE}.",
        ) from None


def _locked(path: Path, more: int = 0) -> int | None:
    """The lock's descriptor; None where somebody else holds it, or removed it meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | more, 0o600)
    except FileNotFoundError:
        return None
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:
                return descriptor
        except OSError:
            pass
        os.close(descriptor)
        return None
    return descriptor


def _removed(folder: Path, lock: int, process: int) -> None:
    """By the process that made it only: a forked child has the same object, and its parent the rows."""
    if os.getpid() != process:
        return
    for _ in range(20):  # a thread that still spills may write a file while the others go
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.01)
    os.close(lock)
    if fcntl is None:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep_once(place: Path) -> None:
    with _SWEEPING:
        if place not in _SWEPT:
            _SWEPT.add(place)
            sweep(place)


def sweep(place: Path) -> None:
    """Remove the folders of processes that are gone: ours, this user's, with a lock that nobody holds."""
    for folder in _ours(place):
        lock = _locked(folder / LOCK) if fcntl is not None else _lock_removed(folder / LOCK)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            if lock >= 0:
                os.close(lock)
        elif not (folder / LOCK).exists() and _age(folder) > _BEGUN_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


def _lock_removed(path: Path) -> int | None:
    try:
        path.unlink()
    except OSError:
        return None
    return -1


def _ours(place: Path) -> Iterator[Path]:
    for folder in sorted(place.glob(f"{PREFIX}*")):
        try:
            status = folder.lstat()
        except OSError:
            continue
        same_user = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
        if stat.S_ISDIR(status.st_mode) and same_user:
            yield folder


def _age(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:
        return 0.0
