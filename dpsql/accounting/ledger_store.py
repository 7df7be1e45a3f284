"""The ledger's file: SQLite, one transaction per change, durable when it returns. Knows entries, not budgets.

A change runs under SQLite's write lock; it first checks that the newest entry is the one that the head file names. Before
the commit the head file is replaced by one that names the old and the new entry, after it the old name is taken back.
One connection per process, used by one thread at a time; a forked child opens its own.
"""

from __future__ import annotations

import ctypes
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from dpsql.accounting.ledger_chain import NO_ENTRIES, Head, HeadFile
from dpsql.accounting.ledger_lost import overwrite_the_lost
from dpsql.accounting.ledger_place import (
    APPLICATION,
    create_private,
    head_path,
    keep_private,
    refuse_network,
    replace_private,
)
from dpsql.accounting.ledger_rows import SCHEMA, VERSION, Reading, Writing, tampered
from dpsql.errors import Error, InterfaceError, LedgerError, TamperedLedger

_TAMPERED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_SCHEMA)
_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _translated(problem: sqlite3.Error, name: str) -> Error:
    """SQLite's failure as ours. Its words are about files and pages, never about data."""
    code = getattr(problem, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _LOCKED:
        return LedgerError(
            f"the ledger is locked: {name}", code=421, why="Another process is writing to it.", fix="Try again."
        )
    if code in _TAMPERED:
        return _damaged(name, problem.sqlite_errorname)
    return LedgerError(
        f"the ledger cannot be read or written: {name}",
        why=f"{problem}. Nothing is released without a record.",
        fix="Check the file's permissions and the free space on its disk.",
    )


def _damaged(name: str, why: str) -> TamperedLedger:
    """Without SQLite's own words: about a damaged page they may quote what is in it."""
    return TamperedLedger(f"the ledger is damaged: {name}", why=f"SQLite says {why}.", fix="Run `dpsql ledger verify`.")


@contextmanager
def ledger_errors(name: str) -> Iterator[None]:
    """Failures of SQLite and of the file system become ours, with their codes."""
    try:
        yield
    except sqlite3.Error as problem:
        raise _translated(problem, name) from None
    except UnicodeDecodeError:  # text in the file that is none: Python cannot even read SQLite's message about it
        raise _damaged(name, "text that cannot be decoded") from None
    except OSError as problem:
        raise LedgerError(
            f"the ledger cannot be read or written: {name}",
            why=f"{problem.strerror or problem}.",
            fix="Check the file's permissions and the free space on its disk.",
        ) from None


_STORES: weakref.WeakSet[Store] = weakref.WeakSet()


class Store:
    """path None: in memory, for this process only."""

    def __init__(self, path: Path | None, *, timeout: float, crash_point: Callable[[str], None]) -> None:
        self.path = None if path is None else path.resolve()
        self.name = "in memory" if self.path is None else str(self.path)
        self.head_path = None if self.path is None else head_path(self.path)
        self._timeout = timeout
        self._crash_point = crash_point
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._closed = False
        self._orphaned = False
        with ledger_errors(self.name):
            if self.path is not None:
                refuse_network(self.path.parent)
            self._connection = self._connect()
        _STORES.add(self)

    # --- connections

    def _connect(self) -> sqlite3.Connection:
        if self.path is not None:
            created = create_private(self.path)
            if not created:
                keep_private(self.path)
        connection = sqlite3.connect(
            self.path or ":memory:", timeout=self._timeout, isolation_level=None, check_same_thread=False
        )
        try:
            self._file = None if self.path is None else _identity(self.path)
            self._prepare(connection)
        except BaseException:  # whatever it is: nobody else could close it; raised again
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA synchronous = FULL")
        if self.path is None:
            return
        deadline = time.monotonic() + self._timeout
        while True:  # SQLite does not wait for the lock when several first opens switch to WAL at once
            try:
                mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                break
            except sqlite3.OperationalError as problem:
                if problem.sqlite_errorcode & 0xFF not in _LOCKED or time.monotonic() > deadline:
                    raise
                time.sleep(0.005)
        if mode != "wal":
            raise LedgerError(
                f"the ledger's file system cannot hold a write-ahead log: {self.name}",
                code=422,
                fix="Put the ledger on a local disk.",
            )

    def _live(self) -> sqlite3.Connection:
        if self._closed:
            raise InterfaceError("the ledger is closed")
        if self._orphaned and self.path is None:
            raise LedgerError(
                "a budget in memory belongs to the process that opened it",
                why="A forked process that could spend its copy would spend the budget twice.",
                fix="Use a ledger file, with `ledger:` in the metadata.",
            )
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def leave_to_parent(self) -> None:
        """In a forked child: never touch, and never close, what the parent has open."""
        if self._connection is not None:
            # One reference too many, so that not even the interpreter's end closes it.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
        self._connection = None
        self._orphaned = True
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and not self._closed:
                self._connection.close()
            self._connection = None
            self._closed = True

    # --- transactions

    @contextmanager
    def read(self) -> Iterator[Reading]:
        """One consistent state of the ledger."""
        with self._lock, ledger_errors(self.name):
            connection = self._live()
            connection.execute("BEGIN")
            try:
                yield Reading(connection)
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def write(self, step: str, *, start_over: bool = False) -> Iterator[Writing]:
        """One change: all of it, durable, when the block ends; nothing of it when the block raises.

        start_over: whatever the head says, from here on it follows this ledger (the owner's new epoch).
        """
        with self._lock, ledger_errors(self.name):
            connection = self._live()
            self._crash_point(f"{step}.before")
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._initialise(connection)
                writing = Writing(connection)
                if not start_over:
                    self.check_tip(writing)
                    overwrite_the_lost(writing, self.read_head, _head_of)
                before = _head_of(writing)
                yield writing
                self._crash_point(f"{step}.written")
                with self._announced(HeadFile(head=_head_of(writing), before=before)):
                    self._crash_point(f"{step}.announced")
                    connection.execute("COMMIT")
                    self._crash_point(f"{step}.committed")
            except BaseException:  # Ctrl-C too must not leave a transaction open; raised again
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            self._crash_point(f"{step}.done")

    def _initialise(self, connection: sqlite3.Connection) -> None:
        """Within the first transaction. The head comes before the first entry: a ledger without a head is never new."""
        if connection.execute("PRAGMA application_id").fetchone()[0] == 0:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise LedgerError(f"this file is not a ledger: {self.name}", fix="Choose another path.")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            if self.head_path is not None and not self.head_path.exists():
                os.close(replace_private(self.head_path, str(HeadFile(head=NO_ENTRIES))))
        self._check_version(connection)

    def _check_version(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION:
            raise LedgerError(f"this file is not a ledger: {self.name}", fix="Choose another path.")
        if version != VERSION:
            raise LedgerError(
                f"the ledger has version {version}, this dpsql knows version {VERSION}",
                fix="Use the dpsql that wrote it, or a newer one.",
            )

    # --- the head

    def read_head(self) -> HeadFile | None:
        """The head file's content; None if there is none (always, in memory)."""
        if self.head_path is None:
            return None
        try:
            return HeadFile.parse(self.head_path.read_text(encoding="ascii", errors="replace"))
        except FileNotFoundError:
            return None

    def check_tip(self, reading: Reading) -> None:
        """The newest entry is intact and the one that the head file names. Under the write lock, in constant time."""
        if self.path is None:
            return
        if _identity(self.path) != self._file:
            raise tampered("another file replaced it while it was open")
        tip, head = _head_of(reading), self.read_head()
        if head is None and tip != NO_ENTRIES:
            raise tampered(f"its head file is missing: {self.head_path}")
        wrong = None if head is None else head.wrong(tip)
        if wrong is not None:
            raise tampered(wrong)

    @contextmanager
    def _announced(self, names: HeadFile) -> Iterator[None]:
        """The head file names both entries while the block commits, and the new one alone when it has.

        What cannot be announced is not committed. The old name is taken back from the file that was written here: one
        that another process has put in its place since is left as it is.
        """
        if self.head_path is None or names.head == names.before:
            yield
            return
        written = replace_private(self.head_path, str(names))
        try:
            yield
            os.ftruncate(written, len(str(HeadFile(head=names.head))))
        finally:
            os.close(written)


def _head_of(reading: Reading) -> Head:
    tip = reading.tip()
    return NO_ENTRIES if tip is None else Head(count=tip.n, hash=tip.hash)


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file a path names; None if there is none any more."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _after_fork() -> None:
    for store in list(_STORES):
        store.leave_to_parent()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_after_fork)
