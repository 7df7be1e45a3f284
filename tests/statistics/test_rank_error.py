"""The stated rank error of choices holds for the worst data, and is at most twice what these need."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms.order_statistics import choose_most, choose_quantiles
from dpsql.privacy.rank_error import MISSED, tail, widest

RUNS, CANDIDATES, CELLS = 400, 256, 16
Integers = npt.NDArray[np.int64]


def off(weights: Integers, chosen: int, fraction: Fraction) -> float:
    """By how many rows the chosen cell's own rows miss the place where `fraction` of all rows lie below."""
    before, total = int(weights[:chosen].sum()), int(weights.sum())
    after, target = before + int(weights[chosen]), float(fraction * total)
    return max(0.0, before - target, target - after)


def errors(weights: Integers, fractions: list[Fraction], epsilon: Fraction) -> npt.NDArray[np.float64]:
    """Of each run that of the quantile which is farthest off, in rows. Candidates are split as in choosing.py."""
    cells = np.repeat(weights, CELLS)
    rows = np.ascontiguousarray(np.broadcast_to(cells, (RUNS, len(cells))))
    chosen = choose_quantiles(rows, fractions, by="permute-and-flip", epsilon=epsilon, sensitivity=CELLS)
    worst = [max(off(cells, int(c), f) for c, f in zip(run, fractions, strict=True)) for run in chosen]
    return np.array(worst) / CELLS


def heaps(fractions: list[Fraction], rows: int) -> Integers:
    """All rows on one candidate for each fraction, half of those between two fractions on either: whoever misses the
    candidate misses all its rows, and every other candidate is as good."""
    weights = np.zeros(CANDIDATES, dtype=np.int64)
    ends = [Fraction(0), *fractions, Fraction(1)]
    for n, fraction in enumerate(fractions):
        low = (ends[n] + fraction) / 2 if n else ends[0]
        high = (fraction + ends[n + 2]) / 2 if n + 1 < len(fractions) else ends[-1]
        weights[(n + 1) * CANDIDATES // (len(fractions) + 1)] = int((high - low) * rows)
    return weights


def first(rows: int) -> Integers:
    """All rows on the first candidate."""
    weights = np.zeros(CANDIDATES, dtype=np.int64)
    weights[0] = rows
    return weights


LISTS = [
    [Fraction(1, 2)],
    [Fraction(1, 10)],
    [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)],
    [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)],
    [Fraction(n, 10) for n in range(1, 10)],
]


@pytest.mark.parametrize("fractions", LISTS, ids=lambda f: ",".join(map(str, f)))
def test_stated_is_kept_and_needed(fractions: list[Fraction]) -> None:
    epsilon = Fraction(1, 4)
    far = float(widest(fractions))
    stated = far * float(2 / epsilon) * tail(CANDIDATES * CELLS, MISSED / len(fractions), by="permute-and-flip")
    spread = np.full(CANDIDATES, 4, dtype=np.int64)  # smooth data
    needed = float(np.quantile(errors(spread, fractions, epsilon), 0.95, method="higher"))
    for times in (0.8, 1.2, 1.6, 2.0, 2.4, 3.2):
        rows = int(times * stated * max(1, len(fractions) - 1))
        for weights in (heaps(fractions, rows), first(rows)):
            seen = errors(weights, fractions, epsilon)
            sharing = 2 * far * int(weights.max()) / CELLS  # the rows of a cell come on top, in each round
            assert np.mean(seen > stated + sharing) <= MISSED + 3 * math.sqrt(MISSED / RUNS)
            needed = max(needed, float(np.quantile(seen, 0.95, method="lower")))
    # of long lists the worst data are not found: errors of all rounds would have to point the same way
    assert stated <= (2 if len(fractions) <= 3 else 3.5) * needed


def test_most_frequent() -> None:
    epsilon, weights = Fraction(1, 4), np.zeros(CANDIDATES, dtype=np.int64)
    stated = float(1 / epsilon) * tail(CANDIDATES, MISSED, by="permute-and-flip")
    for ahead, holds in ((math.ceil(stated), True), (int(stated / 2), False)):
        weights[7] = ahead
        rows = np.ascontiguousarray(np.broadcast_to(weights, (RUNS, CANDIDATES)))
        wrong = float(np.mean(choose_most(rows, 1, by="permute-and-flip", epsilon=epsilon, sensitivity=1)[:, 0] != 7))
        assert (wrong <= MISSED + 3 * math.sqrt(MISSED / RUNS)) is holds


@pytest.mark.parametrize("count", [1, 2, 1000, 2**20])
def test_the_tail_by_the_binomial(count: int) -> None:
    """Of all others just t·s behind: E[H/(1 + H)], added up."""
    t = tail(count, MISSED, by="permute-and-flip")
    q = math.exp(-t)
    exact = 0.0 if count == 1 else 1 - -math.expm1(count * math.log1p(-q)) / (count * q) if q < 1 else 1 - 1 / count
    assert exact <= MISSED * (1 + 1e-9) or t == 0
    assert count < 1000 or exact >= MISSED * 0.95


def test_lists_do_not_add_up_their_rounds() -> None:
    quarters = [Fraction(n, 4) for n in (1, 2, 3)]
    assert widest(quarters) == Fraction(3, 4)  # half of a half, and a half
    assert widest([Fraction(1, 10)]) == Fraction(9, 10)
    for count in (4, 8, 16):
        assert widest([Fraction(n, count) for n in range(1, count)]) <= Fraction(count.bit_length() - 1, 2)


@pytest.mark.parametrize("count", [2, 1000, 2**20])
def test_the_tail_of_the_exponential_mechanism(count: int) -> None:
    """All others just t·s behind have 5 % together."""
    behind = (count - 1) * math.exp(-tail(count, MISSED, by="exponential"))
    assert behind / (1 + behind) == pytest.approx(MISSED)
