"""How entries are made: their number, time, running totals and hash. The writer and the verifier share what is here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dpsql.accounting.account import Charge
from dpsql.accounting.ledger_chain import (
    START,
    Entry,
    Totals,
    add,
    charge_scopes,
    digest,
    grant_scope,
    limit_scope,
    month,
    take_back,
    write_totals,
)
from dpsql.accounting.ledger_rows import Reading, Writing
from dpsql.accounting.loss import ZERO, Cost
from dpsql.errors import InternalError

EPOCH_SCOPE = "all:epoch"
ACCOUNT_SCOPE = "all:account"
SOURCE_SCOPE = "all:source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What an entry does to running totals: adds its cost to each scope, or takes it back."""

    scopes: tuple[str, ...] = ()
    cost: Cost = ZERO
    back: bool = False

    def totals(self, current: Callable[[str], Cost]) -> Totals:
        change = take_back if self.back else add
        return {scope: change(current(scope), self.cost) for scope in self.scopes}


def effect(entry: Entry, charge: Entry | None, subs: tuple[int, ...]) -> Effect:
    """charge: the one a void is about. subs: the sub-budgets the charge counts against, innermost first."""
    match entry.kind:
        case "epoch":
            return Effect(scopes=(EPOCH_SCOPE,))
        case "account":
            return Effect(scopes=(ACCOUNT_SCOPE,))
        case "source":
            return Effect(scopes=(SOURCE_SCOPE,))
        case "limit":
            return Effect(scopes=(limit_scope(entry.analyst),))
        case "grant":
            windows = ("all", month(entry.time))
            return Effect(scopes=tuple(grant_scope(window, entry.analyst) for window in windows), cost=entry.cost)
        case "charge":
            return Effect(scopes=charge_scopes(entry.time, entry.analyst, subs), cost=entry.cost)
        case "void" if charge is not None:
            return Effect(scopes=charge_scopes(charge.time, charge.analyst, subs), cost=charge.cost, back=True)
        case "running" | "released" | "sub":
            return Effect()
        case _:
            raise InternalError(f"no such ledger entry: {entry.kind}")


def total(reading: Reading, epoch: int, scope: str) -> Cost:
    """The running total of a scope: nothing, if no entry has touched it."""
    entry = reading.latest(epoch, scope)
    return ZERO if entry is None else entry.running_totals[scope]


def subs_of(reading: Reading, sub: int | None) -> tuple[int, ...]:
    """A sub-budget and those it lies within."""
    subs: list[int] = []
    while sub is not None:
        subs.append(sub)
        entry = reading.entry(sub)
        sub = None if entry is None else entry.subject
    return tuple(subs)


def now_after(tip: Entry | None, clock: Callable[[], int]) -> int:
    """The clock never goes back: setting it back cannot bring last month's entries into this month."""
    return max(clock(), 0 if tip is None else tip.time)


def draft_charge(charge: Charge, epoch: int, sub: int | None, time: int) -> Entry:
    """The entry of a charge, before post() gives it its number."""
    return Entry(
        n=0,
        epoch=epoch,
        kind="charge",
        time=time,
        analyst=charge.analyst,
        query_id=charge.query_id,
        plan=charge.plan,
        metadata=charge.metadata,
        sub=sub,
        epsilon=str(charge.cost.epsilon),
        delta=str(charge.cost.delta),
        rho=str(charge.cost.rho),
        delta_keys=str(charge.cost.delta_keys),
        detail=charge.record,
    )


def post(writing: Writing, draft: Entry, *, charge: Entry | None = None, rows: bytes | None = None) -> Entry:
    """Append the draft as the next entry: n, previous, totals and hash are filled in here."""
    tip = writing.tip()
    subs = subs_of(writing, charge.sub if charge is not None else draft.sub)
    change = effect(draft, charge, subs)
    totals = change.totals(lambda scope: total(writing, draft.epoch, scope))
    entry = replace(
        draft,
        n=1 if tip is None else tip.n + 1,
        previous=START if tip is None else tip.hash,
        totals=write_totals(totals),
    )
    entry = replace(entry, hash=digest(entry))
    writing.insert(entry, change.scopes, rows)
    return entry
