"""Parts, truncation and differences of dates and timestamps. In the vault a moment outside years 1 to 9999 is NULL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain.facts import KEY_LIMIT, Atom, Domain
from dpsql.domain.interval import interval
from dpsql.domain.types import BIGINT, DATE, TIMESTAMP, Type
from dpsql.ir.expr import Call
from dpsql.sql.functions.date_parts import (
    AS_DATE,
    MOMENTS,
    part_domain,
    part_of,
    part_type,
    row,
    the_part,
)
from dpsql.sql.functions.model import Args, Domains, TypeProblem, expect
from dpsql.sql.functions.moments import DAY, as_datetime, of_date, to_date, to_datetime
from dpsql.sql.functions.numbers import fitted
from dpsql.sql.functions.result import result
from dpsql.sql.functions.sets import Inexact, mapped

CALENDAR_STEP = {
    "week": 7,
    "month": 31,
    "quarter": 92,
    "year": 366,
    "decade": 3653,
    "century": 36525,
    "millennium": 365243,
    "day": 1,
}
CLOCK_STEP = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000, "microsecond": 1}
YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}


def truncated(part: str, value: int, type_: Type) -> int:
    """The start of the part a moment is in, in microseconds."""
    if part in CLOCK_STEP:
        value = value * DAY if type_ == DATE else value
        return value - value % CLOCK_STEP[part]
    day = to_date(value) if type_ == DATE else to_datetime(value).date()
    if part == "week":
        return of_date(day) * DAY - day.weekday() * DAY
    if part in ("month", "quarter"):
        month = day.month if part == "month" else day.month - (day.month - 1) % 3
        return of_date(day.replace(month=month, day=1)) * DAY
    if part in YEARS:
        year = day.year // YEARS[part] * YEARS[part]
        if year < 1:
            raise Inexact
        return of_date(dt.date(year, 1, 1)) * DAY
    return of_date(day) * DAY


def _trunc_type(args: Args) -> Type:
    part = part_of(args)
    if part not in CALENDAR_STEP and part not in CLOCK_STEP:
        raise TypeProblem(f"dates are not truncated to {part}", 0, "Write 'year', 'quarter', 'month', 'week', 'day'…")
    expect(args, 1, MOMENTS, AS_DATE)
    return TIMESTAMP


def _trunc_domain(call: Call, domains: Domains) -> Domain:
    part, moment = the_part(call), domains[1]
    if moment.type.kind not in MOMENTS:
        return result(call, domains, nullable=True)
    span = fitted(moment.interval, moment.type)
    if span.is_empty:
        return result(call, domains[1:])
    try:
        low, high = (truncated(part, int(end), moment.type) for end in span.ends())
    except Inexact:
        return result(call, domains[1:])
    keys: tuple[Atom, ...] | None
    if moment.keys is not None:
        keys = mapped(lambda v: truncated(part, v, moment.type), (moment,))
    else:
        keys = _starts(part, low, high) if moment.interval.is_finite else None
    return result(call, domains[1:], interval=interval(low, high), keys=keys)


def _starts(part: str, low: int, high: int) -> tuple[Atom, ...] | None:
    """Every start of a part from one to another; None if there are too many."""
    step = CLOCK_STEP[part] if part in CLOCK_STEP else CALENDAR_STEP[part] * DAY
    if (high - low) // step > KEY_LIMIT:
        return None
    if part in CLOCK_STEP or part in ("day", "week"):
        return tuple(range(low, high + 1, step))
    found = [low]
    while found[-1] < high:
        found.append(truncated(part, found[-1] + step, TIMESTAMP))
    return tuple(found)


def _trunc_raises(call: Call, domains: Domains) -> bool:
    """Truncating to decades, centuries, millennia leads to the year 0."""
    part, moment = the_part(call), domains[1]
    if moment.type.kind not in MOMENTS or part not in YEARS:
        return False
    span = fitted(moment.interval, moment.type)
    if span.is_empty:
        return False
    return as_datetime(int(span.ends()[0]), moment.type).year < YEARS[part]


def _diff_type(args: Args) -> Type:
    part = part_of(args)
    if part not in CALENDAR_STEP and part not in CLOCK_STEP and part not in ("isoyear",):
        raise TypeProblem(f"differences are not counted in {part}", 0, "Write 'day', 'month', 'year', 'hour'…")
    for position in (1, 2):
        expect(args, position, MOMENTS, AS_DATE)
    return BIGINT


def _diff_domain(call: Call, domains: Domains) -> Domain:
    """Between the distance over the part's longest length and over its shortest."""
    part = the_part(call)
    spans = []
    for domain in domains[1:]:
        if domain.type.kind not in MOMENTS:
            return result(call, domains, nullable=True)
        unit = DAY if domain.type == DATE else 1
        span = fitted(domain.interval, domain.type)
        if span.is_empty:
            return result(call, domains[1:])
        spans.append(tuple(end * unit for end in span.ends()))
    low, high = spans[1][0] - spans[0][1], spans[1][1] - spans[0][0]
    least = _fewest(part, low) if low > 0 else -_most(part, -low)
    most = _most(part, high) if high > 0 else -_fewest(part, -high)
    return result(call, domains[1:], interval=interval(least, most))


SHORTEST = {
    "day": 1,
    "week": 7,
    "month": 28,
    "quarter": 90,
    "year": 365,
    "isoyear": 364,
    "decade": 3652,
    "century": 36524,
    "millennium": 365242,
}
LONGEST = {
    "month": 31,
    "quarter": 92,
    "year": 366,
    "isoyear": 371,
    "decade": 3653,
    "century": 36525,
    "millennium": 365243,
}


def _most(part: str, distance: Fraction) -> int:
    """Starts of a part in a half-open distance: they are at least its shortest length apart."""
    step = CLOCK_STEP.get(part) or SHORTEST[part] * DAY
    return int(-(-distance // step))


def _fewest(part: str, distance: Fraction) -> int:
    """Full parts in a distance; one less where lengths vary, since a month's end stands for the missing days."""
    if part in LONGEST:
        return max(0, int(distance // (LONGEST[part] * DAY)) - 1)
    return int(distance // (CLOCK_STEP.get(part) or SHORTEST[part] * DAY))


def _last_day_type(args: Args) -> Type:
    expect(args, 0, MOMENTS, AS_DATE)
    return DATE


def _last_day(value: Atom, type_: Type) -> int:
    day = as_datetime(value, type_).date()
    if day.month == 12:
        return of_date(day.replace(day=31))
    return of_date(day.replace(month=day.month + 1, day=1)) - 1


def _last_day_domain(call: Call, domains: Domains) -> Domain:
    moment = domains[0]
    if moment.type.kind not in MOMENTS:
        return result(call, domains, nullable=True)
    span = fitted(moment.interval, moment.type)
    if span.is_empty:
        return result(call, domains)
    ends = [_last_day(int(end), moment.type) for end in span.ends()]
    return result(call, domains, interval=interval(*ends), keys=mapped(lambda v: _last_day(v, moment.type), domains))


def _epoch_type(args: Args) -> Type:
    expect(args, 0, MOMENTS, AS_DATE)
    return BIGINT


def _epoch_domain(divisor: int) -> Callable[[Call, Domains], Domain]:
    def domain(call: Call, domains: Domains) -> Domain:
        if domains[0].type.kind not in MOMENTS:
            return result(call, domains, nullable=True)
        unit = DAY if domains[0].type == DATE else 1
        span = fitted(domains[0].interval, domains[0].type)
        ends = [int(end * unit) for end in span.ends()]
        return result(call, domains, interval=interval(ends[0] // divisor, -(-ends[1] // divisor)))

    return domain


FUNCTIONS = (
    row(
        "date_part",
        "One part of a date: year, quarter, month, week, day, hour, and others.",
        "EXTRACT(part FROM x), DATE_PART('part', x), YEAR(x), MONTH(x), …",
        2,
        part_type,
        part_domain,
    ),
    row(
        "date_trunc",
        "The start of the year, month, week, day… x is in.",
        "DATE_TRUNC('part', x)",
        2,
        _trunc_type,
        _trunc_domain,
        _trunc_raises,
    ),
    row(
        "date_diff",
        "The boundaries of a part between two moments.",
        "DATE_DIFF('part', start, end)",
        3,
        _diff_type,
        _diff_domain,
        alike=(1, 2),
    ),
    row(
        "date_sub",
        "The full parts between two moments.",
        "DATE_SUB('part', start, end)",
        3,
        _diff_type,
        _diff_domain,
        alike=(1, 2),
    ),
    row("last_day", "The last day of the month x is in.", "LAST_DAY(x)", 1, _last_day_type, _last_day_domain),
    row("epoch_ms", "Milliseconds since 1970.", "EPOCH_MS(x)", 1, _epoch_type, _epoch_domain(1000)),
    row("epoch_us", "Microseconds since 1970.", "EPOCH_US(x)", 1, _epoch_type, _epoch_domain(1)),
)
