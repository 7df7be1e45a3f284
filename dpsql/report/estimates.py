"""How near a result's columns that are made of several measurements will be: from the plan and a number of rows, before
the data are asked. Where values lie between their bounds is not known, so it is the worst there is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpsql.ir.expr import Expr, columns_of
from dpsql.ir.nodes import Node, PublicText
from dpsql.plan.measurements import Measurement, answers, is_chosen
from dpsql.plan.stages import Noised, NoisyStage, ReleasePlan
from dpsql.privacy.intervals import as_measured, branches, over_measures, source_of
from dpsql.privacy.levels import once_consistent
from dpsql.privacy.placements import worst_width
from dpsql.report.half_widths import CONFIDENCE, unnamed, widths

EXAMPLE = 1000
MANY = 1e9  # rows, of which noise is nothing


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows count in a group, on average, and how that is known."""

    count: float
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """half_width: at 95 % of the noise, with so many rows that count in each group (None: however many). times_rows: what it
    is when multiplied by them, where it falls with them; because: how they are known, empty where they are an example."""

    half_width: float
    rows: float | None
    times_rows: float | None = None
    because: str = ""

    def to_dict(self) -> dict[str, float | str | None]:
        return {
            "half_width": self.half_width,
            "rows": self.rows,
            "times_rows": self.times_rows,
            "because": self.because or None,
        }

    def text(self, *, keys: bool) -> str:
        """As a sentence goes on after the column's name."""
        said = f"95 % confidence interval about ±{self.half_width:,.4g}"
        if self.rows is not None:
            formula = "" if self.times_rows is None else f"±{self.times_rows:,.4g} / rows, which is "
            how_many = f"{'in a group of' if keys else 'for'} {self.rows:,.0f} rows ({self.because or 'an example'})"
            said = f"95 % confidence interval about {formula}±{self.half_width:,.4g} {how_many}"
        return f"{said}, for any values within their bounds"


RowsOf = Callable[[NoisyStage, tuple[Measurement, ...]], Rows | None]
"""Of a stage and the measurements that a column is made of."""


@dataclass(frozen=True, slots=True)
class Made:
    """A column of the result as an expression over a stage's answers, and what these are."""

    stage: NoisyStage
    expr: Expr
    noised: Mapping[int, Noised]

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        return tuple(each.measurement for each in self.noised.values())

    def width(self, rows: float, confidence: float) -> float | None:
        return worst_width(self.expr, self.noised, rows, confidence)


def made(plan: ReleasePlan, position: int) -> tuple[Made, ...] | None:
    """A column of the result, once for each side of a UNION ALL; None where it is anything but an expression over noisy
    totals there."""
    sides = [_made(plan, side, position) for side in branches(plan.final)]
    known = tuple(one for one in sides if one is not None)
    return known if len(known) == len(sides) else None


def _made(plan: ReleasePlan, side: Node, position: int) -> Made | None:
    source = source_of(side)
    if source is None:
        return None
    stage = plan.stages[source.stage]
    released = {f.id: as_measured(expr, stage) for f, expr in stage.outputs}
    released = {f.id: released.get(f.id, f.column()) for f in source.fields}
    expr = over_measures(side.fields[position].column(), side, released)
    used = frozenset(columns_of(expr))
    noised = {
        j: once_consistent(each)
        for j, each in enumerate(stage.noised)
        if used & {answer.id for answer in answers(each.measurement)}
    }
    drawn = any(draw.scale for each in noised.values() for draw in each.draws)
    if not drawn or any(is_chosen(each.measurement) for each in noised.values()):
        return None
    return Made(stage, expr, noised)


def estimates(plan: ReleasePlan, rows_of: RowsOf) -> dict[str, Estimate]:
    """Of each column that has no half-width of its own."""
    by_name: dict[str, Estimate] = {}
    for name, sides in _columns(plan).items():
        each = [_estimate(side, rows_of(side.stage, side.measurements)) for side in sides]
        known = [one for one in each if one is not None]
        if len(known) == len(each):
            by_name[name] = max(known, key=lambda one: one.half_width)
    return by_name


def _columns(plan: ReleasePlan) -> dict[str, tuple[Made, ...]]:
    if plan.exact or not plan.stages:
        return {}
    plain, left_out = widths(plan, CONFIDENCE), unnamed(plan)
    by_name: dict[str, tuple[Made, ...]] = {}
    for position, f in enumerate(plan.final.fields):
        sides = None if f.name in plain or f.id in left_out else made(plan, position)
        if sides:
            by_name[f.name] = sides
    return by_name


def _estimate(side: Made, rows: Rows | None) -> Estimate | None:
    confidence = float(CONFIDENCE)
    if rows is not None:
        width = side.width(rows.count, confidence)
        return None if width is None else Estimate(half_width=width, rows=rows.count, because=rows.because)
    width, far, farther = (side.width(n, confidence) for n in (EXAMPLE, MANY, 10 * MANY))
    if far is None or farther is None:
        return None
    if _close(far, farther):
        return Estimate(half_width=far, rows=None)
    times = far * MANY if _close(far, 10 * farther) else None
    return None if width is None else Estimate(half_width=width, rows=EXAMPLE, times_rows=times)


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-3 * abs(one)


def all_widths(plan: ReleasePlan, confidence: Fraction, rows_of: RowsOf) -> dict[str, float]:
    """Half-widths of measurements, and estimates of what is made of them where the number of rows is known (or does not
    matter): what an accuracy may be asked of. Under a text these are the numbers that it reads: of several that have one
    name the widest."""
    if isinstance(plan.final, PublicText):
        return _widths_of_parts(plan, plan.final, confidence, rows_of)
    half_widths = widths(plan, confidence)
    for name, sides in _columns(plan).items():
        each = [_width(side, rows_of(side.stage, side.measurements), float(confidence)) for side in sides]
        known = [one for one in each if one is not None]
        if len(known) == len(each):
            half_widths[name] = max(known)
    return half_widths


def _widths_of_parts(plan: ReleasePlan, final: PublicText, confidence: Fraction, rows_of: RowsOf) -> dict[str, float]:
    half_widths: dict[str, float] = {}
    unknown: set[str] = set()
    for part in final.parts:
        known = all_widths(dataclasses.replace(plan, final=part), confidence, rows_of)
        unknown |= {f.name for f in part.fields} - known.keys()
        half_widths |= {name: max(width, half_widths.get(name, 0)) for name, width in known.items()}
    return {name: width for name, width in half_widths.items() if name not in unknown}


def _width(side: Made, rows: Rows | None, confidence: float) -> float | None:
    if rows is not None:
        return side.width(rows.count, confidence)
    far, farther = (side.width(n, confidence) for n in (MANY, 10 * MANY))
    return far if far is not None and farther is not None and _close(far, farther) else None
