"""Parts, truncation and differences of dates and timestamps. In the vault a moment outside years 1 to 9999 is NULL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain.facts import KEY_LIMIT, Atom, Domain
from dpsql.domain.interval import interval
from dpsql.domain.ranges import DAY, FIRST_MOMENT, Range, in_type, type_range
from dpsql.domain.types import BIGINT, DATE, TIMESTAMP, Type
from dpsql.functions.date_parts import AS_DATE, MOMENTS, part_domain, part_of, part_reach, part_type, the_part
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, expect, row, takes
from dpsql.functions.numbers import fitted
from dpsql.functions.result import result
from dpsql.functions.sets import Inexact, mapped
from dpsql.functions.timestamps import as_datetime, of_date, to_date, to_datetime
from dpsql.ir.expr import Call

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
    starts = [low]
    while starts[-1] < high:
        starts.append(truncated(part, starts[-1] + step, TIMESTAMP))
    return tuple(starts)


def _trunc_plain(call: Call, spans: Spans) -> bool:
    """Truncating to decades, centuries, millennia leads to the year 0."""
    part, moment = the_part(call), spans[1]
    if moment is None or call.args[1].type.kind not in MOMENTS or part not in YEARS:
        return True
    return as_datetime(moment.least, call.args[1].type).year >= YEARS[part]


def _trunc_reach(call: Call, spans: Spans) -> Range | None:
    """It keeps order. What leads to the year 0 is NULL."""
    part, moment, source = the_part(call), spans[1], call.args[1].type
    if moment is None or source.kind not in MOMENTS:
        return type_range(call.type)
    least = truncated(part, moment.least, source) if _trunc_plain(call, spans) else FIRST_MOMENT
    try:
        return Range(least, truncated(part, moment.most, source))
    except Inexact:
        return type_range(call.type)


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
    return result(call, domains[1:], interval=interval(*_counted(part, low, high)))


def _counted(part: str, low: Fraction | int, high: Fraction | int) -> tuple[int, int]:
    """How many of a part can lie in a distance from low to high microseconds."""
    least = _fewest(part, low) if low > 0 else -_most(part, -low)
    most = _most(part, high) if high > 0 else -_fewest(part, -high)
    return least, most


def _diff_reach(call: Call, spans: Spans) -> Range | None:
    ranges = [in_type(span, arg.type, TIMESTAMP) for span, arg in zip(spans, call.args, strict=True)][1:]
    start, end = (type_range(TIMESTAMP) if span is None else span for span in ranges)
    assert start is not None and end is not None
    if call.args[1].type.kind not in MOMENTS or call.args[2].type.kind not in MOMENTS:
        return type_range(call.type)
    return Range(*_counted(the_part(call), end.least - start.most, end.most - start.least))


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


def _most(part: str, distance: Fraction | int) -> int:
    """Starts of a part in a half-open distance: they are at least its shortest length apart."""
    step = CLOCK_STEP.get(part) or SHORTEST[part] * DAY
    return int(-(-distance // step))


def _fewest(part: str, distance: Fraction | int) -> int:
    """Full parts in a distance; one less where lengths vary, since a month's end stands for the missing days."""
    if part in LONGEST:
        return max(0, int(distance // (LONGEST[part] * DAY)) - 1)
    return int(distance // (CLOCK_STEP.get(part) or SHORTEST[part] * DAY))


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


def _last_day_reach(call: Call, spans: Spans) -> Range | None:
    """Up to 30 days later."""
    day = in_type(spans[0], call.args[0].type, DATE)
    return type_range(DATE) if day is None else Range(day.least, day.most + 30)


def _epoch_domain(divisor: int) -> Callable[[Call, Domains], Domain]:
    def domain(call: Call, domains: Domains) -> Domain:
        if domains[0].type.kind not in MOMENTS:
            return result(call, domains, nullable=True)
        unit = DAY if domains[0].type == DATE else 1
        span = fitted(domains[0].interval, domains[0].type)
        ends = [int(end * unit) for end in span.ends()]
        return result(call, domains, interval=interval(ends[0] // divisor, -(-ends[1] // divisor)))

    return domain


def _epoch_reach(divisor: int) -> Callable[[Call, Spans], Range | None]:
    def reach(call: Call, spans: Spans) -> Range | None:
        moment = in_type(spans[0], call.args[0].type, TIMESTAMP)
        return moment and Range(moment.least // divisor, -(-moment.most // divisor))

    return reach


FUNCTIONS = (
    row(
        "date_part",
        "One part of a date: year, quarter, month, week, day, hour, and others.",
        "EXTRACT(part FROM x), DATE_PART('part', x), YEAR(x), MONTH(x), …",
        2,
        part_type,
        part_domain,
        reach=part_reach,
    ),
    row(
        "date_trunc",
        "The start of the year, month, week, day… x is in.",
        "DATE_TRUNC('part', x)",
        2,
        _trunc_type,
        _trunc_domain,
        _trunc_plain,
        _trunc_reach,
    ),
    row(
        "date_diff",
        "The boundaries of a part between two moments.",
        "DATE_DIFF('part', start, end)",
        3,
        _diff_type,
        _diff_domain,
        reach=_diff_reach,
        alike=lambda _: ((1, 2),),
    ),
    row(
        "date_sub",
        "The full parts between two moments.",
        "DATE_SUB('part', start, end)",
        3,
        _diff_type,
        _diff_domain,
        reach=_diff_reach,
        alike=lambda _: ((1, 2),),
    ),
    row(
        "last_day",
        "The last day of the month x is in.",
        "LAST_DAY(x)",
        1,
        takes(MOMENTS, DATE, AS_DATE),
        _last_day_domain,
        reach=_last_day_reach,
    ),
    row(
        "epoch_ms",
        "Milliseconds since 1970.",
        "EPOCH_MS(x)",
        1,
        takes(MOMENTS, BIGINT, AS_DATE),
        _epoch_domain(1000),
        reach=_epoch_reach(1000),
    ),
    row(
        "epoch_us",
        "Microseconds since 1970.",
        "EPOCH_US(x)",
        1,
        takes(MOMENTS, BIGINT, AS_DATE),
        _epoch_domain(1),
        reach=_epoch_reach(1),
    ),
)
