"""Counts with whole noise: where it is drawn, what it costs, and that it is never worse than rounded noise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.accounting.pld import Event, epsilon_of
from dpsql.execution.planning import plan_of, read
from dpsql.mechanisms import gaussian, laplace
from dpsql.plan.stages import Draw, NoisyStage
from dpsql.privacy import whole_numbers
from dpsql.report.release_record import release_record
from tests.worlds import asking, bounded, keys, people

FULL = 2**20
COLUMNS = {"u": "integer", "k": keys("a", "b"), "n": "text", "x": bounded("integer", 0, 3)}
UNITS = {"max_groups": 1, "max_rows": 3}
ROWS = {"unit": None}


def catalog(table: dict[str, Any], accounting: str = "approx") -> dict[str, Any]:
    return people(COLUMNS, **table, accounting=accounting)


SOURCE = {"t": pd.DataFrame({"u": [1, 2], "k": ["a", "b"], "n": ["p", "q"], "x": [1, 3]})}


def stage_of(select: str, table: dict[str, Any], *, accounting: str = "approx", **options: object) -> NoisyStage:
    with dpsql.connect(catalog(table, accounting), source=SOURCE) as connection:
        (stage,) = plan_of(connection._session, read(asking(select, **options))).stages
    return stage


@pytest.mark.parametrize(
    ("select", "table", "whole"),
    [
        ("COUNT(*) FROM t", UNITS, True),
        ("COUNT(*) FROM t", ROWS, True),
        ("COUNT(x) FROM t WHERE x > 1", UNITS, True),
        ("COUNT(DISTINCT u) FROM t", UNITS, True),
        ("COUNT(DISTINCT x) FROM t", UNITS, True),
        ("k, COUNT(DISTINCT x) FROM t GROUP BY k", UNITS, True),
        ("k, COUNT(*) FROM t GROUP BY k", ROWS, True),
        ("n, COUNT(*) FROM t GROUP BY n", ROWS, True),
        ("k, HISTOGRAM(x) FROM t GROUP BY k", ROWS, True),
        ("x, COUNT(*) FROM (SELECT u, max(x) AS x FROM t GROUP BY u) AS z GROUP BY x", UNITS, True),
        ("k, COUNT(*) FROM t GROUP BY k", UNITS, False),  # weights are no whole numbers
        ("n, COUNT(*) FROM t GROUP BY n", UNITS, False),
        ("HISTOGRAM(x) FROM t", UNITS, False),
        ("SUM(x) FROM t", ROWS, False),
        ("AVG(x), COUNT(x) FROM t", ROWS, False),
    ],
)
def test_where_noise_is_whole(select: str, table: dict[str, Any], whole: bool) -> None:
    stage = stage_of(select, table, epsilon=1, delta=1e-6, mechanism="laplace")
    for noised in stage.noised:
        assert {draw.parts for draw in noised.draws} == {FULL if whole else 1}
        if whole:
            assert noised.draw.shift == 20
            assert noised.draw.epsilon * noised.draw.steps >= noised.draw.reach >= 1
            assert noised.draw.steps * noised.draw.epsilon <= noised.draw.reach * (1 + Fraction(1, 10**6))


def test_levels_are_combined_before_they_are_rounded() -> None:
    with dpsql.connect(catalog(ROWS), source=SOURCE) as connection:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) k, COUNT(*) FROM t GROUP BY ROLLUP (k)"
        stages = plan_of(connection._session, read(sql)).stages
    assert [noised.draw.parts for stage in stages for noised in stage.noised] == [1, 1]


def test_gaussian_noise_is_whole_where_it_is_small_and_rho_is_what_is_paid() -> None:
    counts = "k, COUNT(*) FROM t GROUP BY k"
    small = stage_of(counts, ROWS, accounting="zcdp", epsilon=3, delta=1e-6, mechanism="gaussian").noised[0].draw
    assert small.mechanism == "gaussian" and small.parts == 2**10 and small.shift == 20
    assert (
        (small.reach / small.steps) ** 2 / 2
        <= small.rho
        <= (small.reach / small.steps) ** 2 / 2 * (1 + small.steps / 100)
    )
    wide = stage_of(counts, ROWS, accounting="zcdp", epsilon=0.3, delta=1e-6, mechanism="gaussian").noised[0].draw
    assert wide.parts == 1  # where rounding does not matter
    curve = stage_of(counts, ROWS, epsilon=3, delta=1e-6, mechanism="gaussian").noised[0].draw
    assert curve.parts == 1  # the curve is that of continuous noise


@pytest.mark.parametrize("table", [UNITS, ROWS], ids=["units", "rows"])
@pytest.mark.parametrize("epsilon", ["0.001", "0.01", "0.3", "1", "1.7", "3", "8", "40", "900"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_it_is_never_worse(
    mechanism: str, epsilon: str, table: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Than noise on a fine grid, rounded afterwards: in variance and in the interval of a whole number."""
    options = {"accounting": "zcdp", "epsilon": float(epsilon), "delta": 1e-6, "mechanism": mechanism}
    now = stage_of("COUNT(*) FROM t", table, **options).noised[0].draw
    with monkeypatch.context() as patched:
        patched.setattr(whole_numbers, "whole_reach", lambda *_: None)
        before = stage_of("COUNT(*) FROM t", table, **options).noised[0].draw
    assert before.parts == 1
    rounding = 1 / 12 if table is ROWS else 0.0
    assert whole_numbers.variance(now) <= whole_numbers.variance(before) + rounding
    assert half(now) <= half(before) + 0.5
    if mechanism == "laplace" and float(epsilon) >= 0.01:
        b = float(now.steps)
        assert now.parts > 1
        assert whole_numbers.variance(now) < 2 * b * b
        if float(epsilon) == 1 and table is ROWS:
            assert whole_numbers.variance(now) == pytest.approx(1.841347, abs=1e-5)
            assert whole_numbers.variance(before) + rounding == pytest.approx(2 + 1 / 12, abs=1e-5)


def half(draw: Draw) -> float:
    """Of the 95 % interval in pieces."""
    family = laplace if draw.mechanism == "laplace" else gaussian
    return (family.half_width(draw.scale, 0.95, draw.parts) - (draw.parts > 1)) * draw.grid / FULL


@pytest.mark.parametrize(("t", "per"), [(FULL, FULL), (FULL // 8, FULL), (5 * FULL // 3, FULL), (7, 2), (300, 1024)])
def test_laplace_of_a_fraction(t: int, per: int) -> None:
    a = math.exp(-per / t)
    pmf = {x: (1 - a) / (1 + a) * a ** abs(x) for x in range(-2000, 2001)}
    assert math.fsum(pmf.values()) == pytest.approx(1)
    assert laplace.variance(t, per) == pytest.approx(math.fsum(x * x * p for x, p in pmf.items()))
    for level in (0.5, 0.9, 0.95, 0.999):
        r = laplace.half_width(t, level, per)
        outside = [math.fsum(p for x, p in pmf.items() if abs(x) >= end) for end in (r, r - 1)]
        assert outside[0] <= 1 - level < outside[1]


@pytest.mark.parametrize(("t", "per"), [(1024, 1024), (200, 1024), (3000, 1024), (8000, 1024), (5, 2)])
def test_gaussian_of_a_fraction(t: int, per: int) -> None:
    weights = {x: math.exp(-0.5 * (x * per / t) ** 2) for x in range(-400, 401)}
    whole = math.fsum(weights.values())
    assert gaussian.variance(t, per) == pytest.approx(math.fsum(x * x * w for x, w in weights.items()) / whole)
    for level in (0.5, 0.9, 0.95, 0.999):
        r = gaussian.half_width(t, level, per)
        outside = [math.fsum(w for x, w in weights.items() if abs(x) >= end) / whole for end in (r, r - 1)]
        assert outside[0] <= 1 - level < outside[1] * (1 + 1e-9)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_rounding_one_weighed_total_moves_it_by_no_more(most: int) -> None:
    """Every world of up to three people with up to five rows each, and every neighbour: with weights of radius T the rounded
    totals are at most T apart, and then the probabilities of no answer differ by more than e^ε."""
    worlds = [w for n in range(4) for w in itertools.combinations_with_replacement(range(1, 6), n)]

    def total(world: tuple[int, ...]) -> int:
        weighed = sum(rows * min(FULL, most * FULL // rows) for rows in world)
        return (weighed + FULL // 2) >> 20

    apart = [abs(total(w) - total(w[:i] + w[i + 1 :])) for w in worlds for i in range(len(w))]
    assert max(apart) == most
    for epsilon in (Fraction(1, 3), Fraction(1), Fraction(4)):
        draw = stage_of("COUNT(*) FROM t", {**UNITS, "max_rows": most}, epsilon=float(epsilon)).noised[0].draw
        assert draw.reach == most and draw.parts > 1
        a = math.exp(-draw.parts / draw.scale)
        pmf = np.array([a ** abs(x) for x in range(-60, 61)])
        for moved in set(apart):
            ratio = (pmf[moved:] / pmf[: pmf.size - moved]).max()
            assert ratio <= math.exp(epsilon) * (1 + 1e-5)


def test_what_is_recorded_is_what_is_drawn() -> None:
    """The tight total of one count is at most its ε, and with δ hardly less."""
    with dpsql.connect(catalog(UNITS), source=SOURCE) as connection:
        plan = plan_of(
            connection._session, read("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.7) COUNT(*) FROM t")
        )
    (noise,) = release_record(plan, version=None)["noise"]  # type: ignore[misc]  # a list of dicts
    draw = plan.stages[0].noised[0].draw
    assert noise == {
        "mechanism": "laplace",
        "sensitivity": 3,
        "scale": draw.scale,
        "parts": FULL,
        "epsilon": str(Fraction(7, 10)),
    }
    event = Event(mechanism="laplace", sensitivity=3, scale=draw.scale, parts=draw.parts)
    pytest.importorskip("dp_accounting")
    assert 0.7 * 0.999 <= epsilon_of({event: 1}, Fraction(1, 10**9)) <= 0.7 * 1.001
    small = Event(mechanism="gaussian", sensitivity=1, scale=700, parts=1024)
    assert epsilon_of({small: 1}, Fraction(1, 10**6)) == pytest.approx(
        epsilon_of({Event(mechanism="gaussian", sensitivity=1024, scale=700): 1}, Fraction(1, 10**6)), rel=0.2
    )


@pytest.mark.parametrize(
    ("select", "table", "spread"),
    [
        ("COUNT(DISTINCT x) FROM t", UNITS, False),
        ("k, COUNT(DISTINCT x) FROM t GROUP BY k", UNITS, True),
        ("k, COUNT(*) FROM t GROUP BY k", ROWS, False),
    ],
)
def test_whole_noise_on_several_numbers_is_recorded_as_such(select: str, table: dict[str, Any], spread: bool) -> None:
    options = "OPTIONS(epsilon=200, delta=1e-6, mechanism='gaussian')"
    with dpsql.connect(catalog(table, "zcdp"), source=SOURCE) as connection:
        plan = plan_of(connection._session, read(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {select}"))
    (noise,) = release_record(plan, version=None)["noise"]  # type: ignore[misc]  # a list of dicts
    assert noise["parts"] > 1
    assert noise.get("spread", False) is spread
