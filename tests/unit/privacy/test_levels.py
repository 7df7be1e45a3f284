"""Shares of ε among the levels of grouping sets: what is said of errors, that shares are the best, and what is charged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import dpsql
from dpsql.errors import InternalError
from dpsql.execution.planning import plan_of, read
from dpsql.plan.stages import ReleasePlan
from dpsql.privacy import level_shares, levels
from dpsql.privacy.level_shares import ErrorGoal, Kept, Levels, shares, variances
from dpsql.release.consistency import consistent
from dpsql.release.released_rows import ReleasedRows
from tests.worlds import asking, bounded, keys, people

Power = Literal[1, 2]


def rollup(d: int) -> Kept:
    return tuple(frozenset(range(k)) for k in range(d, -1, -1))


def cube(d: int) -> Kept:
    return tuple(frozenset(c) for k in range(d, -1, -1) for c in itertools.combinations(range(d), k))


def of(kept: Kept, shape: tuple[int, ...], power: Power, sizes: tuple[int, ...] | None = None) -> Levels:
    return Levels(kept, shape, sizes or (1,) * len(kept), power)


SHAPES = [
    of(kept, shape, power)
    for kept, shape in (
        (rollup(1), (3,)),
        (rollup(1), (100,)),
        (rollup(2), (10, 10)),
        (rollup(2), (5, 40)),
        (rollup(3), (4, 5, 6)),
        (rollup(2), (1, 7)),
        (cube(2), (3, 4)),
        (cube(2), (30, 50)),
        (cube(3), (4, 5, 6)),
        ((frozenset({0, 1}), frozenset({1}), frozenset({1}), frozenset[int]()), (6, 2)),
    )
    for power in (2, 1)
] + [of(rollup(2), (4, 6), 2, (144, 36, 9)), of(cube(2), (4, 6), 1, (4, 9, 16, 1))]


@pytest.mark.parametrize("weights", [[1.0, 2.0, 0.5, 3.0], [1.0, 0.0, 0.0, 0.1], [1e-3, 5.0, 5.0, 1e3], [1.0, 0, 0, 0]])
def test_variances_against_matrices(weights: list[float]) -> None:
    """Of every cell of every level: the diagonal of A (Σ w AᵀA)⁻¹ Aᵀ."""
    shape, kept = (3, 4), cube(2)
    maps = [
        np.eye(12).reshape(12, *shape).sum(axis=tuple(1 + a for a in (0, 1) if a not in axes)).reshape(12, -1).T
        for axes in kept
    ]
    whole = np.linalg.inv(sum(w * a.T @ a for w, a in zip(weights, maps, strict=True)))
    for a, variance in zip(maps, variances(kept, shape, weights), strict=True):
        assert np.diag(a @ whole @ a.T) == pytest.approx(variance)


def price(these: Levels, given: Any, goal: ErrorGoal) -> float:
    cells = [math.prod(these.shape[a] for a in kept) for kept in these.kept]
    per = cells if goal == "per cell" else [1] * len(cells)
    return math.fsum(n * v for n, v in zip(per, these.variances(given), strict=True))


@pytest.mark.parametrize("goal", ["per cell", "per level", "default"])
@pytest.mark.parametrize("these", SHAPES, ids=str)
def test_shares_add_up_and_are_no_worse_than_equal_ones(these: Levels, goal: ErrorGoal) -> None:
    shared = shares(these, goal)
    equal = [Fraction(1, len(these.kept))] * len(these.kept)
    assert sum(shared) == 1 and min(shared) >= 0 and shared[these.leaves] > 0
    assert price(these, shared, goal) <= price(these, equal, goal) * (1 + 1e-12)
    if goal == "default":
        pairs = zip(these.variances(shared), these.variances(equal), strict=True)
        assert all(now <= before * (1 + 1e-8) for now, before in pairs)


@pytest.mark.parametrize("goal", ["per cell", "per level"])
@pytest.mark.parametrize("these", [these for these in SHAPES if len(these.kept) <= 4], ids=str)
def test_nothing_on_a_grid_is_better(these: Levels, goal: ErrorGoal) -> None:
    """Brute force: all divisions into 40ths (20ths of four levels)."""
    count = len(these.kept)
    parts = 40 if count < 4 else 20
    best = price(these, shares(these, goal), goal)
    for head in itertools.product(range(parts + 1), repeat=count - 1):
        given = [n / parts for n in (*head, parts - sum(head))]
        if min(given) >= 0 and given[these.leaves] > 0:
            assert best <= price(these, given, goal) * (1 + 1e-3), given


@pytest.mark.parametrize("these", SHAPES, ids=str)
def test_each_step_is_downhill(these: Levels) -> None:
    draw = np.random.default_rng(1)
    for _ in range(5):
        now, per = draw.dirichlet([1.0] * len(these.kept)).tolist(), draw.uniform(0.1, 5, len(these.kept)).tolist()
        cells = [math.prod(these.shape[a] for a in kept) for kept in these.kept]

        def f(given: list[float], per: list[float] = per, cells: list[int] = cells) -> float:
            return math.fsum(p * n * v for p, n, v in zip(per, cells, these.variances(given), strict=True))

        for _ in range(8):
            after = level_shares._improved(these, now, per, 1)
            assert f(after) <= f(now) * (1 + 1e-9)
            now = after


def test_where_the_equal_division_stays_and_where_it_does_not() -> None:
    thirds = (Fraction(1, 3),) * 3
    assert shares(of(rollup(2), (10, 10), 2), "default") == thirds
    assert shares(of(rollup(2), (10, 10), 1), "default") == thirds
    assert shares(of(rollup(1), (3,), 2), "default") == (1, 0)
    single = of((frozenset({0}), frozenset({0})), (4,), 1)  # one level twice: nothing to choose
    assert shares(single, "per cell") == (Fraction(1, 2),) * 2


def test_what_is_gained() -> None:
    """Mean variance over cells, in units of noise with all of ε: equal shares, and those of 'per cell'."""
    for these, before, now in (
        (of(rollup(2), (10, 10), 2), 8.11, 2.65),
        (of(rollup(3), (4, 5, 6), 2), 13.24, 3.29),
        (of(cube(3), (4, 5, 6), 2), 36.57, 4.57),
        (of(rollup(2), (10, 10), 1), 2.70, 1.53),
        (of(cube(3), (4, 5, 6), 1), 4.57, 2.65),
    ):
        cells = sum(math.prod(these.shape[a] for a in kept) for kept in these.kept)
        equal = [1 / len(these.kept)] * len(these.kept)
        assert price(these, equal, "per cell") / cells == pytest.approx(before, abs=0.01)
        assert price(these, shares(these, "per cell"), "per cell") / cells == pytest.approx(now, abs=0.01)


# --- plans --------------------------------------------------------------------------------------------------------------


def catalog(accounting: str = "approx", **table: Any) -> dict[str, Any]:
    columns = {
        "a": keys("p", "q", "r"),
        "b": bounded("integer", 0, 3, nullable=False),
        "c": "text",
        "x": bounded("real", -1, 3),
    }
    per_query = {"epsilon": 2, "delta": 1e-6}
    return people(columns, **table or {"rows_per_unit": 2}, accounting=accounting, per_query=per_query)


def rows() -> dict[str, Any]:
    draw = np.random.default_rng(7)
    return {
        "u": draw.integers(0, 200, 500).tolist(),
        "a": draw.choice(["p", "q", "r"], 500).tolist(),
        "b": draw.integers(0, 4, 500).tolist(),
        "c": draw.choice(["v", "w"], 500).tolist(),
        "x": draw.uniform(-1, 3, 500).tolist(),
    }


def plan(select: str, described: dict[str, Any] | None = None, **options: object) -> ReleasePlan:
    with dpsql.connect(described or catalog(), source={"t": rows()}) as connection:
        return plan_of(connection._session, read(asking(select, **options)))


ITEMS = "COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY"


@pytest.mark.slow
@pytest.mark.parametrize("accounting", ["approx", "zcdp"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "auto"])
@pytest.mark.parametrize("error", ["per cell", "per level", None])
@pytest.mark.parametrize("sets", ["ROLLUP (a, b)", "CUBE (a, b)", "GROUPING SETS ((), (a, b), (b), (b))"])
def test_what_is_drawn_is_charged(sets: str, error: str | None, mechanism: str, accounting: str) -> None:
    """Worked out from reaches and scales alone: Σ Δ/b ≤ ε, Σ Δ²/2σ² ≤ ρ; and a question costs what it says."""
    goal = {} if error is None else {"error": error}
    for limits in ({"rows_per_unit": 2}, {"max_groups": 2, "max_rows": 2}, {"rows_per_unit": "auto"}):
        made = plan(f"a, b, {ITEMS} {sets}", catalog(accounting, **limits), mechanism=mechanism, **goal)
        pure, rho = Fraction(0), Fraction(0)
        for stage in made.stages:
            pure += sum((choice.draw.epsilon for choice in stage.choices if choice.as_in is None), Fraction(0))
            for noised in stage.noised:
                for draw in noised.draws[:1] if noised.form == "ends" else noised.draws:
                    if draw.mechanism == "summed":
                        assert (draw.scale, draw.epsilon, draw.rho) == (0, 0, 0)
                    elif draw.mechanism == "laplace":
                        pure += draw.reach / draw.steps
                        rho += (draw.reach / draw.steps) ** 2 / 2
                    else:
                        rho += (draw.reach / draw.steps) ** 2 / 2
        assert rho <= made.cost.rho
        assert pure <= 2 and made.cost.epsilon == 2
        if mechanism == "laplace":
            assert pure >= 2 * (1 - Fraction(1, 10**4))


def test_split_wins_and_levels_with_private_keys_keep_their_shares() -> None:
    sets = "a, b, COUNT(*) AS n FROM t GROUP BY CUBE (a, b)"
    weighted = plan(sets, mechanism="laplace", error="per cell")
    assert [stage.noised[0].draw.mechanism for stage in weighted.stages] == ["laplace", *["summed"] * 3]
    with dpsql.connect(catalog(), source={"t": rows()}) as connection:
        said = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='laplace', error='per cell', split=(1)) " + sets
        plain = plan_of(connection._session, read(said))
    assert {stage.noised[0].draw.epsilon for stage in plain.stages} == {Fraction(1, 2)}
    private = plan("a, c, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, c)", mechanism="laplace", error="per cell")
    alone = [stage.noised[0].draw.epsilon for stage in private.stages]
    assert (
        alone[0] == Fraction(2, 4) and alone[1] + alone[2] == 1
    )  # keys and leaves as they were; a and () divide theirs


def test_under_zcdp_a_question_costs_the_same_rho() -> None:
    sets = "a, b, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b)"
    described = catalog("zcdp")
    for mechanism in ("laplace", "gaussian"):
        plans = [plan(sets, described, mechanism=mechanism, error=error) for error in ("per cell", "per level")]
        plain = plan(sets, described, mechanism=mechanism)
        assert {one.cost.rho for one in plans} == {plain.cost.rho}
        drawn = [[stage.noised[0].draw.rho for stage in one.stages] for one in (*plans, plain)]
        assert (drawn[0] == drawn[2]) == (mechanism == "laplace")  # equal shares of ε there: others cost more ρ


def test_explain_shows_shares_and_errors(tmp_path: Path) -> None:
    with dpsql.connect(catalog(), source={"t": rows()}, ledger=tmp_path / "l") as connection:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='laplace', error='per cell') a, COUNT(*) AS n FROM t"
        text = str(connection.explain(f"{sql} GROUP BY ROLLUP (a)"))
        assert "ε is divided: 1 for count(*) (by a); 0 for count(*) (of all rows)." in text
        assert "count(*): no noise of its own: it is the sum of its parts, 95 % confidence interval ±5.18" in text
        assert "laplace noise of scale 1, 95 % confidence interval ±2.99573 once the levels agree" in text
        cursor = connection.execute(f"{sql} GROUP BY ROLLUP (a)")
        shown = dict(cursor.fetchall())
        assert shown[None] == shown["p"] + shown["q"] + shown["r"] and shown[None] > 300
        plain = str(connection.explain("SELECT b, COUNT(*) FROM t GROUP BY ROLLUP (b)"))
        assert "ε is divided" not in plain


def test_what_nothing_was_drawn_of_is_never_shown_as_a_zero() -> None:
    made = plan("a, COUNT(*) AS n FROM t GROUP BY ROLLUP (a)", mechanism="laplace", error="per cell")
    last = made.stages[1]
    assert last.noised[0].draw.mechanism == "summed"
    alone = ReleasedRows(stage=1, columns={"m0_0": np.zeros(1, dtype=np.int64)}, rows=1)
    with pytest.raises(InternalError, match="no parts"):
        consistent((last,), [alone])


@pytest.mark.parametrize("wrong", [(Fraction(1), Fraction(1, 2)), (Fraction(3, 2), Fraction(-1, 2))])
def test_shares_of_more_than_all_are_stopped(wrong: tuple[Fraction, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the search finds: before anything is charged or drawn."""
    monkeypatch.setattr(levels, "shares", lambda *_: wrong)
    with pytest.raises((InternalError, ValueError), match="shares"):
        plan("b, COUNT(*) AS n FROM t GROUP BY ROLLUP (b)", mechanism="laplace", error="per cell")
