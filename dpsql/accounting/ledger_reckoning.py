"""Which caps a charge must pass, and what is left of them: the account's words against the ledger's totals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType

from dpsql.accounting import caps
from dpsql.accounting.account import Account, Balance, Cap
from dpsql.accounting.caps import Ceiling
from dpsql.accounting.ledger_book import total
from dpsql.accounting.ledger_chain import analyst_scope, dataset_scope, grant_scope, limit_scope, month, sub_scope
from dpsql.accounting.ledger_rows import Reading
from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """subs: the sub-budgets of this connection, innermost first. Everything asked is as of one transaction."""

    account: Account
    epoch: int
    subs: tuple[tuple[int, Cap], ...]

    def refusal(self, reading: Reading, cost: Cost, analyst: str | None, now: int) -> BudgetError | None:
        """None if the charge passes every cap: of one query, sub-budgets, analyst, dataset."""
        return self.stranger(analyst) or caps.refusal(self.account, self._ceilings(reading, analyst, now), cost)

    def stranger(self, analyst: str | None) -> BudgetError | None:
        """The refusal of someone whom the catalog does not list; None where it lists nobody."""
        listed = self.account.analysts is None or analyst in self.account.analysts
        return None if listed else _unknown(analyst)

    def balance(self, reading: Reading, analyst: str | None, now: int) -> Balance:
        """Of the innermost sub-budget, else of the dataset; with one analyst's, or all analysts', caps. What is left of a
        sub-budget is never more than what is left of those around it."""
        names = self._analysts(reading) if analyst is None else (analyst,)
        balances = {name: self._balance(self._of_analyst(reading, name, now)) for name in names}
        own_first = [self._balance(each) for each in (*self._of_subs(reading), self._of_dataset(reading, now))]
        left = reduce(caps.least_amount, (each.left for each in own_first))
        return replace(own_first[0], left=left, per_analyst=MappingProxyType(balances))

    def _ceilings(self, reading: Reading, analyst: str | None, now: int) -> tuple[Ceiling, ...]:
        single = self.account.per_query
        query = () if single is None else (Ceiling(who="the cap of one query", code=401, cap=single, single=True),)
        of_analyst = () if analyst is None else (self._of_analyst(reading, analyst, now),)
        return (*query, *self._of_subs(reading), *of_analyst, self._of_dataset(reading, now))

    def _of_subs(self, reading: Reading) -> tuple[Ceiling, ...]:
        return tuple(
            Ceiling(who="the sub-budget", code=402, cap=cap, spent=total(reading, self.epoch, sub_scope(sub)))
            for sub, cap in self.subs
        )

    def _of_dataset(self, reading: Reading, now: int) -> Ceiling:
        window = self._window(now)
        return Ceiling(
            who=f"the budget of dataset {self.account.dataset!r}",
            code=400,
            cap=self._effective(reading, self.account.total, None, window),
            spent=total(reading, self.epoch, dataset_scope(window)),
        )

    def _of_analyst(self, reading: Reading, analyst: str, now: int) -> Ceiling:
        window = self._window(now)
        listed = (self.account.analysts or {}).get(analyst, (None, None))
        return Ceiling(
            who=f"the budget of analyst {analyst!r}",
            code=400,
            cap=self._effective(reading, listed, analyst, window),
            spent=total(reading, self.epoch, analyst_scope(window, analyst)),
        )

    def _effective(self, reading: Reading, cap: Cap, analyst: str | None, window: str) -> Cap:
        """The catalog's cap, with what was granted in this window on top, and never above the owner's limit."""
        granted = total(reading, self.epoch, grant_scope(window, analyst))
        limit = reading.latest(self.epoch, limit_scope(analyst))
        raised = caps.raised(cap, granted)
        return raised if limit is None else caps.lowered(raised, limit.cap)

    def _window(self, now: int) -> str:
        return month(now) if self.account.per == "month" else "all"

    def _balance(self, ceiling: Ceiling) -> Balance:
        limit = caps.limit_of(self.account, ceiling.cap)
        spent = caps.amount_spent(self.account, ceiling.cap, ceiling.spent)
        return Balance(total=limit, spent=spent, left=caps.amount_left(limit, spent))

    def _analysts(self, reading: Reading) -> tuple[str, ...]:
        spenders = reading.scopes(self.epoch, analyst_scope("all", ""))
        return tuple(sorted({*(self.account.analysts or {}), *spenders}))


def _unknown(analyst: str | None) -> BudgetError:
    who = "a query without an analyst's name" if analyst is None else f"analyst {analyst!r}"
    return BudgetError(
        f"{who} is not allowed here",
        code=403,
        why="The metadata lists the analysts of this dataset.",
        fix="Connect with analyst=…, or ask the owner to add the name under `analysts:`.",
    )
