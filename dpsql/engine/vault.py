"""The private data: opened, hardened, and answered from in integers and text only, on whatever engine they are.

Every failure after opening is one opaque error; the engine's own words go to the owner's log and nowhere else, not even
into an exception's context.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from dpsql.engine.backend import (
    Backend,
    Described,
    Failure,
    Loads,
    Run,
    not_begun,
    opaque,
    wrong_columns,
    wrong_values,
)
from dpsql.engine.hardening import Limits
from dpsql.engine.interruptible import interruptible
from dpsql.engine.opening import opened
from dpsql.engine.sealed import Closing, Sealed
from dpsql.engine.sources import Array, Column, Source
from dpsql.errors import Error, InterfaceError, InternalError, Interrupted, SourceError

OwnerLog = Callable[[str], None]


class Asked(Protocol):
    """What a query asks: a snapshot; or the vault itself, each of whose answers is one of its own."""

    def relation(self, table: str, *, row_number: bool = False) -> str:
        """The SQL to put after FROM; with row_number it has the BIGINT column "__row" too."""

    def columns(self, table: str) -> tuple[Column, ...]:
        """The source's own columns, from its schema only."""

    def run(
        self, sql: str, *, loads: Loads | None = None, columns: Sequence[Described] | None = None
    ) -> dict[str, Array]:
        """One statement's columns: BIGINT as int64 (masked if a NULL came), VARCHAR as objects (str or None)."""


class Vault(Sealed, Closing):
    """Private tables of one engine. Snapshots and runs may overlap."""

    def __init__(self, backend: Backend, owner_log: OwnerLog | None) -> None:
        self._backend = backend
        self._owner_log = owner_log
        self._running: set[Run] = set()
        self._stopped: set[Run] = set()
        self._guard = threading.Lock()
        self._closed = False

    @classmethod
    def open(
        cls,
        sources: Mapping[str, Source],
        limits: Limits | None = None,
        *,
        owner_log: OwnerLog | None = None,
    ) -> Vault:
        """Open every source. Reads schemas (and copies frames), raises SourceError with a code and no cell in it."""
        return cls(opened(sources, limits or Limits(), owner_log), owner_log)

    @property
    def engine(self) -> str:
        """The name of the engine's dialect."""
        return self._backend.name

    def relation(self, table: str, *, row_number: bool = False) -> str:
        """The SQL to put after FROM; with row_number it has the BIGINT column "__row" too."""
        return self._backend.relation(table, row_number=row_number)

    def columns(self, table: str) -> tuple[Column, ...]:
        """The source's own columns, from its schema only."""
        return self._backend.columns(table)

    def unnumbered(self, table: str) -> str | None:
        """None where the table's rows can be units of their own; else what the source is."""
        return self._backend.unnumbered(table)

    def computed(self, table: str) -> str | None:
        """backend.Backend.computed."""
        return self._backend.computed(table)

    def identity(self, table: str) -> Mapping[str, str]:
        """What the engine says the source is; empty of files and frames."""
        return self._backend.identity(table)

    def snapshot(self) -> Snapshot:
        """For one query: all that is asked of it sees the same rows. To be closed."""
        with self._guard:
            self._check_open()
            run = self._backend.begin()
            self._running.add(run)
        return Snapshot(self, run)

    def run(
        self, sql: str, *, loads: Loads | None = None, columns: Sequence[Described] | None = None
    ) -> dict[str, Array]:
        """One statement on a snapshot of its own."""
        with self.snapshot() as snapshot:
            return snapshot.run(sql, loads=loads, columns=columns)

    def answer(self, run: Run, sql: str, loads: Loads | None, expected: Sequence[Described] | None) -> dict[str, Array]:
        """What Snapshot.run answers."""
        failure: Failure | None = None
        by_signal = False
        result: dict[str, Array] = {}
        wrong = ""
        with self._guard:
            self._check_open()
            self._stopped.discard(run)
        try:
            result, wrong = interruptible(lambda: _answer(run, sql, loads or {}, expected), lambda: self._stop(run))
            run.check()
        except (Exception, KeyboardInterrupt) as error:  # whatever it is, its message may quote a cell
            failure, by_signal = self._classify(run, error), isinstance(error, KeyboardInterrupt)
            result = {}
            self._tell_owner(error)
        if failure is not None:
            raise Interrupted("the query was interrupted") if by_signal else opaque(failure)
        if wrong:
            raise InternalError(wrong)
        return result

    def _classify(self, run: Run, error: BaseException) -> Failure:
        if isinstance(error, KeyboardInterrupt):
            return Failure.INTERRUPTED
        failure = self._backend.classify(error)
        return Failure.INTERRUPTED if failure is Failure.OUT_OF_TIME and run in self._stopped else failure

    def begin(self, run: Run) -> None:
        """What Snapshot.start does."""
        refused: Error | None = None
        try:
            interruptible(run.start, lambda: self._stop(run))
        except SourceError as error:  # ours: it says what was found of the sources, and no cell
            refused = error
        except (Exception, KeyboardInterrupt) as error:  # as in answer
            refused = not_begun(self._classify(run, error))
            if isinstance(error, KeyboardInterrupt):
                refused = Interrupted("the query was interrupted")
            self._tell_owner(error)
        if refused is not None:
            refused.__context__ = None
            raise refused

    def forget(self, run: Run) -> None:
        with self._guard:
            self._running.discard(run)
            self._stopped.discard(run)
        run.close()

    def _stop(self, run: Run) -> None:
        self._stopped.add(run)
        run.interrupt()

    def _check_open(self) -> None:
        if self._closed:
            raise InterfaceError("the vault is closed")

    def _tell_owner(self, error: BaseException) -> None:
        if self._owner_log is not None:
            self._owner_log(f"{type(error).__name__}: {error}")

    def interrupt(self) -> None:
        """Stop whatever runs now; callable from any thread."""
        with self._guard:
            running = tuple(self._running)
        for run in running:
            self._stop(run)

    def close(self) -> None:
        self._closed = True
        self._backend.close()


class Snapshot(Sealed, Closing):
    """One query's look at the private tables: what is asked of it, statement after statement, sees the same rows."""

    def __init__(self, vault: Vault, run: Run) -> None:
        self._vault = vault
        self._run = run

    def start(self) -> None:
        """Connect, before anything is charged. SourceError where the source cannot be reached, or is another one."""
        self._vault.begin(self._run)

    def run(
        self, sql: str, *, loads: Loads | None = None, columns: Sequence[Described] | None = None
    ) -> dict[str, Array]:
        """One statement's columns: BIGINT as int64 (masked if a NULL came), VARCHAR as objects (str or None).

        columns: what they must be, in order; anything else is a bug and stops here.

        `loads` are tables for this call alone. ExecutionError 500 for any failure of the engine, 503 when interrupted
        (Ctrl-C too; the vault stays usable), 504 when memory or disk ran out, 505 when the sources changed, 506 when it took
        too long.
        """
        return self._vault.answer(self._run, sql, loads, columns)

    def columns(self, table: str) -> tuple[Column, ...]:
        return self._vault.columns(table)

    def relation(self, table: str, *, row_number: bool = False) -> str:
        return self._vault.relation(table, row_number=row_number)

    def close(self) -> None:
        self._vault.forget(self._run)


def _answer(run: Run, sql: str, loads: Loads, expected: Sequence[Described] | None) -> tuple[dict[str, Array], str]:
    """The columns, or what is wrong with them."""
    described = run.execute(sql, loads)
    if described is None:
        return {}, "the vault was given something other than one SELECT"
    wrong = wrong_columns(described, expected)
    if wrong:
        return {}, wrong
    values = run.fetch()
    return values, wrong_values(values, expected)
