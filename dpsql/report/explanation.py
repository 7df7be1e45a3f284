"""EXPLAIN: a plan told as a story, as text and as data. Reads nothing but the plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpsql.domain.facts import Atom
from dpsql.domain.interval import Interval
from dpsql.domain.types import DATE, TIMESTAMP, Kind, Type
from dpsql.errors import BudgetError
from dpsql.ir.expr import Literal
from dpsql.plan.balls import FULL
from dpsql.plan.candidates import Ends
from dpsql.plan.dialects.literals import literal
from dpsql.plan.measurements import (
    Axis,
    Choice,
    DistinctCount,
    Measurement,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
    axes,
    is_chosen,
    limited_by,
    shares,
    step_of,
)
from dpsql.plan.proof import described, summary, totality
from dpsql.plan.stages import Key, Limit, LimitChoice, Noised, NoisyStage, ReleasePlan, Selection, Share
from dpsql.report.estimates import Estimate
from dpsql.report.explanation_along import told_along
from dpsql.report.privacy import (
    CostReport,
    MeasurementReport,
    Privacy,
    cost_report,
    limit_value,
    over_name,
    privacy_report,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Explanation:
    """str() for reading, to_dict() for programs. refused: why the budget would not allow it now; None where it would.
    estimates: of columns that are made of several measurements, how near they will be."""

    plan: ReleasePlan
    privacy: Privacy
    left: CostReport | None
    refused: BudgetError | None = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "dataset": plan.dataset,
            "unit": plan.unit,
            "neighbours": _neighbours(plan),
            "settings": {name: _plain(value) for name, value in plan.settings.items()},
            "accounting": plan.accounting,
            "cost": _amounts(self.privacy.cost),
            "left": None if self.left is None else _amounts(self.left),
            "refused": None if self.refused is None else self.refused.code,
            "columns": [{"name": name, "type": type_.sql} for name, type_ in plan.columns],
            "stages": [_stage(stage, self.privacy) for stage in plan.stages],
            "intervals": dict(self.privacy.intervals),
            "estimates": {name: estimate.to_dict() for name, estimate in self.estimates.items()},
            "notes": list(self.privacy.notes),
            "split": [{"name": s.name, "columns": list(s.columns), "part": float(s.part)} for s in plan.split],
        }

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        plan = self.plan
        if not plan.stages:
            return "Nothing private is read: this query is free."
        lines = [
            f"Privacy unit: {plan.unit}. In every table, all rows of one {plan.unit} are protected together.",
            f"  Neighbouring data: {_neighbours(plan)}. The cost limits how well answers tell the two apart.",
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
        for stage in plan.stages:
            lines += _story(stage, self.privacy, several=len(plan.stages) > 1)
            lines += _proof(stage, plan)
        keys = any(stage.keys for stage in plan.stages)
        lines += [f"{name}: {one.text(keys=keys)}." for name, one in self.estimates.items()]
        if any(one.rows is not None and not one.because for one in self.estimates.values()):
            lines.append("For another number of rows, write OPTIONS(assumed_rows = …), or release a count first.")
        return "\n".join(lines)


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
    lines = [_choice_of_limit(one, stage, choice.unit, after="") for stage in choice.stages for one in stage.choices]
    return [
        *lines,
        "After that, the query spends as little ε as the accuracy needs with the chosen limits. The cost above is the "
        "most it can be; the noise below assumes the smallest limits and all of ε.",
    ]


def explanation(
    plan: ReleasePlan,
    left: CostReport | None,
    refused: BudgetError | None = None,
    estimates: Mapping[str, Estimate] | None = None,
) -> Explanation:
    whole = cost_report(plan.whole_cost, plan.accounting)
    return Explanation(
        plan=plan,
        privacy=dataclasses.replace(privacy_report(plan), cost=whole),
        left=left,
        refused=refused,
        estimates=estimates or {},
    )


def _share(share: Share) -> str:
    return f"{float(share.part):.3g} for {share.name} ({', '.join(share.columns) or 'not shown'})"


def _neighbours(plan: ReleasePlan) -> str:
    return f"the data with and without all rows of one {plan.unit}"


def _plain(value: Atom) -> Atom:
    return float(value) if isinstance(value, Fraction) else value


def _amounts(cost: CostReport) -> dict[str, float | None]:
    return {"epsilon": cost.epsilon, "delta": cost.delta, "rho": cost.rho, "delta_keys": cost.delta_keys}


def _stage(stage: NoisyStage, privacy: Privacy) -> dict[str, Any]:
    limit, selection = stage.limit, stage.selection
    return {
        "tables": list(stage.tables),
        "rows": limit.rows.most,
        "groups": limit.groups.most,
        "limits": dict(limit.said),
        "because": limit.because,
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
                "norm": m.norm,
                "mechanism": m.mechanism,
                "scale": m.scale,
                "half_width": m.half_width,
                "epsilon": m.epsilon,
                "bounds": m.because,
                "between": None if m.position is None else _between(stage.measurements[m.position]),
            }
            for m in _reports_of(stage, privacy)
        ],
        "threshold": None if selection is None else float(selection.units),
        "threshold_delta": float(sum(each.delta for each in stage.selections)) if stage.selections else None,
    }


def _proof(stage: NoisyStage, plan: ReleasePlan) -> list[str]:
    """Whose the rows are, by the kernel's proof; all of it, and that nothing fails, where OPTIONS(proof = true) asks."""
    source = stage.source
    claim = f"each row is about one {plan.unit} and depends on no other {plan.unit}'s rows"
    if not plan.proof:
        return [f"  Proved: {claim} ({summary(source.proof)})."]
    lines = [f"  Proof that {claim}:", *(f"    {line}" for line in described(source.proof))]
    return [*lines, f"  {totality(source)}"]


def _reports_of(stage: NoisyStage, privacy: Privacy) -> list[MeasurementReport]:
    return [m for m in privacy.measurements if m.stage == stage.number]


def _between(one: Measurement) -> str | None:
    """The bounds that measured values are clipped to."""
    measured_axes = axes(one)
    if not measured_axes:
        return None
    axis = measured_axes[0]
    return bounds_text(axis.arg.type, Interval(axis.low * axis.step, axis.high * axis.step))


def _bounds(report: MeasurementReport, one: Measurement, unit: str) -> str:
    if isinstance(one, UnitTotal) and not one.counts_units:
        step = step_of(one.piece)
        low, high = (float(end * step) for end in one.clamp)
        held = f"{low:g} to {high:g} ({report.because}: less noise than by rows)"
        return f"; what one {unit} adds to a group has clipping bounds {held}"
    between = _between(one)
    if between is None or (isinstance(one, RowTotal) and one.within is not None and not report.because):
        return ""
    return f"; clipping bounds {between}{f' ({report.because})' if report.because else ''}"


def _story(stage: NoisyStage, privacy: Privacy, *, several: bool) -> list[str]:
    head = f"Release {stage.number + 1}, from" if several else "From"
    lines = [f"{head} {' and '.join(stage.tables)}. {_limits(stage, privacy.unit)}."]
    lines += [f"  {_key_line(key)}" for key in stage.keys]
    if len(stage.keys) > 1 and stage.public_keys:
        lines.append(f"  {stage.combinations:,} combinations of keys are released.")
    if stage.selection is not None:
        lines += [f"  {line}" for line in _selection(stage.selection, stage.selections, privacy.unit)]
    lines += [f"  {_choice_of_limit(choice, stage, privacy.unit)}" for choice in stage.choices]
    over = {over_name(each, stage) for each in stage.over}
    for m in _reports_of(stage, privacy):
        if m.position is None and m.name in over:
            lines.append(f"  {m.name}: one {privacy.unit} changes it by at most 1; {_noise(m)}, ε = {m.epsilon:.6g}.")
    reports = [m for m in _reports_of(stage, privacy) if m.position is not None]
    for m, noised in zip(reports, stage.noised, strict=True):
        lines.append(f"  {_measurement(m, noised, stage, privacy.unit)}")
        lines += [f"  {line}" for line in told_along(noised, stage)]
    if reports and not stage.is_empty:
        lines.append("  Each ± is about the noise alone. Contribution limits and clipping bounds may add a bias.")
    return lines


def _limits(stage: NoisyStage, unit: str) -> str:
    """What of one unit counts, and what becomes of more: rows where rows are measured, groups where units are."""
    limit, measured, who = stage.limit, stage.measurements, with_article(unit)
    if stage.source.single:
        return f"Each {unit} has one row"
    if not measured:
        return "Group keys alone"
    sentences: list[tuple[str, str]] = []
    by_rows = [m for m in measured if limited_by(m) == "rows"]
    if any(not isinstance(m, DistinctCount) for m in by_rows):
        sentences.append(_rows(stage, who))
    if stage.keys and any(limited_by(m) == "groups" for m in measured):
        sentences.append(_groups(limit, who))
    values = max((m.most for m in measured if isinstance(m, DistinctCount)), default=0)
    if values and "rows" in limit.auto:
        sentences.append((f"how many different values of {who} count is left to the data{_over(stage)}", ""))
    elif values:
        head = f"{_counted(values, 'different value')} of {who} {_verb('count', values)}{_over(stage)}"
        sentences.append((head, "if there are more, some are drawn"))
    if not sentences and any(limited_by(m) == "values" for m in measured):
        sentences.append((f"what {who}'s values add up to is limited", ""))
    (first, more), *others = sentences or [(f"{who} counts as one", "")]
    because = f"{limit.because}: {_pair(limit)}" if _is_pair(stage) else limit.because
    lines = [f"{first} ({because})" if because else first, more, *(text for pair in others for text in pair)]
    return f"Contribution limit: {'; '.join(line for line in lines if line)}"


NOISE_GROWS = " The noise below assumes the smallest; it grows with the limit."


def _choice_of_limit(choice: LimitChoice, stage: NoisyStage, unit: str, *, after: str = NOISE_GROWS) -> str:
    """What is left to the data, and what it costs."""
    whose = with_article(unit)
    match choice.of:
        case "rows":
            what = f"how many rows of {whose} count"
        case "groups":
            what = f"in how many groups {whose} counts as one"
        case j:
            what = f"how much {whose} may add to {stage.measurements[j].name}, all its values together"
    if choice.as_in is not None:
        return f"As in release {choice.as_in + 1}: {what}."
    first, last = (_limit_text(choice, each, stage) for each in (choice.candidates[0], choice.candidates[-1]))
    if choice.chosen is not None:
        chosen = _limit_text(choice, choice.chosen, stage)
        return f"The data chose {what}: {chosen}, for ε = {float(choice.draw.epsilon):.6g}."
    return (
        f"The data choose {what}: {first}, twice that, … {last}, by {choice.draw.mechanism} with "
        f"ε = {float(choice.draw.epsilon):.6g}.{after}"
    )


def _limit_text(choice: LimitChoice, most: int, stage: NoisyStage) -> str:
    return f"{float(limit_value(choice, most, stage)):,.10g}"


def _rows(stage: NoisyStage, who: str) -> tuple[str, str]:
    """Under norm 2 a unit whose rows are spread over groups may count more of them in full, so no share is said."""
    if "rows" in stage.limit.auto:
        return f"how many rows of {who} count is left to the data{_over(stage)}", "if there are more, each counts less"
    most = stage.limit.rows.most
    share = ""
    if all(one.ball == 1 for one in stage.noised):
        share = f" (with {2 * most:,}, half)"
    return (
        f"{_counted(most, 'row')} of {who} {_verb('count', most)}{_over(stage)}",
        f"if there are more, each counts less{share}",
    )


def _is_pair(stage: NoisyStage) -> bool:
    """Whether the number of rows was made of two: groups and rows in each."""
    return "rows_in_group" in stage.limit.said and stage.limit.rows.most > stage.limit.said["rows_in_group"]


def _pair(limit: Limit) -> str:
    return f"{_counted(limit.said['groups'], 'group')} with {_counted(limit.said['rows_in_group'], 'row')}"


def _groups(limit: Limit, who: str) -> tuple[str, str]:
    most = limit.groups.most
    if "groups" in limit.auto:
        return f"in how many groups {who} counts as one is left to the data", "if in more, less in each"
    return f"{who} counts as one in {_counted(most, 'group')}", f"if in more, less in each (in {2 * most:,}, half)"


def _over(stage: NoisyStage) -> str:
    return ", over all groups together" if stage.keys else ""


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' if count != 1 else ''}"


def _verb(verb: str, count: int) -> str:
    return f"{verb}s" if count == 1 else verb


def with_article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def _selection(last: Selection, rounds: tuple[Selection, ...], unit: str) -> list[str]:
    """Partition selection: how many units a key needs, if these have no other key, and if they have ten."""
    who, alone = with_article(unit), float(last.units)
    left = " left" if len(rounds) > 1 else ""
    line = f"Partition selection: the threshold is about {alone:.0f} units that have no other key{left}"
    if len(last.votes) >= 10:
        line += f", or {last.at_least / last.votes[9]:.0f} that have ten each"
    line += f". {who.capitalize()} has one vote, split over its keys, and the votes have {last.draw.mechanism} noise."
    lines = [line]
    if len(rounds) > 1:
        common = f"with a threshold of about {float(rounds[0].units):.0f} units"
        lines.append(f"Before that, a first round finds common keys, {common}; these take no votes from the others.")
    lines.append(f"{who.capitalize()} with more than {_counted(len(last.votes), 'key')} does not vote.")
    delta = float(sum(each.delta for each in rounds))
    lines.append(f"A key that only one {unit} has is released with a probability of at most {delta:.3g}.")
    return lines


def _measurement(m: MeasurementReport, noised: Noised, stage: NoisyStage, unit: str) -> str:
    one = noised.measurement
    if is_chosen(one):
        return _choice_line(m, one, noised, stage, unit)
    if m.mechanism == "summed":
        return f"{m.name}: {_noise(m)}."
    what = "all groups together" if stage.keys else "it"
    norm = " (Euclidean norm)" if m.norm == 2 and stage.keys else ""
    moves = f"one {unit} changes {what} by at most {m.sensitivity:.6g}{norm}"
    if isinstance(one, RowMoments) and noised.form == "ends" and m.mechanism == "laplace":
        ends = "distances" if one.degree == 1 else "squared distances, and their product,"
        moves = (
            f"measured as the {ends} of values to both bounds; one {unit} changes them{_together(stage)} by at most "
        )
        moves += f"{m.sensitivity:.6g}"
    return f"{m.name}: {moves}{_bounds(m, one, unit)}; {_noise(m)}."


def _together(stage: NoisyStage) -> str:
    return " in all groups together" if stage.keys else " together"


def _noise(report: MeasurementReport) -> str:
    match report.mechanism:
        case "none":
            return "no noise, because it depends on no unit's rows"
        case "exact":
            return "exact, without noise"
        case "summed":
            return f"no noise of its own: it is the sum of its parts, {_interval(report)}"
        case _ if report.agreeing:
            return f"{report.mechanism} noise of scale {report.scale:.6g}, {_interval(report)} once the levels agree"
        case _:
            return f"{report.mechanism} noise of scale {report.scale:.6g}, {_interval(report)}"


def _interval(report: MeasurementReport) -> str:
    return f"95 % confidence interval ±{report.half_width:.6g}"


_CHOOSERS = {"permute-and-flip": "permute-and-flip", "exponential": "the exponential mechanism"}


def _choice_line(report: MeasurementReport, one: Measurement, noised: Noised, stage: NoisyStage, unit: str) -> str:
    """How fine the grid of candidates is, and how far off the choice may be, in rows."""
    rank = noised.draw.rank
    if isinstance(one, TopGroups):
        grid = f"{one.groups:,} public groups"
    else:
        assert isinstance(one, Choice)
        grid = f"{one.candidates.count:,} public values"
        if one.axis is not None:
            grid = f"{one.candidates.count:,} candidates, one every {_distance(one.axis, one.candidates.cell)}"
    by = _CHOOSERS.get(report.mechanism, "exact weights")
    rounds = f" in {shares(one)} rounds" if shares(one) > 1 else ""
    end = ""
    if rank:
        end = f" It is chosen {rank / FULL:,.0f} rows inside the end, so that it is nobody's own value."
    return (
        f"{report.name}: chosen by {by}{rounds} among {grid}{_bounds(report, one, unit)}; one {unit}"
        f" moves ranks{_together(stage) if stage.keys else ''} by at most {_counted_rows(report.sensitivity)};"
        f" in 95 % of all runs within {_counted_rows(report.half_width)} of the best; how far that is in values depends on "
        f"the data.{end}"
    )


def _counted_rows(rows: float) -> str:
    return f"{rows:,.0f} row{'s' if round(rows) != 1 else ''}"


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
        return f"{name}: private keys; rare ones are withheld."
    others = (
        "rows with other values are dropped" if None in key.values else "rows with NULL or other values are dropped"
    )
    count = len(key.values)
    if not count:
        return (
            f"{name}: none of the public keys ({key.because or 'inferred'}) passes the conditions: nothing is released."
        )
    return (
        f"{name}: {count:,} public key{'s' if count != 1 else ''}{_named(key)}"
        f" ({key.because or 'inferred'}). {'All are' if count != 1 else 'It is'} released, even without rows; {others}."
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
