"""Order statistics against brute force: scores by their definition, and the exact distribution of every answer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.mechanisms import order_statistics
from dpsql.mechanisms.choice import Chooser
from tests.statistics.chi_square import ALPHA, p_value
from tests.statistics.test_exponential import exactly
from tests.statistics.test_permute_and_flip import by_definition

GROUPS = 100_000
CHOOSERS = pytest.mark.parametrize("by", ["permute-and-flip", "exponential"])
ROWS = [[3, 0, 2, 5], [0, 0, 0, 0], [0, 7, 0, 0], [1, 1, 1, 1]]


def quantile_scores(weights: list[int], fraction: Fraction) -> list[int]:
    d, p = fraction.denominator, fraction.numerator
    return [-abs((d - p) * sum(weights[:k]) - p * sum(weights[k + 1 :])) for k in range(len(weights))]


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=6), st.fractions(0, 1, max_denominator=1000))
def test_scores(weights: list[int], fraction: Fraction) -> None:
    scores = order_statistics.quantile_scores(np.array([weights], dtype=np.int64), fraction)
    assert scores[0].tolist() == quantile_scores(weights, fraction)


@given(
    st.lists(st.integers(0, 2**40), min_size=2, max_size=6),
    st.lists(st.integers(0, 2**62), min_size=6, max_size=6),
    st.fractions(0, 1, max_denominator=10_000),
)
def test_a_groups_scores_do_not_depend_on_another_groups_weights(
    row: list[int], huge: list[int], fraction: Fraction
) -> None:
    """Sums that fit a word are summed in another way than those that may not; a row must not tell which was taken."""
    both = np.array([row, huge[: len(row)]], dtype=np.int64)
    scores = order_statistics.quantile_scores(both, fraction)
    assert scores[0].tolist() == quantile_scores(row, fraction)
    limit, d, p = 2**61 // fraction.denominator, fraction.denominator, fraction.numerator
    below, above = (
        [min(sum(part), limit) for part in parts]
        for parts in (
            [huge[:k] for k in range(len(row))],
            [huge[k + 1 : len(row)] for k in range(len(row))],
        )
    )
    assert scores[1].tolist() == [-abs((d - p) * b - p * a) for b, a in zip(below, above, strict=True)]


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=8), st.sampled_from([2**61, 2**61 // 20, 5]))
def test_sums_saturate(weights: list[int], limit: int) -> None:
    array = np.array([weights], dtype=np.int64)
    assert order_statistics.below(array, limit)[0].tolist() == [
        min(sum(weights[:k]), limit) for k in range(len(weights))
    ]
    assert order_statistics.above(array, limit)[0].tolist() == [
        min(sum(weights[k + 1 :]), limit) for k in range(len(weights))
    ]


@given(
    st.lists(st.integers(0, 50), min_size=4, max_size=4),
    st.lists(st.integers(0, 5), min_size=4, max_size=4),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(19, 20), Fraction(1, 3)]),
)
def test_a_unit_moves_a_score_by_at_most_its_sensitivity(base: list[int], unit: list[int], fraction: Fraction) -> None:
    pair = np.array([base, [a + b for a, b in zip(base, unit, strict=True)]], dtype=np.int64)
    before, after = order_statistics.quantile_scores(pair, fraction)
    most = order_statistics.quantile_sensitivity(fraction, sum(unit)) if sum(unit) else 0
    assert int(np.abs(before - after).max()) <= most


def chances_of(by: Chooser, scores: list[int], epsilon: Fraction, sensitivity: int) -> list[float]:
    if by == "permute-and-flip":
        return by_definition(scores, epsilon, sensitivity)
    return [float(p) for p in exactly(scores, epsilon, sensitivity)]


def check(draw: Callable[[np.ndarray], np.ndarray], row: list[int], chances: list[float]) -> None:
    chosen = draw(np.tile(np.array(row, dtype=np.int64), (GROUPS, 1)))
    assert p_value(np.bincount(chosen, minlength=len(chances)), np.array(chances), 5.0) > ALPHA


@CHOOSERS
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("fraction", [Fraction(1, 2), Fraction(1, 4), Fraction(1)])
def test_the_distribution_of_a_quantile(by: Chooser, row: list[int], fraction: Fraction) -> None:
    sensitivity = 2 * max(fraction.numerator, fraction.denominator - fraction.numerator)
    chances = chances_of(by, quantile_scores(row, fraction), Fraction(3, 2), sensitivity)
    check(
        lambda w: order_statistics.choose_quantile(w, fraction, by=by, epsilon=Fraction(3, 2), sensitivity=2),
        row,
        chances,
    )


@CHOOSERS
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("greatest", [False, True])
def test_the_distribution_of_an_end(by: Chooser, row: list[int], greatest: bool) -> None:
    beyond = [sum(row[k + 1 :]) if greatest else sum(row[:k]) for k in range(len(row))]
    chances = chances_of(by, [-abs(x - 3) for x in beyond], Fraction(1), 2)
    check(
        lambda w: order_statistics.choose_end(w, 3, greatest=greatest, by=by, epsilon=Fraction(1), sensitivity=2),
        row,
        chances,
    )


@CHOOSERS
@pytest.mark.parametrize("row", ROWS)
def test_the_distribution_of_the_most_frequent(by: Chooser, row: list[int]) -> None:
    """Two rounds without replacement; scores that only grow are compared at ε/Δ, twice permute-and-flip's usual rate."""
    count = len(row)
    chances = np.zeros(count * count)
    for first, chance in enumerate(chances_of(by, row, Fraction(2), 3)):
        others = [k for k in range(count) if k != first]
        second = chances_of(by, [row[k] for k in others], Fraction(2), 3)
        for k, then in zip(others, second, strict=True):
            chances[first * count + k] = chance * then
    chosen = order_statistics.choose_most(
        np.tile(np.array(row, dtype=np.int64), (GROUPS, 1)), 2, by=by, epsilon=Fraction(1), sensitivity=3
    )
    assert p_value(np.bincount(chosen[:, 0] * count + chosen[:, 1], minlength=count * count), chances, 5.0) > ALPHA


@CHOOSERS
@pytest.mark.parametrize("row", ROWS[:3])
def test_the_distribution_of_halving(by: Chooser, row: list[int]) -> None:
    """Two fractions: the first of all rows, then the second among the rows after it, at what fraction of those it is."""
    one, other = Fraction(1, 4), Fraction(3, 4)
    count, tries = len(row), 6_000
    chances = np.zeros(count * count)
    first_round = chances_of(by, quantile_scores(row, one), Fraction(1), 2 * 3)
    for first, chance in enumerate(first_round):
        rest = [0, *row[first + 1 :]]
        then = chances_of(by, quantile_scores(rest, Fraction(2, 3)), Fraction(1), 2 * 2)
        for k, p in enumerate(then):
            chances[first * count + first + k] += chance * p
    chosen = order_statistics.choose_quantiles(
        np.tile(np.array(row, dtype=np.int64), (tries, 1)), (one, other), by=by, epsilon=Fraction(1), sensitivity=2
    )
    assert p_value(np.bincount(chosen[:, 0] * count + chosen[:, 1], minlength=count * count), chances, 5.0) > ALPHA


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_neighbours_are_within_epsilon(epsilon: Fraction) -> None:
    """The definition itself, on every pair of small worlds: the exact chances of a median and of a mode differ by e^ε."""
    for base in itertools.product(range(3), repeat=3):
        for at in range(3):
            more = [weight + (k == at) for k, weight in enumerate(base)]
            for scores, sensitivity, times in (
                ((quantile_scores(list(base), Fraction(1, 2)), quantile_scores(more, Fraction(1, 2))), 1, 1),
                ((list(base), more), 1, 2),
            ):
                left, right = (by_definition(s, epsilon * times, sensitivity) for s in scores)
                for p, q in zip(left, right, strict=True):
                    assert p <= math.exp(float(epsilon)) * q * (1 + 1e-9)
                    assert q <= math.exp(float(epsilon)) * p * (1 + 1e-9)
