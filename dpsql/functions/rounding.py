"""FLOOR, CEIL, TRUNC, ROUND, ABS, SIGN."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain import interval as iv
from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import Range, in_type, type_range
from dpsql.domain.types import BIGINT, REAL, TINYINT, Kind, Type, decimal
from dpsql.functions.function import Args, Domains, Spans, expect, integer_constant, row
from dpsql.functions.numbers import AS_NUMBER, NUMBERS, fitted, held
from dpsql.functions.result import result
from dpsql.functions.sets import RANGE_LIMIT
from dpsql.ir.expr import Call, Literal

Round = Callable[[Fraction], int]


def power_of_ten(places: int) -> Fraction:
    size: int = 10 ** abs(places)
    return Fraction(size) if places >= 0 else Fraction(1, size)


def half_away(value: Fraction) -> int:
    size = math.floor(abs(value) + Fraction(1, 2))
    return size if value >= 0 else -size


def _number(args: Args) -> Type:
    expect(args, 0, NUMBERS, AS_NUMBER)
    return BIGINT if args[0].type.kind is Kind.NULL else args[0].type


def _floor_type(args: Args) -> Type:
    type_ = _number(args)
    return decimal(type_.precision, 0) if type_.kind is Kind.DECIMAL else REAL


def _round_type(args: Args) -> Type:
    type_ = _number(args)
    places = integer_constant(args, 1, "the number of digits", -38, 38) if len(args) == 2 else 0
    if type_.kind is not Kind.DECIMAL:
        return type_
    if -type_.precision <= places < 0 == type_.scale:  # 9,999 becomes 10,000
        return decimal(min(type_.precision + 1, 38), 0)
    return type_ if places >= type_.scale else decimal(type_.precision, max(places, 0))


def _places(call: Call) -> int:
    if len(call.args) == 1:
        return 0
    digits = call.args[1]
    return digits.value if isinstance(digits, Literal) and isinstance(digits.value, int) else 0


def _tens(interval: Interval, call: Call, places: int) -> tuple[Atom, ...] | None:
    """What rounding to tens, hundreds… can answer between two ends: their multiples; None if they are many or endless."""
    held = fitted(interval, call.type)
    if places >= 0 or not held.is_finite or max(abs(end) for end in held.ends()) > 2**53:
        return None
    step = 10**-places
    first, last = math.ceil(held.ends()[0] / step), math.floor(held.ends()[1] / step)
    if last - first >= RANGE_LIMIT:
        return None
    values = (n * step for n in range(first, last + 1))
    return tuple(float(v) if call.type.kind is Kind.REAL else v for v in values)


def _stepped(rule: Round) -> Callable[[Call, Domains], Domain]:
    """A rule that goes to a neighbouring multiple of 10^-places; it keeps order, so it may be applied to the ends."""

    def domain(call: Call, domains: Domains) -> Domain:
        places = _places(call)
        unit = power_of_ten(places)
        whole = places <= 0

        ends = (domains[0].interval.lower, domains[0].interval.upper)
        interval = Interval(*(None if end is None else rule(end * unit) / unit for end in ends))
        if _kept_as_is(call, places):
            interval = domains[0].interval
        return result(call, domains, interval=interval, keys=_tens(interval, call, places), integral=whole)

    return domain


def _kept_as_is(call: Call, places: int) -> bool:
    """ROUND to more places than a decimal or an integer has does nothing."""
    source = call.args[0].type
    return source == call.type and source.kind in (Kind.DECIMAL, Kind.INTEGER) and places >= source.scale


def _round_plain(call: Call, spans: Spans) -> bool:
    """ROUND of integers, and of whole decimals of 38 digits, to tens, hundreds… may leave the type."""
    places = _places(call)
    if call.type.kind is Kind.REAL or places >= 0:
        return True
    range_ = _round_reach(call, spans)
    if range_ is None or not held(range_, call.type):
        return False
    return call.type.kind is Kind.DECIMAL or 10**-places <= 2**31


def _round_reach(call: Call, spans: Spans) -> Range | None:
    """To the nearest multiple of 10^-places, halves away from zero: it keeps order."""
    (range_, *_), source, places = spans, call.args[0].type, _places(call)
    if range_ is None or places >= 0:
        return in_type(range_, source, call.type) or type_range(call.type)
    step = 10**-places
    return Range(*(half_away(Fraction(end, 10**source.scale * step)) * step for end in (range_.least, range_.most)))


def _same(call: Call, spans: Spans) -> Range | None:
    """A neighbouring whole number."""
    return in_type(spans[0], call.args[0].type, call.type) or type_range(call.type)


def _abs_domain(call: Call, domains: Domains) -> Domain:
    return result(call, domains, interval=iv.absolute(domains[0].interval), integral=domains[0].integral)


def _abs_plain(call: Call, spans: Spans) -> bool:
    range_ = _abs_reach(call, spans)
    return call.type.kind is not Kind.INTEGER or (range_ is not None and held(range_, call.type))


def _abs_reach(call: Call, spans: Spans) -> Range | None:
    (range_,) = spans
    return range_ and Range(0 if 0 in range_ else min(abs(range_.least), abs(range_.most)), range_.size)


def _sign_type(args: Args) -> Type:
    _number(args)
    return TINYINT


def _sign_domain(call: Call, domains: Domains) -> Domain:
    """SIGN(NaN) is 0, never NULL."""
    ends = (domains[0].interval.lower, domains[0].interval.upper)
    low, high = (None if end is None else (end > 0) - (end < 0) for end in ends)
    interval = iv.interval(-1 if low is None else low, 1 if high is None else high)
    if domains[0].type.kind is Kind.REAL and domains[0].nullable:
        interval = iv.hull(interval, iv.point(0))
    return result(call, domains, interval=interval)


FUNCTIONS = (
    row(
        "abs",
        "The size of a number, without its sign.",
        "ABS(x)",
        1,
        _number,
        _abs_domain,
        plain=_abs_plain,
        reach=_abs_reach,
    ),
    row("sign", "-1, 0 or 1.", "SIGN(x)", 1, _sign_type, _sign_domain, reach=lambda call, spans: Range(-1, 1)),
    row(
        "floor",
        "The largest whole number that is not above x.",
        "FLOOR(x)",
        1,
        _floor_type,
        _stepped(math.floor),
        reach=_same,
    ),
    row(
        "ceil",
        "The smallest whole number that is not below x.",
        "CEIL(x), CEILING(x)",
        1,
        _floor_type,
        _stepped(math.ceil),
        reach=_same,
    ),
    row("trunc", "The number without its fraction.", "TRUNC(x)", 1, _round_type, _stepped(math.trunc), reach=_same),
    row(
        "round",
        "The number rounded to that many decimal places (to a whole number if left out), halves away from zero.",
        "ROUND(x[, digits])",
        (1, 2),
        _round_type,
        _stepped(half_away),
        plain=_round_plain,
        reach=_round_reach,
    ),
)
