"""What a ledger is asked. Nothing here writes, and nothing that is asked is charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from dpsql.accounting import ledger_verify
from dpsql.accounting.account import Account, Balance, Cap, Charge, Receipt, check_cost
from dpsql.accounting.ledger_book import now_after
from dpsql.accounting.ledger_chain import NO_ENTRIES, Entry, Head
from dpsql.accounting.ledger_open import ledger_exists
from dpsql.accounting.ledger_reckoning import Reckoning
from dpsql.accounting.ledger_repeats import Before, Question, answering, repeated, retried, rows_of, stored
from dpsql.accounting.ledger_rows import Reading
from dpsql.accounting.ledger_store import Store
from dpsql.accounting.ledger_verify import BadRow
from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError, InternalError, LedgerError


class LedgerReads:
    """An account's entries, in the epoch in which it was opened."""

    def __init__(
        self, store: Store, account: Account, epoch: int, clock: Callable[[], int], subs: tuple[tuple[int, Cap], ...]
    ) -> None:
        self.account = account
        self._epoch = epoch
        self._store = store
        self._clock = clock
        self._subs = subs
        self._reckoning = Reckoning(account=account, epoch=epoch, subs=subs)

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

    def stranger(self, analyst: str | None) -> BudgetError | None:
        """Why this analyst may not ask at all; None where they may."""
        return self._reckoning.stranger(analyst)

    def rows_of(self, charge: int) -> bytes | None:
        """The rows that the charge of this number released, free of charge; None if there are none."""
        with self._store.read() as reading:
            return rows_of(reading, self._epoch, charge)

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
