"""Counts with noise that is whole itself: where a total loses nothing by being rounded to whole pieces, noise on a finer
grid would be rounded with it, for a larger variance at the same price.

Two-sided geometric noise of scale b = Δ/ε has the variance 2q/(1 − q)², q = e^(−1/b), which is less than Laplace noise's
2b², to which rounding adds 1/12. Scales are fractions, so none is lost to rounding them up to whole numbers.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.mechanisms import gaussian, laplace
from dpsql.plan.balls import FULL, WEIGHT_BITS, Norm
from dpsql.plan.measurements import DistinctCount, Histogram, Measurement, RowTotal, UnitTotal, most
from dpsql.plan.slices import slice_of
from dpsql.plan.stages import Draw, Stage
from dpsql.privacy import noise_grid
from dpsql.privacy.sensitivity import reaches

LAPLACE_PARTS = 2**20
GAUSSIAN_PARTS = 2**10
WIDEST_SIGMA = 8  # beyond it rounding's 1/12 is less than a thousandth of the variance
ROUNDING = 1 / 12  # the variance of what rounding to whole numbers adds


def whole_reach(one: Measurement, stage: Stage, norm: Norm) -> int | None:
    """How far one unit moves a count's totals after they were rounded to whole pieces, over all groups; None where rounding
    may move them farther than ⌈Δ/2^20⌉, or where it is no count.

    Lemma: ⌈Δ/2^20⌉, in both norms, where nothing is weighed or there is one total. Proof. Nothing weighed: every row (or
    kept value) adds 2^20, its negative or nothing, so the totals are multiples of 2^20, rounding to 2^20 divides them
    exactly, and the norm of their change is at most Δ/2^20; that is at most the whole number above. One total: if it
    moves by a, |a| ≤ Δ, then r(x) = ⌊(x + 2^19)/2^20⌋ moves by at most ⌈|a|/2^20⌉; both norms of one number are its size.

    Levels of grouping sets are combined as reals and rounded once (release/consistency.py), so there it would gain nothing.
    """
    if stage.level is not None or not _counts(one):
        return None
    unweighed = stage.source.single or isinstance(one, DistinctCount)
    if not unweighed and (stage.keys or isinstance(one, Histogram) or slice_of(one) is not None):
        return None
    (reach,) = reaches(one, "plain", stage.limit, norm)
    return -(-reach >> WEIGHT_BITS)


def _counts(one: Measurement) -> bool:
    match one:
        case RowTotal(within=None):
            return most(one.piece) == 1
        case UnitTotal():
            return max(abs(end) for end in one.clamp) == 1
        case Histogram():
            return True
        case DistinctCount():
            return one.axis is None
        case _:
            return False


def laplace_draw(one: Measurement, stage: Stage, share: Fraction, fine: Draw | None) -> Draw | None:
    """Two-sided geometric noise of scale ⌈2^20·Δ'/ε_i⌉/2^20 ≥ Δ'/ε_i where it is no worse than `fine`.

    Lemma: ε_i-DP, all groups together. Proof: one unit moves the whole-number totals by at most Δ' in ℓ1
    (`whole_reach`), and with P[x] ∝ e^(−|x|/b) independently on each the ratio is at most e^(Δ'/b) ≤ e^ε_i.
    """
    reach = whole_reach(one, stage, 1)
    if reach is None:
        return fine
    whole = noise_grid.draw_of(1, reach, share, WEIGHT_BITS, LAPLACE_PARTS)
    return fine if whole is None else better(whole, fine, stage)


def gaussian_draw(one: Measurement, stage: Stage, share: Fraction, fine: Draw | None) -> Draw | None:
    """Discrete Gaussian noise on whole numbers, σ = ⌈2^10·Δ'/√share⌉/2^10, where it is no worse than `fine`; share = μ².

    Lemma: μ²/2-zCDP. Proof: the totals are whole numbers which one unit moves by at most Δ' in ℓ2 (`whole_reach`), and
    discrete Gaussians on whole numbers have no more Rényi divergence than continuous ones (Canonne, Kamath, Steinke, 2020,
    theorem 14, for every σ > 0). This is zCDP's price: the curve of approximate DP is that of continuous noise.
    """
    reach = whole_reach(one, stage, 2)
    if reach is None:
        return fine
    whole = noise_grid.draw_of(2, reach, share, WEIGHT_BITS, GAUSSIAN_PARTS)
    return fine if whole is None or whole.steps > WIDEST_SIGMA else better(whole, fine, stage)


def better(whole: Draw, fine: Draw | None, stage: Stage) -> Draw:
    """By the predicted variance of a whole-number answer: what is weighed is rounded in either way, once."""
    if fine is None:
        return whole
    rounding = ROUNDING if stage.source.single else 0.0
    return whole if variance(whole) <= variance(fine) + rounding else fine


def variance(draw: Draw) -> float:
    """Of the noise, in whole pieces."""
    if draw.mechanism == "laplace":
        return laplace.variance(draw.scale, draw.parts) * (draw.grid / FULL) ** 2
    if draw.parts > 1:
        return gaussian.variance(draw.scale, draw.parts)
    return (draw.scale * draw.grid / FULL) ** 2
