"""The ledger: what every release costs is on record, durably, before anything private is read.

    receipt = ledger.reserve(charge)    # checked against every cap and written, in one transaction
    ledger.running(receipt)             # from here on the charge is never given back
    ledger.store(receipt, rows)         # what may be handed over is stored first

Two promises, under any number of processes and threads of one host, and under kill -9 at any moment: the sum of charges
never passes a cap, and what was released had been charged. A ledger holds one dataset; a new connection, a changed
catalog or a restarted process continue it and never refill it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from dpsql.accounting.account import Account, Cap, Charge, Receipt, check_cap, check_name
from dpsql.accounting.ledger_book import ACCOUNT_SCOPE, draft_charge, now_after, post
from dpsql.accounting.ledger_chain import Entry, rows_digest
from dpsql.accounting.ledger_open import Changes, Opened, begin, ledger_exists, memory_store
from dpsql.accounting.ledger_reads import LedgerReads
from dpsql.accounting.ledger_repeats import retried
from dpsql.accounting.ledger_rows import Writing, tampered
from dpsql.accounting.ledger_sources import Identities, remember
from dpsql.accounting.ledger_store import Store
from dpsql.accounting.loss import ZERO, Cost
from dpsql.accounting.spent_here import SpentHere
from dpsql.errors import Error, InterfaceError, LedgerError

STEPS = ("open", "reserve", "running", "store")
MOMENTS = ("before", "written", "announced", "committed", "done")
CRASH_POINTS = tuple(f"{step}.{moment}" for step in STEPS for moment in MOMENTS)
"""Where a test may kill the process: before the lock, before the head file names the new entry, before the commit, before
the head file names it alone, after all of it."""


def crash_point(name: str) -> None:
    """Does nothing. Tests put a kill here."""


def _crash(name: str) -> None:
    crash_point(name)


def _now() -> int:
    return time.time_ns() // 1000


TIMEOUT = 30.0


class Ledger(LedgerReads):
    """One connection to a dataset's account. Made by Ledger.open; safe to share between threads and across a fork.

    notices: what opening found that the owner should be told.
    """

    def __init__(
        self,
        store: Store,
        account: Account,
        opened: Opened,
        clock: Callable[[], int],
        subs: tuple[tuple[int, Cap], ...],
    ) -> None:
        super().__init__(store, account, opened.epoch, clock, subs)
        self.notices = opened.notices
        self.spent_here = SpentHere()

    @classmethod
    def open(
        cls,
        path: Path | None,
        account: Account,
        *,
        new_epoch: bool = False,
        changes: Changes = "any",
        timeout: float = TIMEOUT,
        clock: Callable[[], int] = _now,
    ) -> Ledger:
        """Continue the ledger at the path, or begin it. path None: in memory, one per dataset and process.

        new_epoch: start the budget over, on record (the owner's word only). changes: which changes of the account on
        record are taken over. timeout: seconds to wait for other processes' charges.
        """
        store = (
            memory_store(account.dataset, lambda: Store(None, timeout=timeout, crash_point=_crash))
            if path is None
            else Store(path, timeout=timeout, crash_point=_crash)
        )
        try:
            opened = begin(store, account, new_epoch=new_epoch, changes=changes, clock=clock)
        except BaseException:  # whatever it is, Ctrl-C too: nobody else could close it; raised again
            if path is not None:
                store.close()
            raise
        return cls(store, account, opened, clock, ())

    @classmethod
    def inspect(cls, path: Path, *, timeout: float = TIMEOUT, clock: Callable[[], int] = _now) -> Ledger:
        """An existing ledger with the account on record, for the owner's commands: needs no catalog."""
        ledger_exists(path)
        store = Store(path, timeout=timeout, crash_point=_crash)
        try:
            with store.read() as reading:
                tip = reading.tip() if reading.begun() else None
                recorded = None if tip is None else reading.latest(tip.epoch, ACCOUNT_SCOPE)
                if tip is None or recorded is None or recorded.detail is None:
                    raise tampered("it holds no account")
                account = Account.from_json(recorded.detail)
        except BaseException:  # as in open: closed, and raised again
            store.close()
            raise
        return cls(store, account, Opened(epoch=tip.epoch, notices=()), clock, ())

    # --- the life of a charge

    def reserve(self, charge: Charge) -> Receipt:
        """Charge, durably, or raise BudgetError and charge nothing.

        A query id that has stored rows gets those and is not charged again; one without is a new charge.
        """
        self._check_notion(charge.cost)
        with self._spending(charge.cost), self._store.write("reserve") as writing:
            tip = self._tip(writing)
            earlier = retried(writing, self._epoch, charge)
            if earlier is not None:
                self.spent_here.clear()
                return earlier
            now = now_after(tip, self._clock)
            refused = self._reckoning.refusal(writing, charge.cost, charge.analyst, now)
            if refused is not None:
                raise refused
            entry = post(writing, draft_charge(charge, self._epoch, self._subs[0][0] if self._subs else None, now))
        self.spent_here.is_now("charged", charge.cost)
        return Receipt(id=entry.n, cost=charge.cost)

    @contextmanager
    def _spending(self, cost: Cost) -> Iterator[None]:
        """Interrupted within, nobody knows whether it was charged; refused, nothing was."""
        self.spent_here.is_now("asked", cost)
        try:
            yield
        except Error:
            self.spent_here.clear()
            raise

    def running(self, receipt: Receipt) -> None:
        """Durably: the vault is about to run. A reservation runs once, and is not voided any more."""
        with self._store.write("running") as writing:
            self._advance(writing, receipt, "running", after=None)

    def store(self, receipt: Receipt, rows: bytes, answers: str | None = None) -> None:
        """Durably: these are the released rows, and (JSON) the limits that were chosen and what the rows answer. Hand over
        nothing before this returns."""
        with self._store.write("store") as writing:
            self._advance(writing, receipt, "released", after="running", rows=rows, detail=answers)
        self.spent_here.is_now("released", receipt.cost)

    def void(self, charge: int, why: str) -> None:
        """The owner gives back, on record, a charge whose run never began."""
        _check_why(why)
        with self._store.write("void") as writing:
            self._advance(writing, Receipt(id=charge, cost=ZERO), "void", after=None, detail=why)

    def _advance(
        self,
        writing: Writing,
        receipt: Receipt,
        kind: str,
        *,
        after: str | None,
        rows: bytes | None = None,
        detail: str | None = None,
    ) -> None:
        tip = self._tip(writing)
        charge = writing.entry(receipt.id)
        if charge is None or charge.kind != "charge" or charge.epoch != self._epoch:
            raise LedgerError(f"there is no charge {receipt.id}", code=423, fix="See `dpsql budget` for the charges.")
        last = writing.last_about(charge.n)
        state = None if last is None else last.kind
        if state != after:
            raise LedgerError(
                f"charge {charge.n} is {_STATES[state]} and cannot become {_STATES[kind]}",
                code=423,
                why="A charge runs only once. What ran stays charged, and only what never ran can be voided.",
            )
        draft = Entry(
            n=0,
            epoch=self._epoch,
            kind=kind,
            time=now_after(tip, self._clock),
            subject=charge.n,
            detail=detail,
            rows_hash=None if rows is None else rows_digest(rows),
        )
        post(writing, draft, charge=charge, rows=rows)

    def remember_sources(self, identities: Identities, *, meant: Container[str]) -> str | None:
        """Which databases the tables are in, durably; the table that was in another one before, unless that is meant."""
        return remember(self._store, self._tip, identities, meant=meant, clock=self._clock)

    # --- the owner

    def sub(self, epsilon: Fraction | None, delta: Fraction | None = None) -> Ledger:
        """The same ledger, for someone who may spend at most this much of it; its charges count in both.

        The sub-budget is on record, so that processes that share it share what is left of it.
        """
        cap = (epsilon, delta)
        inside = self._subs[0][0] if self._subs else None
        entry = self._note("sub", cap, subject=inside)
        opened = Opened(epoch=self._epoch, notices=())
        return Ledger(self._store, self.account, opened, self._clock, ((entry.n, cap), *self._subs))

    def grant(
        self, *, analyst: str | None = None, epsilon: Fraction | None = None, delta: Fraction | None = None, why: str
    ) -> None:
        """Raise a cap, on record, beyond what the catalog says: the dataset's, or an analyst's inside it. Under a
        monthly budget for the current month."""
        _check_why(why)
        self._note("grant", (epsilon or Fraction(0), delta or Fraction(0)), analyst=analyst, why=why)

    def limit(
        self, *, analyst: str | None = None, epsilon: Fraction | None = None, delta: Fraction | None = None, why: str
    ) -> None:
        """From now on a cap is at most this, on record, whatever catalog and grants say; None, None lifts it."""
        _check_why(why)
        self._note("limit", (epsilon, delta), analyst=analyst, why=why)

    def _note(
        self, kind: str, cap: Cap, *, subject: int | None = None, analyst: str | None = None, why: str | None = None
    ) -> Entry:
        check_cap(cap)
        if analyst is not None:
            check_name(analyst)
        epsilon, delta = (None if part is None else str(part) for part in cap)
        with self._store.write(kind) as writing:
            draft = Entry(
                n=0,
                epoch=self._epoch,
                kind=kind,
                time=now_after(self._tip(writing), self._clock),
                subject=subject,
                analyst=analyst,
                epsilon=epsilon,
                delta=delta,
                detail=why,
            )
            return post(writing, draft)

    def close(self) -> None:
        """Close the file; a ledger in memory, and one this is a sub-budget of, stay open."""
        if self._store.path is not None and not self._subs:
            self._store.close()


_STATES = {None: "reserved", "running": "running", "released": "released", "void": "voided"}


def _check_why(why: str) -> None:
    if not why.strip():
        raise InterfaceError("give a reason: the ledger records it")
