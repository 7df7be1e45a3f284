"""How far off cumulative sums are that are measured as such: as far as is predicted, and intervals hold."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dpsql
from dpsql.plan.stages import Draw, Noised, Running
from dpsql.privacy.running import rmse, width_of_sum, width_of_total
from dpsql.release.along_order import in_groups, in_order, released_along
from dpsql.release.noise import add_noise
from dpsql.testing import Replayer
from tests.worlds import bounded, people

DAYS = 365
RUNS = 150
CATALOG: dict[str, Any] = people({"day": bounded("integer", 0, DAYS - 1, nullable=False)}, rows_per_unit=2)
DRAW = np.random.default_rng(8)
ROWS = {"u": [u // 2 for u in range(20_000)], "day": DRAW.integers(0, DAYS, 20_000).tolist()}
TRUTH = np.cumsum(np.bincount(ROWS["day"], minlength=DAYS))
ASKED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='{}', epsilon=1, delta=1e-6{}) day, {} FROM t GROUP BY day"
SUMS = "SUM(COUNT(*)) OVER (ORDER BY day) AS c"


@pytest.fixture(scope="module")
def replayer() -> Iterator[Replayer]:
    with Replayer(CATALOG, {"t": ROWS}) as opened:
        yield opened


def errors(noised: Noised, runs: int = RUNS) -> npt.NDArray[np.float64]:
    """Of single totals, in pieces, run by run: released from exact totals by the release's own way out."""
    totals = np.bincount(ROWS["day"], minlength=DAYS).astype(np.int64)
    assert noised.running is not None
    exact = (totals << 20) >> noised.running.shift
    return np.array([released_along(exact, noised, add_noise) - totals for _ in range(runs)], dtype=np.float64)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_errors_are_as_predicted_and_intervals_hold(mechanism: str, replayer: Replayer) -> None:
    """Of 150 runs with 365 sums each; sums of one run lean the same way, so a run counts for about ten. 365 days of Gaussian
    noise: more than four times less than plain sums have; of Laplace noise twice."""
    plan = replayer.plan(ASKED.format(mechanism, "", SUMS))
    (stage,) = plan.stages
    (noised,) = stage.noised
    measured, plain = rmse(stage, noised)
    single = errors(noised)
    sums = np.cumsum(single, axis=1)
    assert math.sqrt((sums**2).mean()) == pytest.approx(measured, rel=0.1)
    assert plain / measured >= (4 if mechanism == "gaussian" else 2)
    for level in (0.5, 0.8, 0.95):
        for drawn, width, places in (
            (sums, width_of_sum(noised, _fraction(level)), 10),
            (single, width_of_total(noised, _fraction(level)), 100),
        ):
            held = (np.abs(drawn) <= float(width)).mean()
            assert held >= level - 3 * math.sqrt(level * (1 - level) / (RUNS * places))
        last = (np.abs(sums[:, -1]) <= float(width_of_sum(noised, _fraction(level)))).mean()
        slack = 4 * math.sqrt(level * (1 - level) / RUNS)
        if mechanism == "gaussian":  # the last has most noise, so its interval is not too wide either
            assert abs(last - level) <= slack


def _fraction(level: float) -> Any:
    from fractions import Fraction

    return Fraction(str(level))


def test_the_factor_is_real(tmp_path: Path) -> None:
    """End to end: the same question with Gaussian noise, and plain counts that the user sums up, eight runs each."""
    far: dict[str, list[float]] = {SUMS: [], "COUNT(*) AS c": []}
    with dpsql.connect(CATALOG, source={"t": ROWS}, ledger=tmp_path / "l.ledger") as connection:
        for _ in range(8):
            for asked, errors in far.items():
                rows = connection.execute(ASKED.format("gaussian", ", fresh=true", asked) + " ORDER BY day").fetchall()
                values = np.array([c for _, c in rows])
                sums = values if asked == SUMS else np.cumsum(values)
                errors.append(float(((sums - TRUTH) ** 2).mean()))
    along, plain = (math.sqrt(np.mean(errors)) for errors in far.values())
    assert plain > 2.5 * along  # predicted are 4.9; plain sums wander, so eight runs of them say little more


def test_orders_of_keys() -> None:
    """Three keys, divided by the middle one, along the last (backwards) and the first: the places, and back."""
    from dpsql.mechanisms.prefix_sums import Toeplitz

    running = Running(strategy=Toeplitz(6), lengths=(2, 4, 3), order=((2, (2, 1, 0)), (0, (0, 1))))
    groups = np.arange(24, dtype=np.int64)
    ordered = in_order(groups, running)
    assert ordered.shape == (4, 6)
    assert ordered[1].tolist() == [a * 12 + 1 * 3 + c for c in (2, 1, 0) for a in (0, 1)]
    assert in_groups(ordered, running).tolist() == groups.tolist()


def test_without_noise_nothing_is_lost() -> None:
    """Noise of 0 in place of the draw: the totals come back, large ones and negative ones."""
    from dpsql.mechanisms.prefix_sums import Strategy, Toeplitz, Tree
    from dpsql.plan.measurements import Number, One, RowTotal

    strategies: list[Strategy] = [Toeplitz(12), Tree(12, 4)]
    number = Number(real=None, whole=None)  # type: ignore[arg-type]  # not looked at
    for strategy in strategies:
        noised = Noised(
            measurement=RowTotal(name="n", piece=One(), answer=number),
            form="plain",
            draws=(Draw(mechanism="gaussian", shift=12),),
            running=Running(strategy=strategy, lengths=(12,), order=((0, tuple(range(12))),)),
        )
        totals = np.array([5, -3, 10**9, 0, 0, 7, -(10**9), 1, 1, 1, 10**6, -2], dtype=np.int64)
        released = released_along(totals << 20, noised, lambda flat, draw: flat)
        assert released.tolist() == totals.tolist()


def test_noise_beyond_all_numbers_changes_no_sign() -> None:
    """Cumulative sums are held within 61 bits; groups' numbers are differences of them, which would not fit of 62."""
    from dpsql.mechanisms.prefix_sums import Toeplitz
    from dpsql.plan.measurements import Number, One, RowTotal

    noised = Noised(
        measurement=RowTotal(name="n", piece=One(), answer=Number(real=None, whole=None)),  # type: ignore[arg-type]  # unread
        form="plain",
        draws=(Draw(mechanism="gaussian", shift=60),),
        running=Running(strategy=Toeplitz(4), lengths=(4,), order=((0, (0, 1, 2, 3)),)),
    )
    noise = np.array([-1, 3, -3, 3], dtype=np.int64) << 45
    released = released_along(np.zeros(4, dtype=np.int64), noised, lambda flat, draw: flat + noise)
    sums = np.cumsum(released.astype(object)).tolist()
    assert [s > 0 for s in sums] == [False, True, False, True] and max(map(abs, sums)) == 2**61
