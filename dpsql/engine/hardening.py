"""A DuckDB connection that can read what it was given, and can neither reach anything else nor be reconfigured.

Order matters: settings, then what must be opened or copied, then `lock`. Everything is set GLOBAL, because each query
runs on a cursor and a cursor does not inherit its parent's session settings.
"""

from __future__ import annotations

import ctypes
import os
import re
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from dpsql.engine.quoting import quote_list, quote_text
from dpsql.engine.sealed import Sealed
from dpsql.engine.temporary import TemporaryFolder
from dpsql.errors import InterfaceError, InternalError, SourceError

PINS = (
    # No code or secrets from elsewhere.
    ("autoinstall_known_extensions", "false"),
    ("autoload_known_extensions", "false"),
    ("allow_community_extensions", "false"),
    ("allow_persistent_secrets", "false"),
    # Python variables are not tables, and a frame's first cells do not decide its types.
    ("python_enable_replacements", "false"),
    ("python_scan_all_frames", "false"),
    ("pandas_analyze_sample", "0"),
    # Nothing is written down but spilled rows, into a folder of this process alone. (They cannot be encrypted: DuckDB
    # writes encrypted files only with the httpfs extension.)
    ("enable_logging", "false"),
    # One meaning for every statement, whatever the machine.
    ("TimeZone", "'UTC'"),
    ("Calendar", "'gregorian'"),
    ("default_collation", "''"),
    ("default_order", "'ASC'"),
    ("default_null_order", "'NULLS_LAST'"),
    ("ieee_floating_point_ops", "true"),
    ("integer_division", "false"),
    ("error_on_division_by_zero", "false"),
    ("scalar_subquery_error_on_multiple_rows", "true"),
    ("order_by_non_integer_literal", "false"),
    ("preserve_insertion_order", "true"),
    # This pass takes a window's sum of decimals for the type it had before the table's statistics made it another: whether
    # a query can be planned would depend on the data.
    ("disabled_optimizers", "'window_self_join'"),
    # A file's footer is read once, not once per query.
    ("parquet_metadata_cache", "true"),
)


# What the proof that nothing fails rests on (privacy/kernel/totality.py): how a value reads back.
PROVED = (
    ("ieee_floating_point_ops", "true"),  # 1e0 / 0 is infinite, SQRT(-1) NaN
    ("error_on_division_by_zero", "false"),
    ("integer_division", "false"),
    ("TimeZone", "UTC"),
    ("Calendar", "gregorian"),
    ("default_collation", ""),
    ("default_null_order", "NULLS_LAST"),
    ("disabled_optimizers", "window_self_join"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a connection may use: memory ("4GB"), threads, bytes of disk, and a folder to spill to, its alone (None: one that
    ends with it)."""

    memory: str | None = None
    threads: int | None = None
    temp_directory: Path | None = None
    disk: int | None = None


_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?) *(?:([KMGT])I?B|(%))", re.I)
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
LEAST_MEMORY, MOST_THREADS = 10 * 10**6, 1024


def size_of(memory: str) -> int:
    """Of a size that `limits_asked` has let pass, in bytes."""
    match = _SIZE.fullmatch(memory)
    if match is None:
        raise InternalError(f"{memory[:40]} is not a size")
    return int(float(match[1]) * (memory_here() / 100 if match[3] else _UNITS[match[2].upper()]))


def memory_here() -> int:
    """Of the machine, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows says it in another way
        return 8 * 10**9


def limits_asked(memory: str | None, threads: int | None) -> Limits:
    """What a caller says of memory and threads: DuckDB takes "-5GB" for a size, and starts a million threads."""
    if memory is not None:
        match = _SIZE.fullmatch(memory) if isinstance(memory, str) else None
        size = 0.0 if match is None else float(match[1]) * (LEAST_MEMORY if match[3] else _UNITS[match[2].upper()])
        if size < LEAST_MEMORY:
            raise InterfaceError(
                f"memory_limit={str(memory)[:40]!r} is not a size", fix="Write 4GB or 500MB; the smallest is 10MB."
            )
    if threads is not None and (
        isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS
    ):
        raise InterfaceError(
            f"threads={str(threads)[:40]} is not possible", fix=f"Write a number from 1 to {MOST_THREADS}."
        )
    return Limits(memory=memory, threads=threads)


class Hardened(Sealed):
    """An in-memory database with the pins set. `lock` closes the file system and the configuration for good."""

    def __init__(self, limits: Limits) -> None:
        self._own_folder = TemporaryFolder() if limits.temp_directory is None else None
        folder = _spill_folder(limits.temp_directory) if self._own_folder is None else self._own_folder.path
        # An internal error of one query must not end the database for all later ones.
        self.connection = duckdb.connect(":memory:", config={"disable_database_invalidation": True})
        self._process = os.getpid()
        self._lasting: weakref.WeakSet[duckdb.DuckDBPyConnection] = weakref.WeakSet()
        _HERE.add(self)
        for name, value in PINS:
            self._set(name, value)
        self._set("temp_directory", quote_text(str(folder)))
        if limits.memory is not None:
            self._set("memory_limit", quote_text(limits.memory))
        if limits.disk is not None:
            self._set("max_temp_directory_size", quote_text(f"{limits.disk // 10**6}MB"))
        if limits.threads is not None:
            self._set("threads", str(int(limits.threads)))

    def _set(self, name: str, value: str) -> None:
        self.connection.execute(f"SET GLOBAL {name} = {value}").fetchall()

    def allow(self, paths: Iterable[Path]) -> None:
        """The only files that may be read from now on; call before `lock`."""
        self._set("allowed_paths", quote_list(str(path) for path in paths))

    def allow_folder(self, folder: Path) -> None:
        """Where databases may be attached, too; call before `lock`. No text of an analyst's runs on such a connection."""
        self._set("allowed_directories", quote_list([str(folder)]))

    def lock(self) -> None:
        self._set("enable_external_access", "false")
        self._set("lock_configuration", "true")
        self._check()

    def _check(self) -> None:
        """Every query runs on a cursor: there the settings must be what the proofs take them to be, and locked."""
        with self.cursor() as cursor:
            for name, value in (*PROVED, ("lock_configuration", "true")):
                (actual,) = cursor.execute("SELECT CAST(current_setting(?) AS VARCHAR)", [name]).fetchall()[0]
                if str(actual or "").lower() != value.lower():
                    raise InternalError(f"DuckDB has {name} = {actual!r} where {value!r} was set")

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the same database: its own temporary tables, its own open result."""
        return self.connection.cursor()

    def lasting_cursor(self) -> duckdb.DuckDBPyConnection:
        """One that is kept for longer than a statement: a forked child leaves it to its parent, too."""
        cursor = self.cursor()
        self._lasting.add(cursor)
        return cursor

    def close(self) -> None:
        """A forked child's copy closes nothing: the parent still uses it."""
        if self._process != os.getpid():
            return
        self.connection.close()
        if self._own_folder is not None:
            self._own_folder.close()

    def leave_to_parent(self) -> None:
        """In a forked child: one reference too many, so that not even its end closes the database and removes its files."""
        for connection in (self.connection, *self._lasting):
            never_ends(connection)


def never_ends(connection: duckdb.DuckDBPyConnection) -> None:
    """One reference too many: in a forked child the end of a database waits for threads that are not there."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _spill_folder(given: Path | None) -> Path:
    """It exists before the first row is spilled: DuckDB would make it then, and removes what it made while other threads
    still write."""
    assert given is not None
    try:
        given.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        raise SourceError(
            f"rows cannot be spilled to {given}: it is not a folder, and cannot be created",
            code=312,
            fix="Name another folder, or none: a temporary one is then used.",
        ) from None
    return given


_HERE: weakref.WeakSet[Hardened] = weakref.WeakSet()


def _after_fork() -> None:
    for database in list(_HERE):
        database.leave_to_parent()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)
