"""Functions of real numbers. None raises under IEEE arithmetic: outside its domain it is NaN, which counts as NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain.facts import Domain
from dpsql.domain.interval import EVERYTHING, Interval, interval
from dpsql.domain.types import BOOLEAN, REAL, Kind
from dpsql.functions.function import Domains, Function, row, takes
from dpsql.functions.numbers import AS_NUMBER, NUMBERS
from dpsql.functions.result import result
from dpsql.ir.expr import Call

SLACK = Fraction(1, 2**44)  # libraries differ in the last bits of these functions
Span = tuple[float | None, float | None]


_real = takes(NUMBERS, REAL, AS_NUMBER)


def _end(rule: Callable[[float], float], end: Fraction | None, direction: int) -> Fraction | None:
    """The function's value at an end, moved outwards by the libraries' disagreement."""
    if end is None:
        return None
    try:
        value = rule(float(end))
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(value):
        return None
    return Fraction(value) + direction * SLACK * max(abs(Fraction(value)), Fraction(1))


def _rising(
    rule: Callable[[float], float], inside: Span = (None, None), reach: Span = (None, None)
) -> Callable[[Call, Domains], Domain]:
    """A function that rises, is a number on `inside` only, and has its values in `reach`."""

    def domain(call: Call, domains: Domains) -> Domain:
        interval = domains[0].interval
        low, high = _end(rule, interval.lower, -1), _end(rule, interval.upper, 1)
        floor, top = (None if end is None else Fraction(end) for end in reach)
        lower = floor if low is None else low if floor is None else max(low, floor)
        upper = top if high is None else high if top is None else min(high, top)
        return result(
            call, domains, interval=Interval(lower, upper), nullable=domains[0].nullable or _leaves(interval, inside)
        )

    return domain


def _leaves(interval: Interval, inside: Span) -> bool:
    low, high = inside
    below = low is not None and (interval.lower is None or interval.lower < Fraction(low))
    above = high is not None and (interval.upper is None or interval.upper > Fraction(high))
    return below or above


def _within(low: float | None, high: float | None, inside: Span = (None, None)) -> Callable[[Call, Domains], Domain]:
    """A function with values in [low, high]; of an infinite argument it may be NaN."""

    def domain(call: Call, domains: Domains) -> Domain:
        odd = any(not d.interval.is_finite or _leaves(d.interval, inside) for d in domains)
        return result(call, domains, interval=interval(low, high), nullable=odd or any(d.nullable for d in domains))

    return domain


def _power(call: Call, domains: Domains) -> Domain:
    """Known for bases of zero or more with constant-sign exponents; otherwise anything."""
    base, exponent = domains[0].interval, domains[1].interval
    interval, null = EVERYTHING, True
    if base.is_finite and exponent.is_finite and not base.is_empty and not exponent.is_empty:
        (low, high), (least, most) = base.ends(), exponent.ends()
        if low > 0 or (low == 0 and least >= 0):
            null = any(d.nullable for d in domains)
            interval = _power_hull([(b, e) for b in (low, high) for e in (least, most)])
        elif least == most and least.denominator == 1 and 0 <= least <= 64:
            null = any(d.nullable for d in domains)
            top = max(abs(low), abs(high)) ** int(least)
            interval = Interval(Fraction(0) if least % 2 == 0 else -top, top)
            interval = Interval(interval.lower, top * (1 + SLACK)) if interval.lower == 0 else interval
    return result(call, domains, interval=interval, nullable=null)


def _power_hull(corners: list[tuple[Fraction, Fraction]]) -> Interval:
    """b^e is monotone in each argument where b > 0, so its extremes are at the corners."""
    values = []
    for base, exponent in corners:
        try:
            values.append(Fraction(math.pow(float(base), float(exponent))))
        except (OverflowError, ValueError):
            return Interval(Fraction(0), None)
    return Interval(min(values) * (1 - SLACK), max(values) * (1 + SLACK))


def _log(call: Call, domains: Domains) -> Domain:
    return result(call, domains, nullable=True)


def _constant(call: Call, domains: Domains) -> Domain:
    return result(call, domains, interval=interval(3.14, 3.15), nullable=False)


def _tested(call: Call, domains: Domains) -> Domain:
    """NaN counts as NULL, but ISNAN of it is TRUE: nullable says no more than the argument does."""
    return result(call, domains)


def _one(name: str, doc: str, domain: Callable[[Call, Domains], Domain], signature: str = "") -> Function:
    return row(name, doc, signature or f"{name.upper()}(x)", 1, _real, domain)


def _canonical(call: Call, domains: Domains) -> Domain:
    """The argument's: NaN counts as NULL already, and -0.0 is equal to 0.0."""
    (known,) = domains
    return result(call, domains, interval=known.interval, integral=known.integral)


def _is(name: str, doc: str) -> Function:
    return row(name, doc, f"{name.upper()}(x)", 1, takes(NUMBERS, BOOLEAN, AS_NUMBER), _tested)


def _cosh(x: float) -> float:
    return math.cosh(x)


def _even_rise(call: Call, domains: Domains) -> Domain:
    """COSH: even, rising with the size of x."""
    interval = domains[0].interval
    top = None if not interval.is_finite else _end(_cosh, max(map(abs, interval.ends())), 1)
    return result(call, domains, interval=Interval(Fraction(1), top))


def _cbrt(x: float) -> float:
    return math.copysign(abs(x) ** (1 / 3), x)


FUNCTIONS = (
    _one("sqrt", "The square root; NULL below zero.", _rising(math.sqrt, (0, None), (0, None))),
    _one("cbrt", "The cube root.", _rising(_cbrt)),
    _one("exp", "e to the power x.", _rising(math.exp, reach=(0, None))),
    _one("ln", "The natural logarithm; NULL below zero.", _rising(math.log, (0, None))),
    _one("log10", "The logarithm to base 10.", _rising(math.log10, (0, None)), "LOG10(x), LOG(x)"),
    _one("log2", "The logarithm to base 2.", _rising(math.log2, (0, None))),
    row("log", "The logarithm of x to a base.", "LOG(base, x)", 2, _real, _log),
    row("power", "x to the power y.", "POWER(x, y), POW(x, y), x ^ y, x ** y", 2, _real, _power),
    _one("sin", "The sine.", _within(-1, 1)),
    _one("cos", "The cosine.", _within(-1, 1)),
    _one("tan", "The tangent.", _within(None, None)),
    _one("cot", "The cotangent.", _within(None, None)),
    _one("asin", "The arc sine; NULL beyond 1.", _within(-1.5708, 1.5708, (-1, 1))),
    _one("acos", "The arc cosine; NULL beyond 1.", _within(0, 3.1416, (-1, 1))),
    _one("atan", "The arc tangent.", _rising(math.atan, reach=(-1.5708, 1.5708))),
    row("atan2", "The angle of the point (x, y).", "ATAN2(y, x)", 2, _real, _within(-3.1416, 3.1416)),
    _one("sinh", "The hyperbolic sine.", _rising(math.sinh)),
    _one("cosh", "The hyperbolic cosine.", _even_rise),
    _one("tanh", "The hyperbolic tangent.", _rising(math.tanh, reach=(-1, 1))),
    _one("degrees", "Radians to degrees.", _rising(math.degrees)),
    _one("radians", "Degrees to radians.", _rising(math.radians)),
    row("pi", "π.", "PI()", 0, _real, _constant),
    row(
        "canonical",
        "x, with -0.0 as 0.0 and NaN as NULL: then equal values are the same value.",
        "CANONICAL(x)",
        1,
        takes((Kind.REAL,), REAL, "Other numbers are canonical already."),
        _canonical,
    ),
    _is("isnan", "Whether x is not a number."),
    _is("isinf", "Whether x is infinite."),
    _is("isfinite", "Whether x is a finite number."),
)
