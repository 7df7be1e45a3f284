"""What belongs to the catalogs that are open in this process, so that no interface touches it for an analyst.

Files are known by device and inode, whatever links lead to them; files that do not exist yet by their folder's device and
inode and their name, without case. Everything is asked of the file system when it is asked for: files come and go.
"""

from __future__ import annotations

import glob
import os
import re
import unicodedata
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from dpsql.catalog.model import Catalog
from dpsql.engine.sources import Database, Files, Server, Source
from dpsql.sources.catalog_ledger import ledger_path_of
from dpsql.sources.table_sources import declared_source

Identity = tuple[int, int]
_MAGIC = re.compile(r"[*?\[]")


def identity(path: Path | str) -> Identity | None:
    """The file that a path leads to; None where there is none, or none that may be looked at."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def folded(name: str) -> str:
    """File systems differ in whether case, and how an accent is composed, make another name: here they never do."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


@dataclass(frozen=True, slots=True)
class Target:
    """A place in the file system, its links followed. file: what is there; folders: the one it is in, and those around."""

    path: Path
    file: Identity | None
    folders: tuple[Identity | None, ...]

    @classmethod
    def of(cls, path: Path) -> Target:
        resolved = path.resolve()
        return cls(resolved, identity(path), tuple(identity(folder) for folder in resolved.parents))

    def is_in(self, folder: Path) -> bool:
        return bool(self.folders) and self.folders[0] is not None and self.folders[0] == identity(folder)

    def is_below(self, folder: Path) -> bool:
        folder_identity = identity(folder)
        return folder_identity is not None and folder_identity in (*self.folders, self.file)


class Owned(Protocol):
    def holds(self, target: Target) -> bool: ...


@dataclass(frozen=True, slots=True)
class OwnFile:
    """One file: by its own name, and by that of the file it leads to."""

    path: Path

    def holds(self, target: Target) -> bool:
        if target.file is not None and target.file == identity(self.path):
            return True
        return any(
            target.is_in(one.parent) and folded(target.path.name) == folded(one.name) for one in _ways(self.path)
        )


@dataclass(frozen=True, slots=True)
class Family:
    """A file and all whose names begin with its name: SQLite's and DuckDB's logs, the ledger's head, the owner's log."""

    path: Path

    def holds(self, target: Target) -> bool:
        for one in _ways(self.path):
            if target.is_in(one.parent) and folded(target.path.name).startswith(folded(one.name)):
                return True
            if target.file is not None and target.file in _begun_with(one):
                return True
        return False


def _begun_with(path: Path) -> Iterator[Identity | None]:
    try:
        names = os.listdir(path.parent)
    except OSError:
        names = []
    return (identity(path.parent / name) for name in names if folded(name).startswith(folded(path.name)))


def _ways(path: Path) -> tuple[Path, ...]:
    """A file's place as it is written, and as it is with its links followed."""
    return tuple(dict.fromkeys((Path(os.path.abspath(path)), path.resolve())))


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with everything below it, also under other names (hard links)."""

    path: Path

    def holds(self, target: Target) -> bool:
        if target.is_below(self.path):
            return True
        inside = (os.path.join(folder, name) for folder, _, names in os.walk(self.path) for name in names)
        return target.file is not None and target.file in (identity(one) for one in inside)


@dataclass(frozen=True, slots=True)
class Pattern:
    """What a glob matches, now or when it is there; and everything below a folder that it matches."""

    pattern: str

    def holds(self, target: Target) -> bool:
        matches = glob.glob(self.pattern, recursive=True)
        if target.file is not None and target.file in (identity(one) for one in matches):
            return True
        if any(Folder(Path(one)).holds(target) for one in matches if os.path.isdir(one)):
            return True
        return any(rule.fullmatch(folded(str(place))) for rule in self._rules() for place in _upwards(target.path))

    def _rules(self) -> Iterator[re.Pattern[str]]:
        fixed, rest = _fixed(os.path.abspath(self.pattern))
        for folder in _ways(Path(fixed)):
            yield re.compile(_matching(folded(os.path.join(glob.escape(str(folder)), rest))), re.DOTALL)


def _upwards(path: Path) -> tuple[Path, ...]:
    return (path, *path.parents)


def _fixed(pattern: str) -> tuple[str, str]:
    """The folder in which a glob begins to match, and the rest."""
    parts = pattern.split(os.sep)
    count = next((number for number, part in enumerate(parts) if _MAGIC.search(part)), len(parts) - 1)
    return os.sep.join(parts[:count]) or os.sep, os.sep.join(parts[count:])


def _matching(pattern: str) -> str:
    """A glob as a regular expression that matches no less: a name's parts by * and ?, any folders by **."""
    regex, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**", at):
            regex, at = regex + ".*", at + 2
        elif pattern[at] == "[" and (end := pattern.find("]", at + 2)) > 0:
            inside = pattern[at + 1 : end]
            regex, at = regex + (re.escape(inside) if len(inside) == 1 and inside in "*?[" else "[^/]"), end + 1
        else:
            regex, at = regex + {"*": "[^/]*", "?": "[^/]"}.get(pattern[at], re.escape(pattern[at])), at + 1
    return regex.replace(".*/", "(?:.*/)?")


def of_source(source: Source) -> Iterator[Owned]:
    """Where a table's rows are; a frame is in no file."""
    match source:
        case Files(paths=paths):
            for path in paths:
                if _MAGIC.search(str(path)) and not os.path.lexists(path):
                    yield Pattern(str(path))
                yield OwnFile(path)
                yield Folder(path)  # which it may become
        case Database(path=path):
            yield Family(path)
        case Server(address=address) if address.password_file is not None:
            yield OwnFile(address.password_file)


def of_catalog(catalog: Catalog, given: Iterable[Source] = (), ledger: Path | None = None) -> Iterator[Owned]:
    """Metadata, ledger, and the sources, declared and given. ledger: where it is in use, if that is elsewhere."""
    if catalog.path is not None:
        yield OwnFile(catalog.path)
    for place in (ledger_path_of(catalog), ledger):
        if place is not None:
            yield Family(place)
    declared = [declared_source(table) for table in catalog.tables if table.source is not None]
    for source in (*declared, *given):
        yield from of_source(source)


class Belongings:
    """What belongs to one open catalog, or to one ledger that a command reads. Known here until it is closed, or gone."""

    __slots__ = ("__weakref__", "_owned")

    def __init__(self, owned: Iterable[Owned]) -> None:
        self._owned = tuple(owned)
        _OPEN.add(self)

    def holds(self, target: Target) -> bool:
        return any(one.holds(target) for one in self._owned)

    def add(self, owned: Owned) -> None:
        self._owned = (*self._owned, owned)

    def copy(self) -> Belongings:
        """The same, for another session over it, which ends by itself."""
        return Belongings(self._owned)

    def close(self) -> None:
        _OPEN.discard(self)


_OPEN: weakref.WeakSet[Belongings] = weakref.WeakSet()


def owned_by_any(target: Target) -> bool:
    """Whether it belongs to any catalog that is open in this process."""
    return any(belongings.holds(target) for belongings in list(_OPEN))
