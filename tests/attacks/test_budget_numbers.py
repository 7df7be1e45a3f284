"""The numbers that budgets must come to, through the public API: privacy-rules rows 8 to 14, 18 and 19."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pyarrow
import pytest

import dpsql
from dpsql.accounting.loss import epsilon_of_rho
from tests.worlds import asking, bounded, keys, people

FRAME = pyarrow.table({"id": [1, 2, 3], "kind": ["a", "b", "a"], "x": [1, 2, 3], "town": ["p", "q", "p"]})
ROUNDED = 4e-5  # a step of the noise grid, by which rounding may move a total


def open_budget(epsilon: object, delta: object = None, **changes: object) -> dpsql.Connection[Any]:
    """An account of its own, with three people in it."""
    columns = {"id": "integer", "kind": keys("a", "b"), "x": bounded("integer", 0, 50), "town": "text"}
    budget = {"epsilon": epsilon} if delta is None else {"epsilon": epsilon, "delta": delta}
    catalog: dict[str, Any] = people(columns, unit="id", max_groups=1, max_rows=1, budget=budget)
    return dpsql.connect(catalog | changes, source={"t": FRAME})


def asked(what: str, **options: object) -> str:
    return asking(f"{what} FROM t", **options)


@pytest.fixture
def zcdp() -> Iterator[dpsql.Connection[Any]]:
    with open_budget(50, 2e-6, accounting="zcdp") as conn:
        yield conn


def test_row_8_a_query_costs_its_epsilon_whatever_it_measures() -> None:
    with open_budget(10) as conn:
        conn.execute(asked("kind, AVG(x), COUNT(*), SUM(x), VAR_POP(x)", epsilon=1) + " GROUP BY kind")
        conn.execute(asked("AVG(x), COUNT(DISTINCT id)", epsilon=1))
        assert conn.budget.spent.epsilon == 2 and conn.budget.spent.delta == 0


def test_row_9_twenty_gaussians() -> None:
    """Δ₂ = 2, σ = 100 is ρ = 0.0002 each; 20 of them are 0.465965 at 1e-8."""
    epsilon = epsilon_of_rho(Fraction(1, 5000), Fraction(1, 10**8))
    with open_budget(1, 2e-8, accounting="zcdp") as conn:
        sql = asked("SUM(LEAST(x, 2))", epsilon=epsilon, delta=1e-8, mechanism="gaussian", fresh=True)
        for _ in range(20):
            cursor = conn.execute(sql)
        assert cursor.privacy is not None
        assert cursor.privacy.measurements[0].scale == pytest.approx(100, rel=ROUNDED)
        assert conn.budget.spent.rho == pytest.approx(0.004, abs=1e-8)
        assert conn.budget.spent.epsilon == pytest.approx(0.465965, abs=2e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "rho"),
    [(5.221534, 1e-6, 0.5), (6.474070, 1e-9, 0.5), (11.6886, 1e-6, 2), (13.3861, 1e-8, 2)],
)
def test_rows_10_and_11_what_an_epsilon_buys(
    zcdp: dpsql.Connection[Any], epsilon: float, delta: float, rho: float
) -> None:
    sql = asked("COUNT(*)", epsilon=epsilon, delta=delta, mechanism="gaussian")
    assert zcdp.cost(sql).rho == pytest.approx(rho, rel=2e-5)
    sigma = (2 * rho) ** -0.5  # on whole rows σ is a multiple of 1/1024, not below it
    assert sigma * (1 - 2e-5) <= zcdp.explain(sql).privacy.measurements[0].scale <= sigma * (1 + 2e-5) + 1 / 1024


@pytest.mark.parametrize(("upper", "sigma"), [(22, 89.814624), (50, 204.124145), (5, 20.412415)])
def test_row_12_sigma_from_rho(zcdp: dpsql.Connection[Any], upper: int, sigma: float) -> None:
    epsilon = epsilon_of_rho(Fraction(3, 100), Fraction(1, 10**6))
    sql = asked(f"SUM(LEAST(x, {upper}))", epsilon=epsilon, delta=1e-6, mechanism="gaussian")
    assert zcdp.explain(sql).privacy.measurements[0].scale == pytest.approx(sigma, rel=ROUNDED)


@pytest.mark.parametrize(
    ("delta", "by_rho", "by_curve"),
    [(1e-5, 4.045130, 3.730632), (1e-6, 4.530877, 4.224679), (1e-9, 5.778695, 5.495266)],
)
def test_row_13_the_curve_needs_less_noise(delta: float, by_rho: float, by_curve: float) -> None:
    sql = asked("COUNT(*)", epsilon=1, delta=delta, mechanism="gaussian")
    for accounting, sigma in (("zcdp", by_rho), ("approx", by_curve)):
        with open_budget(50, 1e-4, accounting=accounting) as conn:
            assert conn.explain(sql).privacy.measurements[0].scale == pytest.approx(sigma, rel=ROUNDED)


def test_row_14_a_hundred_laplace_queries() -> None:
    sql = asked("COUNT(*)", epsilon=0.1, mechanism="laplace", fresh=True)
    for accounting, spent in (("approx", 10), ("zcdp", 5.221534)):
        with open_budget(20, 2e-6, accounting=accounting) as conn:
            for _ in range(100):
                conn.execute(sql)
            assert conn.budget.spent.epsilon == pytest.approx(spent, abs=1e-6)
            assert conn.budget.spent.rho == (None if accounting == "approx" else pytest.approx(0.5))


def test_row_18_a_filter_of_1_1() -> None:
    with open_budget(1.1) as conn:
        conn.execute(asked("COUNT(*)", epsilon=1.0986, fresh=True))
        with pytest.raises(dpsql.BudgetError) as refused:
            conn.execute(asked("COUNT(*)", epsilon=1.0986, fresh=True))
        assert "0.0014" in refused.value.fix
        conn.execute(asked("COUNT(*)", epsilon=0.0014, fresh=True))
        assert conn.budget.left.epsilon == 0


def test_row_19_four_releases_add_up_exactly() -> None:
    with open_budget(4.8, 4e-10) as conn:
        sql = asked("town, COUNT(*)", epsilon=1.2, delta=1e-10, fresh=True) + " GROUP BY town"
        for _ in range(4):
            conn.execute(sql)
        assert (conn.budget.spent.epsilon, conn.budget.spent.delta) == (4.8, 4e-10)
        assert (conn.budget.left.epsilon, conn.budget.left.delta) == (0, 0)
        with pytest.raises(dpsql.BudgetError):
            conn.execute(asked("COUNT(*)", epsilon=1e-9))


def test_under_zcdp_rho_and_the_thresholds_delta_are_the_gate() -> None:
    """Budget (3, 2e-6): half of δ is for keys. Thresholds use theirs up while ρ is left, and the other way round."""
    keys = asked("town, COUNT(*)", epsilon=0.1, delta=5e-7, mechanism="laplace", fresh=True) + " GROUP BY town"
    with open_budget(3, 2e-6, accounting="zcdp") as conn:
        conn.execute(keys)
        conn.execute(keys)
        assert conn.cost(keys).delta == 5e-7
        with pytest.raises(dpsql.BudgetError):
            conn.execute(keys)
        count = asked("COUNT(*)", epsilon=0.5, delta=1e-6, mechanism="gaussian", fresh=True)
        rho = conn.cost(count).rho
        assert rho is not None
        accepted = 0
        with pytest.raises(dpsql.BudgetError):
            while True:
                conn.execute(count)
                accepted += 1
        whole = conn.budget
        assert whole.total.rho is not None and whole.spent.rho is not None and whole.spent.epsilon is not None
        assert accepted > 6  # basic composition would allow (3 - 0.2)/0.5 = 5
        assert whole.spent.rho <= whole.total.rho < whole.spent.rho + rho
        assert whole.spent.epsilon <= 3


def test_a_choice_is_charged_by_its_bounded_range_under_zcdp(zcdp: dpsql.Connection[Any]) -> None:
    """ρ = ε²/8, where Laplace noise of the same ε costs ε²/2."""
    zcdp.execute(asked("MEDIAN(x)", epsilon=0.5))
    assert zcdp.budget.spent.rho == pytest.approx(0.03125)
    zcdp.execute(asked("COUNT(*)", epsilon=0.5, mechanism="laplace"))
    assert zcdp.budget.spent.rho == pytest.approx(0.03125 + 0.125)
