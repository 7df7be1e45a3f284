"""The ledger's vocabulary: what an owner grants (Account), what a query asks (Charge), what it gets (Receipt, Balance).

Plain frozen values, exact amounts. Nothing here reads or writes a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError, InterfaceError, InternalError

NOTIONS = ("approx", "zcdp")

Cap = tuple[Fraction | None, Fraction | None]
"""(ε, δ); None is no cap on that."""
NO_CAP: Cap = (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An amount of privacy in every notion; None where nothing limits it (or the notion does not count it)."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    delta_keys: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What the owner's catalog says about a dataset's budget.

    epsilon, delta: the dataset's cap. capped=False: the ledger counts and never refuses (SmartNoise files only).
    delta_keys: under zcdp, the part of delta set aside for thresholds (None: half). per: "month" renews every cap at
    the start of a UTC calendar month. analysts: who may ask, each with a cap inside the dataset's; None: anyone may.
    per_query: no single query may cost more than this, in ε and δ as asked, whatever the notion.
    """

    dataset: str
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    capped: bool = True
    accounting: str = "approx"
    delta_keys: Fraction | None = None
    per: str | None = None
    analysts: Mapping[str, Cap] | None = None
    per_query: Cap | None = None

    def __post_init__(self) -> None:
        if self.accounting not in NOTIONS:
            raise InterfaceError(f"accounting is {' or '.join(NOTIONS)}, not {self.accounting!r}")
        if self.per not in (None, "month"):
            raise InterfaceError(f"a budget is renewed per month or never, not per {self.per!r}")
        if self.capped and self.epsilon is None:
            raise InterfaceError("a budget needs an epsilon", fix="Give one, or declare the account as uncapped.")
        for cap in (self.total, *(self.analysts or {}).values(), *([self.per_query] if self.per_query else [])):
            check_cap(cap)
        if self.accounting == "zcdp" and self.capped:
            self._check_zcdp()

    def _check_zcdp(self) -> None:
        if not self.delta:
            raise InterfaceError(
                "a budget under zcdp needs a delta above 0",
                why="A total of rho becomes an epsilon only together with a delta.",
                fix="Add `delta:` to the budget, or use `accounting: approx`.",
            )
        if self.delta_keys is not None and not 0 <= self.delta_keys < self.delta:
            raise InterfaceError("delta_keys must be at least 0 and below the budget's delta")

    @property
    def total(self) -> Cap:
        return (self.epsilon, self.delta) if self.capped else (None, None)

    @property
    def keys_share(self) -> Fraction:
        """The part of any δ that thresholds may use under zcdp: fixed, for the dataset and for every cap inside."""
        if self.delta_keys is None or not self.delta:
            return Fraction(1, 2)
        return self.delta_keys / self.delta

    def to_json(self) -> str:
        """The account as canonical text: equal accounts have equal texts."""
        analysts = None if self.analysts is None else {name: _texts(cap) for name, cap in self.analysts.items()}
        values = {
            "dataset": self.dataset,
            "budget": _texts((self.epsilon, self.delta)),
            "capped": self.capped,
            "accounting": self.accounting,
            "delta_keys": _text(self.delta_keys),
            "per": self.per,
            "analysts": analysts,
            "per_query": _texts(self.per_query) if self.per_query else None,
        }
        return json.dumps(values, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Account:
        values: dict[str, Any] = json.loads(text)
        epsilon, delta = _cap(values["budget"])
        analysts = values["analysts"]
        return cls(
            dataset=values["dataset"],
            epsilon=epsilon,
            delta=delta,
            capped=values["capped"],
            accounting=values["accounting"],
            delta_keys=None if values["delta_keys"] is None else Fraction(values["delta_keys"]),
            per=values["per"],
            analysts=None if analysts is None else {name: _cap(cap) for name, cap in analysts.items()},
            per_query=_cap(values["per_query"]) if values["per_query"] else None,
        )


def check_cap(cap: Cap) -> None:
    """A cap is exact and not negative: a float, NaN, text or boolean never gets into the ledger."""
    for part in cap:
        if part is not None and (not isinstance(part, Fraction) or part < 0):
            raise InterfaceError(f"a cap must be an exact amount of at least 0, not {part!r}")
    if cap[1] is not None and cap[1] >= 1:
        raise InterfaceError("a cap's delta must be below 1: at 1 everything may be released")


def _text(part: Fraction | None) -> str | None:
    return None if part is None else str(part)


def _texts(cap: Cap) -> list[str | None]:
    return [_text(cap[0]), _text(cap[1])]


def _cap(texts: list[str | None]) -> Cap:
    epsilon, delta = (None if text is None else Fraction(text) for text in texts)
    return epsilon, delta


LONGEST_NAME = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a query asks of the ledger, before anything private is read.

    plan, metadata: fingerprints of the release plan and of the metadata it was made from. query_id: the client's name
    of this run, for retries; it belongs to this analyst and plan. record: the release record, as JSON.
    """

    plan: str
    metadata: str
    cost: Cost
    analyst: str | None = None
    query_id: str | None = None
    record: str = "{}"

    def __post_init__(self) -> None:
        for name in (self.analyst, self.query_id):
            if name is not None:
                check_name(name)
        check_cost(self.cost)


def check_name(name: str) -> None:
    """Analysts' names and query ids: short text that can be stored."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise InterfaceError(
            f"a query id or an analyst's name is printable text of 1 to {LONGEST_NAME} characters",
            fix="Use a shorter or simpler name.",
        )


def check_cost(cost: Cost) -> None:
    """A charge is exact, never negative and never nothing: a cost that went wrong upstream cannot buy a release."""
    parts = (cost.epsilon, cost.delta, cost.rho, cost.delta_keys)
    if not all(isinstance(part, Fraction) and part >= 0 for part in parts):
        raise InternalError("a charge must be made of exact amounts of at least 0")
    if cost.epsilon == 0 and cost.delta == 0:
        raise InternalError("a release cannot cost nothing")
    if cost.delta_keys > cost.delta:
        raise InternalError("thresholds cannot use more delta than the whole query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The proof of a charge. repeats: the stored rows, when a retry of a query id found them; then nothing was charged
    and id and cost are those of the first run."""

    id: int
    cost: Cost
    repeats: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """total, spent and left of one cap. Under zcdp rho and delta_keys are what is enforced; spent.epsilon and
    spent.delta are then converted, for the reader, and left.epsilon is their difference to the total."""

    total: Amount
    spent: Amount
    left: Amount
    per_analyst: Mapping[str, Balance] = field(default_factory=lambda: MappingProxyType({}))


class OverBudget(BudgetError):
    """A BudgetError with its numbers: spent, asked, left, and the largest ε of the same query that would pass."""

    def __init__(
        self, what: str, *, code: int, why: str, fix: str, spent: Amount, asked: Cost, left: Amount, largest: Fraction
    ) -> None:
        super().__init__(what, code=code, why=why, fix=fix)
        self.spent = spent
        self.asked = asked
        self.left = left
        self.largest_epsilon = largest
