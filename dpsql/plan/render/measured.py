"""The columns of a stage that are measured and nothing else: their axes clamp them, so cleaning need not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor

from dpsql.domain.interval import Interval
from dpsql.domain.types import Kind
from dpsql.ir.expr import Column, Expr, columns_of
from dpsql.ir.nodes import Filter, Join, Loaded, Scan, SemiJoin, walk
from dpsql.ir.scoping import exprs_of
from dpsql.plan.render.pieces import sources
from dpsql.plan.stages import Axis, Measure, Stage

Measured = Mapping[int, tuple[Axis, ...]]
HALF = Fraction(1, 2)


def only_measured(stage: Stage) -> Measured:
    """Ids of columns that nothing reads but axes as they stand, and tests that a value is there; and those axes. Only
    over inputs that rename no column."""
    nodes = list(walk(stage.input))
    if not all(isinstance(node, Scan | Loaded | Filter | Join | SemiJoin) for node in nodes):
        return {}
    read = {id_ for node in nodes for expr in exprs_of(node) for id_ in columns_of(expr)}
    read |= {id_ for expr in _read_by(stage) for id_ in columns_of(expr)}
    found: dict[int, tuple[Axis, ...]] = {}
    for measure in stage.measures:
        for expr in sources(measure):
            if isinstance(expr, Column):
                found[expr.id] = found.get(expr.id, ()) + tuple(axis for axis in _axes(measure) if axis.arg == expr)
    return {id_: axes for id_, axes in found.items() if id_ not in read}


def clamped_by(axes: tuple[Axis, ...], declared: Interval, kind: Kind) -> bool:
    """Whether a column of these bounds needs no clamp of its own before these axes.

    Lemma: each axis takes from the raw number what it takes from the cleaned one. Proof: an axis rounds and clamps to
    low … high, which keeps order, so of the number clamped to the bounds it makes its own integer, clamped to the
    integers of the bounds; and those are low and high where the bounds round to them or beyond (ties are reckoned
    against it). It takes nothing from NULL and NaN, an end from an infinity as from any number beyond that end, and 0
    from both zeros. A test for presence (no axis) sees NULL and NaN alone, which are NULL in both.
    """
    if kind not in (Kind.REAL, Kind.INTEGER):
        return False
    lower, upper = declared.lower, declared.upper
    if kind is Kind.REAL:
        lower, upper = (None if end is None else Fraction(float(end)) for end in (lower, upper))
    elif (lower is not None and lower % 1) or (upper is not None and upper % 1):
        return False
    return all(
        (lower is None or floor(lower / axis.step + HALF) <= axis.low)
        and (upper is None or ceil(upper / axis.step - HALF) >= axis.high)
        for axis in axes
    )


def _read_by(stage: Stage) -> Iterator[Expr]:
    """All else that the stage evaluates over its input."""
    yield stage.unit
    yield from (key.expr for key in stage.keys)
    yield from (expr for fan_out in stage.fan_outs for expr in fan_out.keys)
    for measure in stage.measures:
        yield from measure.parts
        yield from (expr for expr in sources(measure) if not isinstance(expr, Column))
        if measure.where is not None:
            yield measure.where


def _axes(measure: Measure) -> tuple[Axis, ...]:
    return tuple(axis for axis in (measure.axis, measure.second) if axis is not None)
