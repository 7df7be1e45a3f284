"""The grid that noise lives on: fine enough to lose nothing, coarse enough for 64-bit integers and exact samplers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from dpsql.plan.balls import WEIGHT_BITS
from dpsql.plan.stages import GRID_LIMIT

GAUSSIAN_LIMIT = 2**21  # what the samplers take
LAPLACE_LIMIT = 2**31
ROW_BITS = 34  # 2^34 rows fit before totals saturate


def shifts(most: int, reach: int) -> Iterator[int]:
    """The k of noise grids 2^k to try, finest first: 2^34 rows of pieces up to `most` must fit in 62 bits, and beyond the
    reach itself a grid says nothing any more."""
    by_rows = max(0, max(1, most).bit_length() + WEIGHT_BITS + ROW_BITS - GRID_LIMIT)
    yield from range(by_rows, max(by_rows, reach.bit_length()) + 1)


def ceil_sqrt(value: Fraction) -> int:
    """Smallest integer t with t² ≥ value."""
    whole = -(-value.numerator // value.denominator)
    root = math.isqrt(whole)
    return root if root * root >= whole else root + 1
