"""OPTIONS(intervals = 0.95): beside each released number x the columns x_low and x_high.

The interval is about the noise: with probability `level` it holds what the same plan would answer without noise. A plain
measurement has the exact quantile of its noise; an expression over m measurements has interval arithmetic over their
intervals at level 1 − (1 − level)/m, which all hold at once with probability `level` at least (Boole).
All of it is post-processing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction

from dpsql.domain.types import NULL, REAL, Kind
from dpsql.errors import Refused
from dpsql.ir.expr import Column, Expr, Literal, columns_of, rewrite
from dpsql.ir.nodes import Field, Filter, Limit, Node, Noisy, Project, Sort, inputs, with_inputs
from dpsql.plan.stages import Measure, Noise, Stage
from dpsql.privacy.calibrate import half_width
from dpsql.privacy.interval_arithmetic import Ends, Steps, interval_of
from dpsql.privacy.measuring import number
from dpsql.sql.bind.context import Ids

OPEN = 1e100  # ends from here on are shown as NULL


def with_intervals(stages: tuple[Stage, ...], final: Node, level: Fraction, ids: Ids) -> tuple[tuple[Stage, ...], Node]:
    """Stages that release two more expressions for each number of the result, and the query that shows them."""
    source = _source(final)
    let = Steps(ids)
    found = {} if source is None else _intervals(stages[source.stage], source, final, level, let)
    if source is None or not found:
        raise Refused(
            "no column of this result has an interval",
            code=135,
            why="Intervals are computed for numbers that are expressions over one release's measurements; a value that is "
            "chosen among candidates, and what joins, unions or further aggregation make of the results, have none.",
            fix="Leave intervals out, or select counts, sums, averages or moments plainly.",
        )
    pairs = {
        id_: (ids.field("", REAL), ids.field("", REAL)) for id_ in found
    }  # the ends as columns of the noisy relation
    outputs = tuple(pair for id_, ends in found.items() for pair in zip(pairs[id_], ends, strict=True))
    stage = stages[source.stage]
    wider = dataclasses.replace(stage, outputs=(*stage.outputs, *outputs), steps=let.levels())
    changed = tuple(wider if s.number == stage.number else s for s in stages)
    ends = tuple(f for pair in pairs.values() for f in pair)
    below, carried = _carry(final, ends, ids)
    by_end = dict(zip(ends, carried, strict=True))
    shown: list[tuple[Field, Expr]] = []
    for f in final.fields:
        shown.append((ids.field(f.name, f.type), f.column()))
        if f.id in pairs:
            low, high = (by_end[end] for end in pairs[f.id])
            shown.append((ids.field(f"{f.name}_low", REAL), low.column()))
            shown.append((ids.field(f"{f.name}_high", REAL), high.column()))
    return changed, Project(below, tuple(f for f, _ in shown), tuple(e for _, e in shown))


def _source(node: Node) -> Noisy | None:
    """The one noisy relation below projections, filters, sorting and limits."""
    match node:
        case Noisy():
            return node
        case Project() | Filter() | Sort() | Limit():
            return _source(node.input)
        case _:
            return None


def _carry(node: Node, ends: tuple[Field, ...], ids: Ids) -> tuple[Node, tuple[Field, ...]]:
    """The relation with the ends passed through to the top, and what they are called there."""
    match node:
        case Noisy():
            return dataclasses.replace(node, fields=(*node.fields, *ends)), ends
        case Project():
            below, inner = _carry(node.input, ends, ids)
            outer = tuple(ids.field("", f.type) for f in inner)
            exprs = (*node.exprs, *(f.column() for f in inner))
            return Project(below, (*node.fields, *outer), exprs), outer
        case _:
            (only,) = inputs(node)
            below, inner = _carry(only, ends, ids)
            return with_inputs(node, (below,)), inner


def _intervals(stage: Stage, source: Noisy, final: Node, level: Fraction, let: Steps) -> dict[int, Ends]:
    """Low and high of each column of the result that has an interval, over the stage's measurements."""
    released = {f.id: expr for f, expr in stage.outputs}
    released = {f.id: released.get(f.id, f.column()) for f in source.fields}
    measured = _measured(stage)
    found: dict[int, Ends] = {}
    for f in final.fields:
        expr = _over_measures(f.column(), final, released)
        used = {measured[id_][0].real.id for id_ in columns_of(expr) if id_ in measured}
        if not used or f.type.kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.ANY):
            continue
        each = 1 - (1 - level) / len(used)
        widths = {id_: _width(*measured[id_], each) for id_ in columns_of(expr) if id_ in measured}
        ends = interval_of(expr, widths, let)
        if ends is not None:
            found[f.id] = (_shown(expr, ends[0], let), _shown(expr, ends[1], let))
    return found


def _measured(stage: Stage) -> dict[int, tuple[Measure, Noise]]:
    """The measurement behind each of the stage's columns that carries additive noise."""
    pairs = [(m, n) for m, n in zip(stage.measures, stage.noises, strict=True) if m.candidates is None]
    return {f.id: (m, n) for m, n in pairs for f in (m.real, m.whole)}


def _width(measure: Measure, noise: Noise, level: Fraction) -> Fraction:
    """Half the interval of a measurement; half a unit more where it is rounded to whole units after the noise."""
    width = half_width(noise, float(level)) * measure.step * noise.grid
    return width if noise.mechanism in ("none", "exact") else width + _rounding(measure, noise)


def _rounding(measure: Measure, noise: Noise) -> Fraction:
    grid = measure.step * noise.grid
    unit = {Kind.INTEGER: Fraction(1), Kind.DECIMAL: Fraction(1, 10**measure.whole.type.scale)}.get(
        measure.whole.type.kind, Fraction(0)
    )
    return Fraction(0) if unit == 0 or grid % unit == 0 else unit / 2


def _over_measures(expr: Expr, node: Node, released: Mapping[int, Expr]) -> Expr:
    """The expression with columns written out, down to the stage's measurements."""
    match node:
        case Noisy():
            return rewrite(expr, lambda e: released.get(e.id) if isinstance(e, Column) else None)
        case Project():
            made = {f.id: e for f, e in zip(node.fields, node.exprs, strict=True)}
            inner = rewrite(expr, lambda e: made.get(e.id) if isinstance(e, Column) else None)
            return _over_measures(inner, node.input, released)
        case _:
            return _over_measures(expr, inputs(node)[0], released)


def _shown(expr: Expr, end: Expr, let: Steps) -> Expr:
    """NULL where the value is NULL or the end is open."""
    closed = let("less", let("abs", end), number(Fraction(OPEN)))
    present = let("is_not_null", expr)
    return let("case", let("and", present, closed), end, Literal(None, NULL))
