"""A ReleasePlan as a PlanReport: the one place that reads a plan to tell of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction

from dpsql.domain.interval import Interval
from dpsql.domain.types import Kind
from dpsql.mechanisms.prefix_sums import Toeplitz, Tree
from dpsql.plan.balls import FULL
from dpsql.plan.measurements import (
    Axis,
    Choice,
    DistinctCount,
    Histogram,
    Measurement,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
    axes,
    limited_by,
    shares,
    step_of,
)
from dpsql.plan.stages import Chosen, Draw, LimitChoice, Noised, NoisyStage, OverLimit, ReleasePlan
from dpsql.privacy.measured import Measured, measured_columns
from dpsql.privacy.noise_grid import half_width
from dpsql.privacy.parts import KEYS
from dpsql.privacy.rank_error import rank_error, weighed_against
from dpsql.privacy.running import rmse, width_of_sum
from dpsql.report.half_widths import CONFIDENCE
from dpsql.report.plan_report import (
    Bounds,
    ChosenAmong,
    Cumulative,
    LimitReport,
    MeasurementReport,
    PlanReport,
    StageReport,
)


def plan_report(plan: ReleasePlan) -> PlanReport:
    return PlanReport(plan=plan, stages=tuple(map(_stage, plan.stages)))


def _stage(stage: NoisyStage) -> StageReport:
    columns = measured_columns(stage)
    return StageReport(
        stage=stage,
        selections=tuple(_selection(stage, n) for n in range(len(stage.selections))),
        choices=limit_reports(stage),
        over=tuple(_over(over, stage) for over in stage.over),
        measured=tuple(_measured(stage, j, columns) for j in range(len(stage.noised))),
    )


# --- keys and limits --------------------------------------------------------------------------------------------------


def _selection(stage: NoisyStage, n: int) -> MeasurementReport:
    draw, unit = stage.selections[n].draw, Fraction(1, 2 ** stage.selections[n].bits)
    name = KEYS if n + 1 == len(stage.selections) else f"{KEYS} (first round)"
    return _drawn(stage, name, draw, draw.reach * unit, draw.steps * unit, half_width(draw) * unit)


def _over(over: OverLimit, stage: NoisyStage) -> MeasurementReport:
    """Two numbers: how many units are over the limit, and how many are not."""
    name = f"units over the limit on {limited(over.of, stage)}"
    return _drawn(stage, name, over.draw, Fraction(1), over.draw.steps, Fraction(half_width(over.draw)))


def limit_reports(stage: NoisyStage) -> tuple[LimitReport, ...]:
    return tuple(_limit(choice, stage) for choice in stage.choices)


def _limit(choice: LimitChoice, stage: NoisyStage) -> LimitReport:
    unit = _unit_of(choice.of, stage)
    return LimitReport(
        of=limited(choice.of, stage),
        exactly=None if choice.chosen is None else choice.chosen * unit,
        epsilon=float(choice.draw.epsilon),
        stage=stage.number,
        smallest=float(choice.candidates[0] * unit),
        largest=float(choice.candidates[-1] * unit),
        choice=choice,
    )


def limited(of: Chosen, stage: NoisyStage) -> str:
    """Whose limit it is: "rows" or "groups", or the name of a sum."""
    return of if isinstance(of, str) else stage.measurements[of].name


def _unit_of(of: Chosen, stage: NoisyStage) -> Fraction:
    """A limit's unit: a row, a group, or a piece of the sum that it limits, in the sum's units."""
    if isinstance(of, str):
        return Fraction(1)
    one = stage.measurements[of]
    assert isinstance(one, RowTotal)
    return step_of(one.piece)


def limit_of(over: OverLimit, stage: NoisyStage) -> Fraction:
    """The limit over which units are counted."""
    if isinstance(over.of, str):
        return Fraction((stage.limit.rows if over.of == "rows" else stage.limit.groups).most)
    one = stage.measurements[over.of]
    assert isinstance(one, RowTotal) and one.within is not None
    return one.within * step_of(one.piece)


# --- measurements -----------------------------------------------------------------------------------------------------


def _drawn(
    stage: NoisyStage, name: str, draw: Draw, reach: Fraction, scale: Fraction, width: Fraction
) -> MeasurementReport:
    return MeasurementReport(
        name=name,
        sensitivity=float(reach),
        mechanism=draw.mechanism,
        scale=float(scale),
        half_width=float(width),
        epsilon=float(draw.epsilon),
        rows=stage.limit.rows.most,
        groups=stage.limit.groups.most,
        norm=draw.norm,
        stage=stage.number,
    )


def _measured(stage: NoisyStage, j: int, columns: Mapping[int, Measured]) -> MeasurementReport:
    noised = stage.noised[j]
    one, draw = noised.measurement, noised.draw
    by_ends = noised.form == "ends" and draw.mechanism == "laplace"
    return dataclasses.replace(
        _drawn(stage, one.name, draw, *_amounts(noised, columns)),
        because=one.because,
        position=j,
        agreeing=noised.after is not None,
        limited_by="different values" if isinstance(one, DistinctCount) else limited_by(one),
        most_values=one.most if isinstance(one, DistinctCount) else 0,
        bounds=next((Bounds(a.arg.type, Interval(a.low * a.step, a.high * a.step)) for a in axes(one)), None),
        unit_bounds=_unit_bounds(one),
        ends=one.degree if isinstance(one, RowMoments) and by_ends else 0,
        among=_among(one, draw),
        cumulative=_cumulative(noised, stage),
    )


def _amounts(noised: Noised, columns: Mapping[int, Measured]) -> tuple[Fraction, Fraction, Fraction]:
    """Sensitivity, scale, and half of the interval."""
    draw = noised.draws[1] if noised.form == "centred" else noised.draw
    unit = _unit(noised) * noised.pieces(draw)
    reach, scale, width = draw.reach * unit, draw.steps * unit, Fraction(0)
    match noised.measurement:
        case Choice() | TopGroups() as one:
            return reach, weighed_against(one, draw) * unit, rank_error(one, draw) * unit
        case RowMoments(first=shown) | Histogram(answers=(shown, *_)):
            width = columns[shown.id].noise(CONFIDENCE) if shown.id in columns else width
        case RowTotal(answer=answer) | UnitTotal(answer=answer) | DistinctCount(answer=answer):
            width = columns[answer.real.id].noise(CONFIDENCE) if answer.real.id in columns else width
    return reach, scale, width


def _unit(noised: Noised) -> Fraction:
    """One full-weight piece in the user's units; of what is chosen one row. Three ends are about 2H times two."""
    match noised.measurement:
        case RowTotal() | UnitTotal() as one:
            return step_of(one.piece)
        case DistinctCount(axis=Axis() as axis):
            return axis.step
        case RowMoments() as one:
            return (
                one.axis.step
                / 2
                / (2 * one.axis.most_centred if len(noised.draws) == 3 and noised.form == "ends" else 1)
            )
        case _:
            return Fraction(1)


def _unit_bounds(one: Measurement) -> Interval | None:
    if not isinstance(one, UnitTotal) or one.counts_units:
        return None
    low, high = (end * step_of(one.piece) for end in one.clamp)
    return Interval(low, high)


def _among(one: Measurement, draw: Draw) -> ChosenAmong | None:
    match one:
        case TopGroups():
            return ChosenAmong(count=one.groups, of="groups", rounds=shares(one))
        case Choice(axis=axis, candidates=candidates):
            return ChosenAmong(
                count=candidates.count,
                of="values" if axis is None else "candidates",
                apart="" if axis is None else _distance(axis, candidates.cell),
                rounds=shares(one),
                inside=draw.rank / FULL,
            )
        case _:
            return None


def _distance(axis: Axis, cell: int) -> str:
    match axis.arg.type.kind:
        case Kind.DATE:
            return f"{cell} day{'s' if cell > 1 else ''}"
        case Kind.TIMESTAMP:
            return f"{cell / 1_000_000:.6g} seconds"
        case _:
            return f"{float(cell * axis.step):.6g}"


def _cumulative(noised: Noised, stage: NoisyStage) -> Cumulative | None:
    running, one = noised.running, noised.measurement
    if running is None or not isinstance(one, RowTotal | UnitTotal):
        return None
    step, (running_error, plain) = float(step_of(one.piece)), rmse(stage, noised)
    match running.strategy:
        case Toeplitz():
            how = "by the square root of the matrix of all sums"
        case Tree(arity=arity) as tree:
            how = f"by sums of runs of {arity:,} on {tree.levels} levels"
    return Cumulative(
        along=tuple(stage.keys[i].field.name for i, _ in running.order),
        strategy=how,
        half_width=float(width_of_sum(noised, CONFIDENCE)) * step,
        rmse=running_error * step,
        plain_rmse=plain * step,
    )
