"""Limits on what a unit may add: those that the data choose, and how many units are over one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpsql.mechanisms.order_statistics import choose_most
from dpsql.plan.ready import Ready
from dpsql.plan.stages import Chosen, NoisyStage
from dpsql.plan.vault_query import CANDIDATE, WEIGHT
from dpsql.privacy.auto import scores
from dpsql.release.choices import chooser
from dpsql.release.exact import Exact, Integers, answers_of, integers
from dpsql.release.noise import add_noise


def released_limits(exact: Exact, ready: Ready, earlier: Mapping[Chosen, int]) -> tuple[int, ...]:
    """For each choice of the stage the limit that is chosen; earlier: those of the stage that it takes them over from."""
    limits: list[int] = []
    answered = {question.limit: columns for question, columns in answers_of(exact)}
    for choice in ready.stage.choices:
        if choice.as_in is not None:
            limits.append(earlier[choice.of])
            continue
        columns = answered[choice.of]
        above = _above(integers(columns[CANDIDATE.name]), integers(columns[WEIGHT.name]), len(choice.candidates))
        scored = np.array([scores(choice, above, ready.count)], dtype=np.int64)
        at = choose_most(scored, 1, by=chooser(choice.draw), epsilon=choice.draw.epsilon, sensitivity=choice.draw.reach)
        limits.append(choice.candidates[int(at[0, 0])])
    return tuple(limits)


def released_over(exact: Exact, stage: NoisyStage) -> tuple[tuple[int, int], ...]:
    """How many units are not over each limit that is asked about, and how many are, with noise on both."""
    pairs: list[tuple[int, int]] = []
    answered = {question.limit: columns for question, columns in answers_of(exact)}
    for over in stage.over:
        columns, counts = answered[over.of], np.zeros(2, dtype=np.int64)
        counts[integers(columns[CANDIDATE.name])] = integers(columns[WEIGHT.name])
        below, above = add_noise(counts, over.draw).tolist()
        pairs.append((below, above))
    return tuple(pairs)


def _above(first: Integers, units: Integers, candidates: int) -> list[int]:
    """How many units are above each candidate."""
    counts = [0] * (candidates + 1)
    for i, n in zip(first.tolist(), units.tolist(), strict=True):
        counts[i] += n
    return [sum(counts[i + 1 :]) for i in range(candidates)]
