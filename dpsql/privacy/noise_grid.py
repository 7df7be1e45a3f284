"""The grid that noise lives on: fine enough to lose nothing, coarse enough for 64-bit integers and exact samplers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from dpsql.errors import Refused
from dpsql.plan.balls import WEIGHT_BITS
from dpsql.plan.measurements import Histogram, Measurement, RowMoments, RowTotal, UnitTotal, most
from dpsql.plan.stages import GRID_LIMIT, Form, Stage

GAUSSIAN_LIMIT = 2**21  # what the samplers take
LAPLACE_LIMIT = 2**31
SELECTED_LIMIT = 2**20  # private keys that are released at most
ROW_BITS = 34  # 2^34 rows fit before totals saturate


def shifts(largest: int, reach: int) -> Iterator[int]:
    """The k of noise grids 2^k to try, finest first: 2^34 rows of pieces up to `largest` must fit in 62 bits, and beyond the
    reach itself a grid says nothing any more."""
    by_rows = max(0, max(1, largest).bit_length() + WEIGHT_BITS + ROW_BITS - GRID_LIMIT)
    yield from range(by_rows, max(by_rows, reach.bit_length()) + 1)


def ceil_sqrt(value: Fraction) -> int:
    """Smallest integer t with t² ≥ value."""
    whole = -(-value.numerator // value.denominator)
    root = math.isqrt(whole)
    return root if root * root >= whole else root + 1


def cells(one: Measurement, stage: Stage) -> int:
    """How many totals of one draw there are over all groups: those that rounding may each move by one more."""
    groups = stage.combinations if stage.public_keys else SELECTED_LIMIT
    return groups * (len(one.answers) if isinstance(one, Histogram) else 1)


def largest(one: Measurement, form: Form, position: int) -> int:
    """The largest piece of a total: what a row adds to it at most, or a unit, whose values are limited."""
    match one:
        case RowTotal(within=within) if within is not None:
            return min(most(one.piece), within)
        case RowTotal():
            return most(one.piece)
        case UnitTotal():
            return max(abs(end) for end in one.clamp)
        case RowMoments() if form == "ends":
            return int((2 * one.axis.half) ** one.degree)
        case RowMoments():
            return int(one.axis.half**position)
        case _:
            return 1


def out_of_range(name: str, least: str) -> Refused:
    return Refused(
        f"ε is too small for {name}",
        code=134,
        why="Its noise would not fit the exact sampler.",
        fix=f"Ask with an ε of at least {least}.",
    )
