"""The noise of every measurement for a given ε: one way to make them all noisy, by Laplace or by Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.accounting.loss import Cost, rho_for, rho_of_gaussian, rho_of_laplace
from dpsql.errors import Refused
from dpsql.mechanisms import gaussian, laplace
from dpsql.plan.candidates import Extreme
from dpsql.plan.stages import Measure, Noise, Stage
from dpsql.privacy import noise_grid
from dpsql.privacy.sensitivity import on_noise_grid

Accounting = OneOf["approx", "zcdp"]
FINE_ENOUGH = 2**20  # from this scale on, a discrete Gaussian is a rounded continuous one within e^(±2^-38), out to 9 σ
NINE_SIGMA = Fraction(23, 10**20)  # P[|N(0,1)| > 9] is 2.26e-19
LATTICE_EPSILON = Fraction(1, 2**37)


@dataclass(frozen=True, slots=True)
class Calibrated:
    """One way to make all measurements noisy, by (stage, measure) position."""

    noises: dict[tuple[int, int], Noise]
    cost: Cost
    delta_keys: Fraction


def half_width(noise: Noise, level: float = 0.95) -> int:
    """The smallest r, in noise-grid integers, with P[|noise| ≥ r] ≤ 1 − level."""
    match noise.mechanism:
        case "laplace":
            return laplace.half_width(noise.scale, level)
        case "gaussian":
            return gaussian.half_width(noise.scale, level)
        case _:
            return 0


def with_laplace(
    stages: tuple[Stage, ...],
    drawn: list[tuple[int, int]],
    weights: dict[tuple[int, int], Fraction],
    epsilon: Fraction,
    delta_keys: Fraction,
) -> Calibrated:
    """Lemma: measurement i with scale t ≥ Δ·L0/ε_i (all integers on its noise grid) is ε_i-DP.

    Proof: one unit changes at most L0 groups by at most Δ each, so the vector of totals moves by at most Δ·L0 in ℓ1, and
    independent discrete Laplace noise of scale t on each gives e^(Δ·L0/t) ≤ e^ε_i. The ε_i add up to ε.
    """
    noises: dict[tuple[int, int], Noise] = {}
    rho = Fraction(0)
    for at in drawn:
        stage, one = stages[at[0]], stages[at[0]].measures[at[1]]
        share, groups = epsilon * weights[at], stage.bounding.max_groups
        if one.chosen:
            noises[at] = choice(one, share, groups)
            rho += noises[at].rho
            continue
        shift = noise_grid.shift_for(one, Fraction(one.sensitivity * groups) / share)
        there = on_noise_grid(one.sensitivity, shift)
        scale = math.ceil(Fraction(there * groups) / share)
        if scale >= noise_grid.LAPLACE_LIMIT:
            raise _out_of_range(one, f"{float(share * scale / noise_grid.LAPLACE_LIMIT / weights[at]):.2g}")
        cost = rho_of_laplace(share, groups)
        noises[at] = Noise(mechanism="laplace", shift=shift, sensitivity=there, scale=scale, epsilon=share, rho=cost)
        rho += cost
    return Calibrated(noises, Cost(epsilon=epsilon, delta=delta_keys, rho=rho, delta_keys=delta_keys), delta_keys)


def choice(one: Measure, share: Fraction, groups: int) -> Noise:
    """Permute-and-flip: each of the measure's levels with ε_i ÷ levels, in each of the L0 groups with that ÷ L0.

    Lemma: ε_i-DP in all. Proof: a unit reaches at most L0 groups and each level of a group is (ε_i/levels/L0)-DP
    (mechanisms/order_statistics); levels and groups add up. In zCDP L0·levels·(ε_i/levels/L0)²/2.
    rank: ⌈2Δ·ln(candidates)/ε⌉ rows beyond an end are about what permute-and-flip may miss by.
    """
    assert one.candidates is not None
    levels = one.candidates.question.levels
    if one.kind == "groups":
        groups = 1  # one choice among all groups: what a unit moves the scores by does not grow with its groups
    rank = 0
    if isinstance(one.candidates.question, Extreme):
        rank = math.ceil(2 * one.sensitivity * groups * Fraction(math.log(one.candidates.count)) / share)
    return Noise(
        mechanism="permute-and-flip",
        shift=0,
        sensitivity=one.sensitivity,
        scale=0,
        epsilon=share,
        rho=rho_of_laplace(share / levels, groups) * levels,
        rank=rank,
    )


def _out_of_range(one: Measure, least: str) -> Refused:
    return Refused(
        f"ε is too small for {one.name}",
        code=134,
        why="Its noise would not fit the exact sampler.",
        fix=f"Ask with an ε of at least {least}.",
    )


def with_gaussian(
    stages: tuple[Stage, ...],
    drawn: list[tuple[int, int]],
    weights: dict[tuple[int, int], Fraction],
    epsilon: Fraction,
    delta: Fraction,
    delta_keys: Fraction,
    accounting: Accounting,
) -> Calibrated:
    """Under approx accounting the exact Gaussian curve, under zcdp (or where the lattice is too coarse) ρ.

    Lemma: k Gaussians with Δ₂ᵢ/σᵢ = μ·√wᵢ, Σwᵢ = 1, are one Gaussian with Δ₂/σ = μ. Proof: scale each coordinate by its
    σ; the joint shift has length √(Σ μ²wᵢ) = μ. One unit moves measurement i by at most √L0·Δ in ℓ2.

    Lattice: at t ≥ 2^20 the discrete pmf is within e^(±2^-38) of a rounded continuous Gaussian's out to nine σ, and
    rounding is post-processing. L0·k coordinates differ, so calibrating at ε − L0·k·2^-37 and charging the mass beyond
    nine σ of each to δ covers the difference.
    """
    additive = [(i, j) for i, j in drawn if not stages[i].measures[j].chosen]
    choices = {
        (i, j): choice(stages[i].measures[j], epsilon * weights[i, j], stages[i].bounding.max_groups)
        for i, j in drawn
        if stages[i].measures[j].chosen
    }
    part = sum((weights[at] for at in additive), Fraction(0))
    shares = {at: weights[at] / part for at in additive}
    inner, drawn = epsilon * part, additive  # what the choices leave
    spent = sum((noise.rho for noise in choices.values()), Fraction(0))
    if accounting == "approx":
        coordinates = sum(stages[i].bounding.max_groups * stages[i].measures[j].answers for i, j in drawn)
        inner_epsilon = inner - coordinates * LATTICE_EPSILON
        inner_delta = delta - 2 * coordinates * NINE_SIGMA
        if inner_epsilon > 0 and inner_delta > delta / 2:
            mu = gaussian.mu_for(inner_epsilon, inner_delta)
            curve = _gaussians(stages, drawn, shares, mu * mu)
            if curve is not None and all(n.scale >= FINE_ENOUGH for n in curve.values()):
                rho = rho_of_gaussian(mu) + spent
                return Calibrated(
                    curve | choices,
                    Cost(epsilon=epsilon, delta=delta + delta_keys, rho=rho, delta_keys=delta_keys),
                    delta_keys,
                )
    rho = rho_for(inner, delta)
    if rho <= 0:
        raise _out_of_range(stages[drawn[0][0]].measures[drawn[0][1]], "more")
    noises = _gaussians(stages, drawn, shares, 2 * rho)
    if noises is None:
        one = stages[drawn[0][0]].measures[drawn[0][1]]
        least = _least_epsilon(stages, drawn, shares, inner, delta) / float(part)
        raise _out_of_range(one, f"{least:.2g} (or use mechanism='laplace')")
    cost = Cost(epsilon=epsilon, delta=delta + delta_keys, rho=rho + spent, delta_keys=delta_keys)
    return Calibrated(noises | choices, cost, delta_keys)


def _gaussians(
    stages: tuple[Stage, ...],
    drawn: list[tuple[int, int]],
    weights: dict[tuple[int, int], Fraction],
    mu_squared: Fraction,
) -> dict[tuple[int, int], Noise] | None:
    """σᵢ with Δ²·L0/σ² ≤ μ²·wᵢ for all, in whole noise-grid steps; None if one does not fit the sampler."""
    noises: dict[tuple[int, int], Noise] = {}
    for at in drawn:
        stage, one = stages[at[0]], stages[at[0]].measures[at[1]]
        share, groups = mu_squared * weights[at], stage.bounding.max_groups
        rough = noise_grid.ceil_sqrt(Fraction(one.sensitivity**2 * groups) / share * 2**80)
        shift = noise_grid.shift_for(one, Fraction(rough, 2**40))
        there, scale = _gaussian_on(one, shift, groups, share)
        if scale >= 2**noise_grid.SCALE_BITS and shift < noise_grid.coarsest(one):  # rounding up went just past it
            shift += 1
            there, scale = _gaussian_on(one, shift, groups, share)
        if scale >= 2**noise_grid.SCALE_BITS:
            return None
        noises[at] = Noise(mechanism="gaussian", shift=shift, sensitivity=there, scale=scale, rho=share / 2)
    return noises


def _gaussian_on(one: Measure, shift: int, groups: int, share: Fraction) -> tuple[int, int]:
    """The sensitivity on a noise grid, and the smallest whole σ there that pays for it."""
    there = on_noise_grid(one.sensitivity, shift)
    return there, noise_grid.ceil_sqrt(Fraction(there**2 * groups) / share)


def _least_epsilon(
    stages: tuple[Stage, ...],
    drawn: list[tuple[int, int]],
    weights: dict[tuple[int, int], Fraction],
    epsilon: Fraction,
    delta: Fraction,
) -> float:
    """The smallest ε, to two digits, whose Gaussian noise fits the sampler."""
    low, high = epsilon, epsilon * 2
    while high < 2**20 and _gaussians(stages, drawn, weights, 2 * rho_for(high, delta)) is None:
        low, high = high, high * 2
    for _ in range(12):
        middle = (low + high) / 2
        if _gaussians(stages, drawn, weights, 2 * rho_for(middle, delta)) is None:
            low = middle
        else:
            high = middle
    return float(high)
