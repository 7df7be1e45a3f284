"""The discrete Laplace distribution of scale t/per: P[X = x] = (1-a)/(1+a) * a^|x|, a = exp(-per/t).

What a privacy promise rests on (`threshold`) is decided by integers; `variance` is a float, for show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.exp_bounds import exp_minus

_FIRST_BITS = 128


def variance(t: int, per: int = 1) -> float:
    """2a/(1-a)^2, which is below 2(t/per)^2: a/(1-a)^2 = 1/(4 sinh(x/2)^2) with x = per/t, and sinh(x/2) > x/2."""
    return 2.0 * math.exp(-per / t) / math.expm1(-per / t) ** 2


def half_width(t: int, confidence: float = 0.95, per: int = 1) -> int:
    """The smallest r >= 0 with P[|X| >= r] <= 1 - confidence. `confidence` means the decimal it prints.

    Proof. For r >= 1 that probability is 2*P[X >= r]; for r = 0 it is 1 > 1 - confidence.
    """
    outside = _probability(1 - Fraction(repr(float(confidence)))) / 2
    return max(1, _smallest(lambda m: tail_is_within(m, t, outside, per), _guess(t, outside, per)))


def half_width_of_sum(scales: Sequence[float], confidence: float = 0.95) -> float:
    """r with P[|ΣX_i| >= r] <= 1 - confidence for independent continuous Laplace X_i of these scales; for show.

    Lemma. With distinct scales b_i the tail is P[|S| >= r] = Σ c_i·exp(-r/b_i), c_i = Π_{j≠i} b_i²/(b_i² - b_j²).
    Proof. The transform of S is Π 1/(1 + b_i²s²); partial fractions give a mixture of Laplace transforms. Equal scales are
    spread by 0.1 %, upwards, which only widens the sum. Of more than four that are so near, the coefficients would be past
    the precision of floats: half_width_of_many.
    """
    if len(scales) > 4:
        return half_width_of_many(np.array(scales), confidence)
    known: list[float] = []
    for scale in sorted(scales):
        apart = scale if not known else max(scale, known[-1] * 1.001)
        known.append(apart)
    outside = 1 - confidence
    parts = [(math.prod(b * b / (b * b - other * other) for other in known if other != b), b) for b in known]

    def tail(r: float) -> float:
        return math.fsum(c * math.exp(-r / b) for c, b in parts)

    low, high = 0.0, sum(known)
    while tail(high) > outside:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > outside else (low, middle)
    return high


def half_width_of_many(scales: npt.NDArray[np.float64], confidence: float = 0.95) -> float:
    """The same r for many scales, equal ones among them, where partial fractions cancel; for show.

    P[|S| < r] = (2/π)·∫ sin(r·s)/s·φ(s) ds over s > 0, φ(s) = Π 1/(1 + b_i²s²), by the midpoint rule: the integrand is
    even and analytic, so with steps of h what it misses is of the order of P[|S| > 2π/h − r], 2π/h being 300 deviations.
    """
    if len(scales) == 1:
        return -float(scales[0]) * math.log1p(-confidence)
    spread = math.sqrt(2 * float((scales**2).sum()))
    squares, step = (scales / spread) ** 2, 2 * math.pi / 300
    last = 16.0
    while (
        last < 512 and float(np.log1p(squares * last**2).sum()) < 26
    ):  # φ below 5e-12; else what is cut off is about φ/last
        last *= 2
    at = (np.arange(math.ceil(last / step)) + 0.5) * step
    decay = np.zeros(len(at))
    for square, count in zip(*np.unique(squares, return_counts=True), strict=True):
        decay += count * np.log1p(square * at**2)
    weights = 2 * step / math.pi * np.exp(-decay) / at
    low, high = 0.0, 100.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if float(np.sin(middle * at) @ weights) < confidence else (low, middle)
    return high * spread


def threshold(*, t: int, one_unit: int, p: Fraction | float) -> int:
    """The smallest T with P[one_unit + X >= T] <= p, exactly, for 0 < p < 1. A float p means its binary value.

    Lemma. A key that one unit alone holds has the count one_unit (at most) and is released with probability at most p.
    Proof. P[one_unit + X >= T] = P[X >= T - one_unit], which falls with T and is decided exactly for every integer.
    """
    target = _probability(Fraction(p))
    return one_unit + _smallest(lambda m: tail_is_within(m, t, target), _guess(t, target))


def tail_is_within(m: int, t: int, p: Fraction, per: int = 1) -> bool:
    """Whether P[X >= m] <= p, decided exactly, for 0 < p < 1.

    Proof. For m >= 0 the tail is a^m/(1+a), so the question is a^m <= p*(1+a), for m < 0 it is a^(1-m) >= (1-p)*(1+a).
    Both sides are bracketed by integers of ever more digits. They are never equal, so that ends: equality would be a
    polynomial with rational coefficients that are not all 0 at a = exp(-per/t), and by Lindemann a is transcendental.
    """
    bits = _FIRST_BITS
    power = m if m >= 0 else 1 - m
    share = p if m >= 0 else 1 - p
    while True:
        one = 1 << bits
        low, high = exp_minus(power * per, t, bits)
        base_low, base_high = exp_minus(per, t, bits)
        if high * share.denominator <= share.numerator * (one + base_low):
            return m >= 0
        if low * share.denominator >= share.numerator * (one + base_high):
            return m < 0
        bits *= 2


def _probability(p: Fraction) -> Fraction:
    if not 0 < p < 1:
        raise ValueError(f"a probability between 0 and 1 is needed, not {float(p)}")
    return p


def _guess(t: int, p: Fraction, per: int = 1) -> int:
    """Near the m where a^m/(1+a) = p; only speed depends on it."""
    log_p = math.log(p.numerator) - math.log(p.denominator)
    return math.ceil(-t / per * (log_p + math.log1p(math.exp(-per / t))))


def _smallest(within: Callable[[int], bool], start: int) -> int:
    """The smallest m with within(m), for a predicate that is false, then true; found from `start` by doubling steps."""
    step = 1
    if within(start):
        high = start
        while within(high - step):
            high, step = high - step, step * 2
        low = high - step
    else:
        low = start
        while not within(low + step):
            low, step = low + step, step * 2
        high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if within(middle) else (middle, high)
    return high
