"""A long random history against a model that keeps plain sums: same decisions, same totals, also after reopening."""

from __future__ import annotations

import shutil
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dpsql.accounting.account import Account, Charge, Receipt
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_chain import Entry
from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError, LedgerError

ANALYSTS = {"ana": (Fraction(3), None), "bob": (Fraction(2), Fraction(1, 10**7)), "cy": (None, None)}
MONTH = 31 * 24 * 3600 * 10**6
START = 1_790_000_000_000_000
STEP = 3600 * 10**6

amounts = st.fractions(min_value=Fraction(1, 30), max_value=Fraction(3), max_denominator=30)
deltas = st.sampled_from([Fraction(0), Fraction(1, 10**9), Fraction(3, 10**8), Fraction(1, 10**6)])


class LedgerMachine(RuleBasedStateMachine):
    @initialize(per=st.sampled_from([None, "month"]))
    def begin(self, per: str | None) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.now = START
        self.account = Account(
            dataset="model", epsilon=Fraction(5), delta=Fraction(2, 10**6), analysts=ANALYSTS, per=per
        )
        self.ledger = self.open()
        self.part = self.ledger.sub(Fraction(3, 2))
        self.charges: list[tuple[int, str, Cost, bool, int]] = []  # time, analyst, cost, counted in the part, id
        self.states: dict[int, str] = {}
        self.entries = 3
        self.granted: list[tuple[int, Fraction]] = []
        self.rows: dict[str, bytes] = {}

    def open(self) -> Ledger:
        return Ledger.open(self.folder / "a.ledger", self.account, clock=lambda: self.now)

    def teardown(self) -> None:
        if hasattr(self, "ledger"):
            assert self.ledger.verify() is None
            self.check_every_prefix(list(self.ledger.rows()))
            self.ledger.close()
            shutil.rmtree(self.folder)

    def in_window(self, time: int) -> bool:
        return self.account.per is None or _month(time) == _month(self.now)

    def spent(self, analyst: str | None = None, part: bool = False) -> tuple[Fraction, Fraction]:
        counted = [
            cost
            for time, who, cost, in_part, number in self.charges
            if self.states[number] != "void" and (in_part if part else self.in_window(time)) and analyst in (None, who)
        ]
        return sum((c.epsilon for c in counted), Fraction(0)), sum((c.delta for c in counted), Fraction(0))

    def total(self) -> Fraction:
        return Fraction(5) + sum((e for time, e in self.granted if self.in_window(time)), Fraction(0))

    def fits(self, analyst: str, cost: Cost, part: bool) -> bool:
        caps = [(self.spent(), (self.total(), self.account.delta)), (self.spent(analyst), ANALYSTS[analyst])]
        if part:
            caps.append((self.spent(part=True), (Fraction(3, 2), None)))
        return all(
            (epsilon is None or used[0] + cost.epsilon <= epsilon) and (delta is None or used[1] + cost.delta <= delta)
            for used, (epsilon, delta) in caps
        )

    @rule(epsilon=amounts, delta=deltas, analyst=st.sampled_from(sorted(ANALYSTS)), part=st.booleans())
    def reserve(self, epsilon: Fraction, delta: Fraction, analyst: str, part: bool) -> None:
        cost = Cost(epsilon=epsilon, delta=delta, rho=Fraction(0), delta_keys=Fraction(0))
        ledger = self.part if part else self.ledger
        fits = self.fits(analyst, cost, part)
        assert (ledger.quote(cost, analyst) is None) == fits
        try:
            receipt = ledger.reserve(Charge(plan=analyst, metadata="m", cost=cost, analyst=analyst))
        except BudgetError as refused:
            assert not fits
            largest = getattr(refused, "largest_epsilon")  # noqa: B009 - only this subclass has it
            if largest:
                smaller = Cost(epsilon=largest, delta=delta, rho=Fraction(0), delta_keys=Fraction(0))
                assert self.fits(analyst, smaller, part)
            return
        assert fits
        self.charges.append((self.now, analyst, cost, part, receipt.id))
        self.states[receipt.id] = "reserved"
        self.entries += 1
        assert receipt.id == self.entries

    @precondition(lambda self: self.charges)
    @rule(choice=st.integers(0, 10**6), step=st.sampled_from(["running", "released", "void"]))
    def advance(self, choice: int, step: str) -> None:
        _, analyst, cost, _, number = self.charges[choice % len(self.charges)]
        allowed = self.states[number] == ("running" if step == "released" else "reserved")
        receipt = Receipt(id=number, cost=cost)
        try:
            if step == "running":
                self.ledger.running(receipt)
            elif step == "released":
                self.ledger.store(receipt, b"rows %d" % number)
            else:
                self.ledger.void(number, "never ran")
        except LedgerError:
            assert not allowed
            return
        assert allowed
        self.states[number] = step
        self.entries += 1
        if step == "released":
            self.rows[analyst] = b"rows %d" % number

    @rule(epsilon=amounts)
    def grant(self, epsilon: Fraction) -> None:
        self.ledger.grant(epsilon=epsilon, why="more")
        self.granted.append((self.now, epsilon))
        self.entries += 1

    @rule(forward=st.sampled_from([STEP, 9 * 24 * STEP, MONTH]))
    def time_passes(self, forward: int) -> None:
        self.now += forward

    @rule()
    def reopen(self) -> None:
        """The part is a connection's: it goes with it."""
        self.ledger.close()
        self.ledger = self.open()
        assert self.ledger.notices == ()
        self.part = self.ledger.sub(Fraction(3, 2))
        self.charges = [(time, who, cost, False, number) for time, who, cost, _, number in self.charges]
        self.entries += 1

    @invariant()
    def totals_are_the_model_s(self) -> None:
        if not hasattr(self, "ledger"):
            return
        balance = self.ledger.balance()
        assert (balance.spent.epsilon, balance.spent.delta) == self.spent()
        assert balance.total.epsilon == self.total()
        for analyst in ANALYSTS:
            of_analyst = balance.per_analyst[analyst].spent
            assert (of_analyst.epsilon, of_analyst.delta) == self.spent(analyst)
            assert self.ledger.stored(analyst=analyst, plan=analyst, metadata="m") == self.rows.get(analyst)
        assert self.part.balance().spent.epsilon == self.spent(part=True)[0]
        assert self.ledger.head().startswith(f"{self.entries}:")

    def check_every_prefix(self, entries: list[Entry]) -> None:
        """Within the cap after every entry, and time never goes back."""
        spent: dict[str, Fraction] = {}
        granted: dict[str, Fraction] = {}
        by_number = {entry.n: entry for entry in entries}
        for before, entry in zip([entries[0], *entries], entries, strict=False):
            assert before.time <= entry.time
            charge = by_number[entry.subject] if entry.kind == "void" and entry.subject else entry
            window = _month(charge.time) if self.account.per else "all"
            if entry.kind == "grant":
                granted[window] = granted.get(window, Fraction(0)) + entry.cost.epsilon
            elif entry.kind in ("charge", "void"):
                sign = 1 if entry.kind == "charge" else -1
                spent[window] = spent.get(window, Fraction(0)) + sign * charge.cost.epsilon
                assert 0 <= spent[window] <= 5 + granted.get(window, Fraction(0))


def _month(time: int) -> str:
    import datetime

    return datetime.datetime.fromtimestamp(time / 10**6, datetime.UTC).strftime("%Y-%m")


LedgerMachine.TestCase.settings = settings(
    max_examples=max(25, settings().max_examples // 8),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestLedgerAgainstModel = pytest.mark.slow(LedgerMachine.TestCase)
