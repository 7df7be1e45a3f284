"""What an adversary who knows everything but one unit can tell, from answers of the public API: at most ε and δ.

Each world holds many units that share no group, each with everything the caps let it have; its neighbour is the empty
table. So one query is an experiment per unit. For the event that tells the two apart best,
P[event on D] ≤ e^ε·P[event on D′] + δ, tested one-sided at 5.2 standard deviations; planted, an ε that is spent 1.175
times over fails.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpsql
from dpsql.plan.stages import Selection
from dpsql.testing import Replayer
from tests.worlds import asking, bounded, people

UNITS = 40_000
SIGMAS = 5.2
EPSILON = math.log(3)


def asked(units: int, groups: int, rows: int, columns: str, keys: dict[str, Any], **options: Any) -> np.ndarray:
    """The released columns, one array row per key, of one query over `units` units in `groups` keys of their own each."""
    of = np.repeat(np.arange(units * groups), rows)
    table = pa.table({"u": of // groups, "k": of, "n": of.astype(str), "x": np.full(len(of), 1e9)})
    described = people(
        {"k": {"type": "integer", "nullable": False, **keys}, "n": "text", "x": bounded("real", -3, 7)},
        max_groups=groups,
        max_rows=rows,
        max_delta=0.1,
    )
    with dpsql.connect(described, source={"t": table}) as connection:
        cursor = connection.execute(asking(columns, **options))
        return np.array(cursor.fetchall(), dtype=float).reshape(-1, len(cursor.description or ()))


def excess(on: np.ndarray, off: np.ndarray, epsilon: float) -> tuple[float, float]:
    """(P̂[event on D] − e^ε·P̂[event on D′], its standard deviation) from two arrays of hits."""
    p, q = on.mean(), off.mean()
    variance = (p * (1 - p) + math.exp(2 * epsilon) * q * (1 - q)) / len(on)
    return float(p - math.exp(epsilon) * q), math.sqrt(variance)


def laplace_pair(
    groups: int, rows: int, columns: str, largest: tuple[float, ...], epsilon: float
) -> tuple[float, float]:
    """The event that every number is at least what the unit makes of it; counts are rounded, hence one more for them."""
    total = UNITS // groups * groups
    keys = {"lower": 0, "upper": total - 1}
    options = {"epsilon": epsilon, "mechanism": "laplace"}
    hits = []
    for units in (total // groups, 0):
        values = asked(units, groups, rows, f"{columns} FROM t GROUP BY k ORDER BY k", keys, **options)
        assert values.shape == (total, len(largest))
        hits.append((values >= np.array(largest) - 1e-6).all(axis=1).reshape(-1, groups).all(axis=1))
    return excess(hits[0], hits[1], EPSILON)


CASES = (
    (1, 1, "COUNT(*)", (2,)),
    (1, 3, "COUNT(*)", (4,)),
    (1, 1, "COUNT(DISTINCT u)", (2,)),
    (1, 2, "SUM(x)", (14,)),
    (2, 1, "SUM(x)", (7,)),
    (1, 1, "SUM(x), COUNT(x)", (7, 2)),
)


@pytest.mark.parametrize(("groups", "rows", "columns", "largest"), CASES)
def test_laplace_tells_no_more_than_epsilon(groups: int, rows: int, columns: str, largest: tuple[float, ...]) -> None:
    over, deviation = laplace_pair(groups, rows, columns, largest, EPSILON)
    assert over <= SIGMAS * deviation
    assert over >= -SIGMAS * deviation - 0.02  # nor is noise wasted: the event is the worst one, whose ratio is e^ε


@pytest.mark.parametrize(("groups", "rows", "columns", "largest"), [CASES[0], CASES[3]])
def test_an_epsilon_spent_one_and_a_sixth_times_shows(
    groups: int, rows: int, columns: str, largest: tuple[float, ...]
) -> None:
    over, deviation = laplace_pair(groups, rows, columns, largest, 1.175 * EPSILON)
    assert over > SIGMAS * deviation


@pytest.mark.parametrize("groups", [1, 4])
def test_gaussian_tells_no_more_than_epsilon_and_delta(groups: int) -> None:
    """The worst event of Gaussians is a half-space: the sum of a unit's counts beyond Δ·(1/2) + σ²ε/Δ."""
    delta, total = 0.05, UNITS // groups * groups
    keys = {"lower": 0, "upper": total - 1}
    options = {"epsilon": EPSILON, "delta": delta, "mechanism": "gaussian"}
    sums = []
    for units in (total // groups, 0):
        values = asked(units, groups, 1, "SUM(x) FROM t GROUP BY k ORDER BY k", keys, **options)
        sums.append(values.reshape(-1, groups).sum(axis=1) / math.sqrt(groups))
    change = 7 * math.sqrt(groups)
    sigma = float(np.std(sums[1]))
    cut = change / 2 + sigma**2 * EPSILON / change
    over, deviation = excess(sums[0] >= cut, sums[1] >= cut, EPSILON)
    assert over <= delta + SIGMAS * deviation
    assert over >= delta - SIGMAS * deviation  # the curve is exact: no smaller σ would do


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("groups", [1, 4])
def test_keys_of_one_unit_appear_with_probability_delta(mechanism: str, groups: int) -> None:
    """Private keys, each held by one unit, at δ = 0.05: the units of which any key is released. As often as the noise says;
    by Laplace votes, which know how many groups are allowed, with all of δ for the most groups."""
    units, delta = 25_000, 0.05
    options = {"epsilon": 1, "delta": delta, "mechanism": mechanism}
    released = asked(units, groups, 1, "CAST(n AS BIGINT), COUNT(DISTINCT u) FROM t GROUP BY n", {}, **options)
    rate = len(np.unique(released[:, 0] // groups)) / units
    error = math.sqrt(delta * (1 - delta) / units)
    assert rate <= delta * (1.0 if mechanism == "laplace" else 0.5) + SIGMAS * error
    assert mechanism == "gaussian" or rate >= delta * 0.9 - SIGMAS * error
    missed = 1.0
    for selection in selecting(mechanism, groups, delta):
        m = (selection.at_least - selection.votes[groups - 1]) / selection.draw.scale
        one = math.exp(-m) / 2 if mechanism == "laplace" else math.erfc(m / math.sqrt(2)) / 2
        missed *= (1 - one) ** groups
    expected = 1 - missed
    assert abs(rate - expected) <= SIGMAS * math.sqrt(expected / units) + 1 / units


def selecting(mechanism: str, groups: int, delta: float) -> tuple[Selection, ...]:
    """The plan's votes and thresholds, round by round."""
    columns = {"n": "text"}
    described = people(columns, max_groups=groups, max_rows=1, budget={"epsilon": 9, "delta": 0.9}, max_delta=0.1)
    options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='{mechanism}')"
    with Replayer(described, epsilon=1, delta=delta) as replayer:
        (stage,) = replayer.plan(f"SELECT {options} n, COUNT(DISTINCT u) FROM t GROUP BY n").stages
    return stage.selections
