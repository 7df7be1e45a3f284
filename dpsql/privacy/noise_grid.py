"""The grid that noise lives on: fine enough to lose nothing, coarse enough for 64-bit integers and exact samplers; and the
noise of a share on it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from dpsql.accounting.loss import rho_of_pure
from dpsql.errors import Refused
from dpsql.mechanisms import gaussian, laplace
from dpsql.plan.balls import WEIGHT_BITS, Norm
from dpsql.plan.measurements import DistinctCount, Histogram, Measurement, RowMoments, RowTotal, UnitTotal, most
from dpsql.plan.slices import slice_of
from dpsql.plan.stages import GRID_LIMIT, Draw, Form, Stage
from dpsql.privacy.sensitivity import rounded_reach

GAUSSIAN_LIMIT = 2**21  # what the samplers take
LAPLACE_LIMIT = 2**31
VOTE_BITS = 20
SELECTED_LIMIT = 2**20  # private keys that are released at most
ROW_BITS = 34  # 2^34 rows fit before totals saturate


def shifts(largest: int, reach: int) -> Iterator[int]:
    """The k of noise grids 2^k to try, finest first: 2^34 rows of pieces up to `largest` must fit in 62 bits, and beyond the
    reach itself a grid says nothing any more."""
    by_rows = max(0, max(1, largest).bit_length() + WEIGHT_BITS + ROW_BITS - GRID_LIMIT)
    yield from range(by_rows, max(by_rows, reach.bit_length()) + 1)


def draw_of(norm: Norm, reach: int, share: Fraction, shift: int = 0, parts: int = 1) -> Draw | None:
    """In norm 1 Laplace noise of scale ⌈reach/share⌉, share its ε; in norm 2 Gaussian noise of σ = ⌈reach/√share⌉, share its
    μ². Both are rounded up to a `parts`-th of a step. None where it does not fit the sampler."""
    if norm == 1:
        scale, epsilon, rho = math.ceil(reach * parts / share), share, rho_of_pure(share)
    else:
        scale, epsilon, rho = ceil_sqrt((reach * parts) ** 2 / share), Fraction(0), share / 2
    if scale >= (LAPLACE_LIMIT if norm == 1 else GAUSSIAN_LIMIT):
        return None
    return Draw(
        mechanism="laplace" if norm == 1 else "gaussian",
        shift=shift,
        norm=norm,
        reach=reach,
        scale=scale,
        parts=parts,
        epsilon=epsilon,
        rho=rho,
    )


def finest(norm: Norm, reach: int, count: int, shifts: Iterable[int], share: Fraction) -> Draw | None:
    """The noise of `count` totals that one unit moves by `reach`, on the finest of these grids on which it fits."""
    draws = (draw_of(norm, rounded_reach(reach, count, shift, norm), share, shift) for shift in shifts)
    return next((draw for draw in draws if draw is not None), None)


def of_votes(norm: Norm, share: Fraction) -> Draw | None:
    """A unit's votes are within 2^bits in the norm: the finest of these that fits."""
    draws = (draw_of(norm, 2**bits, share) for bits in range(VOTE_BITS, -1, -1))
    return next((draw for draw in draws if draw is not None), None)


def ceil_sqrt(value: Fraction) -> int:
    """Smallest integer t with t² ≥ value."""
    whole = -(-value.numerator // value.denominator)
    root = math.isqrt(whole)
    return root if root * root >= whole else root + 1


def cells(one: Measurement, stage: Stage) -> int:
    """How many totals of one draw there are over all groups: those that rounding may each move by one more."""
    groups = stage.combinations if stage.public_keys else SELECTED_LIMIT
    mine = slice_of(one)
    return groups * (len(one.answers) if isinstance(one, Histogram) else 1 if mine is None else mine.of)


def largest(one: Measurement, form: Form, position: int) -> int:
    """The largest piece of a total: what a row adds to it at most, or a unit, whose values are limited."""
    match one:
        case RowTotal(within=within) if within is not None:
            return min(most(one.piece), within)
        case RowTotal():
            return most(one.piece)
        case UnitTotal():
            return max(abs(end) for end in one.clamp)
        case DistinctCount():
            return one.largest
        case RowMoments() if form == "ends":
            return int((2 * one.axis.most_centred) ** one.degree)
        case RowMoments():
            return int(one.axis.most_centred**position)
        case _:
            return 1


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


def out_of_range(name: str, least: str) -> Refused:
    return Refused(
        f"ε is too small for {name}",
        code=134,
        why="Its noise would not fit the exact sampler.",
        fix=f"Ask with an ε of at least {least}.",
    )
