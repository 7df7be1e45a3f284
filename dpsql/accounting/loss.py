"""Privacy loss as pure mathematics: exact amounts, and zero-concentrated DP to (epsilon, delta) and back.

The tight conversion (Canonne, Kamath, Steinke 2020, Proposition 12): for every alpha > 1 a rho-zCDP mechanism is
(epsilon, delta)-DP with delta = exp((alpha-1)(alpha*rho - epsilon))/(alpha-1) * (1 - 1/alpha)^alpha. Any alpha gives a
valid statement, so a search for the best one that stops early is merely less tight, never wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral

_UP = 1.0 + 2.0**-40  # more than the rounding of the few float operations of a formula
_KEPT_BITS = 40
_LARGEST_EXPONENT = 400
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,4}))?|[+-]?\d+/\d+", re.ASCII)
_LONGEST_NUMBER = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a run costs in every notion; costs of several runs add up, also when queries are chosen adaptively.

    epsilon, delta: approximate DP, all of it. rho: zCDP of the noise. delta_keys: the part of delta for thresholds.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    delta_keys: Fraction = Fraction(0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            epsilon=self.epsilon + other.epsilon,
            delta=self.delta + other.delta,
            rho=self.rho + other.rho,
            delta_keys=self.delta_keys + other.delta_keys,
        )


ZERO = Cost()


def exact(value: int | float | str | Fraction | Decimal) -> Fraction:
    """The exact number meant: a float means the decimal it prints. NaN, infinities, booleans: ValueError.

    Text is a plain decimal ("0.5", "1e-9") or a quotient ("1/3") in ASCII, of a size that cannot exhaust memory.
    """
    match value:
        case bool():
            raise ValueError(f"{value} is not a number")
        case Fraction():
            return value
        case float():
            return _exact_text(float.__repr__(value))
        case str():
            return _exact_text(value.strip())
        case Decimal():
            return _exact_text(str(value))
        case Integral():
            return Fraction(int(value))
    raise ValueError(f"{type(value).__name__} is not a number")


def _exact_text(text: str) -> Fraction:
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None or abs(int(match[1] or 0)) > _LARGEST_EXPONENT:
        raise ValueError(f"{text[:40]!r} is not a finite number")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError(f"{text[:40]!r} is not a finite number") from None


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """The zCDP of anything that is epsilon-DP: epsilon^2/2 (Bun, Steinke 2016, Proposition 3.3)."""
    return epsilon * epsilon / 2


def rho_of_bounded_range(epsilon: Fraction) -> Fraction:
    """The zCDP of a mechanism whose privacy loss has a range of epsilon: epsilon^2/8.

    Lemma (Dong, Durfee, Rogers 2020; Cesar, Rogers 2021). If L = ln P/Q lies in an interval of length epsilon, the Rényi
    divergence of order alpha > 1 is at most alpha*epsilon^2/8. Proof: let K(t) = ln E_Q[e^(tL)]. K(0) = 0 and K(1) =
    ln sum P = 0. K''(t) is the variance of L under Q tilted by e^(tL), at most epsilon^2/4, as L stays in its interval
    (Popoviciu). By the error of linear interpolation K(alpha) = K''(s)/2 * alpha*(alpha-1) for some s in [0, alpha], and the
    divergence is K(alpha)/(alpha-1).
    """
    return epsilon * epsilon / 8


def rho_of_gaussian(mu: Fraction) -> Fraction:
    """The zCDP of a (discrete) Gaussian whose sensitivity (2-norm) is mu times sigma: mu^2/2."""
    return mu * mu / 2


def epsilon_of_rho(rho: Fraction | float, delta: Fraction | float) -> float:
    """The epsilon of a rho-zCDP mechanism at `delta`, tight formula, rounded up.

    inf over alpha > 1 of alpha*rho + (ln(1/delta) + (alpha-1) ln(1-1/alpha) - ln alpha)/(alpha-1).
    """
    spent, log_delta = _not_negative(rho), _log_of(delta)
    if spent == 0:
        return 0.0
    best = _least(lambda gap: (1 + gap) * spent + _excess(gap, log_delta))
    return max(0.0, best) * _UP


def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho whose tight epsilon at `delta` is at most `epsilon`, rounded down to a short rational
    (to 0 where no float says better).

    sup over alpha > 1 of (epsilon - (ln(1/delta) + (alpha-1) ln(1-1/alpha) - ln alpha)/(alpha-1))/alpha.
    Proof of safety: the answer is returned only after epsilon_of_rho, which rounds up, was seen to be at most epsilon.
    """
    target, log_delta = _not_negative(epsilon), _log_of(delta)
    best = -_least(lambda gap: -(target - _excess(gap, log_delta)) / (1 + gap))
    for _ in range(64):
        rho = _shorten(max(best, 0.0))
        if rho == 0 or Fraction(epsilon_of_rho(rho, delta)) <= epsilon:
            return rho
        best *= 1 - 2.0**-_KEPT_BITS
    return Fraction(0)


def _excess(gap: float, log_delta: float) -> float:
    """What epsilon has beyond alpha*rho, alpha = 1 + gap; ln(1-1/alpha) = -ln(1+1/gap)."""
    return (-log_delta - math.log1p(gap)) / gap - math.log1p(1 / gap)


def _least(function: Callable[[float], float]) -> float:
    """The least value of a function of gap > 0 that falls, then rises, by golden section over ln(gap)."""
    golden = (math.sqrt(5) - 1) / 2
    low, high = -40.0, 40.0
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(math.exp(left)), function(math.exp(right))
    for _ in range(90):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(math.exp(right))
    return min(at_left, at_right)


def _not_negative(value: Fraction | float) -> float:
    number = float(value)
    if not 0 <= number < math.inf:
        raise ValueError(f"a finite number of at least 0 is needed, not {number}")
    return number


def _log_of(delta: Fraction | float) -> float:
    value = Fraction(delta) if math.isfinite(delta) else Fraction(0)
    if not 0 < value < 1:
        raise ValueError(f"a delta between 0 and 1 is needed, not {float(delta)}")
    return math.log(value.numerator) - math.log(value.denominator)


def _shorten(value: float) -> Fraction:
    """The largest rational of 40 binary digits that is not above."""
    mantissa, exponent = math.frexp(value)
    return Fraction(math.floor(math.ldexp(mantissa, _KEPT_BITS))) * Fraction(2) ** (exponent - _KEPT_BITS)
