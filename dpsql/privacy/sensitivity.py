"""How far one unit moves a measurement, over all its groups together: every Δ of dpsql is computed here, in integers.

The integers are weighted ones: 2^-20 of a piece (plan/balls.py). What a radius means is proved there, once; here is what
each measurement makes of it, and what rounding totals to a coarser grid costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.domain.interval import Interval
from dpsql.domain.types import Kind, Type
from dpsql.mechanisms.prefix_sums import Strategy, Toeplitz, Tree
from dpsql.plan.balls import FULL, Ball, Norm
from dpsql.plan.measurements import (
    Choice,
    DistinctCount,
    Histogram,
    Measurement,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
    limited_by,
    most,
)
from dpsql.plan.stages import Form, Limit, Stage

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


def reaches(one: Measurement, form: Form, limit: Limit, norm: Norm) -> tuple[int, ...]:
    """For each total of a measurement by how much one unit moves it, over all groups, in the norm. By ends the totals are
    one vector, and each entry is the reach of them all.

    RowTotal, Histogram: the ball of rows with |p| ≤ most (a histogram's cells are disjoint groups of rows, each counting 1).
    Slices: the totals of all slices of one number are one vector, moved by as much as one of them alone would be. Proof: the
    unit's weight is made of its rows in all of them (render/sums.Weighing: n, or n_g, is the sum of what each counts), and a
    row adds to one of them alone; so the vector over groups and slices is one over finer groups, Σ |p|·w ≤ n·w·P in norm 1,
    and in norm 2 Σ_g Σ_s n_gs² ≤ Σ_g n_g². (A row in two slices would count as two: the weights hold for these, too. Where a
    unit has one row by the form of the relation, its one number puts it in one slice.) Moments: each of their vectors, and
    all ends together, for the same reason.
    RowTotal within T: the ball of values, of norm 1; what is within it in norm 1 is so in norm 2.
    UnitTotal: the ball of groups with |p| ≤ the larger end of the clamp; 0 is what a unit without rows adds.
    """
    rows, groups = limit.rows.ball(norm), limit.groups.ball(norm)
    match one:
        case RowTotal(within=within) if within is not None:
            return (Ball(per="values", norm=1, squared=within**2).reach(1),)
        case RowTotal():
            return (rows.reach(most(one.piece)),)
        case Histogram():
            return (rows.reach(1),)
        case UnitTotal():
            return (groups.reach(max(1, *(abs(end) for end in one.clamp))),)
        case DistinctCount():
            return (_distinct(one, norm),)
        case RowMoments():
            return _moments(one, form, limit, norm)
        case Choice() | TopGroups():
            raise ValueError("choices have scores, not totals")
        case _:
            assert_never(one)


def _moments(one: RowMoments, form: Form, limit: Limit, norm: Norm) -> tuple[int, ...]:
    """Centred: |1| ≤ 1, |z| ≤ H, |2z² − H²| ≤ H², each a vector of its own.

    Lemma (ends, norm 1): the vector of all ends moves by at most 2H·T·2^20 (degree 2: 4H²·T·2^20). Proof: a row adds
    w(H+z) ≥ 0 and w(H−z) ≥ 0, in sum 2H·w, since |z| ≤ H; or w(H−z)², 2w(H²−z²), w(H+z)², all ≥ 0, in sum 4H²·w. So the ℓ1
    norm of what the unit adds is 2H (4H²) times the sum of its weights over its rows, at most T·2^20. In norm 2 there is no
    such lemma, so ends are for norm 1 only.
    """
    half, count = one.axis.most_centred, one.degree + 1
    if form == "ends":
        if norm != 1:
            raise ValueError("ends are bounded in norm 1")
        return (limit.rows.ball(1).reach(2 * half if one.degree == 1 else 4 * half * half),) * count
    return tuple(limit.rows.ball(norm).reach(half**power) for power in range(count))


def _distinct(one: DistinctCount, norm: Norm) -> int:
    """Lemma: P·M·2^20 in norm 1, and in norm 2 at most P·√(c·M)·2^20, M = most, c = in_group, P what one value adds at most:
    1 where values are counted, the larger end of the axis where they are added up.

    Proof: of a unit at most M pairs of a group and a value are kept, at most c of one group, by a function of that unit's
    rows and the salt; removing it takes from group g at most as many different values as it had kept there, x_g ≤ c, and
    Σ x_g ≤ M. So Σ x_g² ≤ c·M. A value is in the total once, whoever else has it, and adds its integer on the axis, which is
    between the ends (render/pieces.placed): what is taken from group g is at most P·x_g.
    """
    if norm == 1:
        return one.most * one.largest * FULL
    return _root(min(one.in_group, one.most) * one.most * (one.largest * FULL) ** 2)


def score_reach(one: Choice | TopGroups, stage: Stage) -> int:
    """By how much one unit moves scores, in norm 1 over all groups (TopGroups: the score of any group), in weights.

    Choice: a unit's weights over all groups' candidates add up to at most T·2^20 (the ball of rows, p = 1). With a rate of
    ε/(2·T·2^20) a group in which it has weight d moves by at most d, which costs ε·d/(T·2^20) there; over all groups ε.
    Ends: a unit is counted in one place of all, so it moves the number of units above a limit by one weight at most, and
    only on one side.
    TopGroups: a count of units moves each score by at most one weight, a count of rows by at most T·2^20, all in one
    direction.
    """
    if limited_by(one) == "votes" or (isinstance(one, TopGroups) and one.per == "groups"):
        return FULL
    return stage.limit.rows.ball(1).reach(1)


def rounded_reach(reach: int, cells: int, shift: int, norm: Norm) -> int:
    """The reach after `cells` totals are rounded half up to 2^shift: ⌊(Δ + C·(2^k − 1))/2^k⌋; in norm 2 ⌈Δ/2^k⌉ + ⌈√C⌉.

    Lemma: r(x) = ⌊(x + 2^(k−1))/2^k⌋. If the totals move by (a_g), Σ|a_g| ≤ Δ, the rounded ones move by at most that. Proof:
    |r(x+a) − r(x)| ≤ ⌈|a|/2^k⌉ ≤ (|a| + 2^k − 1)/2^k; the sum over C cells is an integer. In norm 2: the rounded change is
    the change over 2^k plus an error below 1 in each cell (Minkowski). For k = 0 nothing is rounded. Holding totals
    within ±2^62 of the noise grid moves no two of them apart.
    """
    if shift == 0:
        return reach
    if norm == 1:
        return (reach + cells * ((1 << shift) - 1)) >> shift
    return -(-reach >> shift) + _root(cells)


def running_reach(reach: int, strategy: Strategy) -> int:
    """How far one unit moves A·x (mechanisms/prefix_sums.py), x a whole-number vector that it moves by at most `reach` in
    norm 1: by Toeplitz in norm 2 ⌈reach·√(Σ c_k²)⌉, by a tree in norm 1 reach·levels.

    Lemma: with a the change of x, ‖A·a‖ ≤ Σ_j |a_j|·‖A e_j‖ ≤ ‖a‖₁·max_j ‖A e_j‖, in any norm. Column j of C is
    c_0 … c_{n−j}, whose Euclidean norm is that of the first column or less; a column of a tree has one 1 on each level.
    Several orders beside each other (one for each combination of other keys) are one A with blocks, whose columns it has.

    Being within a radius in norm 2 is not enough: a = (1, …, 1)/√n has ‖a‖₂ = 1, and C adds it up: ‖C·a‖₂ grows like √n,
    against √(ln n/π + 1.07) for one column. So the unit's rows are weighed in norm 1 (Noised.ball), whatever the noise is.
    """
    match strategy:
        case Toeplitz():
            return _root(reach * reach * strategy.squared)
        case Tree():
            return reach * strategy.levels
        case _:
            assert_never(strategy)


def _root(square: int) -> int:
    """⌈√square⌉."""
    root = math.isqrt(square)
    return root if root * root == square else root + 1


def votes(bits: int, norm: Norm, limit: int) -> tuple[int, ...]:
    """What a unit with 1, 2, … groups gives each of them: ⌊2^bits/g⌋ or ⌊2^bits/√g⌋.

    Lemma: all of a unit's votes are within 2^bits in the norm. Proof: g·⌊2^b/g⌋ ≤ 2^b; g·W² ≤ 2^(2b) for
    W = isqrt(2^(2b) // g).
    """
    if norm == 1:
        return tuple(2**bits // g for g in range(1, limit + 1))
    return tuple(math.isqrt(4**bits // g) for g in range(1, limit + 1))


def is_constant(one: Measurement) -> bool:
    """Whether no row moves it: its pieces are all 0."""
    match one:
        case RowTotal():
            return most(one.piece) == 0
        case UnitTotal():
            return one.clamp == (0, 0)
        case _:
            return False
