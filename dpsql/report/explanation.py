"""EXPLAIN: a plan told as a story, as text and as data. Reads nothing but the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpsql.domain.types import Atom
from dpsql.errors import BudgetError
from dpsql.plan.candidates import Ends
from dpsql.plan.measurements import Choice
from dpsql.plan.proof import Source, described, summary, totality
from dpsql.plan.stages import ReleasePlan, Share
from dpsql.report.estimates import Estimate
from dpsql.report.explained_stage import choice_of_limit, keys, limits, measurement, noise, selection
from dpsql.report.from_plan import limit_reports, plan_report
from dpsql.report.plan_report import MeasurementReport, PlanReport, StageReport
from dpsql.report.privacy import CostReport, Privacy, privacy_report


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """str() for reading, to_dict() for programs. refused: why the budget would not allow it now; None where it would.
    estimates: of columns that are made of several measurements, how near they will be."""

    report: PlanReport
    privacy: Privacy
    left: CostReport | None
    refused: BudgetError | None = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def plan(self) -> ReleasePlan:
        return self.report.plan

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "dataset": plan.dataset,
            "unit": plan.unit,
            "neighbours": _neighbours(plan.unit),
            "settings": {name: _plain(value) for name, value in plan.settings.items()},
            "accounting": plan.accounting,
            "cost": self.privacy.cost.to_dict(),
            "left": None if self.left is None else self.left.to_dict(),
            "refused": None if self.refused is None else self.refused.code,
            "columns": [{"name": name, "type": type_.sql} for name, type_ in plan.columns],
            "stages": [_stage(stage) for stage in self.report.stages],
            "intervals": dict(self.privacy.intervals),
            "estimates": {name: estimate.to_dict() for name, estimate in self.estimates.items()},
            "notes": list(self.privacy.notes),
            "split": [{"name": s.name, "columns": list(s.columns), "part": float(s.part)} for s in plan.split],
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        plan, stages = self.plan, self.report.stages
        if not stages:
            return "Nothing private is read: this query is free."
        lines = [
            f"Privacy unit: {plan.unit}. In every table, all rows of one {plan.unit} are protected together.",
            f"  Neighbouring data: {_neighbours(plan.unit)}. The cost limits how well answers tell the two apart.",
            f"Costs {self.privacy.cost}" + (f"; left now: {self.left}" if self.left is not None else ""),
        ]
        if self.refused is not None:
            lines.append(
                f"  Would be refused now: {self.refused.what} ({self.refused.code}). {self.refused.fix}".rstrip()
            )
        if plan.split:
            lines.append(f"  ε is divided: {'; '.join(map(_share, plan.split))}.")
        lines += [f"  Note: {note}." for note in self.privacy.notes]
        for first in plan.before:
            lines += _limits_first(first.plan) if first.column is None else [_bounds_first(*first.column, first.plan)]
        for stage in stages:
            lines += _story(stage, plan.unit, several=len(stages) > 1)
            lines += _proof(stage.stage.source, plan.unit, whole=plan.proof)
        by_key = any(stage.keys for stage in plan.stages)
        lines += [f"{name}: {one.text(keys=by_key)}." for name, one in self.estimates.items()]
        if any(one.rows is not None and not one.because for one in self.estimates.values()):
            lines.append("For another number of rows, write OPTIONS(assumed_rows = …), or release a count first.")
        return "\n".join(lines)


def explanation(
    plan: ReleasePlan,
    left: CostReport | None,
    refused: BudgetError | None = None,
    estimates: Mapping[str, Estimate] | None = None,
) -> Explanation:
    report = plan_report(plan)
    return Explanation(
        report=report,
        privacy=privacy_report(report, plan.whole_cost),
        left=left,
        refused=refused,
        estimates=estimates or {},
    )


def _share(share: Share) -> str:
    return f"{float(share.part):.3g} for {share.name} ({', '.join(share.columns) or 'not shown'})"


def _neighbours(unit: str) -> str:
    return f"the data with and without all rows of one {unit}"


def _plain(value: Atom) -> Atom:
    return float(value) if isinstance(value, Fraction) else value


def _stage(report: StageReport) -> dict[str, Any]:
    stage = report.stage
    return {
        **report.common(),
        "combinations": stage.combinations if stage.public_keys else None,
        "measurements": [_measurement(m) for m in report.measurements],
        "threshold": report.threshold,
        "threshold_delta": float(report.delta_keys) if stage.selections else None,
    }


def _measurement(m: MeasurementReport) -> dict[str, Any]:
    between = None if m.bounds is None else str(m.bounds)
    return {**m.common(), "half_width": m.half_width, "epsilon": m.epsilon, "between": between}


def _bounds_first(table: str, column: str, choice: ReleasePlan) -> str:
    draw, one = choice.stages[0].noised[0].draw, choice.stages[0].measurements[0]
    assert isinstance(one, Choice) and isinstance(one.question, Ends) and one.axis is not None
    first, last = (float(limit * one.axis.step) for limit in (one.question.limits[1], one.question.limits[-1]))
    return (
        f"The data choose the bounds of {table}.{column} first: 0, {first:,.6g}, twice that, … {last:,.6g} on either side, "
        f"by {draw.mechanism} with ε = {float(draw.epsilon):.6g}. The noise below "
        f"assumes ±{first:,.6g}; it grows with the bounds."
    )


def _limits_first(choice: ReleasePlan) -> list[str]:
    lines = [choice_of_limit(one, choice.unit, after="") for stage in choice.stages for one in limit_reports(stage)]
    return [
        *lines,
        "After that, the query spends as little ε as the accuracy needs with the chosen limits. The cost above is the "
        "most it can be; the noise below assumes the smallest limits and all of ε.",
    ]


def _story(report: StageReport, unit: str, *, several: bool) -> list[str]:
    stage = report.stage
    head = f"Release {stage.number + 1}, from" if several else "From"
    lines = [*keys(stage), *selection(report, unit), *(choice_of_limit(one, unit) for one in report.choices)]
    for m in report.over:
        lines.append(f"{m.name}: one {unit} changes it by at most 1; {noise(m)}, ε = {m.epsilon:.6g}.")
    for m in report.measured:
        lines += measurement(m, unit, keys=bool(stage.keys))
    if report.measured and not stage.is_empty:
        lines.append("Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.")
    return [f"{head} {' and '.join(stage.tables)}. {limits(report, unit)}.", *(f"  {line}" for line in lines)]


def _proof(source: Source, unit: str, *, whole: bool) -> list[str]:
    """Whose the rows are, by the kernel's proof; all of it, and that nothing fails, where OPTIONS(proof = true) asks."""
    claim = f"each row is about one {unit} and depends on no other {unit}'s rows"
    if not whole:
        return [f"  Proved: {claim} ({summary(source.proof)})."]
    lines = [f"  Proof that {claim}:", *(f"    {line}" for line in described(source.proof))]
    return [*lines, f"  {totality(source)}"]
