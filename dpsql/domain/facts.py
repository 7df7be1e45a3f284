"""What inference expects of one column or expression: its Domain.

Nothing in a Domain is believed: values are clamped, foreign keys dropped, and whether an expression can fail is decided
by what its columns are by definition (domain/ranges.py). So a wrong rule biases an answer or refuses it, and cannot leak.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpsql.domain.interval import EVERYTHING, Interval, intersect
from dpsql.domain.types import Atom as Atom
from dpsql.domain.types import Kind, Type

KEY_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """type; interval (numbers, dates); nullable; keys: the finite public set of values (may hold None), or None.

    integral: every value is a whole number (reals such as FLOOR(x); always so for integers, dates, booleans).
    because: where bounds or keys come from, for EXPLAIN ("declared in visits.duration", "from CASE").
    """

    type: Type
    interval: Interval = EVERYTHING
    nullable: bool = True
    keys: tuple[Atom, ...] | None = None
    integral: bool = False
    because: str = ""

    def but(self, **changes: object) -> Domain:
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]  # field names are checked at run time

    def or_null(self) -> Domain:
        """The same, or NULL: NULL is among the keys then."""
        keys = self.keys if self.keys is None or None in self.keys else (*self.keys, None)
        return dataclasses.replace(self, nullable=True, keys=keys)

    @property
    def is_integral(self) -> bool:
        return self.integral or self.type.kind in (Kind.INTEGER, Kind.DATE, Kind.BOOLEAN)


def key_set(domain: Domain) -> tuple[Atom, ...] | None:
    """The public keys a GROUP BY on this domain has, or None when they are private.

    Explicit sets stand as they are; booleans have two; a whole-number domain with finite bounds has its range if that
    is at most KEY_LIMIT values. NULL is one more key when the expression may be NULL and the set was not declared.
    """
    if domain.keys is not None:
        return domain.keys
    values: Iterable[Atom]
    if domain.type.kind is Kind.BOOLEAN:
        values = (False, True)
    elif domain.is_integral and domain.interval.is_finite:
        low, high = domain.interval.ends()
        first, last = -(-low.numerator // low.denominator), high.numerator // high.denominator
        if last - first + 1 > KEY_LIMIT:
            return None
        whole = range(first, last + 1)
        values = (float(v) for v in whole) if domain.type.kind is Kind.REAL else whole
    else:
        return None
    return (*values, None) if domain.nullable else tuple(values)


def narrow(domain: Domain, *, to: Interval | None = None, keys: Iterable[Atom] | None = None) -> Domain:
    """The domain of rows that pass a filter: within `to`, among `keys`, and not NULL."""
    interval = domain.interval if to is None else intersect(domain.interval, to)
    kept = domain.keys
    if keys is not None:
        allowed = tuple(dict.fromkeys(k for k in keys if k is not None))
        kept = allowed if kept is None else tuple(k for k in kept if k in allowed)
    if kept is not None:
        kept = tuple(k for k in kept if k is not None and _within(k, interval))
    return domain.but(interval=interval, keys=kept, nullable=False)


def _within(key: Atom, interval: Interval) -> bool:
    if isinstance(key, float) and not math.isfinite(key):
        end = interval.upper if key > 0 else interval.lower
        return math.isinf(key) and end is None
    return isinstance(key, str) or key is None or Fraction(key) in interval
