"""How a domain rule says what it found."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain.facts import Domain, Keys, changed, with_null
from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.ranges import Range
from dpsql.domain.types import Kind
from dpsql.functions.function import Domains, Spans
from dpsql.functions.numbers import expected_range, fitted
from dpsql.ir.expr import Call

ORDERED = (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)


def result(
    call: Call,
    domains: Domains,
    *,
    interval: Interval = EVERYTHING,
    keys: Keys | None = None,
    nullable: bool | None = None,
    integral: bool = False,
) -> Domain:
    """The domain of a call: NULL where an argument is, within the type's range.

    Keys never bound the interval: declared keys are enforced only at the release, bounds already at the Scan.
    """
    null = any(domain.nullable for domain in domains) if nullable is None else nullable
    spanned = EVERYTHING
    if call.type.kind in ORDERED:
        wide = _rounded(interval, call.type.scale) if call.type.kind is Kind.DECIMAL else interval
        spanned = fitted(wide, call.type)
    kept = changed(keys, with_null) if null and keys is not None else keys
    because = next((domain.because for domain in domains if domain.because), "")
    return Domain(type=call.type, interval=spanned, nullable=null, keys=kept, integral=integral, because=because)


def reaching(reach: Callable[[Call, Spans], Range | None]) -> Callable[[Call, Domains], Domain]:
    """The domain rule of a function whose reach says all there is to expect."""

    def domain(call: Call, domains: Domains) -> Domain:
        range_ = reach(call, tuple(map(expected_range, domains)))
        if range_ is None or any(d.interval.is_empty for d in domains):
            return result(call, domains)
        unit = 10**call.type.scale
        return result(call, domains, interval=Interval(Fraction(range_.least, unit), Fraction(range_.most, unit)))

    return domain


def never_null_domain(call: Call, domains: Domains) -> Domain:
    return result(call, domains, nullable=False)


def _rounded(interval: Interval, scale: int) -> Interval:
    """Where values of the interval are brought to a scale: each at most to the next one there, away from zero."""
    unit = 10**scale
    low = None if interval.lower is None else Fraction(math.floor(interval.lower * unit), unit)
    high = None if interval.upper is None else Fraction(math.ceil(interval.upper * unit), unit)
    return interval if interval.is_empty else Interval(low, high)


def may_be_infinite(domain: Domain) -> bool:
    return domain.type.kind is Kind.REAL and not domain.interval.is_finite
