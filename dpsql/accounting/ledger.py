"""The ledger: what every release costs is on record, durably, before anything private is read.

    receipt = ledger.reserve(charge)    # checked against every cap and written, in one transaction
    ledger.running(receipt)             # from here on the charge is never given back
    ledger.store(receipt, rows)         # what may be handed over is stored first

Two promises, under any number of processes and threads of one host, and under kill -9 at any moment: the sum of charges
never passes a cap, and what was released had been charged. A ledger holds one dataset; a new connection, a changed
catalog or a restarted process continue it and never refill it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

from dpsql.accounting import ledger_verify
from dpsql.accounting.account import Account, Balance, Cap, Charge, Receipt, check_cap, check_cost, check_name
from dpsql.accounting.ledger_book import ACCOUNT_SCOPE, draft_charge, now_after, post
from dpsql.accounting.ledger_chain import (
    NO_ENTRIES,
    Entry,
    Head,
    rows_digest,
)
from dpsql.accounting.ledger_open import Changes, Opened, begin, ledger_exists, memory_store
from dpsql.accounting.ledger_reckoning import Reckoning
from dpsql.accounting.ledger_repeats import Before, Question, answering, repeated, retried, stored
from dpsql.accounting.ledger_rows import Reading, Writing, tampered
from dpsql.accounting.ledger_store import Store
from dpsql.accounting.ledger_verify import BadRow
from dpsql.accounting.loss import ZERO, Cost
from dpsql.errors import BudgetError, Error, InterfaceError, InternalError, LedgerError

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


class Spent(threading.local):
    """What this thread's statement has cost so far: nothing; asked (the charge is being written); charged; released."""

    state: str = "nothing"
    cost: Cost = ZERO

    def clear(self) -> None:
        self.is_now("nothing", ZERO)

    def is_now(self, state: str, cost: Cost) -> None:
        self.state, self.cost = state, cost


class Ledger:
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
        self.account = account
        self.notices = opened.notices
        self._epoch = opened.epoch
        self._store = store
        self._clock = clock
        self._subs = subs
        self.spent_here = Spent()
        self._reckoning = Reckoning(account=account, epoch=opened.epoch, subs=subs)

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
                why="A reservation runs once, what ran stays charged, and only what never ran can be voided.",
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

    # --- asking

    @property
    def path(self) -> Path | None:
        """The file; None in memory."""
        return self._store.path

    def last_metadata(self) -> str | None:
        """The fingerprint of the metadata that the newest charge was made from; None before the first one."""
        with self._store.read() as reading:
            return reading.last_metadata(self._epoch)

    def earlier(self, charge: Charge, *, any_run: bool) -> Receipt | None:
        """What answers this charge without charging it: the rows stored under its query id or, with any_run, by any run
        of the same plan by the same analyst. Who may not ask may not ask again either."""
        if charge.query_id is None and not any_run:
            return None
        with self._store.read() as reading:
            refused = self._reckoning.stranger(charge.analyst)
            if refused is not None:
                raise refused
            self._tip(reading)
            receipt = retried(reading, self._epoch, charge)
            return receipt if receipt is not None or not any_run else repeated(reading, self._epoch, charge)

    def stored(self, *, analyst: str | None, plan: str, metadata: str, query_id: str | None = None) -> bytes | None:
        """The rows last released to this analyst for this plan and metadata, free of charge; None if there are none."""
        with self._store.read() as reading:
            released = stored(reading, self._epoch, Question(analyst, plan, metadata, query_id))
        return None if released is None else released[1]

    def answering(self, mark: str, *, analyst: str | None, metadata: str, most: int = 20) -> tuple[Before, ...]:
        """The first releases, oldest first, to this analyst and of this metadata, that say the mark of themselves. None
        for who may not ask."""
        with self._store.read() as reading:
            if self._reckoning.stranger(analyst) is not None:
                return ()
            return answering(reading, self._epoch, Question(analyst, "", metadata), mark, most)

    def quote(self, cost: Cost, analyst: str | None = None) -> BudgetError | None:
        """Would this charge pass now? Writes nothing, promises nothing."""
        self._check_notion(cost)
        with self._store.read() as reading:
            return self._reckoning.refusal(reading, cost, analyst, self._read_time(reading))

    def balance(self, analyst: str | None = None) -> Balance:
        """total, spent and left of this connection's budget: the sub-budget's, or the dataset's (of this month, where
        it is monthly); per analyst too, of one or of all."""
        with self._store.read() as reading:
            return self._reckoning.balance(reading, analyst, self._read_time(reading))

    def _check_notion(self, cost: Cost) -> None:
        check_cost(cost)
        if self.account.accounting == "zcdp" and (cost.rho == 0) != (cost.epsilon == 0):
            raise InternalError("under zcdp a charge has both an epsilon and a rho, or neither")

    def _tip(self, reading: Reading) -> Entry:
        """The newest entry; the epoch must still be the one this connection was opened in."""
        tip = reading.tip()
        if tip is None or tip.epoch != self._epoch:
            raise LedgerError("the ledger has begun a new epoch", code=410, fix="Connect again.")
        return tip

    def _read_time(self, reading: Reading) -> int:
        return now_after(self._tip(reading), self._clock)

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

    def rows(self) -> Iterator[Entry]:
        """Every entry, oldest first, as it is stored."""
        last = 0
        while True:
            with self._store.read() as reading:
                entries = reading.after(last, 500)
            yield from entries
            if not entries:
                return
            last = entries[-1].n

    def verify(self, printed: str | None = None) -> BadRow | None:
        """The first entry that is not as it was written, or None. printed: a head the owner kept, `count:hash`."""
        return ledger_verify.verify_store(self._store, None if printed is None else Head.parse(printed))

    @staticmethod
    def verify_file(path: Path, printed: str | None = None) -> BadRow | None:
        """verify for an existing file that may be too damaged to open; needs no catalog."""
        ledger_exists(path)
        return ledger_verify.verify_file(path, None if printed is None else Head.parse(printed))

    def head(self) -> str:
        """`count:hash` of the newest entry, for the owner to keep elsewhere."""
        with self._store.read() as reading:
            tip = reading.tip()
        return str(NO_ENTRIES if tip is None else Head(count=tip.n, hash=tip.hash))

    def export(self) -> dict[str, object]:
        """Everything but the released rows, ready for JSON; the hashes make it checkable anywhere."""
        entries = [asdict(entry) for entry in self.rows()]
        return {"dataset": self.account.dataset, "head": self.head(), "entries": entries}

    def close(self) -> None:
        """Close the file; a ledger in memory, and one this is a sub-budget of, stay open."""
        if self._store.path is not None and not self._subs:
            self._store.close()


_STATES = {None: "reserved", "running": "running", "released": "released", "void": "voided"}


def _check_why(why: str) -> None:
    if not why.strip():
        raise InterfaceError("say why: it goes on record")
