"""CAST and TRY_CAST. In the vault a value that does not convert is NULL either way."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval, intersect
from dpsql.domain.ranges import Range, in_type, type_range
from dpsql.domain.types import Kind, Type
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, row
from dpsql.functions.numbers import expected_range, type_interval
from dpsql.functions.result import reaching, result
from dpsql.ir.expr import Call

NUMBERS = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.REAL)
MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
SLACK = Fraction(1, 2**48)


def convertible(source: Type, to: Type) -> bool:
    """Whether DuckDB has the cast at all."""
    if Kind.ANY in (source.kind, to.kind) or source.kind is Kind.NULL or source == to:
        return True
    if Kind.INTERVAL in (source.kind, to.kind):
        return False
    if Kind.TEXT in (source.kind, to.kind):
        return True
    return (source.kind in NUMBERS) == (to.kind in NUMBERS)


def check(args: Args, to: Type) -> Type:
    if not convertible(args[0].type, to):
        raise TypeProblem(
            f"{args[0].type} cannot be converted to {to}",
            0,
            "Take the part you need with EXTRACT, or write a comparison.",
        )
    return to


def _unchecked(args: Args) -> Type:
    return args[0].type


def _plain(call: Call, spans: Spans) -> bool:
    """Every value of the argument converts. Text and reals are never sure to, whatever is known of them."""
    source, to = call.args[0].type, call.type
    if source == to or source.kind is Kind.NULL:
        return True
    if source.kind is Kind.TEXT:
        return to.kind is Kind.TEXT
    if to.kind in (Kind.TEXT, Kind.BOOLEAN, Kind.REAL) or to.kind in MOMENTS:  # both hold the years 1 to 9999
        return True
    range_, whole = _reach(call, spans), type_range(to)
    return source.kind is not Kind.REAL and range_ is not None and whole is not None and range_.within(whole)


def _reach(call: Call, spans: Spans) -> Range | None:
    if call.type.kind is Kind.BOOLEAN:
        return type_range(call.type)
    return in_type(spans[0], call.args[0].type, call.type) or type_range(call.type)


def _loses(call: Call, domains: Domains) -> bool:
    """Of a real, intervals may be expected to say that it fits."""
    source, to, (domain,) = call.args[0].type, call.type, domains
    if source.kind is not Kind.REAL or to.kind not in (Kind.INTEGER, Kind.DECIMAL):
        return not _plain(call, tuple(map(expected_range, domains)))
    interval = rounded(widened(domain.interval), to)
    return domain.nullable or not interval.is_finite or intersect(interval, type_interval(to)) != interval


def widened(interval: Interval) -> Interval:
    """Floating point may pass an end by a rounding error, and DuckDB scales reals to decimals in floating point."""
    return Interval(
        None if interval.lower is None else interval.lower - abs(interval.lower) * SLACK,
        None if interval.upper is None else interval.upper + abs(interval.upper) * SLACK,
    )


def rounded(interval: Interval, to: Type) -> Interval:
    """The interval after rounding to the target's scale, either way of rounding halves."""
    if to.kind not in (Kind.INTEGER, Kind.DECIMAL):
        return interval
    unit, half = Fraction(10**to.scale), Fraction(1, 2)
    lower = None if interval.lower is None else math.ceil(interval.lower * unit - half) / unit
    upper = None if interval.upper is None else math.floor(interval.upper * unit + half) / unit
    return Interval(lower, upper)


def _domain(call: Call, domains: Domains) -> Domain:
    source, to, (domain,) = call.args[0].type, call.type, domains
    if Kind.REAL not in (source.kind, to.kind):
        return reaching(_reach)(call, domains)
    interval = Interval()
    if source.kind is Kind.BOOLEAN:
        interval = Interval(Fraction(0), Fraction(1))
    elif source.kind is not Kind.TEXT:
        interval = domain.interval if to.kind is Kind.REAL else rounded(widened(domain.interval), to)
    whole = to.kind is Kind.REAL and source.kind is not Kind.TEXT and domain.is_integral
    return result(call, domains, interval=interval, integral=whole)


def _try_domain(call: Call, domains: Domains) -> Domain:
    known = _domain(call, domains)
    return known.or_null() if _loses(call, domains) else known


FUNCTIONS = (
    row(
        "cast",
        "The value as another type; what does not convert is NULL in private rows.",
        "CAST(x AS type), x::type",
        1,
        _unchecked,
        _domain,
        plain=_plain,
        reach=_reach,
        loses=_loses,
    ),
    row(
        "try_cast",
        "The value as another type; NULL if it does not convert.",
        "TRY_CAST(x AS type), x?::type",
        1,
        _unchecked,
        _try_domain,
        reach=_reach,
    ),
)
