"""Permute-and-flip against its definition: all orders, all coins."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.permute_and_flip import choose
from tests.statistics.chi_square import ALPHA, p_value

GROUPS = 200_000


def by_definition(scores: list[int], epsilon: Fraction, sensitivity: int) -> list[float]:
    """Visit in a uniform random order, answer the first candidate whose coin shows heads."""
    best = max(scores)
    heads = [math.exp(float(epsilon * (score - best) / (2 * sensitivity))) for score in scores]
    chances = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1.0 / len(orders)
        for candidate in order:
            chances[candidate] += reached * heads[candidate]
            reached *= 1 - heads[candidate]
    return chances


@pytest.mark.parametrize(
    ("scores", "epsilon", "sensitivity"),
    [
        ([0, 0], Fraction(1), 1),
        ([0, -1], Fraction(1), 1),
        ([5, 4, 2, -3], Fraction(1), 1),
        ([-7, -7, -9, -7, -10, -8], Fraction(1, 2), 1),
        ([100, 90, 80, 95, 60], Fraction(1, 3), 5),
        ([0, -3, -6, -1], Fraction(13, 4), 2),
        ([10**17, 10**17 - 10**16, 0], Fraction(1), 10**16),
        ([2**62, -(2**62), 0], Fraction(1, 10), 2**60),
    ],
)
def test_the_distribution(scores: list[int], epsilon: Fraction, sensitivity: int) -> None:
    chosen = choose(np.tile(np.array(scores, dtype=np.int64), (GROUPS, 1)), epsilon=epsilon, sensitivity=sensitivity)
    counts = np.bincount(chosen, minlength=len(scores))
    assert p_value(counts, np.array(by_definition(scores, epsilon, sensitivity)), 5.0) > ALPHA


@pytest.mark.parametrize(
    "epsilon", [1 + Fraction(1, 3**60), Fraction(2**64 + 1, 2**64), Fraction(2**62 + 1, 2**61), Fraction(1, 2)]
)
def test_the_distribution_in_python_integers(epsilon: Fraction) -> None:
    scores = [0, -1, -2, -5] if epsilon > Fraction(1, 2) else [0, -(2**63), -(2**61), -(2**62)]
    if epsilon == Fraction(1, 2):
        epsilon = Fraction(3**20, 3**20 * 2**62 + 1)
    chosen = choose(np.tile(np.array(scores, dtype=np.int64), (100_000, 1)), epsilon=epsilon, sensitivity=1)
    assert p_value(np.bincount(chosen, minlength=4), np.array(by_definition(scores, epsilon, 1)), 5.0) > ALPHA


def test_groups_are_chosen_independently() -> None:
    """Two groups with different scores side by side, interleaved: the pairs have the product of the distributions."""
    table = np.array([[0, -1, -4], [-2, 0, -1]] * GROUPS, dtype=np.int64)
    chosen = choose(table, epsilon=Fraction(1), sensitivity=1)
    first, second = by_definition([0, -1, -4], Fraction(1), 1), by_definition([-2, 0, -1], Fraction(1), 1)
    pairs = np.bincount(chosen[0::2] * 3 + chosen[1::2], minlength=9)
    assert p_value(pairs, np.outer(first, second).ravel()) > ALPHA


def test_one_good_among_many_bad() -> None:
    """2^16 candidates far below the best: each has the chance exp(-8), so some win, at the rate of the definition.

    With k = 2^16 - 1 equal rivals of heads probability p the best wins with probability E[1/(1 + B)], B binomial(k, p):
    (1 - (1-p)^(k+1)) / ((k+1) p).
    """
    groups, candidates = 3000, 2**16
    p = math.exp(-8)
    best = -math.expm1(candidates * math.log1p(-p)) / (candidates * p)
    table = np.full((200, candidates), -16, dtype=np.int64)
    table[:, 12345] = 0
    chosen = np.concatenate([choose(table, epsilon=Fraction(1), sensitivity=1) for _ in range(groups // 200)])
    wins = int((chosen == 12345).sum())
    assert p_value(np.array([wins, groups - wins]), np.array([best, 1 - best]), 5.0) > ALPHA
    rivals = chosen[chosen != 12345]
    assert p_value(np.bincount(rivals // 4096, minlength=16), np.full(16, 1 / 16)) > ALPHA
