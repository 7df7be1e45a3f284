"""Counts as whole numbers from 0 on with the total of the noisy ones: declared, by OPTIONS(nonnegative = true).

Post-processing of released rows, computed where they are finished: what is stored has its noise, and a query with the
option and one without share it. All in exact integers, so that a repeat is the same to the last digit.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.plan.answers import answers
from dpsql.plan.stages import GRID_LIMIT, NoisyStage, NonNegative
from dpsql.plan.vault_query import total_name
from dpsql.privacy.nonnegative import adds_up
from dpsql.release.released_rows import ReleasedRows

Integers = npt.NDArray[np.int64]
LARGEST = 2**GRID_LIMIT  # rows: counts that noise took farther are held here


def nonnegative(stages: Sequence[NoisyStage], released: Mapping[int, ReleasedRows]) -> dict[int, ReleasedRows]:
    """Released rows by stage, those of these stages with the columns of their counts from 0 on; levels of one family from
    the top down.

    A level whose parent is here has, within each group of the parent, counts that add up to the parent's. So levels are
    consistent, whether their noisy counts were or not: by induction each is the exact sum of the next finer one's.
    """
    by_stage = dict(released)
    for stage in sorted(stages, key=lambda stage: len(stage.keys)):  # parents first
        for one in stage.nonnegative:
            shown = _shown(one, stage, stages, by_stage)
            rows = by_stage[stage.number]
            by_stage[stage.number] = dataclasses.replace(rows, columns={**rows.columns, one.column: shown})
    return by_stage


def _shown(
    one: NonNegative, stage: NoisyStage, stages: Sequence[NoisyStage], by_stage: Mapping[int, ReleasedRows]
) -> Integers:
    rows = by_stage[stage.number]
    values, unit = _noisy_counts(one, stage, rows.columns, rows.rows)
    above = _parent(one, stage, stages)
    if above is None:
        parts: list[tuple[Sequence[int], int]] = [(range(rows.rows), _whole(sum(values), unit))]
    else:
        totals = by_stage[above.number].columns[one.column].tolist()
        parts = list(zip(_children(stage, above), totals, strict=True))
    shown = np.zeros(rows.rows, dtype=np.int64)
    for places, total in parts:
        shown[list(places)] = nearest([values[place] for place in places], unit, total)
    return shown


def _noisy_counts(
    one: NonNegative, stage: NoisyStage, columns: Mapping[str, npt.NDArray[Any]], rows: int
) -> tuple[list[int], int]:
    """The noisy counts as integers of 1/unit."""
    noised = stage.noised[one.position]
    answer = next(a for a in answers(noised) if a.whole is not None and a.whole.id == one.count.id)
    unit = math.lcm(1, *(term.factor.denominator for term in answer.terms))
    values = [0] * rows
    for term in answer.terms:
        factor, totals = int(term.factor * unit), columns[total_name(one.position, term.total)].tolist()
        values = [v + m * factor for v, m in zip(values, totals, strict=True)] if factor else values
    most = LARGEST * unit
    return [min(max(v, -most), most) for v in values], unit


def _whole(value: int, unit: int) -> int:
    """Rounded half up, from 0 on."""
    return max(0, (2 * value + unit) // (2 * unit))


def nearest(values: Sequence[int], unit: int, total: int) -> list[int]:
    """The whole numbers from 0 on that add up to `total` and are nearest to values/unit, in Euclidean distance; where some
    are equally near, those in which earlier groups have more.

    Without "whole" they are x = max(0, y − τ), τ such that they add up: with y in descending order and S_k the sum of the
    first k, τ = (S_k − N)/k for the largest k with y_k > τ (the conditions of Karush, Kuhn and Tucker: x − y = −τ where
    x > 0, and at least that where x = 0). Then each is rounded down, and the missing ones go to the largest remainders.

    Lemma: that is the nearest of the whole ones. Proof: for any z ≥ 0 with the same sum Σ(z − y)² = Σ(z − x)² + 2Σ z(x − y)
    + a constant, and x − y is −τ where x > 0 and −τ + d, d ≥ 0, elsewhere; so Σ z(x − y) = −τN + Σ z·d, and what is to be
    made small is Σ(z − x)² + 2Σ z·d. Largest remainders make the first part smallest among whole numbers of that sum
    (moving one from a cell with a smaller remainder to one with a larger never adds to it), and the second is 0 with them:
    where d > 0, x is 0 and has no remainder, and there are fewer missing ones than cells with a remainder.
    """
    if total <= 0:
        return [0] * len(values)
    above, count, so_far = 0, 0, 0
    for k, value in enumerate(sorted(values, reverse=True), 1):
        so_far += value
        if k * value > so_far - total * unit:
            count, above = k, so_far - total * unit
    scaled = [max(0, count * value - above) for value in values]  # of count·unit
    shares = [each // (count * unit) for each in scaled]
    missing = total - sum(shares)
    order = sorted(range(len(values)), key=lambda i: (-(scaled[i] % (count * unit)), i))
    for i in order[:missing]:
        shares[i] += 1
    return shares


# --- levels -----------------------------------------------------------------------------------------------------------


def _parent(one: NonNegative, stage: NoisyStage, stages: Sequence[NoisyStage]) -> NoisyStage | None:
    """The finest level above, among public ones: of row counts, which add up."""
    measured = stage.measurements[one.position]
    if stage.level is None or not stage.public_keys or not adds_up(measured):
        return None
    stage_keys, best = set(stage.level.keys), None
    for other in stages:
        if other.level is None or other.level.family != stage.level.family or not other.public_keys:
            continue
        keys = set(other.level.keys)
        above = keys < stage_keys or (keys == stage_keys and other.number < stage.number)
        if above and any(each.position == one.position for each in other.nonnegative):
            best = other if best is None or len(other.keys) >= len(best.keys) else best
    return best


def _children(stage: NoisyStage, above: NoisyStage) -> list[list[int]]:
    """For each group of the level above, the places of its parts; the last key of a level varies fastest."""
    assert stage.level is not None and above.level is not None
    lengths = [len(key.values or ()) for key in stage.keys]
    at = np.unravel_index(np.arange(math.prod(lengths)), lengths) if lengths else (np.zeros(1, dtype=np.int64),)
    parent = np.zeros(math.prod(lengths), dtype=np.int64)
    for number, key in zip(above.level.keys, above.keys, strict=True):
        parent = parent * len(key.values or ()) + at[stage.level.keys.index(number)]
    children: list[list[int]] = [[] for _ in range(above.combinations)]
    for place, group in enumerate(parent.tolist()):
        children[group].append(place)
    return children
