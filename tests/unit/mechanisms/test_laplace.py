"""Tails, thresholds and widths against sums of the probabilities with 60 digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpsql.mechanisms import laplace
from dpsql.mechanisms.key_probability import key_probability


def tail(m: int, t: int) -> Decimal:
    """P[X >= m] by summing P[X = x], 60 digits."""
    with localcontext() as context:
        context.prec = 80
        a = (Decimal(-1) / t).exp()
        weight = (1 - a) / (1 + a)
        far = max(m, 0) + 200 * t
        total = sum((weight * a ** abs(x) for x in range(m, far)), Decimal(0))
        return total + weight * a**far / (1 - a)


@pytest.mark.parametrize("t", [1, 2, 5])
def test_variance(t: int) -> None:
    a = math.exp(-1 / t)
    by_hand = sum(2 * x * x * (1 - a) / (1 + a) * a**x for x in range(1, 200 * t))
    assert laplace.variance(t) == pytest.approx(by_hand, rel=1e-9)


def test_scale_one() -> None:
    assert laplace.variance(1) == pytest.approx(1.841347, abs=1e-6)


@pytest.mark.parametrize(("t", "r"), [(1, 4), (2, 7), (10, 31), (50, 151)])
def test_half_width(t: int, r: int) -> None:
    assert laplace.half_width(t) == r
    assert 2 * tail(r, t) <= Decimal("0.05") < 2 * tail(r - 1, t)


def test_half_width_of_other_levels() -> None:
    assert laplace.half_width(1, 0.01) == 1
    grid = 2**20
    assert laplace.half_width(grid) / grid == pytest.approx(2.9957, abs=1e-4)
    assert laplace.half_width(50 * grid) / grid == pytest.approx(149.787, abs=1e-3)
    with pytest.raises(ValueError, match="probability"):
        laplace.half_width(1, 1.0)


@pytest.mark.parametrize(
    ("epsilon", "delta", "groups", "continuous"),
    [
        ("1", "1e-6", 1, 14.12236),
        ("1", "1e-6", 4, 59.03463),
        ("0.1", "1e-6", 1, 132.22363),
        ("0.5", "1e-5", 3, 72.51032),
    ],
)
def test_threshold_on_a_fine_and_on_its_own_lattice(epsilon: str, delta: str, groups: int, continuous: float) -> None:
    p = key_probability(Fraction(delta), groups)
    scale = groups / Fraction(epsilon)
    fine = laplace.threshold(t=int(scale * 2**20), one_unit=2**20, p=p)
    assert fine / 2**20 == pytest.approx(continuous, abs=1e-5)
    assert laplace.threshold(t=int(scale), one_unit=1, p=p) in (math.ceil(continuous), math.ceil(continuous) + 1)


@given(t=st.integers(1, 12), one_unit=st.integers(0, 50), p=st.fractions(Fraction(1, 10**30), Fraction(999, 1000)))
@example(t=1, one_unit=1, p=Fraction(1, 2))
@example(t=3, one_unit=1, p=Fraction(99, 100))
def test_threshold_is_the_smallest(t: int, one_unit: int, p: Fraction) -> None:
    """Also for p above 1/2, where m is negative and the geometric formula does not hold."""
    threshold = laplace.threshold(t=t, one_unit=one_unit, p=p)
    limit = Decimal(p.numerator) / Decimal(p.denominator)
    assert tail(threshold - one_unit, t) <= limit < tail(threshold - one_unit - 1, t)


def test_a_tail_one_part_in_ten_to_the_200_away_is_told_apart() -> None:
    """No float can: P[X >= 30] for t = 7, moved by 10^-200 either way."""
    with localcontext() as context:
        context.prec = 260
        a = (Decimal(-1) / 7).exp()
        exact = Fraction(a**30 / (1 + a))
    nudge = Fraction(1, 10**200)
    assert laplace.tail_is_within(30, 7, exact + nudge)
    assert not laplace.tail_is_within(30, 7, exact - nudge)
    assert laplace.tail_is_within(-29, 7, 1 - (exact - nudge))
    assert not laplace.tail_is_within(-29, 7, 1 - (exact + nudge))


def test_extreme_scales_and_probabilities() -> None:
    t = 2**31 - 1
    threshold = laplace.threshold(t=t, one_unit=t, p=1e-12)
    assert math.exp(-(threshold - t) / t) / 2 == pytest.approx(1e-12, rel=1e-6)
    assert laplace.threshold(t=1, one_unit=0, p=Fraction(1, 10**400)) == 921
    with pytest.raises(ValueError, match="probability"):
        laplace.threshold(t=1, one_unit=0, p=0.0)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_half_width_of_one_and_of_two(level: float) -> None:
    """One: −ln β. Two of one scale: (1 + r/2)·e^(−r) = β, at 95 % 4.113003; spread by 0.1 %, never narrower."""
    beta = 1 - level
    assert laplace.half_width_of_sum([3.0], level) == pytest.approx(-3 * math.log(beta))
    half_width = laplace.half_width_of_sum([2.0, 2.0], level)
    outside = (1 + half_width / 4) * math.exp(-half_width / 2)
    assert beta * 0.98 <= outside <= beta
    if level == 0.95:
        assert 4.113003 <= half_width / 2 <= 4.113003 * 1.001


@pytest.mark.parametrize("scales", [(1.0, 2.0), (1.0, 2.0, 5.0), (1.0, 1.0, 1.0), (3.0, 3.0, 1.0), (1.0, 1e-3)])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_half_width_of_sum_against_a_convolution(scales: tuple[float, ...], level: float) -> None:
    """The density of the sum on a fine grid, convolved number by number."""
    step, far = min(scales) / 40 if min(scales) > 0.1 else 0.005, 20 * sum(scales)
    xs = np.arange(-int(far / step), int(far / step) + 1) * step
    mass = np.zeros(len(xs))
    mass[len(xs) // 2] = 1.0
    for scale in scales:
        ends = xs + step / 2
        below = np.sign(ends) * (1 - np.exp(-np.abs(ends) / scale)) / 2  # the distribution function less one half
        one_mass = np.diff(below, prepend=-0.5)
        length = 2 ** math.ceil(math.log2(2 * len(xs)))
        whole = np.fft.irfft(np.fft.rfft(mass, length) * np.fft.rfft(one_mass, length), length)
        mass = whole[len(xs) // 2 : len(xs) // 2 + len(xs)]
    half_width = laplace.half_width_of_sum(scales, level)
    outside = float(mass[np.abs(xs) >= half_width].sum())
    assert outside == pytest.approx(1 - level, rel=0.03)
