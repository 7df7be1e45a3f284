"""After release: the levels of GROUPING SETS, ROLLUP and CUBE made consistent, so that totals equal the sum of their parts.

Post-processing of released numbers: free, and it lowers the noise, because every level says something about every other.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpsql.plan.stages import SUMS, Measure, Stage
from dpsql.release import Noisy

Reals = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
ADDITIVE = ("rows", *SUMS)


def consistent(stages: Sequence[Stage], released: Sequence[Noisy]) -> list[Noisy]:
    """One family of grouping sets, the same with consistent counts and sums on the levels whose keys are all public.

    Nothing changes unless one of these levels (the leaves) has all the others' keys.
    """
    found = list(released)
    public = [i for i, stage in enumerate(stages) if stage.level is not None and stage.public_keys]
    leaves = next((i for i in public if all(_keys(stages[j]) <= _keys(stages[i]) for j in public)), None)
    if leaves is None or len(public) < 2:
        return found
    family = [stages[i] for i in public]
    for j, measure in enumerate(stages[leaves].measures):
        if not all(_comparable(measure, j, stage) for stage in family) or not _additive(measure, family):
            continue
        columns = _adjusted(stages[leaves], family, [found[i].columns[f"m{j}"] for i in public], j)
        for i, column in zip(public, columns, strict=True):
            found[i] = dataclasses.replace(found[i], columns={**found[i].columns, f"m{j}": column})
    return found


def _keys(stage: Stage) -> frozenset[int]:
    assert stage.level is not None
    return frozenset(stage.level.keys)


def _comparable(measure: Measure, j: int, stage: Stage) -> bool:
    """The level measures the same thing, with noise."""
    if j >= len(stage.measures) or stage.noises[j].mechanism not in ("laplace", "gaussian"):
        return False
    other = stage.measures[j]
    return (measure.kind, measure.axis, measure.second, measure.needs, measure.where, measure.clamp) == (
        other.kind,
        other.axis,
        other.second,
        other.needs,
        other.where,
        other.clamp,
    )


def _additive(measure: Measure, family: list[Stage]) -> bool:
    """Whether a parent is the sum of its children. A count of units is, where every unit has one row, hence one group."""
    one_group = all(stage.bounding.skip_a and stage.bounding.max_groups == 1 for stage in family)
    return measure.kind in ADDITIVE or (measure.kind == "units" and one_group)


def _adjusted(leaves: Stage, family: list[Stage], columns: list[Integers], j: int) -> list[Integers]:
    """The column of every level: leaves by least squares, rounded to whole values (where a level's noise grid is coarser,
    to that), and every level the exact sum of its leaves."""
    assert leaves.level is not None
    axes = leaves.level.keys
    shape = tuple(len(key.values or ()) for key in leaves.keys)
    unit = max(0, *(stage.noises[j].shift for stage in family))
    levels = [_in_axes(stage, column, axes, shape) for stage, column in zip(family, columns, strict=True)]
    kept = [frozenset(axes.index(key) for key in _keys(stage)) for stage in family]
    scaled = [
        level.astype(np.float64) * 2.0 ** (stage.noises[j].shift - unit)
        for stage, level in zip(family, levels, strict=True)
    ]
    weights = [1 / _variance(stage, j, unit) for stage in family]
    cells = np.rint(least_squares(scaled, kept, weights, shape)).astype(np.int64)
    found: list[Integers] = []
    for stage, own in zip(family, kept, strict=True):
        total = cells.sum(axis=tuple(a for a in range(len(shape)) if a not in own))
        finer = 2 ** (unit - stage.noises[j].shift)
        found.append(_own_order(stage, np.asarray(total, dtype=np.int64), axes) * finer)
    return found


def _variance(stage: Stage, j: int, unit: int) -> float:
    noise = stage.noises[j]
    spread = math.sqrt(2) * noise.scale if noise.mechanism == "laplace" else float(noise.scale)
    return (spread * 2.0 ** (noise.shift - unit)) ** 2


def _in_axes(stage: Stage, column: Integers, axes: tuple[int, ...], shape: tuple[int, ...]) -> Integers:
    """A level's column as an array with one axis for each key of the leaves, of length 1 where it has not that key."""
    assert stage.level is not None
    own = stage.level.keys
    cube = column.reshape(tuple(len(key.values or ()) for key in stage.keys))
    ordered = [key for key in axes if key in own]
    cube = cube.transpose([own.index(key) for key in ordered])
    return cube.reshape(tuple(length if key in own else 1 for key, length in zip(axes, shape, strict=True)))


def _own_order(stage: Stage, total: Integers, axes: tuple[int, ...]) -> Integers:
    """Back from the leaves' order of the keys to the level's own, flat."""
    assert stage.level is not None
    ordered = [key for key in axes if key in stage.level.keys]
    return np.ascontiguousarray(total.transpose([ordered.index(key) for key in stage.level.keys])).reshape(-1)


def least_squares(
    levels: list[Reals], kept: list[frozenset[int]], weights: list[float], shape: tuple[int, ...]
) -> Reals:
    """The leaves x that minimise Σ_l w_l·|A_l x − y_l|², A_l the sums over the axes that level l has not.

    Lemma: with z = Σ w_l A_lᵀ y_l, and z_S the part of z that varies along exactly the axes S (means taken along all
    others), x = Σ_S z_S / λ_S, λ_S = Σ over the levels that have all of S of w_l·b_l, b_l the number of leaves in one cell
    of level l. Proof: the normal equations are (Σ w_l A_lᵀA_l) x = z. A_lᵀA_l replaces a leaf by the sum over its cell:
    on a vector that varies along exactly S it is b_l if level l has all of S, else 0 (its sums vanish). So the parts
    z_S are eigenvectors, with eigenvalues λ_S. For two levels of one hierarchy this is the usual two-pass formula.
    """
    sizes = [math.prod(length for a, length in enumerate(shape) if a not in own) for own in kept]
    spread = np.zeros(shape)
    for level, weight in zip(levels, weights, strict=True):
        spread = spread + weight * level
    found = np.zeros(shape)
    for count in range(len(shape) + 1):
        for along in itertools.combinations(range(len(shape)), count):
            eigenvalue = sum(w * size for w, size, own in zip(weights, sizes, kept, strict=True) if set(along) <= own)
            found = found + _part(spread, frozenset(along)) / eigenvalue
    return found


def _part(values: Reals, along: frozenset[int]) -> Reals:
    """The part that varies along exactly these axes."""
    part = values
    for axis in range(values.ndim):
        mean = part.mean(axis=axis, keepdims=True)
        part = part - mean if axis in along else mean
    return part


__all__ = ["consistent", "least_squares"]
