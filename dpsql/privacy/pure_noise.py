"""Draws that are ε-DP of themselves: Laplace noise, choices, votes in norm 1. Their ε's add up."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.mechanisms.choice import Chooser, rho_of
from dpsql.plan.candidates import Extreme
from dpsql.plan.measurements import Choice, Measurement, RowMoments, TopGroups, shares
from dpsql.plan.stages import Draw, Form, Noised, Running, Stage
from dpsql.privacy import noise_grid, whole_numbers
from dpsql.privacy.along_order import along
from dpsql.privacy.parts import Accounting, Votes
from dpsql.privacy.sensitivity import reaches, rounded_reach, score_reach


def laplace(
    one: Measurement, share: Fraction, stage: Stage, epsilon: Fraction, running: Running | None = None
) -> Noised:
    """Lemma: totals with discrete Laplace noise of an integer scale t ≥ Δ'/ε_i, Δ' their reach in norm 1 on the noise grid,
    are ε_i-DP, all groups together. Proof: one unit moves the vector of totals by at most Δ' in ℓ1, and independent noise
    gives e^(Δ'/t) ≤ e^ε_i. Counts may have theirs on whole numbers (privacy/whole_numbers.py)."""
    form: Form = "ends" if isinstance(one, RowMoments) else "plain"
    reach = reaches(one, form, stage.limit, 1)
    if running is not None:
        running, most, count = along(one, stage, running)
        draw = noise_grid.finest(1, most, count, range(most.bit_length() + 1), share)
    else:
        tried = noise_grid.shifts(noise_grid.largest(one, form, 0), reach[0])
        fine = noise_grid.finest(1, reach[0], noise_grid.cells(one, stage) * len(reach), tried, share)
        draw = whole_numbers.laplace_draw(one, stage, share, fine)
    if draw is not None:
        return Noised(measurement=one, form=form, draws=(draw,) * len(reach), running=running)
    coarsest = Fraction(rounded_reach(reach[0], noise_grid.cells(one, stage) * len(reach), reach[0].bit_length(), 1))
    raise noise_grid.out_of_range(one.name, f"{float(epsilon * coarsest / share / noise_grid.LAPLACE_LIMIT):.2g}")


def choice(one: Measurement, share: Fraction, stage: Stage, accounting: Accounting) -> Draw:
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


def laplace_votes(share: Fraction, epsilon: Fraction) -> Votes:
    """Votes in norm 1: one unit moves them by at most 2^bits, so noise of scale 2^bits/ε is ε-DP."""
    draw = noise_grid.of_votes(1, share)
    if draw is None:
        least = epsilon * math.ceil(1 / share) / noise_grid.LAPLACE_LIMIT
        raise noise_grid.out_of_range("the selection of keys", f"{float(least):.2g}")
    return Votes((draw,))
