"""The exponential mechanism against its exact probabilities, and what these cost under zCDP, by the definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms import exponential, permute_and_flip
from dpsql.mechanisms.choice import Chooser, rho_of
from dpsql.mechanisms.exp_bounds import exp_minus
from tests.statistics.chi_square import ALPHA, p_value
from tests.statistics.test_permute_and_flip import by_definition as permuted

BITS = 256
GROUPS = 200_000
CASES = [
    ([0, 0], Fraction(1), 1),
    ([0, -1], Fraction(1), 1),
    ([5, 4, 2, -3], Fraction(1), 1),
    ([-7, -7, -9, -7, -10, -8], Fraction(1, 2), 1),
    ([100, 90, 80, 95, 60], Fraction(1, 3), 5),
    ([0, -3, -6, -1], Fraction(13, 4), 2),
    ([10**17, 10**17 - 10**16, 0], Fraction(1), 10**16),
    ([2**62, -(2**62), 0], Fraction(1, 10), 2**60),
    ([0, -1, -2, -5], 1 + Fraction(1, 3**60), 1),
    ([0, -(2**63), -(2**61), -(2**62)], Fraction(3**20, 3**20 * 2**62 + 1), 1),
]
Choose = Callable[..., np.ndarray]


def exactly(scores: list[int], epsilon: Fraction, sensitivity: int) -> list[Fraction]:
    """P[k] = exp(ε·q_k/(2Δ))/Z in rational arithmetic, off by less than 2^-200."""
    best, rate = max(scores), epsilon / (2 * sensitivity)
    exponents = [(best - score) * rate for score in scores]
    weights = [Fraction(exp_minus(x.numerator, x.denominator, BITS)[0], 2**BITS) for x in exponents]
    return [weight / sum(weights) for weight in weights]


def fit(choose: Choose, scores: list[int], epsilon: Fraction, sensitivity: int, groups: int = GROUPS) -> float:
    table = np.tile(np.array(scores, dtype=np.int64), (groups, 1))
    counts = np.bincount(choose(table, epsilon=epsilon, sensitivity=sensitivity), minlength=len(scores))
    return p_value(counts, np.array([float(p) for p in exactly(scores, epsilon, sensitivity)]), 5.0)


@pytest.mark.parametrize(("scores", "epsilon", "sensitivity"), CASES)
def test_the_distribution(scores: list[int], epsilon: Fraction, sensitivity: int) -> None:
    assert fit(exponential.choose, scores, epsilon, sensitivity) > ALPHA


@pytest.mark.parametrize("near", [1, 2])
@pytest.mark.parametrize(("scores", "epsilon", "sensitivity"), CASES)
def test_far_candidates_are_proposed_as_one(
    scores: list[int], epsilon: Fraction, sensitivity: int, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happens once in 2^90 rounds, at a place where it happens in most."""
    monkeypatch.setattr(exponential, "_NEAR", near)
    assert fit(exponential.choose, scores, epsilon, sensitivity, 20_000) > ALPHA


@pytest.mark.parametrize(("near", "far"), [(1, 1), (1, 5), (3, 1), (2, 0), (1, 65535)])
def test_far_rounds_are_as_many_as_they_should_be(near: int, far: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponential, "_NEAR", 3)
    tries = 50_000
    rounds = len(exponential._far_rounds(np.full(tries, near, dtype=np.uint64), near + far))
    chance = far * math.exp(-3) / (near + far * math.exp(-3))
    if far == 0:
        assert rounds == 0
    else:
        assert p_value(np.array([rounds, tries - rounds]), np.array([chance, 1 - chance]), 5.0) > ALPHA


def off_by_a_part(scores: np.ndarray, *, epsilon: Fraction, sensitivity: int) -> np.ndarray:
    return exponential.choose(scores, epsilon=epsilon * Fraction(21, 20), sensitivity=sensitivity)


def at_the_other_rate(scores: np.ndarray, *, epsilon: Fraction, sensitivity: int) -> np.ndarray:
    return exponential.choose(scores, epsilon=2 * epsilon, sensitivity=sensitivity)


def one_round(scores: np.ndarray, *, epsilon: Fraction, sensitivity: int) -> np.ndarray:
    """A proposal whose coin shows tails is kept after twelve."""
    rng = np.random.default_rng(1)
    proposed = rng.integers(scores.shape[1], size=(len(scores), 12))
    gaps = (scores.max(axis=1, keepdims=True) - scores).astype(float)
    chances = np.exp(-np.take_along_axis(gaps, proposed, axis=1) * float(epsilon / (2 * sensitivity)))
    first = (rng.random(proposed.shape) < chances).argmax(axis=1)
    return proposed[np.arange(len(scores)), first]


@pytest.mark.parametrize("bug", [permute_and_flip.choose, off_by_a_part, at_the_other_rate, one_round])
def test_planted_bugs_are_found(bug: Choose) -> None:
    """Permute-and-flip in its place would be charged a quarter of its cost."""
    assert min(fit(bug, *case) for case in (*CASES[:6], ([8] + [0] * 31, Fraction(2), 1))) < ALPHA


def test_groups_are_chosen_independently() -> None:
    table = np.array([[0, -1, -4], [-2, 0, -1]] * GROUPS, dtype=np.int64)
    chosen = exponential.choose(table, epsilon=Fraction(1), sensitivity=1)
    first, second = ([float(p) for p in exactly(row, Fraction(1), 1)] for row in ([0, -1, -4], [-2, 0, -1]))
    pairs = np.bincount(chosen[0::2] * 3 + chosen[1::2], minlength=9)
    assert p_value(pairs, np.outer(first, second).ravel()) > ALPHA


def test_one_good_among_many_bad() -> None:
    """2^16 candidates far below the best, so that rounds end seldom and batches join."""
    groups, candidates = 3000, 2**16
    rivals = (candidates - 1) * math.exp(-8)
    table = np.full((200, candidates), -16, dtype=np.int64)
    table[:, 12345] = 0
    chosen = np.concatenate(
        [exponential.choose(table, epsilon=Fraction(1), sensitivity=1) for _ in range(groups // 200)]
    )
    wins = int((chosen == 12345).sum())
    assert p_value(np.array([wins, groups - wins]), np.array([1, rivals]) / (1 + rivals), 5.0) > ALPHA
    assert p_value(np.bincount(chosen[chosen != 12345] // 4096, minlength=16), np.full(16, 1 / 16)) > ALPHA


# --- what it costs ----------------------------------------------------------------------------------------------------


def quantile(weights: tuple[int, ...], p: int, d: int) -> list[int]:
    return [-abs((d - p) * sum(weights[:k]) - p * sum(weights[k + 1 :])) for k in range(len(weights))]


def worlds() -> list[tuple[str, list[int], list[int], int, int]]:
    """What is asked; scores of a world and of its neighbour with one row more; how far it moves one; times the rate."""
    pairs = []
    for base in itertools.product(range(3), repeat=3):
        for at in range(3):
            more = tuple(weight + (k == at) for k, weight in enumerate(base))
            for p, d in ((1, 2), (1, 4), (1, 1)):
                pairs.append(("quantile", quantile(base, p, d), quantile(more, p, d), max(p, d - p), 1))
            ends = [[-abs(sum(world[:k]) - 1) for k in range(3)] for world in (base, more)]
            pairs.append(("end", ends[0], ends[1], 1, 1))
            pairs.append(("most frequent", list(base), list(more), 1, 2))
    return pairs


def divergence(p: list[float], q: list[float], alpha: float) -> float:
    terms = [alpha * math.log(a) + (1 - alpha) * math.log(b) for a, b in zip(p, q, strict=True)]
    most = max(terms)
    return (most + math.log(math.fsum(math.exp(term - most) for term in terms))) / (alpha - 1)


def worst(distribution: Callable[[list[int], Fraction, int], list[float]], epsilon: Fraction) -> float:
    """The largest Rényi divergence of two neighbours, as a part of α·ρ, ρ the exponential mechanism's."""
    rho = float(rho_of("exponential", epsilon))
    largest = 0.0
    for _, scores, others, sensitivity, times in worlds():
        one, other = (distribution(s, epsilon * times, sensitivity) for s in (scores, others))
        for alpha in (1.001, 2.0, 8.0, 64.0):
            largest = max(
                largest, divergence(one, other, alpha) / alpha / rho, divergence(other, one, alpha) / alpha / rho
            )
    return largest


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_its_range_is_bounded_and_costs_an_eighth(epsilon: Fraction) -> None:
    """The definitions themselves, on every pair of small worlds, the monotone scores of a mode among them."""
    for what, scores, others, sensitivity, times in worlds():
        one, other = (exactly(s, epsilon * times, sensitivity) for s in (scores, others))
        losses = [math.log(a / b) for a, b in zip(one, other, strict=True)]
        assert max(losses) - min(losses) <= float(epsilon) * (1 + 1e-9), what
    assert 0 < worst(lambda *case: [float(p) for p in exactly(*case)], epsilon) <= 1 + 1e-9


def test_permute_and_flip_costs_more() -> None:
    """Why it is not used under zCDP: at a small ε its divergence is beyond ε²/8, though within ε²/2."""
    loss = worst(permuted, Fraction(1, 10))
    assert 1.5 < loss <= 4


@pytest.mark.parametrize(("by", "rho"), [("exponential", Fraction(1, 8)), ("permute-and-flip", Fraction(1, 2))])
def test_what_is_charged(by: Chooser, rho: Fraction) -> None:
    assert rho_of(by, Fraction(1)) == rho and rho_of(by, Fraction(1, 3)) == rho / 9


def test_several_groups_of_one_unit() -> None:
    """A unit with a part of its weight in each of two groups: the product of both choices is within ε²/8 too."""
    epsilon, rho, loss = Fraction(1), 1 / 8, 0.0
    for parts in ((1, 3), (2, 2), (4, 0)):
        one, other = [1.0], [1.0]
        for part in parts:
            base, more = (4, 4, 0), (4, 4, part)
            pair = [exactly(quantile(world, 1, 2), epsilon, 4) for world in (base, more)]
            one = [a * float(b) for a in one for b in pair[0]]
            other = [a * float(b) for a in other for b in pair[1]]
        for alpha in (1.001, 2.0, 16.0):
            loss = max(loss, divergence(one, other, alpha) / alpha, divergence(other, one, alpha) / alpha)
    assert 0 < loss <= rho
