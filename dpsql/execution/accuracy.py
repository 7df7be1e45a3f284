"""How much ε a query needs for numbers as near as they are asked to be: from its plan alone, before anything is measured.

Noise shrinks as ε grows, so the least ε is found by halving. It is a function of the plan: the same query finds the same ε,
and its repeats are free.

Where the data choose limits, they choose first, in a release of their own for a part of ε (`limits_first`); its numbers are
public, and the ε of the rest is found from the plan with these limits. Lemma: the whole is as private as the sum of what
the two are charged. Proof: the second cost is a function of what the first released, and of each the loss is at most its
charge, whatever was released before; so for every outcome the losses add up to at most what was charged for this outcome.
The budget is asked for the most that both can cost before the first is drawn.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from dpsql.catalog.model import fold
from dpsql.errors import Refused
from dpsql.plan.limit_choice import BY_DATA
from dpsql.plan.stages import Before, LimitChoice, NoisyStage, ReleasePlan
from dpsql.planner import settled_plan
from dpsql.report.half_widths import widths
from dpsql.sql.statement import HalfWidths

LEAST = Fraction(1, 10**6)
FINE = Fraction(1, 200)  # how near the least ε is found
ASSUMED = 3  # the choice of limits is made with a part of the ε that the fourth candidate would need
Limits = Sequence[tuple[int, ...]]


WidthsOf = Callable[[ReleasePlan, Fraction], Mapping[str, float]]


@dataclasses.dataclass(frozen=True, slots=True)
class Wanted:
    """accuracy: half-widths that `confidence` of the intervals shall not exceed. most: the ε that may be spent on it. best:
    spend all of it where it is not enough; else that is refused. widths: what a plan says of the columns' half-widths at a
    confidence."""

    accuracy: HalfWidths
    confidence: Fraction
    most: Fraction
    best: bool = False
    widths: WidthsOf = widths


Planned = Callable[[Fraction], ReleasePlan]


def near_enough(planned: Planned, wanted: Wanted, limits: Limits | None = None) -> ReleasePlan:
    """The plan with the least ε that is enough; or, where the data choose limits and these are not known yet, one with the
    smallest limits, the most ε, and the choice before it. planned: the query's plan for any ε."""
    plan = planned(wanted.most)
    if any(first.column is not None for first in plan.before):
        return plan  # bounds come before everything else
    if not any(stage.unsettled for stage in plan.stages):
        return planned(least_epsilon(planned, wanted))
    if limits is None:
        first = limits_first(planned, wanted, plan)
        smallest = _told(_with_limits(plan, _candidates(plan, 0)))
        if not wanted.best:
            _check(smallest, wanted)  # what no limit makes possible is refused at no cost
        return dataclasses.replace(smallest, before=(first,))

    def settled(epsilon: Fraction) -> ReleasePlan:
        return _with_limits(planned(epsilon), limits)

    return settled(least_epsilon(settled, wanted))


def _told(plan: ReleasePlan) -> ReleasePlan:
    """The plan with the smallest limits, for a reader: they are not chosen yet."""
    stages = [
        dataclasses.replace(
            stage, limit=dataclasses.replace(stage.limit, because="the smallest, until the data choose")
        )
        if stage.limit.because == BY_DATA
        else stage
        for stage in plan.stages
    ]
    return dataclasses.replace(plan, stages=tuple(stages))


def limits_first(planned: Planned, wanted: Wanted, plan: ReleasePlan) -> Before:
    """The choice of limits as a release of its own, with the part of ε that choices get in a query (privacy/auto.py): of
    the ε that a limit of eight times the smallest would need, which is a function of the question.

    Half-widths are fixed here, and noise does not grow with the limit, only ε does. So as many units may be above a limit as
    bias a number no more than the noise that was asked for: their number falls as the limit grows.
    """

    def assumed(epsilon: Fraction) -> ReleasePlan:
        made = planned(epsilon)
        return _with_limits(made, _candidates(made, ASSUMED))

    base = plan
    try:
        base = planned(least_epsilon(assumed, dataclasses.replace(wanted, best=True)))
    except Refused as refused:
        if refused.code != "DPSQL-134":  # no noise for such limits fits the sampler: smaller ones may still do
            raise
    smallest = _widths(_with_limits(base, _candidates(base, 0)), wanted)
    asked = _asked(wanted.accuracy, smallest)
    ratio = min((asked[name] / Fraction(smallest[name]) for name in asked if smallest[name]), default=Fraction(1))
    stages = tuple(_choosing(stage, ratio) for stage in base.stages)
    draws = [choice.draw for stage in stages for choice in stage.choices if choice.as_in is None]
    cost = dataclasses.replace(
        base.cost,
        epsilon=sum((draw.epsilon for draw in draws), Fraction(0)),
        rho=sum((draw.rho for draw in draws), Fraction(0)),
        delta=Fraction(0),
        delta_keys=Fraction(0),
    )
    return Before(plan=dataclasses.replace(base, stages=stages, cost=cost, narrow=None, confidence=None, split=()))


def _choosing(stage: NoisyStage, ratio: Fraction) -> NoisyStage:
    """The stage with nothing but its choices. Private keys are not known yet: all rows count for the limit."""
    if any(choice.of == "groups" for choice in stage.choices) and not stage.public_keys:
        raise Refused(
            "the limit on a unit's groups is chosen once the private keys are known, but accuracy needs it before",
            code=119,
            fix="Set max_groups_contributed to a number or to 'released', or set epsilon instead of an accuracy.",
        )
    if stage.choices and stage.loads:
        raise Refused(
            "limits of a release that reads other results are chosen once those are known, but accuracy needs them before",
            code=119,
            fix="Set max_rows_contributed to a number or to 'released', or set epsilon instead of an accuracy.",
        )
    choices = tuple(
        dataclasses.replace(choice, tolerated=choice.tolerated * ratio, fading=True) for choice in stage.choices
    )
    keys = stage.keys if stage.public_keys else ()
    return dataclasses.replace(
        stage, choices=choices, over=(), noised=(), outputs=(), steps=(), selections=(), keys=keys, notes=()
    )


def with_chosen(choice: ReleasePlan, limits: Limits) -> ReleasePlan:
    """The plan of a choice, with what was chosen."""
    stages = tuple(
        dataclasses.replace(
            stage, choices=tuple(dataclasses.replace(o, chosen=n) for o, n in zip(stage.choices, each, strict=True))
        )
        for stage, each in zip(choice.stages, limits, strict=True)
    )
    return dataclasses.replace(choice, stages=stages)


def chosen_limits(done: ReleasePlan) -> Limits:
    return [tuple(choice.chosen or choice.candidates[0] for choice in stage.choices) for stage in done.stages]


def _candidates(plan: ReleasePlan, at: int) -> Limits:
    """The candidate of each choice at a position, or its last."""

    def one(choice: LimitChoice) -> int:
        return choice.candidates[min(at, len(choice.candidates) - 1)]

    return [tuple(one(choice) for choice in stage.choices) for stage in plan.stages]


def _with_limits(plan: ReleasePlan, limits: Limits) -> ReleasePlan:
    """The plan with these limits, which cost nothing any more."""
    made = settled_plan(plan, limits)
    free = [choice.draw for stage in plan.stages for choice in stage.choices if choice.as_in is None]
    cost = dataclasses.replace(
        plan.cost,
        epsilon=plan.cost.epsilon - sum((draw.epsilon for draw in free), Fraction(0)),
        rho=plan.cost.rho - sum((draw.rho for draw in free), Fraction(0)),
    )

    def without(one: ReleasePlan) -> ReleasePlan:
        stages = tuple(dataclasses.replace(stage, choices=()) for stage in one.stages)
        return dataclasses.replace(one, stages=stages, cost=cost)

    narrow = None if made.narrow is None else without(made.narrow)
    return dataclasses.replace(without(made), narrow=narrow)


def least_epsilon(planned: Planned, wanted: Wanted) -> Fraction:
    """The least ε, within half a percent, for which each named column's interval (all columns', if one number is asked for)
    is no wider. Refused where a column's width is not known before the data are asked, and, unless the best there is will
    do, where the most ε is not enough."""
    most = planned(wanted.most)
    asked = _asked(wanted.accuracy, _widths(most, wanted))
    if wanted.best and not _is_near(most, asked, wanted):
        return wanted.most
    _check(most, wanted)
    low, high = Fraction(0), wanted.most
    while high - low > FINE * high and high > LEAST:
        middle = (low + high) / 2
        enough = _enough(planned, middle, asked, wanted)
        low, high = (low, middle) if enough else (middle, high)
    return _rounded_up(high, wanted.most)


def _check(plan: ReleasePlan, wanted: Wanted) -> None:
    """Refused where a plan with all of ε is not near enough."""
    known = _widths(plan, wanted)
    for name, near in _asked(wanted.accuracy, known).items():
        if known[name] > near:
            raise Refused(
                f"at ε = {float(wanted.most):.6g} {name} is within ±{known[name]:.6g}, not ±{float(near):.6g}",
                code=119,
                why="accuracy uses the least ε that is enough, up to the query's epsilon.",
                fix="Ask for less accuracy, raise epsilon, group more coarsely, "
                "or take the best possible: if_not_enough = 'best'.",
            )


def _enough(planned: Planned, epsilon: Fraction, asked: Mapping[str, Fraction], wanted: Wanted) -> bool:
    try:
        plan = planned(epsilon)
    except Refused:  # so little that no noise fits the sampler
        return False
    return _is_near(plan, asked, wanted)


def _is_near(plan: ReleasePlan, asked: Mapping[str, Fraction], wanted: Wanted) -> bool:
    known = _widths(plan, wanted)
    return all(known[name] <= most for name, most in asked.items())


def _widths(plan: ReleasePlan, wanted: Wanted) -> dict[str, float]:
    return {fold(name): width for name, width in wanted.widths(plan, wanted.confidence).items()}


def _asked(accuracy: HalfWidths, known: Mapping[str, float]) -> dict[str, Fraction]:
    names = {fold(name) for name in known}
    given = dict.fromkeys(names, accuracy) if isinstance(accuracy, Fraction) else {fold(n): a for n, a in accuracy}
    for name in given:
        if name not in names:
            raise _unknown(name, sorted(names))
    if not given:
        raise _unknown("a column", [])
    return given


def _unknown(name: str, names: list[str]) -> Refused:
    return Refused(
        f"the accuracy of {name} is not known beforehand",
        code=119,
        why="It is known for counts and sums, and for averages and ratios if the number of rows is known. For chosen values "
        "(MEDIAN, MIN, MODE) it depends on the data.",
        fix=f"Ask for the accuracy of {', '.join(names)}, or give the number of rows: assumed_rows = 1000."
        if names
        else "Give the number of rows (assumed_rows = 1000), or set epsilon instead of an accuracy.",
    )


def _rounded_up(epsilon: Fraction, most: Fraction) -> Fraction:
    """Three digits, so that it can be read and asked for again."""
    digit = Fraction(1)
    while digit > epsilon:
        digit /= 10
    while digit * 10 <= epsilon:
        digit *= 10
    return min(-(-epsilon // (digit / 100)) * digit / 100, most)
