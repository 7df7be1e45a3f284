"""CAST and TRY_CAST. In the vault a value that does not convert is NULL either way."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import Interval, intersect
from dpsql.domain.ranges import DAY, Range, in_type, type_range
from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, row
from dpsql.functions.numbers import expected_range, type_interval
from dpsql.functions.result import converted, result
from dpsql.functions.sets import Inexact, mapped
from dpsql.functions.timestamps import to_date
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
            f"{args[0].type} cannot be converted to {to}", 0, "Take the part you need with EXTRACT, or a comparison."
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


def _interval(domain: Domain, source: Type, to: Type) -> Interval:
    interval = domain.interval
    if source.kind in NUMBERS and to.kind in NUMBERS:
        if source.kind is Kind.BOOLEAN:
            return Interval(Fraction(0), Fraction(1))
        inexact = source.kind is Kind.REAL and to.kind in (Kind.INTEGER, Kind.DECIMAL)
        return rounded(widened(interval) if inexact else interval, to)
    if source.kind is Kind.DATE and to.kind is Kind.TIMESTAMP:
        return Interval(*(None if end is None else end * DAY for end in (interval.lower, interval.upper)))
    if source.kind is Kind.TIMESTAMP and to.kind is Kind.DATE:
        return Interval(
            *(None if e is None else Fraction(math.floor(e / DAY)) for e in (interval.lower, interval.upper))
        )
    return interval if source == to else Interval()


def cast_value(value: Atom, source: Type, to: Type) -> Atom:
    """One value as DuckDB casts it; Inexact where this rule does not vouch for it."""
    if value is None or source == to:
        return value
    match source.kind, to.kind:
        case (_, Kind.TEXT):
            return _to_text(value, source)
        case (Kind.TEXT, _):
            return _from_text(value, to)
        case (_, Kind.BOOLEAN):
            return value != 0
        case (Kind.BOOLEAN, Kind.DECIMAL):  # DuckDB makes TRUE the smallest unit where no digit stands before the point
            raise Inexact
        case (Kind.DATE, Kind.TIMESTAMP):
            return _whole(value) * DAY
        case (Kind.TIMESTAMP, Kind.DATE):
            return _whole(value) // DAY
        case (Kind.REAL, Kind.INTEGER) if isinstance(value, float):
            return _kept(Fraction(round(value)), to)
        case (Kind.REAL, Kind.DECIMAL) if isinstance(value, float) and abs(value) < 2**31 and to.scale <= 6:
            exact = Fraction(value) * 10**to.scale
            if exact.denominator != 1:
                raise Inexact
            return _kept(Fraction(value), to)
        case (Kind.REAL, _):
            raise Inexact
        case (_, Kind.REAL):
            return converted(value, to)
        case _ if not isinstance(value, str):
            return _kept(_half_away(Fraction(value), to.scale), to)
        case _:
            raise Inexact


def _whole(value: Atom) -> int:
    if not isinstance(value, int):
        raise Inexact
    return value


def _half_away(value: Fraction, scale: int) -> Fraction:
    size = Fraction(math.floor(abs(value) * 10**scale + Fraction(1, 2)), 10**scale)
    return size if value >= 0 else -size


def _kept(value: Fraction, to: Type) -> Atom:
    """Out of range is NULL, as in the vault."""
    if value not in type_interval(to):
        return None
    return int(value) if to.kind is Kind.INTEGER else value


def _to_text(value: Atom, source: Type) -> str:
    match source.kind:
        case Kind.BOOLEAN:
            return "true" if value else "false"
        case Kind.INTEGER:
            return str(value)
        case Kind.DATE:
            return to_date(_whole(value)).isoformat()
        case Kind.DECIMAL if isinstance(value, Fraction | int):
            units = int(abs(value) * 10**source.scale)
            digits = str(units).rjust(source.scale + 1, "0")
            sign = "-" if value < 0 else ""
            if source.scale == 0:
                return sign + digits
            return f"{sign}{digits[: -source.scale]}.{digits[-source.scale :]}"
        case _:
            raise Inexact


def _from_text(value: Atom, to: Type) -> Atom:
    if to.kind is Kind.INTEGER and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
        return _kept(Fraction(int(value)), to)
    raise Inexact


def _domain(call: Call, domains: Domains) -> Domain:
    source = call.args[0].type
    whole = call.type.kind is Kind.REAL and (domains[0].is_integral or source == BOOLEAN)
    null = domains[0].nullable or source == call.type and domains[0].nullable
    return result(
        call,
        domains,
        interval=_interval(domains[0], source, call.type),
        keys=mapped(lambda v: cast_value(v, source, call.type), domains),
        nullable=null,
        integral=whole and source.kind is not Kind.TEXT,
    )


def _try_domain(call: Call, domains: Domains) -> Domain:
    null = domains[0].nullable or _loses(call, domains)
    keys = mapped(lambda v: cast_value(v, call.args[0].type, call.type), domains)
    return result(
        call,
        domains,
        interval=_interval(domains[0], call.args[0].type, call.type),
        keys=keys,
        nullable=null,
        integral=_domain(call, domains).integral,
    )


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
        "The value as another type, NULL where it does not convert.",
        "TRY_CAST(x AS type), x?::type",
        1,
        _unchecked,
        _try_domain,
        reach=_reach,
    ),
)
