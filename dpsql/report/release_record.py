"""The release record of a plan: what a sceptical reader asks of every answer, ready for the ledger and for publication."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dpsql.plan.answers import answers
from dpsql.plan.measurements import Histogram, is_chosen, shares
from dpsql.plan.questions import counts_rows, questions
from dpsql.plan.slices import first_of, slice_of
from dpsql.plan.stages import Draw, Noised, NoisyStage, ReleasePlan
from dpsql.report.from_plan import limit_reports, plan_report
from dpsql.report.plan_report import LimitReport, MeasurementReport, StageReport
from dpsql.version import VERSION

NEIGHBOURS = "one unit added or removed, with all its rows in every table"


def release_record(plan: ReleasePlan, *, version: str | None) -> dict[str, object]:
    """Plain values for JSON; amounts that are reckoned with again are exact, as text. A function of the plan alone.

    version: of the data, as the owner states it.
    """
    report = plan_report(plan)
    return {
        "dataset": plan.dataset,
        "version": version,
        "unit": plan.unit,
        "neighbours": NEIGHBOURS,
        "accounting": plan.accounting,
        "implementation": f"dpsql {VERSION}",
        "measurements": [_measurement(m) for m in report.measurements],
        "stages": [_stage(stage) for stage in report.stages],
        "threshold_units": report.threshold,
        "noise": [event for stage in plan.stages for event in _events(stage)],
    }


def _measurement(m: MeasurementReport) -> dict[str, object]:
    low, high = (None, None) if m.bounds is None else m.bounds.interval.ends()
    return {
        **m.common(),
        "half_width_95": m.half_width,
        "rows": m.rows,
        "groups": m.groups,
        "lower": None if low is None else float(low),
        "upper": None if high is None else float(high),
        "stage": m.stage,
    }


def _stage(report: StageReport) -> dict[str, object]:
    stage = report.stage
    return {
        **report.common(),
        "choices": [_choice(limit) for limit in report.choices],
        "threshold_units": report.threshold,
        "delta_keys": str(report.delta_keys) if stage.selections else None,
        "min_units": stage.min_units,
        "nonnegative": [stage.measurements[one.position].name for one in stage.nonnegative],
    }


def _choice(limit: LimitReport) -> dict[str, object]:
    """A limit that is left to the data; which was chosen is with the released rows."""
    return {
        "of": limit.of,
        "smallest": limit.smallest,
        "candidates": len(limit.choice.candidates),
        "epsilon": str(limit.choice.draw.epsilon),
        "as_in": limit.choice.as_in,
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
    return {"question": question, "factors": [str(term.factor) for term in answers(noised)[0].terms]}


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
        if draw.mechanism in ("none", "summed", "exact") or first_of(one, stage.measurements) is not one:
            continue  # the first slice stands for the vector of all
        if is_chosen(one):
            yield {"mechanism": draw.mechanism, "epsilon": str(draw.epsilon), "choices": shares(one)}
            continue
        alone = not stage.keys and not isinstance(one, Histogram) and slice_of(one) is None
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
