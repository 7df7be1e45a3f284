"""Closed intervals of exact rationals, with None for an open end. Dates count in days, timestamps in microseconds.

An interval may be wrong without harm: every measured value is clamped to it (design section 6). So rounding of floating
point arithmetic at the ends is not tracked; it can bias an answer by one part in 2^53, never leak.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

Bound = Fraction | None


@dataclass(frozen=True, slots=True)
class Interval:
    lower: Bound = None
    upper: Bound = None

    @property
    def is_finite(self) -> bool:
        return self.lower is not None and self.upper is not None

    @property
    def is_empty(self) -> bool:
        return self.lower is not None and self.upper is not None and self.lower > self.upper

    def __contains__(self, value: Fraction | int) -> bool:
        return (self.lower is None or self.lower <= value) and (self.upper is None or value <= self.upper)

    def ends(self) -> tuple[Fraction, Fraction]:
        """Both ends of a finite interval."""
        if self.lower is None or self.upper is None:
            raise ValueError("the interval is not finite")
        return self.lower, self.upper


EVERYTHING = Interval()


def interval(lower: int | float | Fraction | None, upper: int | float | Fraction | None) -> Interval:
    return Interval(None if lower is None else Fraction(lower), None if upper is None else Fraction(upper))


def point(value: int | float | Fraction) -> Interval:
    return Interval(Fraction(value), Fraction(value))


def intersect(a: Interval, b: Interval) -> Interval:
    lower = max((x for x in (a.lower, b.lower) if x is not None), default=None)
    upper = min((x for x in (a.upper, b.upper) if x is not None), default=None)
    return Interval(lower, upper)


def hull(a: Interval, b: Interval) -> Interval:
    """The smallest interval that holds both; an empty one adds nothing."""
    if a.is_empty:
        return b
    if b.is_empty:
        return a
    lower = None if a.lower is None or b.lower is None else min(a.lower, b.lower)
    upper = None if a.upper is None or b.upper is None else max(a.upper, b.upper)
    return Interval(lower, upper)


def negate(a: Interval) -> Interval:
    return Interval(None if a.upper is None else -a.upper, None if a.lower is None else -a.lower)


def add(a: Interval, b: Interval) -> Interval:
    return Interval(
        None if a.lower is None or b.lower is None else a.lower + b.lower,
        None if a.upper is None or b.upper is None else a.upper + b.upper,
    )


def subtract(a: Interval, b: Interval) -> Interval:
    return add(a, negate(b))


def multiply(a: Interval, b: Interval) -> Interval:
    """Products of all ends; an open end times anything but the constant zero is open on the side it may reach."""
    if a == point(0) or b == point(0):
        return point(0)
    if a.is_finite and b.is_finite:
        products = [x * y for x in a.ends() for y in b.ends()]
        return Interval(min(products), max(products))
    if _nonnegative(a) and _nonnegative(b):
        lower = (a.lower or Fraction(0)) * (b.lower or Fraction(0))
        return Interval(lower, None)
    return EVERYTHING


def _nonnegative(a: Interval) -> bool:
    return a.lower is not None and a.lower >= 0


def divide(a: Interval, b: Interval) -> Interval:
    """a / b when b keeps away from zero; otherwise nothing is known."""
    if b.is_finite and 0 not in b and not b.is_empty:
        low, high = b.ends()
        return multiply(a, Interval(1 / high, 1 / low))
    return EVERYTHING


def absolute(a: Interval) -> Interval:
    if _nonnegative(a):
        return a
    if a.upper is not None and a.upper <= 0:
        return negate(a)
    far = None if not a.is_finite else max(abs(end) for end in a.ends())
    return Interval(Fraction(0), far)
