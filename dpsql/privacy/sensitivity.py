"""How much one unit can add to one group's total: every Δ of dpsql is computed here, in integers, after rounding.

Notation: R = max_rows. A unit's rows in a group that enter a measurement: c of them, with integer pieces p_1 … p_c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpsql.domain.interval import Interval
from dpsql.domain.types import Kind, Type

VALUE_BITS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGrid:
    """The grid of a measured expression: step h, and its bounds as integers there."""

    step: Fraction
    low: int
    high: int


def value_grid(type_: Type, bounds: Interval) -> ValueGrid:
    """The grid that a type and finite bounds give: 1 for integers, 10^-s for DECIMAL(p, s), else the power of two nearest
    2^-40 of the larger bound.

    Lemma: each value's integer lies in low..high. Proof: it is clamped there, in integers, after rounding (plan/render).
    Whole-number types round the bounds inwards (no value lies between), reals to the nearest grid point.
    """
    lower, upper = bounds.ends()
    if lower > upper:  # a contradictory filter: no row passes, any point will do
        upper = lower
    match type_.kind:
        case Kind.INTEGER | Kind.BOOLEAN:
            step = Fraction(1)
        case Kind.DECIMAL:
            step = Fraction(1, 10**type_.scale)
        case _:
            step = _power_of_two_near(max(abs(lower), abs(upper)))
            return ValueGrid(step=step, low=_nearest(lower / step), high=_nearest(upper / step))
    low, high = math.ceil(lower / step), math.floor(upper / step)
    return ValueGrid(step=step, low=min(low, high), high=high)


def _power_of_two_near(bound: Fraction) -> Fraction:
    if bound == 0:
        return Fraction(1)
    exponent = math.floor(math.log2(bound.numerator) - math.log2(bound.denominator) + 0.5) - VALUE_BITS
    return Fraction(2) ** exponent


def _nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def units() -> int:
    """A unit is counted once in a group: Δ = 1."""
    return 1


def rows(max_rows: int) -> int:
    """Lemma: the share min(c, R) is in 0..R, so adding or removing the unit changes the total by at most R."""
    return max_rows


def total(grid: ValueGrid, max_rows: int) -> int:
    """Lemma: the share of Σ x_h is at most R·max(|low|, |high|) in absolute value.

    Proof: with P = max(|low|, |high|), |Σ p_i| ≤ c·P. For c ≤ R the share is Σ p_i, at most R·P. For c > R it is
    Σ p_i·R ÷ c truncated towards zero, at most c·P·R/c = R·P. Adding or removing the unit adds or removes its share.
    """
    return max_rows * max(abs(grid.low), abs(grid.high))


def centred(grid: ValueGrid, max_rows: int) -> int:
    """Lemma: the share of Σ (2·x_h − low − high) is at most R·(high − low).

    Proof: low ≤ x_h ≤ high gives |2·x_h − low − high| ≤ high − low; then as for `total`. The centre is exact because the
    integers are doubled: the grid is h/2.
    """
    return max_rows * (grid.high - grid.low)


def on_noise_grid(sensitivity: int, shift: int) -> int:
    """⌈Δ / 2^shift⌉: the sensitivity after totals go from the value grid to the noise grid.

    Lemma: for shift ≤ 0 the total is multiplied by 2^-shift, exact. For shift = k > 0 it is rounded half up,
    r(x) = ⌊(x + 2^(k-1)) / 2^k⌋, and |x − y| ≤ Δ gives |r(x) − r(y)| ≤ ⌈Δ/2^k⌉: r is a floor of an affine map of slope
    2^-k, and |⌊a⌋ − ⌊b⌋| ≤ ⌈|a − b|⌉.
    """
    if shift <= 0:
        return int(sensitivity * 2**-shift)
    return -(-sensitivity >> shift)
