"""The noise of everything a plan draws, for a given ε and δ: one way to pay for it.

Two families of draws: pure ones (Laplace noise, choices, votes in norm 1), whose ε's add up, and Gaussian ones (Gaussian
noise, votes in norm 2), which are one joint Gaussian with what is left of ε and a δ of its own. A query whose totals have
Laplace noise may still select its keys by Gaussian votes; then both are there.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf

from dpsql.accounting.loss import Cost, rho_for, rho_of_gaussian, rho_of_pure
from dpsql.mechanisms import gaussian, laplace
from dpsql.mechanisms.choice import Chooser, rho_of
from dpsql.plan.balls import Norm
from dpsql.plan.candidates import Extreme
from dpsql.plan.measurements import (
    Choice,
    Measurement,
    RowMoments,
    TopGroups,
    is_chosen,
    shares,
)
from dpsql.plan.stages import Draw, Form, Noised, Running, Stage
from dpsql.privacy import noise_grid, whole_numbers
from dpsql.privacy.along_order import along, gaussian_along
from dpsql.privacy.sensitivity import reaches, rounded_reach, score_reach

Accounting = OneOf["approx", "zcdp"]
Additive = OneOf["laplace", "gaussian"]
FINE_ENOUGH = 2**20  # from this scale on, a discrete Gaussian is a rounded continuous one within e^(±2^-38), out to 9 σ
NINE_SIGMA = Fraction(23, 10**20)  # P[|N(0,1)| > 9] is 2.26e-19
LATTICE_EPSILON = Fraction(1, 2**37)
VOTE_BITS = 20
VOTES = 1024  # a unit with more groups does not vote
KEYS = "keys"
TWO_ROUNDS = (Fraction(1, 5), Fraction(4, 5))  # what finds the common keys, and what then finds the rare ones


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes a share of ε: a measurement of a stage, or (None) the selection of its keys. norm, rounds: of its
    votes."""

    stage: int
    position: int | None
    norm: Norm = 1
    rounds: int = 1


@dataclass(frozen=True, slots=True)
class Votes:
    """A selection's noise: votes are multiples of 2^-bits of a unit. One for each round."""

    draws: tuple[Draw, ...]
    bits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One way to pay for everything. delta_keys: what is left for the thresholds of private keys."""

    noised: Mapping[Part, Noised]
    votes: Mapping[Part, Votes]
    cost: Cost
    delta_keys: Fraction


def half_width(draw: Draw, level: float = 0.95) -> int:
    """The smallest r, in noise-grid integers, with P[|noise| ≥ r] ≤ 1 − level; on whole numbers with P[|noise| > r], since
    there each step counts, and intervals are closed."""
    closed = 0 if draw.parts == 1 else 1
    match draw.mechanism:
        case "laplace":
            return laplace.half_width(draw.scale, level, draw.parts) - closed
        case "gaussian":
            return gaussian.half_width(draw.scale, level, draw.parts) - closed
        case _:
            return 0


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

    Lemma: the cost covers the release. Proof: pure parts are ε_i-DP each (`_laplace`, `_choice`), their ε's add up; the
    Gaussian parts together are (ε', δ')-DP with ε' the rest of ε (`_gaussians`); the thresholds of keys add their δ.
    δ is halved between the curve and the thresholds where there are both.
    """
    joint = [part for part in weights if _is_gaussian(part, stages, additive)]
    thresholds = any(part.position is None for part in weights)
    half = delta / 2 if joint and thresholds else delta
    delta_keys = half if thresholds else Fraction(0)
    noised: dict[Part, Noised] = {}
    votes: dict[Part, Votes] = {}
    rho = Fraction(0)
    for part, weight in weights.items():
        if part in joint:
            continue
        share, stage = epsilon * weight, stages[part.stage]
        if part.position is None:
            votes[part] = _laplace_votes(share, epsilon)
            rho += votes[part].draws[0].rho
            continue
        one = stage.measurements[part.position]
        if is_chosen(one):
            draw = _choice(one, share, stage, accounting)
            rho += draw.rho
            noised[part] = Noised(measurement=one, form="plain", draws=(draw,))
        else:
            noised[part] = _laplace(one, share, stage, epsilon, runs.get(part))
            rho += noised[part].draw.rho
    if not joint:
        cost = Cost(epsilon=epsilon, delta=delta_keys, rho=rho, delta_keys=delta_keys)
        return Calibrated(noised, votes, cost, delta_keys)
    whole = sum((weights[part] for part in joint), Fraction(0))
    inner = {part: weights[part] / whole for part in joint}
    gaussians, joint_rho = _gaussians(stages, inner, epsilon * whole, half, accounting, runs)
    votes |= {part: drawn for part, drawn in gaussians.items() if isinstance(drawn, Votes)}
    noised |= {part: drawn for part, drawn in gaussians.items() if isinstance(drawn, Noised)}
    cost = Cost(epsilon=epsilon, delta=half + delta_keys, rho=rho + joint_rho, delta_keys=delta_keys)
    return Calibrated(noised, votes, cost, delta_keys)


def _is_gaussian(part: Part, stages: Sequence[Stage], additive: Additive) -> bool:
    if part.position is None:
        return part.norm == 2
    return additive == "gaussian" and not is_chosen(stages[part.stage].measurements[part.position])


# --- pure parts -------------------------------------------------------------------------------------------------------


def _laplace(
    one: Measurement, share: Fraction, stage: Stage, epsilon: Fraction, running: Running | None = None
) -> Noised:
    """Lemma: totals with discrete Laplace noise of an integer scale t ≥ Δ'/ε_i, Δ' their reach in norm 1 on the noise grid,
    are ε_i-DP, all groups together. Proof: one unit moves the vector of totals by at most Δ' in ℓ1, and independent noise
    gives e^(Δ'/t) ≤ e^ε_i. Counts may have theirs on whole numbers (privacy/whole_numbers.py)."""
    form: Form = "ends" if isinstance(one, RowMoments) else "plain"
    reach = reaches(one, form, stage.limit, 1)
    if running is not None:
        running, most, count = along(one, stage, running)
        draw = _laplace_draw(most, count, range(most.bit_length() + 1), share)
    else:
        tried = noise_grid.shifts(noise_grid.largest(one, form, 0), reach[0])
        fine = _laplace_draw(reach[0], noise_grid.cells(one, stage) * len(reach), tried, share)
        draw = whole_numbers.laplace_draw(one, stage, share, fine)
    if draw is not None:
        return Noised(measurement=one, form=form, draws=(draw,) * len(reach), running=running)
    coarsest = Fraction(rounded_reach(reach[0], noise_grid.cells(one, stage) * len(reach), reach[0].bit_length(), 1))
    raise noise_grid.out_of_range(one.name, f"{float(epsilon * coarsest / share / noise_grid.LAPLACE_LIMIT):.2g}")


def _laplace_draw(reach: int, count: int, shifts: Iterable[int], share: Fraction) -> Draw | None:
    """On the finest of these grids on which it fits the sampler."""
    for shift in shifts:
        there = rounded_reach(reach, count, shift, 1)
        scale = math.ceil(Fraction(there) / share)
        if scale < noise_grid.LAPLACE_LIMIT:
            rho = rho_of_pure(share)
            return Draw(mechanism="laplace", shift=shift, norm=1, reach=there, scale=scale, epsilon=share, rho=rho)
    return None


def _choice(one: Measurement, share: Fraction, stage: Stage, accounting: Accounting) -> Draw:
    """Each of the measurement's choices with ε_i ÷ choices, over all groups together: by permute-and-flip, under zcdp by the
    exponential mechanism.

    Lemma: ε_i-DP in all. Proof: sensitivity.score_reach, and mechanisms/order_statistics for each of the choices, which add
    up; in zCDP choices·(ε_i/choices)²/8, since the exponential mechanism's loss has a bounded range, and ÷2 otherwise
    (mechanisms/choice). rank: ⌈2Δ·ln(candidates)/ε⌉ rows beyond an end are about what it may miss by.
    """
    assert isinstance(one, Choice | TopGroups)
    reach, rank = score_reach(one, stage), 0
    if isinstance(one, Choice) and isinstance(one.question, Extreme):
        rank = math.ceil(2 * reach * Fraction(math.log(one.candidates.count)) / share)
    by: Chooser = "exponential" if accounting == "zcdp" else "permute-and-flip"
    rho = rho_of(by, share / shares(one)) * shares(one)
    return Draw(mechanism=by, norm=1, reach=reach, epsilon=share, rho=rho, rank=rank)


def _laplace_votes(share: Fraction, epsilon: Fraction) -> Votes:
    """Votes in norm 1: one unit moves them by at most 2^bits, so noise of scale 2^bits/ε is ε-DP."""
    scale = 0
    for bits in range(VOTE_BITS, -1, -1):
        scale = math.ceil(2**bits / share)
        if scale < noise_grid.LAPLACE_LIMIT:
            draw = Draw(mechanism="laplace", norm=1, reach=2**bits, scale=scale, epsilon=share, rho=rho_of_pure(share))
            return Votes((draw,), (bits,))
    raise noise_grid.out_of_range("the selection of keys", f"{float(epsilon * scale / noise_grid.LAPLACE_LIMIT):.2g}")


def renoised(old: Noised, one: Measurement, stage: Stage) -> Noised:
    """A measurement of another limit, with as large a share as the old one: of ε, or of ρ, which is (Δ/σ)²/2.

    On the curve a Gaussian's σ is at least 2^20 steps (`_is_fine`). With a larger reach the grid stays and σ grows, or
    on the next grid it is at least half of one that was 2^21 or more. It was on whole numbers only where ρ is what is paid.
    """
    match old.draw.mechanism:
        case "laplace":
            return _laplace(one, old.draw.epsilon, stage, old.draw.epsilon, old.running)
        case "permute-and-flip" | "exponential":
            accounting: Accounting = "zcdp" if old.draw.mechanism == "exponential" else "approx"
            return dataclasses.replace(old, measurement=one, draws=(_choice(one, old.draw.epsilon, stage, accounting),))
        case "gaussian" if old.running is not None:
            renewed = gaussian_along(one, stage, old.running, 2 * old.draw.rho)
            if renewed is None:
                raise noise_grid.out_of_range(one.name, "more")
            return renewed
        case "gaussian":
            reach = reaches(one, old.form, stage.limit, 2)
            draws = [
                _gaussian(one, old.form, i, each, stage, 2 * draw.rho, by_rho=draw.parts > 1)
                for i, (each, draw) in enumerate(zip(reach, old.draws, strict=True))
            ]
            fitting = tuple(draw for draw in draws if draw is not None)
            if len(fitting) < len(draws):
                raise noise_grid.out_of_range(one.name, "more")
            return dataclasses.replace(old, measurement=one, draws=fitting)
        case _:
            return dataclasses.replace(old, measurement=one)


# --- Gaussian parts ---------------------------------------------------------------------------------------------------


def _gaussians(
    stages: Sequence[Stage],
    weights: Mapping[Part, Fraction],
    epsilon: Fraction,
    delta: Fraction,
    accounting: Accounting,
    runs: Mapping[Part, Running],
) -> tuple[dict[Part, Noised | Votes], Fraction]:
    """Under approx accounting by the exact Gaussian curve, under zcdp (or where the lattice is too coarse) by ρ.

    Lemma: k Gaussians with Δᵢ/σᵢ = μ·√wᵢ, Σwᵢ = 1, Δᵢ the reach of vector i in norm 2, are one Gaussian with Δ/σ = μ.
    Proof: scale each coordinate by its σ; the joint shift has length √(Σ μ²wᵢ) = μ.

    Lattice: at t ≥ 2^20 the discrete pmf is within e^(±2^-38) of a rounded continuous Gaussian's out to nine σ, and
    rounding is post-processing. At most all coordinates differ, so calibrating at ε − coordinates·2^-37 and charging
    the mass beyond nine σ of each to δ covers the difference.
    """
    if accounting == "approx":
        coordinates = sum(_coordinates(part, stages) for part in weights)
        inner_epsilon = epsilon - coordinates * LATTICE_EPSILON
        inner_delta = delta - 2 * coordinates * NINE_SIGMA
        if inner_epsilon > 0 and inner_delta > delta / 2:
            mu = gaussian.mu_for(inner_epsilon, inner_delta)
            curve = _with_mu(stages, weights, mu * mu, runs)
            if curve is not None and all(_is_fine(drawn) for drawn in curve.values()):
                return curve, rho_of_gaussian(mu)
    rho = rho_for(epsilon, delta)
    name = _name(next(iter(weights)), stages)
    if rho <= 0:
        raise noise_grid.out_of_range(name, "more")
    by_part = _with_mu(stages, weights, 2 * rho, runs, by_rho=True)
    if by_part is None:
        least = _least_epsilon(stages, weights, epsilon, delta, runs)
        raise noise_grid.out_of_range(name, f"{least:.2g} (or use mechanism='laplace')")
    return by_part, rho


def _coordinates(part: Part, stages: Sequence[Stage]) -> int:
    if part.position is None:
        return VOTES * part.rounds
    stage = stages[part.stage]
    one = stage.measurements[part.position]
    return noise_grid.cells(one, stage) * (one.degree + 1 if isinstance(one, RowMoments) else 1)


def _is_fine(drawn: Noised | Votes) -> bool:
    return all(draw.scale >= FINE_ENOUGH for draw in drawn.draws)


def _name(part: Part, stages: Sequence[Stage]) -> str:
    return "the selection of keys" if part.position is None else stages[part.stage].measurements[part.position].name


def _with_mu(
    stages: Sequence[Stage],
    weights: Mapping[Part, Fraction],
    mu_squared: Fraction,
    runs: Mapping[Part, Running],
    *,
    by_rho: bool = False,
) -> dict[Part, Noised | Votes] | None:
    """σᵢ with Δᵢ²/σᵢ² ≤ μ²·wᵢ for all, in whole noise-grid steps; None if one does not fit the sampler. The totals of
    moments are vectors of their own, with equal parts of their share. by_rho: what is paid is ρ, not the curve."""
    by_part: dict[Part, Noised | Votes] = {}
    for part, weight in weights.items():
        share = mu_squared * weight
        if part.position is None:
            drawn = _gaussian_votes(share, part.rounds)
            if drawn is None:
                return None
            by_part[part] = drawn
            continue
        stage = stages[part.stage]
        one = stage.measurements[part.position]
        if part in runs:
            summed = gaussian_along(one, stage, runs[part], share)
            if summed is None:
                return None
            by_part[part] = summed
            continue
        form: Form = "centred" if isinstance(one, RowMoments) else "plain"
        reach = reaches(one, form, stage.limit, 2)
        draws: list[Draw] = []
        for position, each in enumerate(reach):
            draw = _gaussian(one, form, position, each, stage, share / len(reach), by_rho=by_rho)
            if draw is None:
                return None
            draws.append(draw)
        by_part[part] = Noised(measurement=one, form=form, draws=tuple(draws))
    return by_part


def _gaussian(
    one: Measurement, form: Form, position: int, reach: int, stage: Stage, share: Fraction, *, by_rho: bool
) -> Draw | None:
    fine: Draw | None = None
    for shift in noise_grid.shifts(noise_grid.largest(one, form, position), reach):
        there = rounded_reach(reach, noise_grid.cells(one, stage), shift, 2)
        scale = noise_grid.ceil_sqrt(Fraction(there**2) / share)
        if scale < noise_grid.GAUSSIAN_LIMIT:
            fine = Draw(mechanism="gaussian", shift=shift, norm=2, reach=there, scale=scale, rho=share / 2)
            break
    return whole_numbers.gaussian_draw(one, stage, share, fine) if by_rho else fine


def _gaussian_votes(share: Fraction, rounds: int) -> Votes | None:
    """Votes in norm 2 are within 2^bits, in each round. Rounds divide μ²: together they are one Gaussian of that share."""
    draws: list[Draw] = []
    bits_per_round: list[int] = []
    for part in (Fraction(1),) if rounds == 1 else TWO_ROUNDS:
        for bits in range(VOTE_BITS, -1, -1):
            scale = noise_grid.ceil_sqrt(Fraction(4**bits) / (share * part))
            if scale < noise_grid.GAUSSIAN_LIMIT:
                rho = share * part / 2
                draws.append(Draw(mechanism="gaussian", norm=2, reach=2**bits, scale=scale, rho=rho))
                bits_per_round.append(bits)
                break
        else:
            return None
    return Votes(tuple(draws), tuple(bits_per_round))


def _least_epsilon(
    stages: Sequence[Stage],
    weights: Mapping[Part, Fraction],
    epsilon: Fraction,
    delta: Fraction,
    runs: Mapping[Part, Running],
) -> float:
    """The smallest ε, to two digits, whose Gaussian noise fits the sampler."""
    low, high = epsilon, epsilon * 2
    while high < 2**20 and _with_mu(stages, weights, 2 * rho_for(high, delta), runs, by_rho=True) is None:
        low, high = high, high * 2
    for _ in range(12):
        middle = (low + high) / 2
        if _with_mu(stages, weights, 2 * rho_for(middle, delta), runs, by_rho=True) is None:
            low = middle
        else:
            high = middle
    return float(high)


__all__ = ["Calibrated", "Part", "Votes", "calibrated", "half_width"]
