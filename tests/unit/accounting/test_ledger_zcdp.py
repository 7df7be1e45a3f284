"""The ledger under zCDP: rho adds up, thresholds' deltas add up apart, epsilon is a report."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpsql.accounting import loss
from dpsql.accounting.account import Account, Charge, OverBudget
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.loss import Cost
from dpsql.errors import BudgetError, InternalError

DELTA = Fraction(2, 10**6)
ACCOUNT = Account(dataset="z", epsilon=Fraction(6), delta=DELTA, accounting="zcdp")


def gaussian(epsilon: str, delta: str, keys: str = "0") -> Cost:
    rho = loss.rho_for(Fraction(epsilon), Fraction(delta) - Fraction(keys))
    return Cost(epsilon=Fraction(epsilon), delta=Fraction(delta), rho=rho, delta_keys=Fraction(keys))


def laplace(epsilon: str, keys: str = "0") -> Cost:
    rho = loss.rho_of_pure(Fraction(epsilon))
    return Cost(epsilon=Fraction(epsilon), delta=Fraction(keys), rho=rho, delta_keys=Fraction(keys))


def charge(cost: Cost) -> Charge:
    return Charge(plan="p", metadata="m", cost=cost, analyst="ana")


def test_a_hundred_laplace_queries_cost_less_than_their_sum(tmp_path: Path) -> None:  # row 14
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    for _ in range(100):
        ledger.reserve(charge(laplace("0.1")))
    spent = ledger.balance().spent
    assert spent.rho == Fraction(1, 2)
    assert float(spent.epsilon or 0) == pytest.approx(
        5.221534, abs=1e-6
    )  # at delta 1e-6, the half that is not for keys
    assert spent.epsilon is not None and spent.epsilon <= 6
    assert ledger.verify() is None


@pytest.mark.slow
def test_rho_is_the_gate(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    most = loss.rho_for(Fraction(6), Fraction(1, 10**6))
    assert ledger.balance().total.rho == most
    accepted = 0
    with pytest.raises(OverBudget):
        while True:
            ledger.reserve(charge(laplace("0.05")))
            accepted += 1
    assert accepted == most // Fraction(1, 800)
    assert accepted * Fraction("0.05") > 20  # the sum of the epsilons is not the gate


def test_threshold_deltas_have_a_cap_of_their_own(tmp_path: Path) -> None:
    account = Account(dataset="z", epsilon=Fraction(6), delta=DELTA, accounting="zcdp", delta_keys=Fraction(1, 10**7))
    ledger = Ledger.open(tmp_path / "a.ledger", account)
    assert ledger.balance().total.delta_keys == Fraction(1, 10**7)
    ledger.reserve(charge(laplace("0.1", keys="1e-7")))
    with pytest.raises(OverBudget) as caught:
        ledger.reserve(charge(laplace("0.1", keys="1e-12")))
    assert caught.value.largest_epsilon == 0
    ledger.reserve(charge(laplace("0.1")))


def test_a_gaussian_of_the_whole_budget_fits(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    assert ledger.quote(gaussian("6.01", "1e-6")) is not None
    ledger.reserve(charge(gaussian("6", "1e-6")))
    balance = ledger.balance()
    assert balance.left.rho == 0
    assert balance.spent.epsilon is not None and balance.spent.epsilon <= 6


@pytest.mark.parametrize(
    "make", [lambda e: gaussian(e, "1e-8"), lambda e: laplace(e), lambda e: gaussian(e, "1e-8", "5e-9")]
)
def test_the_largest_epsilon_said_passes_and_more_does_not(tmp_path: Path, make: object) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    ledger.reserve(charge(laplace("0.9")))
    with pytest.raises(OverBudget) as caught:
        ledger.reserve(charge(make("20")))  # type: ignore[operator]  # a lambda
    largest = caught.value.largest_epsilon
    assert largest > 0
    assert ledger.quote(make(str(largest))) is None  # type: ignore[operator]  # a lambda
    assert ledger.quote(make(str(largest * Fraction("1.0001")))) is not None  # type: ignore[operator]  # a lambda


@pytest.mark.parametrize("part", ["0.05", "1/3", "2/3", "0.99"])
@pytest.mark.parametrize("asked", ["0.3", "2", "20"])
def test_the_largest_epsilon_said_passes_for_choices_beside_gaussian_noise(
    tmp_path: Path, part: str, asked: str
) -> None:
    """The ledger knows their sum alone: a part of ε buys Gaussian noise, the rest is for permute-and-flip."""

    def mixed(epsilon: Fraction) -> Cost:
        delta = Fraction(1, 10**8)
        rho = loss.rho_for(epsilon * Fraction(part), delta)
        rho += loss.rho_of_pure(epsilon * (1 - Fraction(part)))
        return Cost(epsilon=epsilon, delta=delta, rho=rho, delta_keys=Fraction(0))

    ledger = Ledger.open(tmp_path / "a.ledger", replace(ACCOUNT, epsilon=Fraction(1, 10)))
    ledger.reserve(charge(laplace("0.005")))
    with pytest.raises(OverBudget) as caught:
        ledger.reserve(charge(mixed(Fraction(asked))))
    assert caught.value.largest_epsilon > 0
    assert ledger.quote(mixed(caught.value.largest_epsilon)) is None


def test_analysts_and_sub_budgets_in_rho(tmp_path: Path) -> None:
    account = Account(
        dataset="z",
        epsilon=Fraction(6),
        delta=DELTA,
        accounting="zcdp",
        analysts={"ana": (Fraction(1), None), "bob": (Fraction(1), Fraction(1, 10**8))},
    )
    ledger = Ledger.open(tmp_path / "a.ledger", account)
    by_analyst = ledger.balance().per_analyst
    assert by_analyst["ana"].total.rho == loss.rho_for(Fraction(1), Fraction(1, 10**6))
    assert by_analyst["ana"].total.delta_keys is None  # a cap without delta limits epsilon only
    assert by_analyst["bob"].total.rho == loss.rho_for(Fraction(1), Fraction(5, 10**9))
    ledger.reserve(charge(gaussian("1", "1e-6")))
    with pytest.raises(BudgetError, match="analyst 'ana'"):
        ledger.reserve(charge(laplace("0.01")))
    part = ledger.sub(Fraction(1, 10), Fraction(1, 10**6))
    refused = part.quote(gaussian("1", "1e-9"), "bob")
    assert refused is not None and refused.code == "DPSQL-402"
    assert part.quote(gaussian("0.1", "1e-9"), "bob") is None


def test_the_cap_of_one_query_is_about_what_it_asks_for(tmp_path: Path) -> None:
    """Converted to rho, a cap of 1 would refuse the pure ε of 1 it allows: its ρ of 1/2 is an ε of 5 at so small a δ."""
    ledger = Ledger.open(tmp_path / "a.ledger", replace(ACCOUNT, per_query=(Fraction(1), Fraction(1, 10**7))))
    for passes in (laplace("1"), laplace("1", keys="1e-7"), gaussian("1", "1e-7")):
        assert ledger.quote(charge(passes).cost) is None
    for above in (laplace("1.01"), laplace("0.1", keys="1.01e-7"), gaussian("0.5", "2e-7")):
        refused = ledger.quote(charge(above).cost)
        assert refused is not None and refused.code == "DPSQL-401"


def test_an_epsilon_without_rho_is_a_bug_not_a_gift(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    free = Cost(epsilon=Fraction(1), delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(0))
    with pytest.raises(InternalError):
        ledger.reserve(charge(free))
    with pytest.raises(InternalError):
        ledger.quote(free)


def test_totals_with_ever_new_denominators_stay_short_and_never_under_count(tmp_path: Path) -> None:
    """An analyst may choose any ε: rho = ε²/2 with ever new primes below."""
    ledger = Ledger.open(tmp_path / "a.ledger", ACCOUNT)
    primes = [n for n in range(2, 700) if all(n % d for d in range(2, n))]
    true = sum((Fraction(1, 10**4 * 2 * prime**2) for prime in primes), Fraction(0))
    for prime in primes:
        ledger.reserve(charge(laplace(f"1/{100 * prime}")))
    spent = ledger.balance().spent.rho
    assert spent is not None
    assert true <= spent < true + len(primes) * Fraction(1, 2**256)
    assert true.denominator > 2**256 >= spent.denominator
    assert ledger.verify() is None


def test_the_budget_may_be_used_to_the_last_of_many_roundings(tmp_path: Path) -> None:
    """The cap is on what is recorded, which is never below the truth."""
    account = Account(dataset="thirds", epsilon=Fraction(1), delta=Fraction(0))
    ledger = Ledger.open(tmp_path / "a.ledger", account)
    third = Cost(epsilon=Fraction(1, 3), delta=Fraction(0), rho=Fraction(0), delta_keys=Fraction(0))
    for _ in range(3):
        ledger.reserve(charge(third))
    with pytest.raises(BudgetError):
        ledger.reserve(charge(third))
