"""The Gaussian mechanism: its exact privacy curve, and tails of the discrete Gaussian bounded by the continuous one.

Floats, with their error added on the safe side: erfc and exp of the C library are right to a few units in the last
place; every bound below allows for thousands.
"""

from __future__ import annotations

import math
from fractions import Fraction

_ROOT_2 = math.sqrt(2.0)
_TAIL_MARGIN = 1.0 + 2.0**-36  # an upper tail at 38 sigma is off by less than 38^2 * 2^-50
_SMALLEST = 1e-280  # below it the tails leave the normal range of floats
_KEPT_BITS = 40
_SUM_LIMIT = 1024


def curve_delta(epsilon: float, mu: float) -> float:
    """The smallest delta for which N(0, 1) and N(mu, 1) are (epsilon, delta)-close; mu = sensitivity/sigma (2-norm).

    Phi(mu/2 - epsilon/mu) - e^epsilon * Phi(-mu/2 - epsilon/mu), stable for large epsilon (Balle, Wang, 2018).
    """
    first, second, _ = _curve_parts(epsilon, mu)
    return max(0.0, first - second)


def mu_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest mu = sensitivity/sigma with curve_delta(epsilon, mu) <= delta, rounded down to a short rational.

    Lemma. A Gaussian with sigma >= sensitivity/mu_for(epsilon, delta) is (epsilon, delta)-DP.
    Proof. The curve's delta grows with mu. The answer is returned only after an upper bound of its delta (computed
    value plus error) was compared, as rationals, with delta. Where both terms agree to their last digits (epsilon is
    next to nothing) the curve at 0 serves: it is erf(mu/sqrt(8)) <= mu/sqrt(2*pi), at most delta for mu = 2.5*delta.
    """
    if not (epsilon >= 0 and 0 < delta < 1):
        raise ValueError(f"epsilon >= 0 and 0 < delta < 1 are needed, not {float(epsilon)} and {float(delta)}")
    if delta < _SMALLEST:
        raise ValueError(f"a delta below {_SMALLEST} cannot be calibrated")
    low, high = 0.0, 1.0
    while _is_within(epsilon, high, delta):
        low, high = high, 2 * high
    for _ in range(2000):  # 1 down to the smallest mu, then its digits
        middle = (low + high) / 2
        if high - low <= low * 2.0**-50 or middle in (low, high):
            break
        low, high = (middle, high) if _is_within(epsilon, middle, delta) else (low, middle)
    for _ in range(8):
        kept = _shorten(low)
        if kept > 0 and _is_within(epsilon, kept, delta):
            return Fraction(kept)
        low *= 1 - 2.0**-_KEPT_BITS
    return Fraction(_shorten(2.5 * float(delta)))


def upper_tail_bound(m: int, t: int) -> float:
    """An upper bound of P[X >= m] for the discrete Gaussian of sigma = t: Q((m-1)/t) for m >= 1, else 1.

    Proof. By Poisson's summation the normaliser, sum of exp(-k^2/(2t^2)), is at least t*sqrt(2*pi). The density falls
    on [m-1, oo), so the sum over k >= m is at most its integral from m-1.
    """
    return _tail((m - 1) / t) if m >= 1 else 1.0


def threshold(*, t: int, one_unit: int, p: Fraction | float) -> int:
    """The smallest T with upper_tail_bound(T - one_unit, t) <= p; hence P[one_unit + X >= T] <= p. 0 < p < 1.

    A float p means its binary value.
    """
    target = Fraction(p)
    if not _SMALLEST <= target < 1:
        raise ValueError(f"a probability from {_SMALLEST} to 1 is needed, not {float(p)}")
    return one_unit + _smallest_tail(t, target)


def variance(t: int, per: int = 1) -> float:
    """Of the discrete Gaussian of sigma = t/per, for a small sigma: the sum itself."""
    squares = [(k, math.exp(-0.5 * (k * per / t) ** 2)) for k in range(1, 40 * t // per + 2)]
    return 2.0 * math.fsum(k * k * w for k, w in squares) / (1.0 + 2.0 * math.fsum(w for _, w in squares))


def half_width(t: int, confidence: float = 0.95, per: int = 1) -> int:
    """The smallest r >= 0 with P[|X| >= r] <= 1 - confidence for sigma = t/per, for show.

    For sigma > 1024 it may be 1 too large. `confidence` means the decimal it prints.
    """
    outside = 1 - Fraction(repr(float(confidence)))
    if not _SMALLEST <= outside < 1:
        raise ValueError(f"a confidence between 0 and 1 is needed, not {confidence}")
    if t > _SUM_LIMIT * per:
        return _smallest_tail(-(-t // per), outside / 2)
    weights = [math.exp(-0.5 * (k * per / t) ** 2) for k in range(40 * t // per + 2)]
    target = float(outside) * (2.0 * math.fsum(weights) - 1.0)
    tail, r = 0.0, len(weights)
    while r > 1 and tail + 2.0 * weights[r - 1] <= target:
        r -= 1
        tail += 2.0 * weights[r]
    return r


def _curve_parts(epsilon: float, mu: float) -> tuple[float, float, float]:
    """Both terms of the curve and a bound of the error of their difference.

    With a, b = (epsilon/mu -+ mu/2)/sqrt(2) the terms are erfc(a)/2 and e^epsilon*erfc(b)/2, and b^2 - a^2 = epsilon.
    a and b carry an error of a few units of 2^-53 * b, which exp(-a^2) turns into a relative one of that times 2b.
    """
    ratio = epsilon / mu
    a, b = (ratio - mu / 2) / _ROOT_2, (ratio + mu / 2) / _ROOT_2
    first = 0.5 * math.erfc(a)
    second = 0.5 * math.exp(epsilon) * math.erfc(b) if b < 25.0 else 0.5 * math.exp(-a * a) * _scaled_erfc(b)
    return first, second, (first + second) * 2.0**-47 * (1.0 + b * b)


def _scaled_erfc(x: float) -> float:
    """exp(x^2)*erfc(x) for x >= 25, where the asymptotic series has 17 digits after six terms."""
    total, term = 1.0, 1.0
    for k in range(1, 7):
        term *= -(2 * k - 1) / (2.0 * x * x)
        total += term
    return total / (x * math.sqrt(math.pi))


def _is_within(epsilon: Fraction, mu: float, delta: Fraction) -> bool:
    first, second, error = _curve_parts(float(epsilon), mu)
    return Fraction(max(0.0, first - second) + error) <= delta


def _tail(x: float) -> float:
    """At least Q(x), for x >= 0."""
    return max(0.5 * math.erfc(x / _ROOT_2) * _TAIL_MARGIN, 1e-300)


def _smallest_tail(t: int, p: Fraction) -> int:
    """The smallest m >= 1 with upper_tail_bound(m, t) <= p."""
    low, high = 0, 40 * t + 1  # Q(40) is below any p that is let in
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if Fraction(upper_tail_bound(middle, t)) <= p else (middle, high)
    return high


def _shorten(value: float) -> float:
    """The largest float of 40 digits that is not above."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(math.floor(math.ldexp(mantissa, _KEPT_BITS)), exponent - _KEPT_BITS)
