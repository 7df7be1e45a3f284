"""After release: the levels of GROUPING SETS, ROLLUP and CUBE made consistent, so that totals equal the sum of their parts.

Post-processing of released numbers: free, and it lowers the noise, because every level says something about every other.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpsql.errors import InternalError
from dpsql.plan.balls import WEIGHT_BITS
from dpsql.plan.measurements import RowMoments
from dpsql.plan.stages import Draw, Noised, NoisyStage
from dpsql.plan.vault_query import total_name
from dpsql.privacy.levels import Family, families, is_consistent
from dpsql.release.released_rows import ReleasedRows

Reals = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class NoisySums:
    """What one level says of the leaves: their sums over the axes that it has not (of length 1 there), and how much that
    weighs."""

    sums: Reals
    axes: frozenset[int]
    weight: float

    def leaves_of_one(self, shape: tuple[int, ...]) -> int:
        return math.prod(length for a, length in enumerate(shape) if a not in self.axes)


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """A total of the leaves, in 2^unit of a piece's weighted integers."""

    cells: Integers
    unit: int


def consistent(stages: Sequence[NoisyStage], released: Sequence[ReleasedRows]) -> list[ReleasedRows]:
    """One family of grouping sets, the same with consistent counts and sums on the levels whose keys are all public.

    Nothing changes unless one of these levels (the leaves) has all the others' keys.
    """
    adjusted = list(released)
    for family in families(stages):
        for j, noised in enumerate(stages[family.leaves].noised):
            if not is_consistent(stages, family, j):
                continue
            totals = [_leaves(stages, adjusted, family, j, k) for k in range(len(noised.draws))]
            for k, leaves in enumerate(_with_whole_counts(noised, totals)):
                for i in family.at:
                    finer = 2 ** (leaves.unit - stages[i].noised[j].draws[k].shift)
                    column = _level(stages[family.leaves], stages[i], leaves.cells, finer)
                    columns = {**adjusted[i].columns, total_name(j, k): column}
                    adjusted[i] = dataclasses.replace(adjusted[i], columns=columns)
    _nothing_is_left(stages)
    return adjusted


def _nothing_is_left(stages: Sequence[NoisyStage]) -> None:
    """Every level of which nothing was drawn has been summed: a zero in its place would look like an answer."""
    summed = {(i, j) for family in families(stages) for i in family.at for j in _consistent_in(stages, family)}
    for i, stage in enumerate(stages):
        for j, noised in enumerate(stage.noised):
            if noised.draw.mechanism == "summed" and not stage.is_empty and (i, j) not in summed:
                raise InternalError("a level of grouping sets has no parts to be the sum of")


def _consistent_in(stages: Sequence[NoisyStage], family: Family) -> list[int]:
    return [j for j in range(len(stages[family.leaves].noised)) if is_consistent(stages, family, j)]


def _keys(stage: NoisyStage) -> frozenset[int]:
    assert stage.level is not None
    return frozenset(stage.level.keys)


def _leaves(stages: Sequence[NoisyStage], released: Sequence[ReleasedRows], family: Family, j: int, k: int) -> Leaves:
    """Total k of the leaves by least squares over all levels, rounded to 2^unit: to whole pieces, or where a level's noise
    grid is coarser, to that."""
    leaves = stages[family.leaves]
    assert leaves.level is not None
    axes = leaves.level.keys
    draws = {i: stages[i].noised[j].draws[k] for i in family.at}
    ends = leaves.noised[j].form == "ends"  # whose whole counts are seen to afterwards
    unit = max(0 if ends else WEIGHT_BITS, *(draw.shift for draw in draws.values()))
    levels = [
        NoisySums(
            sums=_in_axes(stages[i], released[i].columns[total_name(j, k)], axes, family.shape).astype(np.float64)
            * 2.0 ** (draw.shift - unit),
            axes=frozenset(axes.index(key) for key in _keys(stages[i])),
            weight=0.0 if draw.mechanism == "summed" else 1 / _variance(draw, unit),
        )
        for i, draw in draws.items()
    ]
    return Leaves(rounded(least_squares(levels, family.shape)), unit)


def rounded(cells: Reals) -> Integers:
    """Whole numbers whose sum over any run of cells in their order is less than 1 from that of the cells.

    Proof: such a sum is the difference of two sums from the first cell on, and each of these is rounded. (One by one,
    the cells of a long run would be off by their number's root.) The groups of a ROLLUP's levels are runs.
    """
    whole = np.rint(cells)
    carried = np.rint(np.cumsum(cells.reshape(-1) - whole.reshape(-1)))
    whole_cells: Integers = (whole.reshape(-1) + np.diff(carried, prepend=0.0)).astype(np.int64).reshape(cells.shape)
    return whole_cells


def _with_whole_counts(noised: Noised, totals: list[Leaves]) -> list[Leaves]:
    """Ends of which a whole number of rows is said: all of them moved alike, so that their differences stay.

    Lemma: adding δ·(1, 1)/2, or δ·(1, 2, 1)/4, to the ends adds δ to their sum (2H)^d·n and nothing to Σz and Σz². δ is
    the multiple of 2^d next to what is missing, so n is off by at most 2^d/2 steps of the noise grid, far below a row.
    """
    one = noised.measurement
    if noised.form != "ends" or not isinstance(one, RowMoments):
        return totals
    cells = [leaves.cells for leaves in totals]
    row = float((2 * one.axis.most_centred) ** one.degree) * 2.0 ** (WEIGHT_BITS - totals[0].unit)
    summed = sum(cells[1:], start=cells[0])
    missing = rounded(summed / row) * row - summed
    parts = (1, 1) if one.degree == 1 else (1, 2, 1)
    step = np.rint(missing / sum(parts)).astype(np.int64)
    return [dataclasses.replace(one, cells=one.cells + part * step) for one, part in zip(totals, parts, strict=True)]


def _level(leaves: NoisyStage, stage: NoisyStage, cells: Integers, finer: int) -> Integers:
    """A level's column: each of its groups the exact sum of its leaves."""
    assert leaves.level is not None
    axes = leaves.level.keys
    kept_axes = frozenset(axes.index(key) for key in _keys(stage))
    total = cells.sum(axis=tuple(a for a in range(cells.ndim) if a not in kept_axes))
    return _own_order(stage, np.asarray(total, dtype=np.int64), axes) * finer


def _variance(draw: Draw, unit: int) -> float:
    spread = math.sqrt(2) * float(draw.steps) if draw.mechanism == "laplace" else float(draw.steps)
    return (spread * 2.0 ** (draw.shift - unit)) ** 2


def _in_axes(stage: NoisyStage, column: Integers, axes: tuple[int, ...], shape: tuple[int, ...]) -> Integers:
    """A level's column as an array with one axis for each key of the leaves, of length 1 where it has not that key."""
    assert stage.level is not None
    keys = stage.level.keys
    cube = column.reshape(tuple(len(key.values or ()) for key in stage.keys))
    ordered = [key for key in axes if key in keys]
    cube = cube.transpose([keys.index(key) for key in ordered])
    return cube.reshape(tuple(length if key in keys else 1 for key, length in zip(axes, shape, strict=True)))


def _own_order(stage: NoisyStage, total: Integers, axes: tuple[int, ...]) -> Integers:
    """Back from the leaves' order of the keys to the level's own, flat."""
    assert stage.level is not None
    ordered = [key for key in axes if key in stage.level.keys]
    return np.ascontiguousarray(total.transpose([ordered.index(key) for key in stage.level.keys])).reshape(-1)


def least_squares(levels: Sequence[NoisySums], shape: tuple[int, ...]) -> Reals:
    """The leaves x that minimise Σ_l w_l·|A_l x − y_l|², A_l the sums over the axes that level l has not.

    Lemma: with z = Σ w_l A_lᵀ y_l, and z_S the part of z that varies along exactly the axes S (means taken along all
    others), x = Σ_S z_S / λ_S, λ_S = Σ over the levels that have all of S of w_l·b_l, b_l the number of leaves in one cell
    of level l. Proof: the normal equations are (Σ w_l A_lᵀA_l) x = z. A_lᵀA_l replaces a leaf by the sum over its cell:
    on a vector that varies along exactly S it is b_l if level l has all of S, else 0 (its sums vanish). So the parts
    z_S are eigenvectors, with eigenvalues λ_S. For two levels of one hierarchy this is the usual two-pass formula.
    """
    spread = np.zeros(shape)
    for level in levels:
        spread = spread + level.weight * level.sums
    estimate = np.zeros(shape)
    for count in range(len(shape) + 1):
        for along in itertools.combinations(range(len(shape)), count):
            those = [level for level in levels if set(along) <= level.axes]
            eigenvalue = sum(level.weight * level.leaves_of_one(shape) for level in those)
            estimate = estimate + _part(spread, frozenset(along)) / eigenvalue
    return estimate


def _part(values: Reals, along: frozenset[int]) -> Reals:
    """The part that varies along exactly these axes."""
    part = values
    for axis in range(values.ndim):
        mean = part.mean(axis=axis, keepdims=True)
        part = part - mean if axis in along else mean
    return part


__all__ = ["consistent", "least_squares"]
