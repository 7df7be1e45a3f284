"""What a query with several kinds of measurements costs, how ε is split, and which bound a sum is given."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpsql
import dpsql.testing
from dpsql.plan.answers import answers
from dpsql.plan.measurements import TopGroups, shares
from dpsql.plan.stages import NoisyStage, Stage
from tests.worlds.mixed import catalog, table

ITEMS = "COUNT(*), VAR_POP(x), MEDIAN(x), QUANTILE_CONT(x, 0.9), MIN(i), APPROX_TOP_K(i, 3), HISTOGRAM(x, 4)"


def stage_of(sql: str, **options: object) -> tuple[NoisyStage, object]:
    facts, top = options.pop("facts", {}), options.pop("top", {})
    described = {**catalog(max_groups=2, max_rows=3, **facts), **top}
    with dpsql.testing.Replayer(described, {"t": table()}, **options) as replayer:
        plan = replayer.plan(sql)
        return plan.stages[0], plan.cost


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "auto"])
@pytest.mark.parametrize("group", ["", " GROUP BY k", " GROUP BY s"])
def test_a_query_costs_what_was_asked(mechanism: str, group: str) -> None:
    options = f"OPTIONS(epsilon=1, delta=1e-6, mechanism='{mechanism}')"
    stage, cost = stage_of(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {ITEMS} FROM t{group}")
    assert cost.epsilon == 1
    by_name = {noised.measurement.name: noised.draw for noised in stage.noised}
    parts = [draw.epsilon for draw in by_name.values()]
    parts += [selection.draw.epsilon for selection in stage.selections]
    if mechanism == "laplace":
        assert sum(parts) == 1
    chosen = [draw for draw in by_name.values() if draw.mechanism == "permute-and-flip"]
    assert len(chosen) == 3
    levels = sum(map(shares, stage.measurements)) + bool(stage.selections)
    assert by_name["quantiles 0.5, 0.9 of x"].epsilon == Fraction(2, levels)  # two rounds
    assert by_name["3 most frequent of i"].epsilon == Fraction(3, levels)


def test_choices_need_no_delta() -> None:
    stage, cost = stage_of("SELECT MEDIAN(x), MAX(x) FROM t", epsilon=2, delta=Fraction(1, 10**6))
    assert (cost.epsilon, cost.delta) == (2, 0)
    assert {noised.draw.mechanism for noised in stage.noised} == {"permute-and-flip"}


def kinds(stage: Stage) -> list[str]:
    return [type(m).__name__ for m in stage.measurements]


def test_equal_questions_are_one_measurement() -> None:
    stage, _ = stage_of("SELECT AVG(x), VAR_POP(x), STDDEV(x), COUNT(x), SUM(x) FROM t", epsilon=1)
    assert kinds(stage) == ["RowMoments"]  # count, sum and squares by three ends
    stage, _ = stage_of("SELECT COUNT(x), SUM(x) FROM t", epsilon=1)
    assert kinds(stage) == ["RowMoments"]
    stage, _ = stage_of("SELECT COUNT(*), SUM(x) FROM t WHERE x IS NOT NULL", epsilon=1)
    assert kinds(stage) == ["RowMoments"]
    stage, _ = stage_of("SELECT COUNT(*), SUM(x) FROM t", epsilon=1)  # other rows
    assert kinds(stage) == ["RowTotal", "RowTotal"]
    stage, _ = stage_of(
        "SELECT CORR(x, i), CORR(i, x), COVAR_POP(x, i), REGR_SLOPE(x, i), REGR_R2(x, i) FROM t", epsilon=1
    )
    assert sorted(kinds(stage)) == ["RowMoments", "RowMoments", "RowTotal"]
    stage, _ = stage_of(
        "SELECT MEDIAN(x), QUANTILE_DISC(x, 0.5), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) FROM t", epsilon=1
    )
    assert kinds(stage) == ["Choice"] and shares(stage.measurements[0]) == 1


@pytest.mark.parametrize(
    ("sql", "sensitivity", "facts"),
    [
        ("SUM(x)", 15, {}),
        ("SUM(x, contribution_bounds_per_group => (0, 9))", 9, {}),
        ("SUM(x, contribution_bounds_per_group => (-12, 9))", 12, {}),
        ("SUM(x, contribution_bounds_per_group => (0, 90))", 15, {}),
        ("SUM(x)", 7, {"max_sum": {"x": [0, 7]}}),
        ("SUM(x)", 15, {"max_sum": {"x": [0, 70]}}),
        ("SUM(x, contribution_bounds_per_group => (0, 9))", 9, {"max_sum": {"x": [0, 7]}}),
        ("SUM(free, contribution_bounds_per_group => (0, 9))", 9, {}),
        ("SUM(i, contribution_bounds_per_group => (0, 9))", 9, {}),
        ("COUNT(x, contribution_bounds_per_group => (0, 2))", 2, {}),
        ("COUNT(x, contribution_bounds_per_group => (0, 20))", 3, {}),
    ],
)
def test_the_bound_with_less_noise(sql: str, sensitivity: int, facts: dict[str, object]) -> None:
    stage, _ = stage_of(f"SELECT {sql} FROM t", epsilon=1, facts=facts)
    (noised,) = stage.noised
    (answer,) = answers(noised)
    assert noised.draw.reach * answer.terms[0].factor == pytest.approx(sensitivity)


def test_the_zcdp_of_choices() -> None:
    """ε²/8 for each round, at the round's ε, over all groups together, by the exponential mechanism; ε²/2 of the other."""
    sql = "SELECT k, APPROX_TOP_K(i, 3), MEDIAN(x) FROM t GROUP BY k"
    for accounting, mechanism, part in (("zcdp", "exponential", 8), ("approx", "permute-and-flip", 2)):
        stage, cost = stage_of(sql, epsilon=1, top={"accounting": accounting})
        by_name = {noised.measurement.name: noised.draw for noised in stage.noised}
        assert {draw.mechanism for draw in by_name.values()} == {mechanism}
        assert by_name["3 most frequent of i"].rho == 3 * Fraction(1, 4) ** 2 / part
        assert by_name["quantile 0.5 of x"].rho == Fraction(1, 4) ** 2 / part
        assert cost.rho == 4 * Fraction(1, 4) ** 2 / part


def test_the_zcdp_of_top_k() -> None:
    """k choices, each with its part of ε; which is charged follows the mechanism that chooses."""
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(top_k=true) k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 2"
    for accounting, mechanism, part in (("zcdp", "exponential", 8), ("approx", "permute-and-flip", 2)):
        stage, _ = stage_of(sql, epsilon=1, top={"accounting": accounting})
        (chosen,) = [n for n in stage.noised if isinstance(n.measurement, TopGroups)]
        assert chosen.draw.mechanism == mechanism
        assert chosen.draw.rho == 2 * (chosen.draw.epsilon / 2) ** 2 / part


PARTS = {"permute-and-flip": 2, "exponential": 8}


def rho_of_noise(stage: NoisyStage) -> Fraction:
    """What the noise of a stage costs, from reaches and scales alone: Δ²/(2σ²); (Δ/t)²/2 of Laplace noise, once for ends;
    ε²/8 or ε²/2 of choices."""
    draws = [selection.draw for selection in stage.selections]
    whole = Fraction(0)
    for noised in stage.noised:
        if noised.draw.mechanism in PARTS:
            rounds = shares(noised.measurement)
            whole += rounds * (noised.draw.epsilon / rounds) ** 2 / PARTS[noised.draw.mechanism]
        else:
            draws += noised.draws[:1] if noised.form == "ends" else noised.draws
    return whole + sum(((draw.reach / draw.steps) ** 2 / 2 for draw in draws), Fraction(0))


@pytest.mark.parametrize("accounting", ["approx", "zcdp"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("select", ["k, {} FROM t GROUP BY k", "s, {} FROM t GROUP BY s", "{} FROM t"])
@pytest.mark.parametrize("items", [ITEMS, "COUNT(*)", "COUNT(*), MEDIAN(x)", "SUM(x), MIN(i), MODE(i)", "MAX(x)"])
def test_the_rho_of_a_query_is_that_of_its_noise(accounting: str, mechanism: str, select: str, items: str) -> None:
    """Choices beside Gaussian noise, too. Never less than the noise costs, and hardly more."""
    options = f"OPTIONS(epsilon=0.7, delta=1e-6, mechanism='{mechanism}')"
    zcdp = {**catalog(max_groups=2, max_rows=3), "accounting": accounting}
    with dpsql.testing.Replayer(zcdp, {"t": table()}) as replayer:
        plan = replayer.plan(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {select.format(items)}")
    noise = sum(map(rho_of_noise, plan.stages), Fraction(0))
    assert noise <= plan.cost.rho <= noise * (1 + Fraction(1, 10**4))


def test_an_empty_key_set() -> None:
    items = "k, MEDIAN(x), MODE(i), HISTOGRAM(i), COUNT(DISTINCT i)"
    with dpsql.connect(catalog(), source={"t": table()}, epsilon=1) as conn:
        assert conn.execute(f"SELECT {items} FROM t WHERE k = 'nobody' GROUP BY k").fetchall() == []
