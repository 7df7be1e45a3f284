"""The grid that noise lives on: fine enough to lose nothing, coarse enough for 64-bit integers and exact samplers."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.plan.candidates import WEIGHT
from dpsql.plan.stages import GRID_LIMIT, Measure

SCALE_BITS = 21  # noise scales are below 2^21 grid steps where the sensitivity allows it
ROW_BITS = 40  # 2^40 rows must fit
LAPLACE_LIMIT = 2**31


def shift_for(measure: Measure, scale: Fraction) -> int:
    """k of the noise grid step·2^k for a noise scale given in value-grid integers.

    The smallest k with scale/2^k < 2^21 for which 2^40 rows fit in 62 bits, never above ⌊log2 Δ⌋, so that rounding
    totals to the grid cannot inflate the sensitivity: for k ≤ log2 Δ, ⌈Δ/2^k⌉·2^k < Δ + 2^k ≤ 2Δ, and only where ε is
    so small that the scale is beyond 2^21·Δ does that bound bite at all.
    """
    if measure.candidates is not None:  # bins: their weights are counted on the noise grid itself, from 2^-20 to 1 row
        return min(max(_ceil_log2_above(scale / 2**SCALE_BITS), 0), coarsest(measure))
    by_scale = _ceil_log2_above(scale / 2**SCALE_BITS)
    by_rows = _ceil_log2(Fraction(measure.row_bound, 2 ** (GRID_LIMIT - ROW_BITS)))
    return min(max(by_scale, by_rows), coarsest(measure))


def coarsest(measure: Measure) -> int:
    """The largest k of a measure's noise grid."""
    return (WEIGHT if measure.candidates is not None else measure.sensitivity).bit_length() - 1


def _ceil_log2(value: Fraction) -> int:
    """Smallest k with value ≤ 2^k."""
    k = _floor_log2(value)
    return k if Fraction(2) ** k == value else k + 1


def _ceil_log2_above(value: Fraction) -> int:
    """Smallest k with value < 2^k."""
    return _floor_log2(value) + 1


def _floor_log2(value: Fraction) -> int:
    k = value.numerator.bit_length() - value.denominator.bit_length()
    return k if Fraction(2) ** k <= value else k - 1


def ceil_sqrt(value: Fraction) -> int:
    """Smallest integer t with t² ≥ value."""
    whole = -(-value.numerator // value.denominator)
    root = math.isqrt(whole)
    return root if root * root >= whole else root + 1
