"""Opening a ledger: it continues what it finds, says what changed, and refuses what would refill it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from dpsql.accounting.account import NO_CAP, Account
from dpsql.accounting.ledger_book import ACCOUNT_SCOPE, EPOCH_SCOPE, now_after, post
from dpsql.accounting.ledger_chain import Entry, dataset_scope
from dpsql.accounting.ledger_rows import Writing
from dpsql.accounting.ledger_store import Store
from dpsql.errors import LedgerError


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """epoch: the one all charges of this connection belong to. notices: what the owner should be told."""

    epoch: int
    notices: tuple[str, ...]


_MEMORY: dict[str, Store] = {}
_MEMORY_LOCK = threading.Lock()


def memory_store(dataset: str, make: Callable[[], Store]) -> Store:
    """One ledger in memory per dataset and process: a second connection continues it."""
    with _MEMORY_LOCK:
        if dataset not in _MEMORY:
            _MEMORY[dataset] = make()
        return _MEMORY[dataset]


Changes = Literal["any", "tighter", "none"]
"""Which changes of the account on record opening takes over: the owner's catalog may make any; what a caller says where the
owner says nothing can only get tighter; frames of a process that share an account make none."""


def begin(store: Store, account: Account, *, new_epoch: bool, changes: Changes, clock: Callable[[], int]) -> Opened:
    """Continue the ledger's account, or start one: on an empty ledger, or because the owner said --new-epoch.

    changes: another budget for the same dataset takes its place, or is refused.
    """
    with store.write("open", start_over=new_epoch) as writing:
        tip = writing.tip()
        if tip is None or new_epoch:
            return _start(writing, tip, account, now_after(tip, clock))
        _check_dataset(writing, tip, account, store.name)
        return _continue(writing, tip, account, changes, now_after(tip, clock))


def _start(writing: Writing, tip: Entry | None, account: Account, time: int) -> Opened:
    epoch = 1 if tip is None else tip.epoch + 1
    follows = None if tip is None else f"{tip.n}:{tip.hash}"
    detail = json.dumps({"dataset": account.dataset, "follows": follows})
    post(writing, Entry(n=0, epoch=epoch, kind="epoch", time=time, detail=detail))
    post(writing, Entry(n=0, epoch=epoch, kind="account", time=time, detail=account.to_json()))
    if tip is None:
        return Opened(epoch=epoch, notices=())
    notice = (
        f"epoch {epoch} of the ledger begins, on record: the whole budget is available again, and what was "
        "spent before no longer counts"
    )
    return Opened(epoch=epoch, notices=(notice,))


def _check_dataset(writing: Writing, tip: Entry, account: Account, name: str) -> None:
    first = writing.latest(tip.epoch, EPOCH_SCOPE)
    dataset = None if first is None or first.detail is None else json.loads(first.detail)["dataset"]
    if dataset != account.dataset:
        raise LedgerError(
            f"the ledger is the account of dataset {dataset!r}, not of {account.dataset!r}: {name}",
            code=410,
            why="A ledger holds one dataset; renaming the dataset must not refill its budget.",
            fix="Use the dataset's own ledger, or start over on record with --new-epoch.",
        )


def _continue(writing: Writing, tip: Entry, account: Account, changes: Changes, time: int) -> Opened:
    recorded = writing.latest(tip.epoch, ACCOUNT_SCOPE)
    before = recorded.detail if recorded is not None and recorded.detail is not None else ""
    text = account.to_json()
    if text == before:
        return Opened(epoch=tip.epoch, notices=())
    if changes == "none" or (changes == "tighter" and _is_looser(account, Account.from_json(before))):
        raise LedgerError(
            f"dataset {account.dataset!r} already has another budget",
            code=411,
            why="Opening it again, with another `budget=` or with none, does not raise it.",
            fix="Give the same budget; the owner may raise it with `dpsql budget grant`. Other data has its own "
            "`dataset=` name.",
        )
    spent = writing.latest(tip.epoch, dataset_scope("all")) is not None
    if spent and Account.from_json(before).accounting != account.accounting:
        raise LedgerError(
            f"what was spent under another accountant cannot be carried over to {account.accounting}",
            code=413,
            why="A sum of epsilon and delta does not show how much rho was spent, nor the reverse.",
            fix="Keep the `accounting:` that the ledger began with, or start over on record with --new-epoch.",
        )
    post(writing, Entry(n=0, epoch=tip.epoch, kind="account", time=time, detail=text))
    return Opened(epoch=tip.epoch, notices=(_changed(before, text),))


def _is_looser(new: Account, old: Account) -> bool:
    """Whether the new account allows anything that the old one does not."""

    def above(new_cap: Fraction | None, old_cap: Fraction | None) -> bool:
        return old_cap is not None and (new_cap is None or new_cap > old_cap)

    renewed = new.per is not None and new.per != old.per
    pairs = zip((*new.total, *(new.per_query or NO_CAP)), (*old.total, *(old.per_query or NO_CAP)), strict=True)
    return renewed or any(above(one, other) for one, other in pairs)


def _changed(before: str, after: str) -> str:
    old, new = json.loads(before), json.loads(after)
    said = {"per_query": "max_per_query"}  # as the catalog calls it
    parts = [
        f"{said.get(key, key)} from {json.dumps(old[key])} to {json.dumps(new[key])}"
        for key in new
        if old.get(key) != new[key]
    ]
    return f"the budget's account changed ({'; '.join(parts)}); what was spent stays spent"


def ledger_exists(path: Path) -> None:
    if not path.exists():
        raise LedgerError(f"there is no ledger: {path}", fix="Check the path; the first query creates one.")
