"""Levels of GROUPING SETS, ROLLUP and CUBE: what share of ε each gets, and how far off each is once they agree.

Every level says something about every other (dpsql/consistent.py), so the best division is not the equal one: leaves alone
answer everything by their sums where they are few. A level may get nothing; it is then the sum of its leaves.

Shares are a function of public numbers: how many groups each level has. They move ε between the levels' measurements of one
thing and leave its sum as it was, so what is charged does not depend on them.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal as OneOf

from dpsql.ir.expr import Column, Expr
from dpsql.plan.balls import FULL, Norm
from dpsql.plan.measurements import Measurement, RowMoments, RowTotal, rewritten
from dpsql.plan.stages import After, Draw, Form, Noised, NoisyStage, Share, Stage
from dpsql.privacy.calibrate import KEYS, Part
from dpsql.privacy.sensitivity import reaches

ErrorGoal = OneOf["per cell", "per level", "default"]
Kept = tuple[frozenset[int], ...]
Shares = tuple[Fraction, ...]
PARTS = 2048  # shares are multiples of 1/2048
EVERY_CHOICE = 5  # up to so many levels besides the leaves, all choices of levels that get something are tried
STEPS, FEW_STEPS = 120, 20
ROUNDS = 6
SAME = 1 + 1e-9


@dataclass(frozen=True, slots=True)
class Family:
    """The levels with public keys, at these positions among the stages; the leaves (one has all the others' keys) among
    them. kept: of each level which of the leaves' keys it has; shape: how many values each of those has."""

    at: tuple[int, ...]
    leaves: int
    kept: Kept
    shape: tuple[int, ...]


def families(stages: Sequence[Stage]) -> list[Family]:
    found: dict[int, list[int]] = {}
    for i, stage in enumerate(stages):
        if stage.level is not None and stage.public_keys and not stage.is_empty:
            found.setdefault(stage.level.family, []).append(i)
    made = (_family(stages, at) for at in found.values())
    return [one for one in made if one is not None]


def _family(stages: Sequence[Stage], at: Sequence[int]) -> Family | None:
    keys = {i: _keys(stages[i]) for i in at}
    leaves = next((i for i in at if all(set(keys[j]) <= set(keys[i]) for j in at)), None)
    if leaves is None or len(at) < 2:
        return None
    kept = tuple(frozenset(keys[leaves].index(key) for key in keys[i]) for i in at)
    return Family(tuple(at), leaves, kept, tuple(len(key.values or ()) for key in stages[leaves].keys))


def _keys(stage: Stage) -> tuple[int, ...]:
    assert stage.level is not None
    return stage.level.keys


def comparable(stages: Sequence[Stage], family: Family, j: int) -> bool:
    """Whether all levels measure the same pieces of the same rows there. Of rows a parent is the sum of its children."""
    what = [
        what_of(stages[i].measurements[j], stages[i]) if j < len(stages[i].measurements) else None for i in family.at
    ]
    return what[0] is not None and all(each == what[0] for each in what)


def what_of(one: Measurement, stage: Stage) -> object:
    """What is measured, in terms of the relation below the stages' own columns; None of what does not add up."""
    exprs = {f.id: expr for f, expr in zip(stage.source.node.fields, stage.source.node.exprs, strict=True)}

    def below(expr: Expr) -> Expr:
        return exprs.get(expr.id, expr) if isinstance(expr, Column) else expr

    match rewritten(one, below):
        case RowTotal() as found:
            return found.piece, found.needs, found.where
        case RowMoments() as found:
            return found.axis, found.degree, found.needs, found.where
        case _:
            return None


# --- how far off levels are ---------------------------------------------------------------------------------------------


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
        leaves=tuple(math.prod(shape[a] for a in axes if a not in own) for own in kept),
        cells=tuple(math.prod(shape[a] for a in own) for own in kept),
        above=tuple(tuple(i for i, own in enumerate(kept) if s <= own) for s, _ in spaces),
    )


def with_errors(stages: Sequence[NoisyStage]) -> tuple[NoisyStage, ...]:
    """The stages, each measurement that is made consistent with what its noise is afterwards."""
    found = list(stages)
    for family in families(stages):
        leaves = stages[family.leaves]
        for j, noised in enumerate(leaves.noised):
            if not is_consistent(stages, family, j):
                continue
            draws = [stages[i].noised[j].draw for i in family.at]
            weights = [0.0 if draw.mechanism == "summed" else 1 / _size(draw) for draw in draws]
            own = weights[family.at.index(family.leaves)]
            for i, variance in zip(family.at, variances(family.kept, family.shape, weights), strict=True):
                ratio = Fraction(math.ceil(variance * own * 2**24), 2**24)
                each = list(found[i].noised)
                each[j] = dataclasses.replace(_on_grid(each[j], noised), after=After(noised.draws, ratio))
                found[i] = dataclasses.replace(found[i], noised=tuple(each))
    return tuple(found)


def _on_grid(one: Noised, leaves: Noised) -> Noised:
    """What nothing is drawn of has its leaves' noise grid, on which they are added up."""
    if one.draw.mechanism != "summed":
        return one
    draws = tuple(dataclasses.replace(own, shift=of.shift) for own, of in zip(one.draws, leaves.draws, strict=True))
    return dataclasses.replace(one, draws=draws)


def is_consistent(stages: Sequence[NoisyStage], family: Family, j: int) -> bool:
    """Whether the levels' answers there are made consistent: the leaves have noise, the others too or are their sums."""
    if not comparable(stages, family, j):
        return False
    leaves = stages[family.leaves].noised[j]
    others = [stages[i].noised[j] for i in family.at]
    fitting = {"laplace": ("laplace", "summed"), "gaussian": ("gaussian", "summed")}.get(leaves.draw.mechanism, ())
    return all(one.draw.mechanism in fitting and one.form == leaves.form for one in others)


def _size(draw: Draw) -> float:
    """The variance of its noise, in pieces, but for a factor that all draws of one mechanism have."""
    return float(draw.steps * draw.grid / FULL) ** 2


# --- shares -------------------------------------------------------------------------------------------------------------


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


def divided(
    stages: Sequence[Stage], weights: Mapping[Part, Fraction], power: OneOf[1, 2], goal: ErrorGoal
) -> dict[Part, Fraction]:
    """The parts' shares of ε (or of μ²), those of levels that measure one thing divided among them anew; some get nothing.

    Lemma: all shares together are what they were. Proof: those of one thing add up to `whole`, and shares of a family to 1.
    """
    found = dict(weights)
    for family in families(stages):
        if any(choice.as_in is None for i in family.at if i != family.leaves for choice in stages[i].choices):
            continue  # a limit is chosen by the noise of its own stage, which should be that of most cells
        for j, one in enumerate(stages[family.leaves].measurements):
            parts = [Part(i, j) for i in family.at]
            if not all(part in weights for part in parts) or not comparable(stages, family, j):
                continue
            form: Form = "ends" if power == 2 and isinstance(one, RowMoments) else "centred"
            norm: Norm = 1 if power == 2 else 2
            sizes = tuple(reaches(stages[i].measurements[j], form, stages[i].limit, norm)[0] ** 2 for i in family.at)
            whole = sum((weights[part] for part in parts), Fraction(0))
            best = shares(Levels(family.kept, family.shape, sizes, power), goal)
            for part, share in zip(parts, best, strict=True):
                found[part] = whole * share
    return found


def level_shares(
    stages: Sequence[Stage], before: Mapping[Part, Fraction], after: Mapping[Part, Fraction]
) -> tuple[Share, ...]:
    """For EXPLAIN: every share, if levels of grouping sets have other ones than an equal division's."""
    if before == after:
        return ()
    found: list[Share] = []
    for part, share in after.items():
        stage = stages[part.stage]
        keys = ", ".join(key.field.name for key in stage.keys)
        of = () if stage.level is None else (f"by {keys}" if keys else "of all rows",)
        name = KEYS if part.position is None else stage.measurements[part.position].name
        found.append(Share(name=name, columns=of, part=share))
    return tuple(found)


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

    def price(found: Sequence[float]) -> float:
        per = cells if goal == "per cell" else [1] * len(cells)
        return math.fsum(n * v for n, v in zip(per, found, strict=True))

    best, least = equal, price(before)
    for candidate in _candidates(levels, goal):
        found = levels.variances(candidate)
        if goal == "default" and any(v > b * SAME for v, b in zip(found, before, strict=True)):
            continue
        if price(found) < least * (1 - 1e-6):
            best, least = candidate, price(found)
    return best


def _candidates(levels: Levels, goal: ErrorGoal) -> list[Shares]:
    """From several starts downhill (`_improved`), since under Laplace noise the price has several low points, at which some
    levels get nothing. For the default also by prices that level out what is lost somewhere."""
    cells, count = _lattice(levels.kept, levels.shape).cells, len(levels.kept)
    per = [1.0] * count if goal == "per cell" else [1 / n for n in cells]
    before = levels.variances([1 / count] * count)
    found: dict[Shares, None] = {}
    for chosen in _starts(levels, per):
        own = [1 / len(chosen) if i in chosen else 0.0 for i in range(count)]
        prices = list(per)
        for _ in range(ROUNDS if goal == "default" else 1):
            own = _improved(levels, own, prices, STEPS)
            made = _whole(own, levels.leaves)
            found[made] = None
            now = levels.variances(made)
            prices = [p * (v / b) ** 2 for p, v, b in zip(prices, now, before, strict=True)]
    return list(found)


def _starts(levels: Levels, per: Sequence[float]) -> list[tuple[int, ...]]:
    """Which levels get something to begin with: always the leaves. All choices of the others where they are few, else those
    that adding the best one at a time goes through. For μ² the price has one low point (it is convex), so all get some."""
    every, leaves = tuple(range(len(levels.kept))), levels.leaves
    others = [i for i in every if i != leaves]
    if levels.power == 1:
        return [every]
    if len(others) <= EVERY_CHOICE:
        return [(leaves, *more) for n in range(len(others) + 1) for more in itertools.combinations(others, n)]
    found: list[tuple[int, ...]] = [every, (leaves,)]
    while others and len(found) < 2 + EVERY_CHOICE:
        _, best = min((_price_of(levels, (*found[-1], i), per), i) for i in others)
        others.remove(best)
        found.append((*found[-1], best))
    return found


def _price_of(levels: Levels, chosen: tuple[int, ...], per: Sequence[float]) -> float:
    own = [1 / len(chosen) if i in chosen else 0.0 for i in range(len(levels.kept))]
    found = levels.variances(_improved(levels, own, per, FEW_STEPS))
    cells = _lattice(levels.kept, levels.shape).cells
    return math.fsum(p * n * v for p, n, v in zip(per, cells, found, strict=True))


def _improved(levels: Levels, own: Sequence[float], per: Sequence[float], steps: int) -> list[float]:
    """Shares s of a lower price f = Σ per_l·c_l·V_l = Σ_S g_S/λ_S, g_S = m_S·Σ_{l: S ⊆ K_l} per_l·b_l; what has
    nothing keeps nothing.

    Lemma: s_l ∝ (w_l·s_l^p·q_l)^(1/(p+1)) with w_l = s_l^p/size_l and q_l = b_l·Σ_{S ⊆ K_l} g_S/λ_S² is never worse
    than s. Proof: by Jensen 1/λ'_S = 1/Σ b_l·w'_l ≤ Σ a_l²/(b_l·w'_l) with a_l = b_l·w_l/λ_S, which sum to 1, with equality
    at w' = w. So f(w') ≤ Σ_l w_l²·q_l/w'_l = Σ h_l/s'_l^p, h_l = w_l·s_l^p·q_l, with equality at w' = w; over shares that
    add up to 1 that is least at s'_l ∝ h_l^(1/(p+1)).
    """
    lattice, now, power = _lattice(levels.kept, levels.shape), list(own), levels.power
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


def _whole(own: Sequence[float], leaves: int) -> Shares:
    """Multiples of 1/2048 that add up to 1, of the leaves at least one; the largest share takes what rounding leaves."""
    found = [max(round(share * PARTS), int(i == leaves)) for i, share in enumerate(own)]
    found[found.index(max(found))] += PARTS - sum(found)
    return tuple(Fraction(n, PARTS) for n in found)


__all__ = [
    "Family",
    "comparable",
    "divided",
    "families",
    "is_consistent",
    "shares",
    "variances",
    "what_of",
    "with_errors",
]
