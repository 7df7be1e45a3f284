"""The noise of everything a plan draws, for a given ε and δ: one way to pay for it.

Two families of draws: pure ones (Laplace noise, choices, votes in norm 1), whose ε's add up, and Gaussian ones (Gaussian
noise, votes in norm 2), which are one joint Gaussian with what is left of ε and a δ of its own. A query whose totals have
Laplace noise may still select its keys by Gaussian votes; then both are there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from dpsql.accounting.loss import Cost
from dpsql.plan.measurements import Measurement, is_chosen
from dpsql.plan.stages import Noised, Running, Stage
from dpsql.privacy import noise_grid
from dpsql.privacy.gaussian_noise import gaussian_totals, gaussians
from dpsql.privacy.parts import Accounting, Additive, Part, Votes
from dpsql.privacy.pure_noise import choice, laplace, laplace_votes


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One way to pay for everything. delta_keys: what is left for the thresholds of private keys."""

    noised: Mapping[Part, Noised]
    votes: Mapping[Part, Votes]
    cost: Cost
    delta_keys: Fraction


def calibrated(
    stages: Sequence[Stage],
    weights: Mapping[Part, Fraction],
    additive: Additive,
    *,
    epsilon: Fraction,
    delta: Fraction,
    accounting: Accounting,
    runs: Mapping[Part, Running] = MappingProxyType({}),
) -> Calibrated:
    """weights: each part's share of ε; they add up to 1. runs: what is measured for its cumulative sums.

    Lemma: the cost covers the release. Proof: pure parts are ε_i-DP each (pure_noise.py), their ε's add up; the
    Gaussian parts together are (ε', δ')-DP with ε' the rest of ε (gaussian_noise.py); the thresholds of keys add their δ.
    δ is halved between the curve and the thresholds where there are both.
    """
    joint = {part: weight for part, weight in weights.items() if _is_gaussian(part, stages, additive)}
    thresholds = any(part.position is None for part in weights)
    half = delta / 2 if joint and thresholds else delta
    delta_keys = half if thresholds else Fraction(0)
    drawn = {
        part: _pure(part, epsilon * weight, stages, epsilon, accounting, runs.get(part))
        for part, weight in weights.items()
        if part not in joint
    }
    rho = sum((each.draws[0].rho for each in drawn.values()), Fraction(0))
    if joint:
        whole = sum(joint.values(), Fraction(0))
        inner = {part: weight / whole for part, weight in joint.items()}
        together, joint_rho = gaussians(stages, inner, epsilon * whole, half, accounting, runs)
        drawn, rho = drawn | together, rho + joint_rho
    return Calibrated(
        noised={part: each for part, each in drawn.items() if isinstance(each, Noised)},
        votes={part: each for part, each in drawn.items() if isinstance(each, Votes)},
        cost=Cost(epsilon=epsilon, delta=delta_keys + (half if joint else 0), rho=rho, delta_keys=delta_keys),
        delta_keys=delta_keys,
    )


def _is_gaussian(part: Part, stages: Sequence[Stage], additive: Additive) -> bool:
    one = part.measured(stages)
    return part.norm == 2 if one is None else additive == "gaussian" and not is_chosen(one)


def _pure(
    part: Part,
    share: Fraction,
    stages: Sequence[Stage],
    epsilon: Fraction,
    accounting: Accounting,
    running: Running | None,
) -> Noised | Votes:
    one, stage = part.measured(stages), stages[part.stage]
    if one is None:
        return laplace_votes(share, epsilon)
    if is_chosen(one):
        return Noised(measurement=one, form="plain", draws=(choice(one, share, stage, accounting),))
    return laplace(one, share, stage, epsilon, running)


def renoised(old: Noised, one: Measurement, stage: Stage) -> Noised:
    """A measurement of another limit, with as large a share as the old one: of ε, or of ρ, which is (Δ/σ)²/2.

    On the curve a Gaussian's σ is at least 2^20 steps (gaussian_noise.FINE_ENOUGH). With a larger reach the grid stays and
    σ grows, or on the next grid it is at least half of one that was 2^21 or more. It was on whole numbers only where ρ is
    what is paid.
    """
    match old.draw.mechanism:
        case "laplace":
            return laplace(one, old.draw.epsilon, stage, old.draw.epsilon, old.running)
        case "permute-and-flip" | "exponential":
            accounting: Accounting = "zcdp" if old.draw.mechanism == "exponential" else "approx"
            return dataclasses.replace(old, measurement=one, draws=(choice(one, old.draw.epsilon, stage, accounting),))
        case "gaussian":
            share = 2 * sum((draw.rho for draw in old.draws), Fraction(0))
            renewed = gaussian_totals(one, stage, share, old.running, by_rho=old.draw.parts > 1)
            if renewed is None:
                raise noise_grid.out_of_range(one.name, "more")
            return renewed
        case _:
            return dataclasses.replace(old, measurement=one)
