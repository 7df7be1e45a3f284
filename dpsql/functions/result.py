"""How a domain rule says what it found."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.types import Kind, Type
from dpsql.functions.function import Domains
from dpsql.functions.numbers import fitted, type_interval
from dpsql.functions.sets import Inexact, without_null
from dpsql.ir.expr import Call

ORDERED = (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)


def result(
    call: Call,
    domains: Domains,
    *,
    interval: Interval = EVERYTHING,
    keys: tuple[Atom, ...] | None = None,
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
    if keys is not None and call.type.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP):
        keys, lost = _held(keys, type_interval(call.type))
        null = null or lost
    kept = without_null(keys, null)
    because = next((domain.because for domain in domains if domain.because), "")
    return Domain(type=call.type, interval=spanned, nullable=null, keys=kept, integral=integral, because=because)


def never_null_domain(call: Call, domains: Domains) -> Domain:
    return result(call, domains, nullable=False)


def _held(keys: tuple[Atom, ...], whole: Interval) -> tuple[tuple[Atom, ...], bool]:
    """The keys that the type can hold, and whether there were others: in the vault those are NULL."""
    held = tuple(key for key in keys if key is None or isinstance(key, str | float) or key in whole)
    return held, len(held) < len(keys)


def _rounded(interval: Interval, scale: int) -> Interval:
    """Where values of the interval are brought to a scale: each at most to the next one there, away from zero."""
    unit = 10**scale
    low = None if interval.lower is None else Fraction(math.floor(interval.lower * unit), unit)
    high = None if interval.upper is None else Fraction(math.ceil(interval.upper * unit), unit)
    return interval if interval.is_empty else Interval(low, high)


def may_be_infinite(domain: Domain) -> bool:
    return domain.type.kind is Kind.REAL and not domain.interval.is_finite


def converted(value: Atom, to: Type) -> Atom:
    """A number as DuckDB converts it before it computes; Inexact where that may round in a way of its own."""
    if value is None or isinstance(value, str):
        raise Inexact
    if to.kind is Kind.REAL:
        if isinstance(value, Fraction) and (abs(value.numerator) > 2**53 or value.denominator > 10**15):
            raise Inexact
        return float(value)
    if isinstance(value, float):
        raise Inexact
    if to.kind is not Kind.DECIMAL:
        return int(value)
    if (Fraction(value) * 10**to.scale).denominator != 1:
        raise Inexact
    return Fraction(value)
