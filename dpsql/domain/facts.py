"""What inference expects of one column or expression: its Domain.

Nothing in a Domain is believed: values are clamped, foreign keys dropped, and whether an expression can fail is decided
by what its columns are by definition (domain/ranges.py). So a wrong rule biases an answer or refuses it, and cannot leak.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from dpsql.domain.interval import EVERYTHING, Interval, intersect
from dpsql.domain.types import Atom as Atom
from dpsql.domain.types import Kind, Type

KEY_LIMIT = 1_000_000
Values = tuple[Atom, ...]


class Later:
    """Keys that are worked out when somebody asks for them, once: few expressions are ever grouped by."""

    __slots__ = ("_known", "_work")

    def __init__(self, work: Callable[[], Values | None]) -> None:
        self._work: Callable[[], Values | None] | None = work
        self._known: Values | None = None

    def values(self) -> Values | None:
        """None: they are not public."""
        if self._work is not None:
            self._known, self._work = self._work(), None
        return self._known


Keys = Values | Later


def known(keys: Keys | None) -> Values | None:
    return keys.values() if isinstance(keys, Later) else keys


def changed(keys: Keys, rule: Callable[[Values], Values]) -> Keys:
    """The rule's answer for the keys: at once where they are known, else when they are."""
    if not isinstance(keys, Later):
        return rule(keys)

    def work() -> Values | None:
        values = keys.values()
        return None if values is None else rule(values)

    return Later(work)


def with_null(keys: Values) -> Values:
    return keys if None in keys else (*keys, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """type; interval (numbers, dates); nullable; keys: the finite public set of values (may hold None), or None.

    integral: every value is a whole number (reals such as FLOOR(x); always so for integers, dates, booleans).
    because: where bounds or keys come from, for EXPLAIN ("declared in visits.duration", "from CASE").
    """

    type: Type
    interval: Interval = EVERYTHING
    nullable: bool = True
    keys: Keys | None = None
    integral: bool = False
    because: str = ""

    def but(self, **changes: object) -> Domain:
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]  # field names are checked at run time

    def or_null(self) -> Domain:
        """The same, or NULL: NULL is among the keys then."""
        return dataclasses.replace(
            self, nullable=True, keys=None if self.keys is None else changed(self.keys, with_null)
        )

    @property
    def is_integral(self) -> bool:
        return self.integral or self.type.kind in (Kind.INTEGER, Kind.DATE, Kind.BOOLEAN)


def key_set(domain: Domain) -> Values | None:
    """The public keys a GROUP BY on this domain has, or None when they are private.

    Explicit sets are used as they are; booleans have two; a whole-number domain with finite bounds has its range if that
    is at most KEY_LIMIT values. NULL is one more key when the expression may be NULL and the set was not declared.
    """
    keys = known(domain.keys)
    if keys is not None:
        return keys
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
    allowed = None if keys is None else dict.fromkeys(keys)

    def kept(values: Values) -> Values:
        passing = values if allowed is None else tuple(k for k in values if k in allowed)
        return tuple(k for k in passing if k is not None and _within(k, interval))

    left = tuple(allowed) if domain.keys is None and allowed is not None else domain.keys
    return domain.but(interval=interval, keys=None if left is None else changed(left, kept), nullable=False)


def _within(key: Atom, interval: Interval) -> bool:
    if isinstance(key, float) and not math.isfinite(key):
        end = interval.upper if key > 0 else interval.lower
        return math.isinf(key) and end is None
    return isinstance(key, str) or key is None or Fraction(key) in interval
