"""What a measurement reads of a row: which rows enter it, and the same measurement over other expressions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import assert_never

from dpsql.ir.expr import Expr
from dpsql.plan.measurements import (
    Axis,
    Choice,
    DistinctCount,
    Histogram,
    Measurement,
    OnAxis,
    One,
    Piece,
    Product,
    RowMoments,
    RowTotal,
    Slice,
    TopGroups,
    UnitTotal,
    axes,
)
from dpsql.plan.slices import slice_of


def parts(one: Measurement) -> tuple[Expr, ...]:
    """Expressions that are compared as they are."""
    match one:
        case DistinctCount():
            return one.parts
        case Choice() | Histogram():
            return () if one.part is None else (one.part,)
        case _:
            return ()


def needed(one: Measurement) -> tuple[Expr, ...]:
    """What else must not be NULL for a row to enter."""
    return one.needs if isinstance(one, RowTotal | RowMoments | UnitTotal | TopGroups) else ()


def entering(one: Measurement) -> tuple[frozenset[Expr], Expr | None]:
    """Which rows enter: measurements with equal ones are over the same rows. Slices of one number are over those of all of
    them: what a unit adds to them is limited together."""
    mine = slice_of(one)
    where = one.where if mine is None else mine.number
    return frozenset((*(axis.arg for axis in axes(one)), *parts(one), *needed(one))), where


def exprs(one: Measurement) -> Iterator[Expr]:
    """All that it reads of a row."""
    yield from (axis.arg for axis in axes(one))
    yield from parts(one)
    yield from needed(one)
    if one.where is not None:
        yield one.where
    mine = slice_of(one)
    if mine is not None:
        yield mine.number


def _changed(one: Slice | None, change: Callable[[Expr], Expr]) -> Slice | None:
    return None if one is None else dataclasses.replace(one, number=change(one.number))


def rewritten(one: Measurement, change: Callable[[Expr], Expr]) -> Measurement:
    """The same over other expressions."""

    def axis(old: Axis) -> Axis:
        return dataclasses.replace(old, arg=change(old.arg))

    def piece(old: Piece) -> Piece:
        match old:
            case One():
                return old
            case OnAxis():
                return OnAxis(axis(old.axis))
            case Product():
                return Product(axis(old.axis), axis(old.second))
            case _:
                assert_never(old)

    where = None if one.where is None else change(one.where)
    mine = _changed(slice_of(one), change)
    match one:
        case RowTotal():
            needs = tuple(map(change, one.needs))
            return dataclasses.replace(one, piece=piece(one.piece), needs=needs, where=where, slice=mine)
        case UnitTotal():
            new_piece = piece(one.piece)
            assert not isinstance(new_piece, Product)
            return dataclasses.replace(one, piece=new_piece, needs=tuple(map(change, one.needs)), where=where)
        case RowMoments():
            needs = tuple(map(change, one.needs))
            return dataclasses.replace(one, axis=axis(one.axis), needs=needs, where=where, slice=mine)
        case TopGroups():
            return dataclasses.replace(one, needs=tuple(map(change, one.needs)), where=where)
        case DistinctCount():
            new_axis = None if one.axis is None else axis(one.axis)
            return dataclasses.replace(one, parts=tuple(map(change, one.parts)), axis=new_axis, where=where)
        case Choice() | Histogram():
            new_axis = None if one.axis is None else axis(one.axis)
            part = None if one.part is None else change(one.part)
            return dataclasses.replace(one, axis=new_axis, part=part, where=where)
        case _:
            assert_never(one)
