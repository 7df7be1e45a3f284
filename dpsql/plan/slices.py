"""Slices of one number (measurements.Slice): which of a stage's measurements are one vector."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.plan.measurements import Measurement, RowMoments, RowTotal, Slice


def slice_of(one: Measurement) -> Slice | None:
    return one.slice if isinstance(one, RowTotal | RowMoments) else None


def first_of(one: Measurement, measurements: Sequence[Measurement]) -> Measurement:
    """The first slice of its number, which stands for the vector of all; itself where it is no slice."""
    mine = slice_of(one)
    if mine is None:
        return one
    return next(m for m in measurements if _is_alike(m, one))


def _is_alike(one: Measurement, other: Measurement) -> bool:
    """Two slices of one number that measure the same."""
    match one, other:
        case RowTotal(slice=Slice() as a), RowTotal(slice=Slice() as b):
            return (a.number, a.of, one.piece, one.needs) == (b.number, b.of, other.piece, other.needs)
        case RowMoments(slice=Slice() as a), RowMoments(slice=Slice() as b):
            kinds = [(m.axis, m.degree, m.needs) for m in (one, other) if isinstance(m, RowMoments)]
            return (a.number, a.of) == (b.number, b.of) and kinds[0] == kinds[1]
    return False
