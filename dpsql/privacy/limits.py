"""What joins, unions and projections make of the owner's limits. They are defaults of what a release enforces: a limit
that is wrong here biases an answer, and never a guarantee."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable

from dpsql.plan.tracked import GroupLimit, Limits


def largest(one: Limits, other: Limits) -> Limits:
    """Over a join each limit is the largest of its sides'. Beside rows, a pair is m groups x c rows = m·c rows. What one
    side leaves to the data is left to them."""
    because = one.because if one.because == other.because else f"largest of those {one.because} and {other.because}"
    pair = one.rows_in_group is not None and other.rows_in_group is not None
    none_declared = one.groups is None and other.groups is None
    return Limits(
        rows=None if pair else _both(max, _rows(one), _rows(other)),
        groups=None if none_declared else _both(max, _groups(one), _groups(other)),
        rows_in_group=max(one.rows_in_group or 1, other.rows_in_group or 1) if pair else None,
        groups_auto=one.groups_auto or other.groups_auto,
        by_keys=tuple(
            kept
            for limits, floor in ((one, other), (other, one))
            for line in limits.by_keys
            if (kept := _at_least(line, floor, pair)) is not None
        ),
        min_units=max(one.min_units, other.min_units),
        likes={**one.likes, **other.likes},
        because=because,
    )


def added(one: Limits, other: Limits) -> Limits:
    """Over UNION ALL rows add up: three tables of 4 rows give a unit 12. So do declared groups, which may be different
    ones on each side; the groups of two pairs are the larger number, with as many rows in each as both sides have."""
    merged = dataclasses.replace(largest(one, other), by_keys=(), because="added over UNION ALL")
    if one.rows_in_group is not None and other.rows_in_group is not None:
        return dataclasses.replace(merged, rows_in_group=one.rows_in_group + other.rows_in_group)
    groups = None if merged.groups is None else _both(operator.add, _groups(one), _groups(other))
    return dataclasses.replace(merged, rows=_both(operator.add, _rows(one), _rows(other)), groups=groups)


def renamed(limits: Limits, by_old: dict[int, int]) -> Limits:
    """Lines for key sets keep what they say of columns that are still there.

    A number of groups for a key set with a column gone still bounds the coarser sets that are left; rows in a group of
    it no longer apply.
    """
    kept: list[GroupLimit] = []
    for line in limits.by_keys:
        left = frozenset(by_old.get(part, part) if isinstance(part, int) else part for part in line.by)
        gone = [part for part in line.by if isinstance(part, int) and part not in by_old]
        if not gone:
            kept.append(dataclasses.replace(line, by=left))
        elif line.groups is not None:
            kept.append(GroupLimit(by=left - frozenset(gone), groups=line.groups, rows_in_group=None))
    sums = {by_old[id_]: bounds for id_, bounds in limits.max_sum.items() if id_ in by_old}
    likes = {by_old[id_]: like for id_, like in limits.likes.items() if id_ in by_old}
    return dataclasses.replace(limits, by_keys=tuple(kept), max_sum=sums, likes=likes)


def _both(made: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    """None where either is left to the data."""
    return None if one is None or other is None else made(one, other)


def _rows(limits: Limits) -> int | None:
    """A unit's rows over all groups."""
    if limits.auto:
        return None
    return limits.rows if limits.rows is not None else (limits.groups or 1) * (limits.rows_in_group or 1)


def _groups(limits: Limits) -> int | None:
    """A unit's groups: those declared, else no more than it has rows."""
    return limits.groups if limits.groups is not None else _rows(limits)


def _at_least(line: GroupLimit, floor: Limits, pair: bool) -> GroupLimit | None:
    """A side's line where the other side has these limits; rows in a group only where both sides are pairs."""
    groups = None if line.groups is None else _both(max, line.groups, _groups(floor))
    rows = line.rows_in_group if pair else None
    if groups is None and rows is None:
        return None
    return GroupLimit(
        by=line.by, groups=groups, rows_in_group=None if rows is None else max(rows, floor.rows_in_group or 1)
    )
