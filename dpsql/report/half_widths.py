"""The 95 % half-widths of a result's columns that are plain measurements: what the plan alone says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsql.ir.expr import Column
from dpsql.ir.nodes import Filter, Limit, Node, Noisy, Project, SetOp, Sort, Window
from dpsql.plan.levels import runs
from dpsql.plan.measurements import RowMoments, RowTotal, step_of
from dpsql.plan.stages import NoisyStage, ReleasePlan
from dpsql.privacy.intervals import bins_of
from dpsql.privacy.measured import Measured, measured_columns
from dpsql.privacy.running import Measured as Along
from dpsql.privacy.running import measured_windows

CONFIDENCE = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Measurements:
    """A plan, of each stage the columns that are measured, and the windows for which totals are."""

    plan: ReleasePlan
    columns: Sequence[Mapping[int, Measured]]
    confidence: Fraction
    windows: Mapping[int, Along]


def unnamed(plan: ReleasePlan) -> frozenset[int]:
    """Columns of the result that no name in a report can mean: ends of intervals, and those whose name others have too."""
    often = Counter(f.name for f in plan.final.fields)
    return frozenset(f.id for f in plan.final.fields if f.id in plan.ends or often[f.name] > 1)


def intervals(plan: ReleasePlan) -> dict[str, float]:
    """95 % half-widths of the result's columns that are one measurement, unchanged (of a histogram: of each bin)."""
    return widths(plan, CONFIDENCE)


def widths(plan: ReleasePlan, confidence: Fraction) -> dict[str, float]:
    """The same at any confidence."""
    by_name: dict[str, float] = {}
    left_out = unnamed(plan)
    windows = measured_windows(plan.stages, plan.final)
    measured = Measurements(plan, [measured_columns(stage) for stage in plan.stages], confidence, windows)
    for f in plan.final.fields:
        width = None if f.id in left_out else _width(plan.final, f.id, measured)
        if width is not None:
            by_name[f.name] = float(width)
    return by_name


def _width(node: Node, id_: int, measured: Measurements) -> Fraction | None:
    match node:
        case Project():
            expr = next((e for f, e in zip(node.fields, node.exprs, strict=True) if f.id == id_), None)
            return _width(node.input, expr.id, measured) if isinstance(expr, Column) else None
        case Sort() | Limit() | Filter():
            return _width(node.input, id_, measured)
        case Window() if measured.windows:
            is_measured = any(f.id == id_ for f in node.call_fields)
            if is_measured:
                return measured.windows[id_].width(measured.confidence) if id_ in measured.windows else None
            return _width(node.input, id_, measured)
        case Noisy():
            return _released_width(measured.plan.stages[node.stage], id_, measured)
        case SetOp(kind="union", all=True):
            return _widest_side(node, id_, measured)
        case _:
            return None


def _widest_side(node: SetOp, id_: int, measured: Measurements) -> Fraction | None:
    """Levels of grouping sets, and other releases put together: no row's interval is wider than the wider side's."""
    position = [f.id for f in node.fields].index(id_)
    sides = [_width(side, side.fields[position].id, measured) for side in (node.left, node.right)]
    known = [width for width in sides if width is not None]
    return max(known) if len(known) == len(sides) else None


def _released_width(stage: NoisyStage, id_: int, measured: Measurements) -> Fraction | None:
    """Levels that are made consistent (dpsql/release/consistency.py) have the width of what their noise is then
    (privacy/levels.py), and may be rounded farther. Elsewhere a number that is rounded to whole units is at most half a unit
    farther off: |round(x + noise) − x| ≤ |noise| + 1/2."""
    expr = next((e for f, e in stage.outputs if f.id == id_), None)
    bins = None if expr is None else bins_of(expr)
    shown = bins[1][0] if bins is not None else expr
    column = measured.columns[stage.number].get(shown.id) if isinstance(shown, Column) else None
    if column is None or not isinstance(shown, Column):
        return None
    leaves = runs(stage, measured.plan.stages)
    if not leaves:
        return column.width(measured.confidence, shown.id)
    return column.noise(measured.confidence) + leaves * _rounded_to(stage, shown.id)


def _rounded_to(stage: NoisyStage, id_: int) -> Fraction:
    """How far an answer moves where its measurement's whole pieces do by one."""
    for noised in stage.noised:
        match noised.measurement:
            case RowTotal() as one if id_ in (one.answer.real.id, one.answer.whole.id):
                return step_of(one.piece)
            case RowMoments(axis=axis) as one if id_ in (one.count.real.id, one.count.whole.id):
                return Fraction(1)
            case RowMoments(axis=axis) as one if id_ in (one.total.real.id, one.total.whole.id):
                return abs(axis.low + axis.high) * axis.step / 2 + axis.step
    return Fraction(0)
