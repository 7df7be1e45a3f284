"""How much one unit can add to one group's total: every Δ of dpsql is computed here, in integers, after rounding.

Notation: R = max_rows. A unit's rows in a group that enter a measurement: c of them, with integer pieces p_1 … p_c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpsql.domain.interval import Interval
from dpsql.domain.types import Kind, Type
from dpsql.plan.candidates import WEIGHT
from dpsql.plan.stages import Axis

VALUE_BITS = 40
LARGEST_REAL = Fraction(2) ** 480  # its square, and sums of 2^60 squares, are still doubles
FINEST_STEP = -500  # the power of two; so are its square and its inverse
MOMENT_BITS = 30  # products of two centred integers of this many bits fit a BIGINT


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGrid:
    """The grid of a measured expression: step h, and its bounds as integers there."""

    step: Fraction
    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low


def value_grid(type_: Type, bounds: Interval) -> ValueGrid:
    """The grid that a type and finite bounds give: 1 for integers, 10^-s for DECIMAL(p, s), else the power of two nearest
    2^-40 of the larger bound (at least 2^-500: finer ones have no place in a double).

    Lemma: each value's integer lies in low..high. Proof: it is clamped there, in integers, after rounding (plan/render).
    Whole-number types round the bounds inwards (no value lies between), reals to the nearest grid point.
    """
    lower, upper = bounds.ends()
    if lower > upper:  # a contradictory filter: no row passes, any point will do
        upper = lower
    match type_.kind:
        case Kind.INTEGER | Kind.BOOLEAN | Kind.DATE | Kind.TIMESTAMP:
            step = Fraction(1)
        case Kind.DECIMAL:
            step = Fraction(1, 10**type_.scale)
        case _:
            step = _power_of_two_near(max(abs(lower), abs(upper)))
            return ValueGrid(step=step, low=_nearest(lower / step), high=_nearest(upper / step))
    low, high = math.ceil(lower / step), math.floor(upper / step)
    return ValueGrid(step=step, low=min(low, high), high=high)


def moment_grid(type_: Type, bounds: Interval) -> ValueGrid:
    """The value grid, coarsened by a power of two until high − low ≤ 2^30, so that products of two centred integers,
    doubled, are below 2^62.

    Bias: a value moves by at most step/2 ≤ width·2^-30 in the user's units, all moments are those of the moved values, so
    a variance changes by at most σ·step + step²/4 (Cauchy–Schwarz) and a covariance by no more than its two factors'.
    """
    fine = value_grid(type_, bounds)
    coarser = max(0, (max(fine.width - 1, 0) >> MOMENT_BITS).bit_length())
    if not coarser:
        return fine
    half = 1 << (coarser - 1)
    return ValueGrid(step=fine.step * 2**coarser, low=(fine.low + half) >> coarser, high=(fine.high + half) >> coarser)


def _power_of_two_near(bound: Fraction) -> Fraction:
    if bound == 0:
        return Fraction(1)
    exponent = math.floor(math.log2(bound.numerator) - math.log2(bound.denominator) + 0.5) - VALUE_BITS
    return Fraction(2) ** max(exponent, FINEST_STEP)


def representable(type_: Type, bounds: Interval) -> bool:
    """Whether everything computed from a value grid with these bounds is a finite double: asked before it is made."""
    return type_.kind is not Kind.REAL or max(abs(end) for end in bounds.ends()) <= LARGEST_REAL


def _nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))


def units() -> int:
    """A unit is counted once in a group: Δ = 1."""
    return 1


def rows(max_rows: int) -> int:
    """Lemma: the share min(c, R) is in 0..R, so adding or removing the unit changes the total by at most R."""
    return max_rows


def total(grid: ValueGrid | Axis, max_rows: int) -> int:
    """Lemma: the share of Σ x_h is at most R·max(|low|, |high|) in absolute value.

    Proof: with P = max(|low|, |high|), |Σ p_i| ≤ c·P. For c ≤ R the share is Σ p_i, at most R·P. For c > R it is
    Σ p_i·R ÷ c truncated towards zero, at most c·P·R/c = R·P. Adding or removing the unit adds or removes its share.
    """
    return max_rows * max(abs(grid.low), abs(grid.high))


def centred(grid: ValueGrid | Axis, max_rows: int) -> int:
    """Lemma: the share of Σ (2·x_h − low − high) is at most R·(high − low).

    Proof: low ≤ x_h ≤ high gives |2·x_h − low − high| ≤ high − low; then as for `total`. The centre is exact because the
    integers are doubled: the grid is h/2.
    """
    return max_rows * (grid.high - grid.low)


def square(axis: ValueGrid | Axis, max_rows: int) -> int:
    """Lemma: the share of Σ (2·z² − W²), z = 2·x_h − low − high, W = high − low, is at most R·W².

    Proof: |z| ≤ W gives 0 ≤ 2·z² ≤ 2·W², so each piece is within ±W²; then as for `total`. Centring halves Δ: Σ z² alone
    moves by R·W² on a grid twice as coarse.
    """
    return max_rows * axis.width**2


def product(axis: ValueGrid | Axis, second: ValueGrid | Axis, max_rows: int) -> int:
    """Lemma: the share of Σ z·z′ is at most R·W·W′. Proof: |z| ≤ W and |z′| ≤ W′; then as for `total`."""
    return max_rows * axis.width * second.width


def clamped(low: int, high: int) -> int:
    """Lemma: a unit's sum clamped to low..high moves a group's total by at most max(|low|, |high|).

    Proof: its share is 0 without rows and in low..high with some; no scaling is needed, all its rows may count.
    """
    return max(abs(low), abs(high))


def distinct(max_rows: int) -> int:
    """Lemma: the number of different values over all units' kept values changes by at most R.

    Proof: of a unit at most R values of a group are kept (strictly below its (R+1)-th smallest hash), by a function of
    that unit's rows and the salt; the set of kept values gains or loses at most those, and set union is counted once.
    """
    return max_rows


def weights(max_rows: int) -> int:
    """Lemma: a unit's weights over a group's candidates add up to at most R·2^20, each of them ≥ 0.

    Proof: with c entering rows, n_k of them at candidate k, Σ n_k = c: for c ≤ R the weights are n_k·2^20, in sum
    c·2^20 ≤ R·2^20; for c > R they are ⌊n_k·R·2^20 / c⌋, in sum at most R·2^20.
    """
    return max_rows * WEIGHT


def on_noise_grid(sensitivity: int, shift: int) -> int:
    """⌈Δ / 2^shift⌉: the sensitivity after totals go from the value grid to the noise grid.

    Lemma: for shift ≤ 0 the total is multiplied by 2^-shift, exact. For shift = k > 0 it is rounded half up,
    r(x) = ⌊(x + 2^(k-1)) / 2^k⌋, and |x − y| ≤ Δ gives |r(x) − r(y)| ≤ ⌈Δ/2^k⌉: r is a floor of an affine map of slope
    2^-k, and |⌊a⌋ − ⌊b⌋| ≤ ⌈|a − b|⌉.
    """
    if shift <= 0:
        return int(sensitivity * 2**-shift)
    return -(-sensitivity >> shift)
