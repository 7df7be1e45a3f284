"""The best division of ε among levels of grouping sets, from numbers of groups alone.

How far off each level is once they are made consistent has a closed form (`variances`); the best division is searched for
downhill, by steps that are proved to go down (`_improved`), from several starts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal as OneOf

ErrorGoal = OneOf["per cell", "per level", "default"]
Kept = tuple[frozenset[int], ...]
Shares = tuple[Fraction, ...]
PARTS = 2048  # shares are multiples of 1/2048
EVERY_CHOICE = 5  # up to so many levels besides the leaves, all choices of levels that get something are tried
STEPS, FEW_STEPS = 120, 20
ROUNDS = 6
SAME = 1 + 1e-9


def variances(kept: Kept, shape: tuple[int, ...], weights: Sequence[float]) -> list[float]:
    """The variance of a cell of each level after least squares over all levels whose noise has variance 1/weight; a weight
    of 0 is a level that nothing was measured of.

    Lemma: V_l = (b_l/c_l)·Σ_{S ⊆ K_l} m_S/λ_S, c_l the number of l's cells, b_l of leaves in each, K_l the keys it has,
    m_S = Π_{a ∈ S} (n_a − 1), λ_S = Σ_{l: S ⊆ K_l} w_l·b_l. Proof: the estimate's covariance is (Σ w_l A_lᵀA_l)^−1, whose
    eigenvalues are 1/λ_S on the leaves that vary along exactly S (consistent.least_squares), a space of m_S dimensions. On
    it A_lᵀA_l is b_l if S ⊆ K_l, else 0; so the variances of l's cells add up to Σ b_l·m_S/λ_S. All of them are the
    same: exchanging two values of a key changes nothing.
    """
    lattice = _lattice(kept, shape)
    summed = [0.0] * len(kept)
    for (_, m), above in zip(lattice.spaces, lattice.above, strict=True):
        part = m / sum(weights[i] * lattice.leaves[i] for i in above)
        for i in above:
            summed[i] += part
    return [part * b / c for part, b, c in zip(summed, lattice.leaves, lattice.cells, strict=True)]


@dataclass(frozen=True, slots=True)
class _Lattice:
    """spaces: sets of keys along which leaves may vary, and their dimensions; leaves of a cell and cells of each level."""

    spaces: tuple[tuple[frozenset[int], int], ...]
    leaves: tuple[int, ...]
    cells: tuple[int, ...]
    above: tuple[tuple[int, ...], ...]  # of each space the levels that see it


@lru_cache(maxsize=256)
def _lattice(kept: Kept, shape: tuple[int, ...]) -> _Lattice:
    axes = range(len(shape))
    every = [frozenset(s) for n in range(len(shape) + 1) for s in itertools.combinations(axes, n)]
    spaces = [(s, math.prod(shape[a] - 1 for a in s)) for s in every]
    spaces = [(s, m) for s, m in spaces if m]
    return _Lattice(
        spaces=tuple(spaces),
        leaves=tuple(math.prod(shape[a] for a in axes if a not in keys) for keys in kept),
        cells=tuple(math.prod(shape[a] for a in keys) for keys in kept),
        above=tuple(tuple(i for i, keys in enumerate(kept) if s <= keys) for s, _ in spaces),
    )


@dataclass(frozen=True, slots=True)
class Levels:
    """What shares depend on. sizes: of each level the square of its reach; its noise's variance is size/share^power: power 2
    where ε is shared (Laplace), 1 where μ² or ρ is (Gaussian)."""

    kept: Kept
    shape: tuple[int, ...]
    sizes: tuple[int, ...]
    power: OneOf[1, 2]

    @property
    def leaves(self) -> int:
        return max(range(len(self.kept)), key=lambda i: len(self.kept[i]))

    def variances(self, given: Sequence[Fraction] | Sequence[float]) -> list[float]:
        return variances(self.kept, self.shape, self.weights([float(share) for share in given]))

    def weights(self, given: Sequence[float]) -> list[float]:
        least = self.sizes[self.leaves]
        return [share**self.power * least / size for share, size in zip(given, self.sizes, strict=True)]


@lru_cache(maxsize=256)
def shares(levels: Levels, goal: ErrorGoal) -> Shares:
    """The best of what a search finds and of the equal division, each level's in the order of the levels.

    "per cell" is the least mean variance over all cells of all levels; leaves are most of them. "per level" is the least
    mean over the levels of their cells' variance: the one total counts as much as ten thousand leaves. The mean, and not
    the largest of them: that would let all levels become as bad as the one that is hardest to help. "default" is the
    least such mean among divisions by which no level is worse off than by the equal one: whoever asks for nothing loses
    nowhere, and where the equal one cannot be bettered everywhere it stays.

    Lemma: no worse than the equal division by its goal. Proof: that is a candidate; the rest compares.
    """
    equal = tuple(Fraction(1, len(levels.kept)) for _ in levels.kept)
    cells = _lattice(levels.kept, levels.shape).cells
    before = levels.variances(equal)

    def price(variances: Sequence[float]) -> float:
        per = cells if goal == "per cell" else [1] * len(cells)
        return math.fsum(n * v for n, v in zip(per, variances, strict=True))

    best, least = equal, price(before)
    for candidate in _candidates(levels, goal):
        variances = levels.variances(candidate)
        if goal == "default" and any(v > b * SAME for v, b in zip(variances, before, strict=True)):
            continue
        if price(variances) < least * (1 - 1e-6):
            best, least = candidate, price(variances)
    return best


def _candidates(levels: Levels, goal: ErrorGoal) -> list[Shares]:
    """From several starts downhill (`_improved`), since under Laplace noise the price has several low points, at which some
    levels get nothing. For the default also by prices that level out what is lost somewhere."""
    cells, count = _lattice(levels.kept, levels.shape).cells, len(levels.kept)
    per = [1.0] * count if goal == "per cell" else [1 / n for n in cells]
    before = levels.variances([1 / count] * count)
    candidates: dict[Shares, None] = {}
    for chosen in _starts(levels, per):
        shares = [1 / len(chosen) if i in chosen else 0.0 for i in range(count)]
        prices = list(per)
        for _ in range(ROUNDS if goal == "default" else 1):
            shares = _improved(levels, shares, prices, STEPS)
            made = _whole(shares, levels.leaves)
            candidates[made] = None
            now = levels.variances(made)
            prices = [p * (v / b) ** 2 for p, v, b in zip(prices, now, before, strict=True)]
    return list(candidates)


def _starts(levels: Levels, per: Sequence[float]) -> list[tuple[int, ...]]:
    """Which levels get something to begin with: always the leaves. All choices of the others where they are few, else those
    that adding the best one at a time goes through. For μ² the price has one low point (it is convex), so all get some."""
    every, leaves = tuple(range(len(levels.kept))), levels.leaves
    others = [i for i in every if i != leaves]
    if levels.power == 1:
        return [every]
    if len(others) <= EVERY_CHOICE:
        return [(leaves, *more) for n in range(len(others) + 1) for more in itertools.combinations(others, n)]
    starts: list[tuple[int, ...]] = [every, (leaves,)]
    while others and len(starts) < 2 + EVERY_CHOICE:
        _, best = min((_price_of(levels, (*starts[-1], i), per), i) for i in others)
        others.remove(best)
        starts.append((*starts[-1], best))
    return starts


def _price_of(levels: Levels, chosen: tuple[int, ...], per: Sequence[float]) -> float:
    shares = [1 / len(chosen) if i in chosen else 0.0 for i in range(len(levels.kept))]
    variances = levels.variances(_improved(levels, shares, per, FEW_STEPS))
    cells = _lattice(levels.kept, levels.shape).cells
    return math.fsum(p * n * v for p, n, v in zip(per, cells, variances, strict=True))


def _improved(levels: Levels, shares: Sequence[float], per: Sequence[float], steps: int) -> list[float]:
    """Shares s of a lower price f = Σ per_l·c_l·V_l = Σ_S g_S/λ_S, g_S = m_S·Σ_{l: S ⊆ K_l} per_l·b_l; what has
    nothing keeps nothing.

    Lemma: s_l ∝ (w_l·s_l^p·q_l)^(1/(p+1)) with w_l = s_l^p/size_l and q_l = b_l·Σ_{S ⊆ K_l} g_S/λ_S² is never worse
    than s. Proof: by Jensen 1/λ'_S = 1/Σ b_l·w'_l ≤ Σ a_l²/(b_l·w'_l) with a_l = b_l·w_l/λ_S, which sum to 1, with equality
    at w' = w. So f(w') ≤ Σ_l w_l²·q_l/w'_l = Σ h_l/s'_l^p, h_l = w_l·s_l^p·q_l, with equality at w' = w; over shares that
    add up to 1 that is least at s'_l ∝ h_l^(1/(p+1)).
    """
    lattice, now, power = _lattice(levels.kept, levels.shape), list(shares), levels.power
    g = [
        m * sum(per[i] * lattice.leaves[i] for i in above)
        for (_, m), above in zip(lattice.spaces, lattice.above, strict=True)
    ]
    for _ in range(steps):
        weights = levels.weights(now)
        q = [0.0] * len(now)
        for gain, above in zip(g, lattice.above, strict=True):
            eigenvalue = sum(weights[i] * lattice.leaves[i] for i in above)
            for i in above:
                q[i] += lattice.leaves[i] * gain / eigenvalue**2
        h = [w * share**power * each for w, share, each in zip(weights, now, q, strict=True)]
        now = [each ** (1 / (power + 1)) for each in h]
        whole = math.fsum(now)
        now = [share / whole for share in now]
    return now


def _whole(shares: Sequence[float], leaves: int) -> Shares:
    """Multiples of 1/2048 that add up to 1, of the leaves at least one; the largest share takes what rounding leaves."""
    parts = [max(round(share * PARTS), int(i == leaves)) for i, share in enumerate(shares)]
    parts[parts.index(max(parts))] += PARTS - sum(parts)
    return tuple(Fraction(n, PARTS) for n in parts)
