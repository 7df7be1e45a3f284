"""The release record of a plan: what a sceptical reader asks of every answer, ready for the ledger and for publication."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dpsql.plan.answers import answers
from dpsql.plan.measurements import Histogram, axes, is_chosen, shares
from dpsql.plan.questions import counts_rows, questions
from dpsql.plan.stages import Draw, Key, LimitChoice, Noised, NoisyStage, ReleasePlan
from dpsql.report.privacy import MeasurementReport, limit_reports, limit_value, privacy_report
from dpsql.version import VERSION

NEIGHBOURS = "one unit added or removed, with all its rows in every table"


def release_record(plan: ReleasePlan, *, version: str | None) -> dict[str, object]:
    """Plain values for JSON; amounts that are reckoned with again are exact, as text. A function of the plan alone.

    version: of the data, as the owner states it.
    """
    report = privacy_report(plan)
    return {
        "dataset": plan.dataset,
        "version": version,
        "unit": plan.unit,
        "neighbours": NEIGHBOURS,
        "accounting": plan.accounting,
        "implementation": f"dpsql {VERSION}",
        "measurements": [_measurement(m, plan.stages[m.stage]) for m in report.measurements],
        "stages": [_stage(stage) for stage in plan.stages],
        "threshold_units": report.threshold,
        "noise": [event for stage in plan.stages for event in _events(stage)],
    }


def _measurement(m: MeasurementReport, stage: NoisyStage) -> dict[str, object]:
    measured_axes = () if m.position is None else axes(stage.measurements[m.position])
    axis = measured_axes[0] if measured_axes else None
    running = None if m.position is None else stage.noised[m.position].running
    return {
        "name": m.name,
        "mechanism": m.mechanism,
        "sensitivity": m.sensitivity,
        "norm": m.norm,
        "scale": m.scale,
        "half_width_95": m.half_width,
        "rows": m.rows,
        "groups": m.groups,
        "lower": None if axis is None else float(axis.low * axis.step),
        "upper": None if axis is None else float(axis.high * axis.step),
        "bounds": m.because,
        "stage": m.stage,
        "cumulative_along": [] if running is None else [stage.keys[i].field.name for i, _ in running.order],
    }


def _stage(stage: NoisyStage) -> dict[str, object]:
    selection = stage.selection
    return {
        "tables": list(stage.tables),
        "rows": stage.limit.rows.most,
        "groups": stage.limit.groups.most,
        "limits": dict(stage.limit.said),
        "because": stage.limit.because,
        "choices": [_choice(choice, stage) for choice in stage.choices],
        "keys": [_key(key) for key in stage.keys],
        "threshold_units": None if selection is None else float(selection.units),
        "delta_keys": str(sum(each.delta for each in stage.selections)) if stage.selections else None,
        "min_units": stage.min_units,
        "nonnegative": [stage.measurements[one.position].name for one in stage.nonnegative],
    }


def _choice(choice: LimitChoice, stage: NoisyStage) -> dict[str, object]:
    """A limit that is left to the data; which was chosen is with the released rows."""
    return {
        "of": choice.of,
        "smallest": float(limit_value(choice, choice.candidates[0], stage)),
        "candidates": len(choice.candidates),
        "epsilon": str(choice.draw.epsilon),
        "as_in": choice.as_in,
    }


def released_record(asked: ReleasePlan, run: ReleasePlan) -> str:
    """What the ledger keeps beside released rows: which limits were chosen, and what the numbers answer. asked: the plan
    before its limits were chosen, which says what was asked; run: after, which says with what noise."""
    limits = [
        {"tables": list(stage.tables), "of": limit.of, "chosen": str(limit.exactly)}
        for stage in run.stages
        for limit in limit_reports(stage)
        if limit.exactly is not None
    ]
    answers = [answer for stage in run.stages if (answer := _answered(asked, stage)) is not None]
    return json.dumps({"limits": limits, "answers": answers})


def _answered(asked: ReleasePlan, stage: NoisyStage) -> dict[str, object] | None:
    """Enough to read the stored totals again, for whoever asks the same question (plan/questions.py)."""
    asked_of = questions(asked.stages[stage.number])
    if asked_of is None:
        return None
    measured = [
        {
            "position": j,
            "question": asked_of.measured[j],
            "rows": _counted(noised, asked_of.rows[j]),
            "form": noised.form,
            "draws": [[draw.mechanism, draw.shift, draw.scale, draw.parts] for draw in noised.draws],
        }
        for j, noised in enumerate(stage.noised)
        if not is_chosen(noised.measurement) and noised.running is None
    ]
    return {"stage": stage.number, "question": asked_of.of, "measured": measured}


def _counted(noised: Noised, question: str) -> dict[str, object] | None:
    """How many rows enter, as a combination of the totals, where they say it."""
    if not counts_rows(noised.measurement):
        return None
    return {"question": question, "factors": [str(factor) for factor in answers(noised)[0].factors]}


def _key(key: Key) -> dict[str, object]:
    public = key.values is not None
    return {"name": key.field.name, "public": public, "count": len(key.values or ()) or None, "because": key.because}


def _events(stage: NoisyStage) -> Iterator[dict[str, object]]:
    """What a tight total is reckoned from, in integers of each draw's own grid."""
    for selection in stage.selections:
        yield _event(selection.draw, one_number=False)
    for choice in stage.choices:
        if choice.as_in is None:
            yield {"mechanism": choice.draw.mechanism, "epsilon": str(choice.draw.epsilon), "choices": 1}
    for over in stage.over:
        yield _event(over.draw, one_number=False)
    for noised in stage.noised:
        one, draw = noised.measurement, noised.draw
        if draw.mechanism in ("none", "summed", "exact"):
            continue
        if is_chosen(one):
            yield {"mechanism": draw.mechanism, "epsilon": str(draw.epsilon), "choices": shares(one)}
            continue
        alone = not stage.keys and not isinstance(one, Histogram)
        if draw.mechanism == "gaussian":  # one row is in one group
            in_one = alone or (stage.source.single and noised.running is None)
            yield from (_event(each, one_number=in_one) for each in noised.draws)
        else:
            yield _event(draw, one_number=alone and len(noised.draws) == 1)


def _event(draw: Draw, *, one_number: bool) -> dict[str, object]:
    """Laplace noise on several numbers is recorded as something that is ε-private: that one draw with the whole shift
    would be no better is not proved for shifts that are spread over several. Gaussian noise says that it is `spread`: on
    coarse grids it is not as good as on one number, either (accounting/pld.py)."""
    if draw.mechanism == "laplace" and not one_number:
        return {"mechanism": "pure", "epsilon": str(draw.epsilon)}
    event: dict[str, object] = {"mechanism": draw.mechanism, "sensitivity": draw.reach, "scale": draw.scale}
    event |= {"parts": draw.parts} if draw.parts > 1 else {}
    event |= {} if one_number else {"spread": True}
    return event | ({"epsilon": str(draw.epsilon)} if draw.mechanism == "laplace" else {})
