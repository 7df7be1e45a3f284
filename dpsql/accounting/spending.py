"""The owner's report: what is left, who spent what on which plans, and a tighter total for the reader."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from dpsql.accounting import pld
from dpsql.accounting.account import Amount, Balance, Cap
from dpsql.accounting.caps import amount_spent
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import ZERO, Cost
from dpsql.accounting.releases import RELEASED, VOID, Published, Release, releases, total_cost


@dataclass(slots=True, kw_only=True)
class Spent:
    """What one analyst spent on one plan."""

    analyst: str | None
    plan: str
    tables: str
    measured: str
    last: datetime
    charges: int = 0
    released: int = 0
    voided: int = 0
    cost: Cost = ZERO


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """accounts: the dataset, then each analyst with a cap or a charge. plans: dearest first."""

    dataset: str
    accounting: str
    per: str | None
    per_query: Cap | None
    accounts: tuple[tuple[str, Balance], ...]
    plans: tuple[Spent, ...]
    tight: pld.Tight | None = field(default=None)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "dataset": self.dataset,
            "accounting": self.accounting,
            "per": self.per,
            "max_per_query": None
            if self.per_query is None
            else _amount(Amount(epsilon=self.per_query[0], delta=self.per_query[1])),
            "accounts": [
                {
                    "account": name,
                    "total": _amount(held.total),
                    "spent": _amount(held.spent),
                    "left": _amount(held.left),
                }
                for name, held in self.accounts
            ],
            "plans": [
                {
                    "analyst": one.analyst,
                    "plan": one.plan,
                    "tables": one.tables,
                    "measured": one.measured,
                    "charges": one.charges,
                    "released": one.released,
                    "voided": one.voided,
                    "epsilon": float(one.cost.epsilon),
                    "delta": float(one.cost.delta),
                    "rho": float(one.cost.rho),
                    "last": one.last.strftime("%Y-%m-%dT%H:%M:%SZ"),
                }
                for one in self.plans
            ],
            "tight": None if self.tight is None else self.tight.to_dict(),
        }


def report(ledger: Ledger, *, tight_delta: Fraction | None = None) -> Report:
    """Reads the ledger alone. tight_delta: also the total by privacy loss distributions at this δ (needs dpsql[pld])."""
    charged = releases(ledger.rows())
    balance = ledger.balance()
    return Report(
        dataset=ledger.account.dataset,
        accounting=ledger.account.accounting,
        per=ledger.account.per,
        per_query=ledger.account.per_query,
        accounts=((ledger.account.dataset, balance), *balance.per_analyst.items()),
        plans=spending(charged),
        tight=None if tight_delta is None else pld.tight_total(charged, tight_delta),
    )


def published(ledger: Ledger, analyst: str | None = None) -> Published:
    """The release table of the dataset, or of one analyst's queries.

    Lemma: its total is what the budget counts as spent. Proof: the ledger's totals are the sums of the charges that were not
    voided, of the dataset or analyst, and one function makes an amount of them, under the same cap (`caps.amount_spent`).
    A monthly budget counts the month's; the table has all months, added up in the same way.
    """
    shown = tuple(one for one in releases(ledger.rows()) if analyst is None or one.analyst == analyst)
    held = ledger.balance(analyst)
    total = (held if analyst is None else held.per_analyst[analyst]).total
    whole = amount_spent(ledger.account, (total.epsilon, total.delta), total_cost(shown))
    return Published(account=ledger.account, whole=whole, releases=shown)


def spending(releases: Iterable[Release]) -> tuple[Spent, ...]:
    by_plan: dict[tuple[str | None, str], Spent] = {}
    for one in releases:
        at = (one.analyst, one.plan)
        held = by_plan.setdefault(
            at, Spent(analyst=one.analyst, plan=one.plan, tables=one.tables, measured=one.measured, last=one.time)
        )
        held.charges += 1
        held.last = max(held.last, one.time)
        held.released += one.state == RELEASED
        held.voided += one.state == VOID
        held.cost = held.cost if one.state == VOID else held.cost + one.cost
    return tuple(sorted(by_plan.values(), key=lambda s: (-s.cost.epsilon, s.analyst or "", s.plan)))


def _amount(amount: Amount) -> dict[str, float | None]:
    parts = {"epsilon": amount.epsilon, "delta": amount.delta, "rho": amount.rho, "delta_keys": amount.delta_keys}
    return {name: None if part is None else float(part) for name, part in parts.items()}
