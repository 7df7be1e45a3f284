"""Stages whose limits are left to the data: what the choices cost, and the stage once they are made."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpsql.errors import Refused
from dpsql.plan.limit_choice import dependents, with_limit, within_limit
from dpsql.plan.stages import LimitChoice, NoisyStage, Stage
from dpsql.privacy.auto import priced
from dpsql.privacy.calibrate import renoised
from dpsql.privacy.parts import Accounting


def with_prices(
    stages: Sequence[NoisyStage], shares: Mapping[tuple[int, int], Fraction], accounting: Accounting
) -> tuple[NoisyStage, ...]:
    """The stages, each choice of a limit with its price. shares: of ε, by the positions of stage and choice."""
    return tuple(_with_prices(i, stage, shares, accounting) for i, stage in enumerate(stages))


def _with_prices(
    i: int, stage: NoisyStage, shares: Mapping[tuple[int, int], Fraction], accounting: Accounting
) -> NoisyStage:
    """Without the candidates whose noise would not fit the sampler."""
    choices: list[LimitChoice] = []
    for n, choice in enumerate(stage.choices):
        if (i, n) in shares:
            choice = priced(stage, choice, shares[i, n], stage.noised, accounting)
        choices.append(dataclasses.replace(choice, candidates=_fitting(stage, choice)))
    return dataclasses.replace(stage, choices=tuple(choices))


def _fitting(stage: NoisyStage, choice: LimitChoice) -> tuple[int, ...]:
    left = choice.candidates
    while len(left) > 1:
        try:
            _limited(stage, {choice: left[-1]})
            break
        except Refused:
            left = left[:-1]
    return left


def settled(stage: NoisyStage, chosen: Sequence[int]) -> NoisyStage:
    """The stage with the limits that were chosen, one for each choice, and the noise that they need at the same cost.

    Lemma: it costs what the stage cost before. Proof: a draw's noise is made again of its own share, epsilon or rho, and the
    reach of the new limit; calibrate says what a share is for any reach.
    """
    made = _limited(stage, dict(zip(stage.choices, chosen, strict=True)))
    choices = tuple(dataclasses.replace(one, chosen=most) for one, most in zip(stage.choices, chosen, strict=True))
    return dataclasses.replace(made, choices=choices)


def _limited(stage: NoisyStage, chosen: Mapping[LimitChoice, int]) -> NoisyStage:
    limit, measured = stage.limit, list(stage.measurements)
    moved: set[int] = set()
    for choice, most in chosen.items():
        limit = with_limit(limit, choice, most)
        moved |= set(dependents(choice.of, stage.measurements))
        measured = [within_limit(one, j, choice, most) for j, one in enumerate(measured)]
    new = dataclasses.replace(stage, limit=limit, measurements=tuple(measured))
    noised = [renoised(old, measured[j], new) if j in moved else old for j, old in enumerate(stage.noised)]
    return dataclasses.replace(new, noised=tuple(noised))


UNLIMITED = 2**104  # what no unit's values add up to: 2^40 rows of 62 bits


def without_limits(stage: Stage) -> Stage:
    """For exact answers: the largest of what could be chosen, and of values more than there can be."""
    limit, measured = stage.limit, list(stage.measurements)
    for choice in stage.choices:
        most = UNLIMITED if isinstance(choice.of, int) else choice.candidates[-1]
        limit = with_limit(limit, choice, most)
        measured = [within_limit(one, j, choice, most) for j, one in enumerate(measured)]
    return dataclasses.replace(stage, limit=limit, measurements=tuple(measured), choices=())
