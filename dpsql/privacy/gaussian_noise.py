"""Gaussian draws: noise of totals, votes in norm 2. All of a query's together are one Gaussian, with one ε and δ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpsql.accounting.loss import rho_for, rho_of_gaussian
from dpsql.mechanisms import gaussian
from dpsql.plan.measurements import Measurement, RowMoments
from dpsql.plan.stages import Draw, Form, Noised, Running, Stage
from dpsql.privacy import noise_grid, whole_numbers
from dpsql.privacy.along_order import along
from dpsql.privacy.parts import VOTES, Accounting, Part, Votes
from dpsql.privacy.sensitivity import reaches

FINE_ENOUGH = 2**20  # from this scale on, a discrete Gaussian is a rounded continuous one within e^(±2^-38), out to 9 σ
NINE_SIGMA = Fraction(23, 10**20)  # P[|N(0,1)| > 9] is 2.26e-19
LATTICE_EPSILON = Fraction(1, 2**37)
TWO_ROUNDS = (Fraction(1, 5), Fraction(4, 5))  # what finds the common keys, and what then finds the rare ones


def gaussians(
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
            if curve is not None and all(draw.scale >= FINE_ENOUGH for each in curve.values() for draw in each.draws):
                return curve, rho_of_gaussian(mu)
    rho = rho_for(epsilon, delta)
    first = next(iter(weights)).measured(stages)
    name = "the selection of keys" if first is None else first.name
    if rho <= 0:
        raise noise_grid.out_of_range(name, "more")
    by_part = _with_mu(stages, weights, 2 * rho, runs, by_rho=True)
    if by_part is None:
        least = _least_epsilon(stages, weights, epsilon, delta, runs)
        raise noise_grid.out_of_range(name, f"{least:.2g} (or use mechanism='laplace')")
    return by_part, rho


def _coordinates(part: Part, stages: Sequence[Stage]) -> int:
    one = part.measured(stages)
    if one is None:
        return VOTES * part.rounds
    return noise_grid.cells(one, stages[part.stage]) * (one.degree + 1 if isinstance(one, RowMoments) else 1)


def _with_mu(
    stages: Sequence[Stage],
    weights: Mapping[Part, Fraction],
    mu_squared: Fraction,
    runs: Mapping[Part, Running],
    *,
    by_rho: bool = False,
) -> dict[Part, Noised | Votes] | None:
    """σᵢ with Δᵢ²/σᵢ² ≤ μ²·wᵢ for all, in whole noise-grid steps; None if one does not fit the sampler."""
    by_part: dict[Part, Noised | Votes] = {}
    for part, weight in weights.items():
        one, share = part.measured(stages), mu_squared * weight
        drawn = (
            _votes(share, part.rounds)
            if one is None
            else gaussian_totals(one, stages[part.stage], share, runs.get(part), by_rho=by_rho)
        )
        if drawn is None:
            return None
        by_part[part] = drawn
    return by_part


def gaussian_totals(
    one: Measurement, stage: Stage, share: Fraction, running: Running | None, *, by_rho: bool
) -> Noised | None:
    """The totals of moments are vectors of their own, with equal parts of the share. by_rho: what is paid is ρ, not the
    curve, so counts may have their noise on whole numbers."""
    form: Form = "centred" if isinstance(one, RowMoments) else "plain"
    draws: list[Draw | None] = []
    if running is not None:
        running, reach, count = along(one, stage, running)
        draws.append(noise_grid.finest(2, reach, count, range(reach.bit_length() + 1), share))
    else:
        by_vector = reaches(one, form, stage.limit, 2)
        equal = share / len(by_vector)
        for position, reach in enumerate(by_vector):
            shifts = noise_grid.shifts(noise_grid.largest(one, form, position), reach)
            fine = noise_grid.finest(2, reach, noise_grid.cells(one, stage), shifts, equal)
            draws.append(whole_numbers.gaussian_draw(one, stage, equal, fine) if by_rho else fine)
    fitting = tuple(draw for draw in draws if draw is not None)
    return Noised(measurement=one, form=form, draws=fitting, running=running) if len(fitting) == len(draws) else None


def _votes(share: Fraction, rounds: int) -> Votes | None:
    """Votes in norm 2 are within 2^bits, in each round. Rounds divide μ²: together they are one Gaussian of that share."""
    draws = [noise_grid.of_votes(2, share * part) for part in ((Fraction(1),) if rounds == 1 else TWO_ROUNDS)]
    fitting = tuple(draw for draw in draws if draw is not None)
    return Votes(fitting) if len(fitting) == len(draws) else None


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
