"""EXPLAIN: a plan told as a story, as text and as data. Reads nothing but the plan."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsql.domain.facts import Atom
from dpsql.domain.interval import Interval
from dpsql.domain.types import DATE, TIMESTAMP, Kind, Type
from dpsql.errors import BudgetError
from dpsql.ir.expr import Literal
from dpsql.plan.candidates import WEIGHT
from dpsql.plan.dialects.literals import literal
from dpsql.plan.stages import Axis, Key, Measure, ReleasePlan, Stage
from dpsql.result import CostReport, MeasurementReport, Privacy, cost_report, privacy_report


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """str() for reading, to_dict() for programs. refused: why the budget would not allow it now; None where it would."""

    plan: ReleasePlan
    privacy: Privacy
    left: CostReport | None
    refused: BudgetError | None = None

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "dataset": plan.dataset,
            "unit": plan.unit,
            "neighbours": _neighbours(plan),
            "settings": {name: _plain(value) for name, value in plan.settings.items()},
            "accounting": plan.accounting,
            "cost": _amounts(cost_report(plan.cost)),
            "left": None if self.left is None else _amounts(self.left),
            "refused": None if self.refused is None else self.refused.code,
            "columns": [{"name": name, "type": type_.sql} for name, type_ in plan.columns],
            "stages": [_stage(stage, self.privacy) for stage in plan.stages],
            "intervals": dict(self.privacy.intervals),
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        plan = self.plan
        if not plan.stages:
            return "Nothing private is read: this query is free."
        lines = [
            f"Protects each {plan.unit}: what one {plan.unit} adds, in every table, is hidden.",
            f"  Compared are {_neighbours(plan)}: no answer tells them apart beyond the cost.",
            f"Costs {cost_report(plan.cost)}" + (f"; left now: {self.left}" if self.left is not None else ""),
        ]
        if self.refused is not None:
            lines.append(
                f"  Would be refused now: {self.refused.what} ({self.refused.code}). {self.refused.fix}".rstrip()
            )
        for stage in plan.stages:
            lines += _story(stage, self.privacy, several=len(plan.stages) > 1)
        return "\n".join(lines)


def explanation(plan: ReleasePlan, left: CostReport | None, refused: BudgetError | None = None) -> Explanation:
    return Explanation(plan=plan, privacy=privacy_report(plan), left=left, refused=refused)


def _neighbours(plan: ReleasePlan) -> str:
    return f"the data with and without all rows of one {plan.unit}"


def _plain(value: Atom) -> Atom:
    return float(value) if isinstance(value, Fraction) else value


def _amounts(cost: CostReport) -> dict[str, float | None]:
    return {"epsilon": cost.epsilon, "delta": cost.delta, "rho": cost.rho}


def _stage(stage: Stage, privacy: Privacy) -> dict[str, Any]:
    bounding = stage.bounding
    return {
        "tables": list(stage.tables),
        "max_groups": bounding.max_groups,
        "max_rows": bounding.max_rows,
        "caps": bounding.because,
        "combinations": stage.combinations if stage.public_keys else None,
        "keys": [
            {
                "name": key.field.name,
                "public": key.values is not None,
                "count": None if key.values is None else len(key.values),
                "because": key.because,
            }
            for key in stage.keys
        ],
        "measurements": [
            {
                "name": m.name,
                "sensitivity": m.sensitivity,
                "mechanism": m.mechanism,
                "scale": m.scale,
                "half_width": m.half_width,
                "epsilon": m.epsilon,
                "bounds": m.because,
                "between": _between(measure),
            }
            for m, measure in zip(_own(stage, privacy), stage.measures, strict=True)
        ],
        "threshold": None if stage.threshold is None else float(stage.threshold.units),
        "threshold_delta": None if stage.threshold is None else float(stage.threshold.delta),
    }


def _own(stage: Stage, privacy: Privacy) -> list[MeasurementReport]:
    return [m for m in privacy.measurements if m.stage == stage.number]


def _between(measure: Measure) -> str | None:
    """The ends that measured values are held within."""
    axis = measure.axis
    if axis is None:
        return None
    return bounds_text(axis.arg.type, Interval(axis.low * axis.step, axis.high * axis.step))


def _bounds(report: MeasurementReport, measure: Measure) -> str:
    between = _between(measure)
    if between is None:
        return ""
    if measure.clamp is not None and measure.axis is not None:
        low, high = (float(end * measure.axis.step) for end in measure.clamp)
        return f"; a unit's whole sum is held within {low:g} to {high:g} ({report.because}: less noise than by rows)"
    return f"; values are held within {between}{f' ({report.because})' if report.because else ''}"


def _story(stage: Stage, privacy: Privacy, *, several: bool) -> list[str]:
    bounding = stage.bounding
    head = f"Release {stage.number + 1}, from" if several else "From"
    lines = [
        f"{head} {' and '.join(stage.tables)}: a unit counts at most {bounding.max_rows} rows in a group"
        f" and reaches at most {bounding.max_groups} group{'s' if bounding.max_groups != 1 else ''}"
        f" (caps {bounding.because})."
    ]
    lines += [f"  {_key_line(key)}" for key in stage.keys]
    if len(stage.keys) > 1 and stage.public_keys:
        lines.append(f"  {stage.combinations:,} combinations of keys are released.")
    own = _own(stage, privacy)
    for m, measure in zip(own, stage.measures, strict=True):
        if measure.chosen:
            lines.append(f"  {_choice_line(m, measure, stage)}")
        else:
            lines.append(
                f"  {m.name}: one unit changes a group by at most {m.sensitivity:.6g}{_bounds(m, measure)}; {_noise(m)}."
            )
    if own and not stage.is_empty:
        lines.append("  Intervals are about the noise; what caps and clamped values leave out comes on top.")
    if stage.threshold is not None:
        lines.append(
            f"  Keys are released from a noisy count of {float(stage.threshold.units):.1f} units on:"
            f" keys of fewer than about {float(stage.threshold.units):.0f} units will usually be missing."
            f" That one unit's own key shows has a probability of at most {float(stage.threshold.delta):.3g}."
        )
    return lines


def _noise(report: MeasurementReport) -> str:
    match report.mechanism:
        case "none":
            return "no noise, since no unit's rows decide it"
        case "exact":
            return "exact, without noise"
        case _:
            return f"{report.mechanism} noise of scale {report.scale:.6g}, 95 % within ±{report.half_width:.6g}"


def _choice_line(report: MeasurementReport, measure: Measure, stage: Stage) -> str:
    """How fine the grid of candidates is, and how far off the choice may be, in rows."""
    candidates, noise = measure.candidates, stage.noises[stage.measures.index(measure)]
    assert candidates is not None
    if measure.kind == "groups":
        grid = f"{candidates.count:,} public groups"
    elif measure.axis is None:
        grid = f"{candidates.count:,} public values"
    else:
        grid = f"{candidates.count:,} candidates, one every {_distance(measure.axis, candidates.cell)}"
    levels = candidates.question.levels
    rounds = f" in {levels} rounds" if levels > 1 else ""
    end = ""
    if noise.rank:
        end = f" It is looked for {noise.rank / WEIGHT:,.0f} rows inside the end, as nobody's own value may show."
    return (
        f"{report.name}: chosen by permute-and-flip{rounds} among {grid}{_bounds(report, measure)}; one unit"
        f" moves a rank by at most {report.sensitivity:.6g} rows;"
        f" 95 % within {report.half_width:,.0f} rows of the best; how far that is in values only the data knows.{end}"
    )


def _distance(axis: Axis, cell: int) -> str:
    match axis.arg.type.kind:
        case Kind.DATE:
            return f"{cell} day{'s' if cell > 1 else ''}"
        case Kind.TIMESTAMP:
            return f"{cell / 1_000_000:.6g} seconds"
        case _:
            return f"{float(cell * axis.step):.6g}"


SHOWN = 6  # keys that a line of the story names


def _key_line(key: Key) -> str:
    name = key.field.name or "a key"
    if key.values is None:
        return f"{name}: private keys, rare ones are withheld."
    null = "" if None in key.values else "; NULL and other values are dropped"
    count = len(key.values)
    if not count:
        return (
            f"{name}: none of the public keys ({key.because or 'inferred'}) passes the conditions: nothing is released."
        )
    return (
        f"{name}: {count:,} public key{'s' if count != 1 else ''}{_named(key)}"
        f" ({key.because or 'inferred'}), empty ones are released too{null}."
    )


def _named(key: Key) -> str:
    """The keys, if they are few."""
    assert key.values is not None
    if len(key.values) > SHOWN:
        return ""
    type_ = key.field.type
    texts = ["NULL" if v is None else str(v) if isinstance(v, str) else _end(type_, Fraction(v)) for v in key.values]
    return f": {', '.join(texts)}"


def bounds_text(type_: Type, interval: Interval) -> str | None:
    """Declared bounds as a reader writes them."""
    if interval.lower is None and interval.upper is None:
        return None
    low, high = (_end(type_, end) for end in (interval.lower, interval.upper))
    return f"{low} to {high}"


def _end(type_: Type, end: Fraction | None) -> str:
    if end is None:
        return "…"
    if type_ in (DATE, TIMESTAMP):
        return literal(Literal(int(end), type_)).split("'")[1]
    value: Atom = int(end) if end.denominator == 1 else float(end)
    return str(value) if type_.kind is not Kind.BOOLEAN else str(bool(value))
