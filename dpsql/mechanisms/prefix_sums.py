"""Ordered cumulative sums with noise that hardly grows along the order: what is measured in place of the single totals.

Of n totals x_1 … x_n the sums S_i = x_1 + … + x_i are wanted. Noise on each x_j adds up: S_n has √n times one's. Instead a
whole-number matrix A is applied to x, noise is added to A·x, and x is estimated from that (post-processing).

    Toeplitz   A = C, lower triangular, C_ij = c_{i−j}, c_k = round(2^20·f_k), f_k = (2k choose k)/4^k: the root of the
               matrix of all prefix sums (f∗f = 1, 1, 1, …). C has an inverse, and x is C^-1 of what was measured.
    Tree       A has a row for each x_j, one for each run of b of them, one for each run of b², …; x is the least squares
               estimate.

RMSE of a prefix sum, mean over them (ε or μ of the one vector, a unit within 1 in norm 1):

      n     Gaussian, times 1/μ           Laplace, times 1/ε
            Toeplitz   plain   tree       tree (levels)   plain
     30       1.99      3.94   2.18        4.82 (2)        5.57
    365       2.78     13.53   3.24        8.95 (3)       19.13
  1,000       3.10     22.37   3.67       10.95 (3)       31.64

So the tree is for Laplace noise and Toeplitz for Gaussian (1/μ = 4.22/ε at ε = 1, δ = 1e-6). Toeplitz with Laplace noise
would have 52 at 365: a column's norm 1 is 2·√(n/π). A single x_j pays for it: its error is about 2 times (Toeplitz), or
levels times, what it would be, so what a statement shows decides (privacy/running.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms import laplace

Whole = npt.NDArray[Any]  # of Python's integers, which do not overflow
Reals = npt.NDArray[np.float64]

BITS = 20
MOST = 2048  # so many totals in one order, at most
_LIMB = 31
_CHUNK = 256
_SAMPLE = 65
_TOP = 4


@dataclass(frozen=True, slots=True)
class Toeplitz:
    """Over `count` totals."""

    count: int

    @property
    def one(self) -> int:
        """By what a measured number is larger than the totals it is made of."""
        return 1 << BITS

    @property
    def rows(self) -> int:
        return self.count

    @property
    def squared(self) -> int:
        """Σ c_k²: no column of C is longer than its first."""
        return sum(c * c for c in coefficients(self.count))

    @property
    def growth(self) -> float:
        """The RMSE of a prefix sum, mean over them, with σ = 1 for a unit that moves what is measured by 1."""
        return math.sqrt(self.squared * self.mean_squares[0]) / self.one

    def measured(self, totals: Whole) -> Whole:
        """C·x for each row x of the totals, exactly: in two limbs of 31 bits, whose products add up below 2^62.

        Overflow: a limb is below 2^31 in size (the upper one at most 2^31, for |x| ≤ 2^62), and Σ c_k ≤ 2^20·Σ f_k + n/2,
        where Σ f_k = 2n·f_n ≤ 2·√(n/π) + 1 < 53 for n ≤ 2,048: all sums are below 2^31·2^20·2^6 = 2^57.
        """
        c = np.array(coefficients(self.count), dtype=np.int64)
        sums = np.zeros(totals.shape, dtype=object)
        for i, row in enumerate(totals):
            high = np.array([int(x) >> _LIMB for x in row], dtype=np.int64)
            low = np.array([int(x) & ((1 << _LIMB) - 1) for x in row], dtype=np.int64)
            upper, lower = (np.convolve(c, limb)[: self.count].astype(object) for limb in (high, low))
            sums[i] = upper * (1 << _LIMB) + lower
        return sums

    def prefixes(self, noisy: Reals) -> Reals:
        """S·C^-1 of what was measured, in the totals' unit: the estimated prefix sums."""
        weights = self.weights_of_prefixes / self.one
        return np.array([np.convolve(weights, row)[: self.count] for row in noisy]).reshape(noisy.shape)

    @property
    def weights_of_prefixes(self) -> Reals:
        """The first column of S·C^-1, times 2^20."""
        return _inverse(self.count).cumsum()

    def noise(self, confidence: float, *, prefix: bool) -> tuple[float, float]:
        """Of Gaussian noise with σ = 1: half the interval of the prefix sum (or single total) with most noise, the last one;
        and the most that rounding what was measured moves it by. Both times 2^20, in what was measured."""
        weights = self.weights_of_prefixes if prefix else _inverse(self.count)
        return NormalDist().inv_cdf((1 + confidence) / 2) * float(np.sqrt((weights**2).sum())), _rounding(weights)

    @property
    def mean_squares(self) -> tuple[float, float]:
        """Σ of squared weights (times 2^40), of a prefix sum and of a single total, mean over them."""
        squares = (np.cumsum(weights**2).mean() for weights in (self.weights_of_prefixes, _inverse(self.count)))
        prefix, total = squares
        return float(prefix), float(total)


@lru_cache(maxsize=64)
def coefficients(count: int) -> tuple[int, ...]:
    """c_k = round(2^20·f_k), f_k = (2k choose k)/4^k, in exact integers: f_k = f_{k−1}·(2k−1)/2k, kept to 2^-120."""
    roots, scale = [], 1 << 120
    value = scale
    for k in range(count):
        if k:
            value = value * (2 * k - 1) // (2 * k)
        roots.append((value + (scale >> (BITS + 1))) >> (120 - BITS))
    return tuple(roots)


@lru_cache(maxsize=16)
def _inverse(count: int) -> Reals:
    """The first column of C^-1, times 2^20."""
    c = np.array(coefficients(count), dtype=np.float64) / (1 << BITS)
    inverse = np.zeros(count)
    inverse[0] = 1.0
    for k in range(1, count):
        inverse[k] = -float(c[1 : k + 1] @ inverse[k - 1 :: -1])
    return inverse


@dataclass(frozen=True, slots=True)
class Tree:
    """Over `count` totals: levels of runs of 1, arity, arity², … of them, the last run of a level as long as is left, up to
    a level of at most `arity` runs."""

    count: int
    arity: int

    @property
    def one(self) -> int:
        return 1

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many runs a level has, the finest first."""
        sizes = [self.count]
        while sizes[-1] > self.arity:
            sizes.append(-(-sizes[-1] // self.arity))
        return tuple(sizes)

    @property
    def levels(self) -> int:
        return len(self.lengths)

    @property
    def rows(self) -> int:
        return sum(self.lengths)

    @property
    def growth(self) -> float:
        """The RMSE of a prefix sum, mean over them, with Laplace noise of scale 1 for a unit that moves what is measured
        by 1."""
        return self.levels * math.sqrt(2 * self.mean_squares[0])

    def measured(self, totals: Whole) -> Whole:
        """The sums of all runs, level after level."""
        sums = [totals]
        while len(sums) < self.levels:
            sums.append(self._runs(sums[-1]))
        return np.concatenate(sums, axis=1)

    def _runs(self, finer: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.add.reduceat(finer, range(0, finer.shape[1], self.arity), axis=1)

    def prefixes(self, noisy: Reals) -> Reals:
        return self.estimated(noisy).cumsum(axis=1)

    def estimated(self, noisy: Reals) -> Reals:
        """The totals by least squares, all rows of A with noise of one size.

        From below, z of a run is the mean of its own number and the sum of its parts' z, weighed by their variances; from
        above, what a run's estimate has more than its parts' z is shared among these by their variances. (For a tree that
        is the normal equations, solved by elimination from the leaves.)
        """
        measured = np.split(noisy, np.cumsum(self.lengths)[:-1], axis=1)
        z, variance = [measured[0]], [np.ones(self.count)]
        for of_level in measured[1:]:
            parts, spread = self._runs(z[-1]), self._runs(variance[-1][np.newaxis])[0]
            z.append((of_level * spread + parts) / (spread + 1))
            variance.append(spread / (spread + 1))
        estimate = z[-1]
        for level in range(self.levels - 2, -1, -1):
            more = (estimate - self._runs(z[level])) / self._runs(variance[level][np.newaxis])
            at = np.arange(self.lengths[level]) // self.arity
            estimate = z[level] + variance[level] * more[:, at]
        return estimate

    def weights(self, wanted: Reals) -> Reals:
        """With which what was measured enters a linear function of the totals (a row of `wanted`): A·(AᵀA)^-1·w.

        (AᵀA)^-1·w is the estimate of "measured" numbers y with Aᵀy = w: w itself on the finest level, 0 above.
        """
        above = np.zeros((len(wanted), self.rows - self.count))
        return self.measured(self.estimated(np.concatenate([wanted, above], axis=1)))

    def noise(self, confidence: float, *, prefix: bool) -> tuple[float, float]:
        """Of Laplace noise of scale 1: half the interval of the prefix sum (or single total) with most noise; and the most
        that rounding what was measured moves it by."""
        return _noise_in_tree(self, confidence, prefix=prefix)

    @property
    def mean_squares(self) -> tuple[float, float]:
        return _mean_squares(self)

    def wanted(self, at: npt.NDArray[np.int64], *, prefix: bool) -> Reals:
        places = np.arange(self.count)
        return (places <= at[:, np.newaxis] if prefix else places == at[:, np.newaxis]).astype(np.float64)


def _rounding(weights: Reals) -> float:
    """By how much Σ w·v moves where each v is rounded to whole numbers."""
    return float(np.abs(weights).sum()) / 2


def _first(scored: tuple[float, int, Reals]) -> tuple[float, int]:
    return scored[:2]


@lru_cache(maxsize=64)
def _noise_in_tree(tree: Tree, confidence: float, *, prefix: bool) -> tuple[float, float]:
    """The widest interval among the places with the largest second, fourth and eighth cumulants, which are as Σ w^2k, and
    among those with a large second and a small fourth: the second decides where the tails are near a Gaussian's, higher ones
    farther out. (That these are enough is checked over all places of some trees: tests/statistics/test_running.py.)"""
    best_of: dict[int, list[tuple[float, int, Reals]]] = {n: [] for n in range(4)}
    for start in range(0, tree.count, _CHUNK):
        at = np.arange(start, min(start + _CHUNK, tree.count))
        weights = np.abs(tree.weights(tree.wanted(at, prefix=prefix)))
        sums = [(weights**power).sum(axis=1) for power in (2, 4, 8)]
        for n, score in enumerate((*sums, sums[0] ** 3 / sums[1])):
            best = np.argsort(-score, kind="stable")[:_TOP].tolist()
            best_of[n] = sorted([*best_of[n], *((-float(score[i]), int(at[i]), weights[i]) for i in best)], key=_first)
    rows = [row for each in best_of.values() for _, _, row in each[:_TOP]]
    widths = [laplace.half_width_of_many(row[row > 1e-9], confidence) for row in rows]
    return max(widths), max(map(_rounding, rows))


@lru_cache(maxsize=256)
def _mean_squares(tree: Tree) -> tuple[float, float]:
    """Over at most 65 places, spread evenly."""
    at = np.unique(np.linspace(0, tree.count - 1, min(tree.count, _SAMPLE)).astype(np.int64))
    squares = ((tree.weights(tree.wanted(at, prefix=prefix)) ** 2).sum(axis=1).mean() for prefix in (True, False))
    prefix, total = squares
    return float(prefix), float(total)


Strategy = Toeplitz | Tree


def trees(count: int) -> Iterator[Tree]:
    """Of 2 to 5 levels, of about even arity."""
    least = (max(2, math.ceil(count ** (1 / levels) - 1e-9)) for levels in range(2, 6))
    arities = {math.ceil(arity * more) for arity in least for more in (1, 1.25, 1.5)}
    yield from (Tree(count, arity) for arity in sorted(arities) if arity < count)
