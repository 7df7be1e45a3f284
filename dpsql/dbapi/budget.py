"""What a connection says of its budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from dpsql.accounting.account import Amount, Balance, Cap
from dpsql.accounting.ledger import Ledger
from dpsql.report.privacy import CostReport, amount_report


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Budget:
    """total, spent and left, each with .epsilon and .delta (None: not limited); the same for each analyst.

    max_per_query: the most a single query may cost; None without such a cap. Under `accounting: zcdp` the .rho and
    .delta_keys of total, spent and left are what is enforced; .epsilon and .delta are converted from them, for the reader.
    """

    total: CostReport
    spent: CostReport
    left: CostReport
    per_analyst: Mapping[str, Budget] = field(default_factory=lambda: MappingProxyType({}))
    max_per_query: CostReport | None = None

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        most = "" if self.max_per_query is None else f"; one query at most {self.max_per_query}"
        lines = [f"total {self.total}; spent {self.spent}; left {self.left}{most}"]
        return "\n".join([*lines, *(f"  {name}: {budget}" for name, budget in self.per_analyst.items())])


def budget_of(ledger: Ledger | None) -> Budget:
    """None: exact mode, in which nothing is spent and nothing limited."""
    if ledger is None:
        nothing = CostReport(epsilon=None, delta=None)
        return Budget(total=nothing, spent=CostReport(epsilon=0.0, delta=0.0), left=nothing)
    return replace(_of(ledger.balance()), max_per_query=_cap_report(ledger.account.per_query))


def _of(balance: Balance) -> Budget:
    return Budget(
        total=amount_report(balance.total),
        spent=amount_report(balance.spent),
        left=amount_report(balance.left),
        per_analyst={name: _of(inner) for name, inner in balance.per_analyst.items()},
    )


def _cap_report(cap: Cap | None) -> CostReport | None:
    return None if cap is None else amount_report(Amount(epsilon=cap[0], delta=cap[1]))
