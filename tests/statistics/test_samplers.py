"""Both samplers have exactly the claimed distribution, as far as 10^6 draws can tell."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from dpsql.mechanisms import coins, lattice
from tests.statistics.chi_square import ALPHA, p_value, upper_tail

SIZE = 1_000_000
SCALES = (1, 2, 37, 2**20, 2**21 - 1)
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def laplace_below(edges: Integers, t: int) -> Floats:
    """P[X < edge] from the geometric series: a^m/(1+a) is P[X >= m] for m >= 0."""
    tails = np.exp(-np.maximum(edges, 1 - edges) / t) / (1 + math.exp(-1 / t))
    return np.where(edges >= 1, 1 - tails, tails)


def gaussian_below(edges: Integers, t: int) -> Floats:
    """P[X < edge]: sums of the weights for small t; for large t the integral up to edge - 1/2, whose distance from the
    sum is below t^-2 (Euler-Maclaurin)."""
    if t >= 2**20:
        return np.array([0.5 * math.erfc(-(edge - 0.5) / t / math.sqrt(2)) for edge in edges.tolist()])
    reach = 40 * t
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / t) ** 2)
    below = np.concatenate([[0.0], np.cumsum(weights)]) / weights.sum()
    chance: Floats = below[np.clip(edges + reach, 0, 2 * reach + 1)]
    return chance


SAMPLERS = {
    "laplace": (lattice.discrete_laplace, laplace_below),
    "gaussian": (lattice.discrete_gaussian, gaussian_below),
}


@pytest.mark.parametrize("t", SCALES)
@pytest.mark.parametrize("name", SAMPLERS)
def test_the_distribution(name: str, t: int) -> None:
    """Bins of one value each where that is possible, else of t/2000; fine groups see spikes, coarse ones shape."""
    sampler, below = SAMPLERS[name]
    drawn = sampler(t, SIZE)
    step = max(1, t // 2000)
    edges = np.arange(-30 * t // step, 30 * t // step + 1) * step
    probabilities = np.diff(below(edges, t), prepend=0.0, append=1.0)
    counts = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=edges.size + 1)
    for least in (20, 5000):
        assert p_value(counts, probabilities, least) > ALPHA


@pytest.mark.parametrize(
    ("name", "t", "per"),
    [
        ("laplace", 2**20, 2**20),
        ("laplace", 2**20 // 9, 2**20),
        ("laplace", 2**22 // 3, 2**20),
        ("laplace", 2**31 - 1, 2**20),
        ("laplace", 1, 3),
        ("gaussian", 2**10, 2**10),
        ("gaussian", 250, 2**10),
        ("gaussian", 1500, 2**10),
        ("gaussian", 8191, 2**10),
        ("gaussian", 2**14, 2**10),
        ("gaussian", 7, 3),
    ],
)
def test_scales_that_are_fractions(name: str, t: int, per: int) -> None:
    """P[x] ∝ exp(-|x|·per/t) or exp(-(x·per/t)²/2), value by value."""
    drawn = SAMPLERS[name][0](t, SIZE, per)
    reach = 30 * t // per + 3
    x = np.arange(-reach, reach + 1) * (per / t)
    weights = np.exp(-np.abs(x)) if name == "laplace" else np.exp(-0.5 * x * x)
    counts = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=weights.size)
    for least in (20, 100):
        assert p_value(counts, weights / weights.sum(), least) > ALPHA


@pytest.mark.parametrize("t", [2**20, 2**21 - 1])
@pytest.mark.parametrize("name", SAMPLERS)
def test_low_bits_are_uniform(name: str, t: int) -> None:
    """Where the probabilities hardly change from value to value (Laplace: by 2^-20), any residue is equally likely."""
    drawn = SAMPLERS[name][0](t, SIZE)
    for modulus in (64, 61):
        uniform = np.full(modulus, 1 / modulus)
        assert p_value(np.bincount(drawn % modulus, minlength=modulus), uniform) > ALPHA


@pytest.mark.parametrize("t", [1, 37])
@pytest.mark.parametrize("name", SAMPLERS)
def test_successive_draws_are_independent(name: str, t: int) -> None:
    """Pairs (x_i, x_i+1), by signs and halves, against the product of the margins."""
    drawn = SAMPLERS[name][0](t, SIZE)
    kinds = np.searchsorted([-t, 0, 1, t + 1], drawn, side="right")
    shares = np.diff(SAMPLERS[name][1](np.array([-t, 0, 1, t + 1]), t), prepend=0.0, append=1.0)
    pairs = np.bincount(kinds[0::2] * 5 + kinds[1::2], minlength=25)
    assert p_value(pairs, np.outer(shares, shares).ravel()) > ALPHA


def test_the_largest_laplace_scale() -> None:
    t = 2**31 - 1
    drawn = lattice.discrete_laplace(t, SIZE)
    edges = np.arange(-3000, 3001) * (t // 100)
    probabilities = np.diff(laplace_below(edges, t), prepend=0.0, append=1.0)
    counts = np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=edges.size + 1)
    assert p_value(counts, probabilities) > ALPHA


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [(0, 1), (1, 1), (1, 3), (2**61, 2**62), (2**62 - 1, 2**62), (7, 2), (11, 1), (2**62, 2**60), (2**62, 3 * 2**59)],
)
def test_coins_in_words(numerator: int, denominator: int) -> None:
    heads = coins.bernoulli_exp(np.full(SIZE, numerator), denominator)
    assert is_binomial(int(heads.sum()), SIZE, math.exp(-numerator / denominator))


@pytest.mark.parametrize(("numerator", "denominator"), [(10**30, 3 * 10**30), (5 * 10**25, 10**25), (2**80, 2**80 - 1)])
def test_coins_in_python_integers(numerator: int, denominator: int) -> None:
    heads = coins.bernoulli_exp([numerator] * 30_000, [denominator] * 30_000)
    assert is_binomial(int(heads.sum()), 30_000, math.exp(-numerator / denominator))


@pytest.mark.parametrize(
    "exponent", [Fraction(1, 3**60), Fraction(3**50 + 1, 3**50), Fraction(2**90, 3**57), Fraction(9, 2)]
)
def test_wide_coins(exponent: Fraction) -> None:
    heads = coins.coins_wide([exponent.numerator] * 300_000, exponent.denominator)
    assert is_binomial(int(heads.sum()), 300_000, math.exp(-exponent))


def test_coins_of_mixed_probabilities() -> None:
    """Each element has its own probability: 50 fractions side by side, shuffled."""
    numerators, denominators = np.arange(1, 51), np.arange(50, 0, -1) * 3
    order = np.tile(np.arange(50), 20_000)
    heads = coins.bernoulli_exp(numerators[order], denominators[order])
    for k in range(50):
        chance = math.exp(-numerators[k] / denominators[k])
        assert is_binomial(int(heads[order == k].sum()), 20_000, chance)


def test_uniform_integers() -> None:
    limits = np.tile(np.array([1, 2, 3, 1000], dtype=np.uint64), SIZE // 4)
    drawn = coins.uniform_below(limits).astype(np.int64)
    for limit in (1, 2, 3, 1000):
        counts = np.bincount(drawn[limits == limit], minlength=limit)
        assert counts.size == limit
        assert limit == 1 or p_value(counts, np.full(limit, 1 / limit)) > ALPHA


def is_binomial(heads: int, tosses: int, chance: float) -> bool:
    """Chernoff's bound, both sides: a fair count fails with probability below ALPHA."""
    seen = heads / tosses
    parts = ((seen, chance), (1 - seen, 1 - chance))
    divergence = sum(a * math.log(a / b) if a > 0 and b > 0 else 0.0 if a == 0 else math.inf for a, b in parts)
    return 2 * math.exp(-tosses * divergence) > ALPHA


def test_the_test_itself() -> None:
    """Known quantiles of chi-square, and the power to see a scale that is 2 % off, a doubled zero, a lost sign."""
    assert upper_tail(3.841459, 1) == pytest.approx(0.05, abs=1e-6)
    assert upper_tail(124.342113, 100) == pytest.approx(0.05, abs=1e-6)
    assert upper_tail(50000.0, 50000) == pytest.approx(0.499, abs=1e-3)
    edges = np.arange(-1100, 1101)
    probabilities = np.diff(laplace_below(edges, 37), prepend=0.0, append=1.0)
    drawn = lattice.discrete_laplace(37, SIZE)
    doubled = np.concatenate([drawn, np.zeros(int((drawn == 0).sum()), dtype=np.int64)])
    for wrong in (lattice.discrete_laplace(38, SIZE), doubled, np.abs(drawn)):
        counts = np.bincount(np.searchsorted(edges, wrong, side="right"), minlength=edges.size + 1)
        assert p_value(counts, probabilities) < ALPHA
