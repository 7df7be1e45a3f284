"""OPTIONS(over_limit = true): how many units are over the limits of a release, so that what they have counts less.

How much of a total was left out has no bound: one unit may have any number of rows above the limit. That it has more than
count has one: it is true of a unit, or it is not.

    two numbers     units that are not over the limit, and units that are
    noise           two-sided geometric, of scale 1/ε₃ or a little more, on each

Lemma: the two numbers are ε₃-DP together. Proof: whether a unit is over the limit is a function of its own rows and of
public numbers, the limit among them; so a unit that is added adds one to exactly one of the numbers, and they move by 1 in
norm 1.

Where the data choose the limit, the numbers are asked for when it is chosen; given the choice they are ε₃-DP, whatever it
is, so the costs add up (privacy/auto.py).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Container, Mapping, Sequence
from fractions import Fraction

from dpsql.accounting.loss import rho_of_pure
from dpsql.errors import Refused
from dpsql.plan.balls import Norm
from dpsql.plan.measurements import DistinctCount, limited_by
from dpsql.plan.noised import limited_in
from dpsql.plan.stages import Chosen, Draw, NoisyStage, OverLimit, Stage
from dpsql.privacy import noise_grid
from dpsql.privacy.parts import Part
from dpsql.privacy.whole_numbers import LAPLACE_PARTS

SHARE = Fraction(1, 20)  # of ε, for all that are asked


def limits_to_ask(stages: Sequence[Stage], drawn: Container[Part]) -> Mapping[int, tuple[Chosen, ...]]:
    """Of each stage the limits by which somebody may count less. Grouping sets have one limit: it is asked of the first of
    them in which it limits anything."""
    limits: dict[int, tuple[Chosen, ...]] = {}
    asked: set[tuple[int, Chosen]] = set()
    for i, stage in enumerate(stages):
        family = i if stage.level is None else stage.level.family
        new = tuple(of for of in _limits(i, stage, drawn) if (family, of) not in asked)
        asked |= {(family, of) for of in new}
        if new:
            limits[i] = new
    if not limits:
        raise Refused(
            "over_limit counts the units over a contribution limit, and no limit applies here",
            code=119,
            why="Each unit has one row, or is counted once.",
            fix="Leave over_limit out.",
        )
    return limits


def _limits(i: int, stage: Stage, drawn: Container[Part]) -> tuple[Chosen, ...]:
    if stage.source.single:
        return ()
    limits: dict[Chosen, None] = {}
    for j, one in enumerate(stage.measurements):
        per = limited_by(one)
        if Part(i, j) not in drawn or isinstance(one, DistinctCount):
            continue
        if per == "values":
            limits[j] = None
        elif per == "rows" or (per == "groups" and _may_be_in_more_groups(stage)):
            limits[per] = None
    return tuple(limits)


def _may_be_in_more_groups(stage: Stage) -> bool:
    most = 1 if "groups" in stage.limit.auto else stage.limit.groups.most
    return bool(stage.keys) and (not stage.public_keys or stage.combinations > most)


def with_over_limits(
    stages: Sequence[NoisyStage], asked: Mapping[int, tuple[Chosen, ...]], epsilon: Fraction
) -> tuple[NoisyStage, ...]:
    """The stages with what is asked, for equal parts of this ε."""
    each = epsilon / max(1, sum(map(len, asked.values())))
    if not asked:
        return tuple(stages)
    draw = _draw(each)
    return tuple(
        dataclasses.replace(stage, over=tuple(OverLimit(of=of, draw=draw, norm=_norm(stage, of)) for of in asked[i]))
        if i in asked
        else stage
        for i, stage in enumerate(stages)
    )


def _draw(epsilon: Fraction) -> Draw:
    """Of scale at least 1/ε, as near to it as the sampler knows."""
    for parts in (LAPLACE_PARTS, 1):
        scale = math.ceil(parts / epsilon)
        if scale < noise_grid.LAPLACE_LIMIT:
            return Draw(
                mechanism="laplace", reach=1, scale=scale, parts=parts, epsilon=epsilon, rho=rho_of_pure(epsilon)
            )
    raise noise_grid.out_of_range("over_limit", "more")


def _norm(stage: NoisyStage, of: Chosen) -> Norm:
    """In which a unit's rows are limited (`Noised.ball`): of values and of groups both norms are one."""
    if of != "rows":
        return 1
    return limited_in([noised for noised in stage.noised if limited_by(noised.measurement) == "rows"])
