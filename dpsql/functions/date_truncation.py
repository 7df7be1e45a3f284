"""DATE_TRUNC: the start of the year, month, week, day… a moment is in."""

from __future__ import annotations

import datetime as dt

from dpsql.domain.facts import KEY_LIMIT, Domain, Later, Values
from dpsql.domain.ranges import DAY, FIRST_MOMENT, Range, type_range
from dpsql.domain.types import DATE, TIMESTAMP, Type
from dpsql.functions.date_parts import AS_DATE, CLOCK, DAYS, MOMENTS, part_of, the_part
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, expect
from dpsql.functions.numbers import expected_range
from dpsql.functions.result import reaching
from dpsql.functions.timestamps import as_datetime, of_date, to_date, to_datetime
from dpsql.ir.expr import Call

YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}


class BeforeYearOne(Exception):
    """A part begins there: in the vault it is NULL."""


def truncated(part: str, value: int, type_: Type) -> int:
    """The start of the part a moment is in, in microseconds."""
    if part in CLOCK:
        value = value * DAY if type_ == DATE else value
        return value - value % CLOCK[part]
    day = to_date(value) if type_ == DATE else to_datetime(value).date()
    if part == "week":
        return of_date(day) * DAY - day.weekday() * DAY
    if part in ("month", "quarter"):
        month = day.month if part == "month" else day.month - (day.month - 1) % 3
        return of_date(day.replace(month=month, day=1)) * DAY
    if part in YEARS:
        year = day.year // YEARS[part] * YEARS[part]
        if year < 1:
            raise BeforeYearOne
        return of_date(dt.date(year, 1, 1)) * DAY
    return of_date(day) * DAY


def trunc_type(args: Args) -> Type:
    part = part_of(args)
    if part not in CLOCK and (part not in DAYS or part == "isoyear"):
        raise TypeProblem(f"dates are not truncated to {part}", 0, "Write 'year', 'quarter', 'month', 'week', 'day'…")
    expect(args, 1, MOMENTS, AS_DATE)
    return TIMESTAMP


def trunc_domain(call: Call, domains: Domains) -> Domain:
    part, moment = the_part(call), domains[1]
    known = reaching(trunc_reach)(call, domains)
    certain = trunc_plain(call, (None, expected_range(moment)))
    if not certain or moment.interval.is_empty or not moment.interval.is_finite:
        return known
    return known.but(keys=Later(lambda: _starts(part, *map(int, known.interval.ends()))))


def _starts(part: str, low: int, high: int) -> Values | None:
    """Every start of a part from one to another; None if there are too many."""
    step = CLOCK[part] if part in CLOCK else DAYS[part][1] * DAY
    if (high - low) // step > KEY_LIMIT:
        return None
    if part in CLOCK or part in ("day", "week"):
        return tuple(range(low, high + 1, step))
    starts = [low]
    while starts[-1] < high:
        starts.append(truncated(part, starts[-1] + step, TIMESTAMP))
    return tuple(starts)


def trunc_plain(call: Call, spans: Spans) -> bool:
    """Truncating to decades, centuries, millennia leads to the year 0."""
    part, moment = the_part(call), spans[1]
    if moment is None or call.args[1].type.kind not in MOMENTS or part not in YEARS:
        return True
    return as_datetime(moment.least, call.args[1].type).year >= YEARS[part]


def trunc_reach(call: Call, spans: Spans) -> Range | None:
    """It keeps order. What leads to the year 0 is NULL."""
    part, moment, source = the_part(call), spans[1], call.args[1].type
    if moment is None or source.kind not in MOMENTS:
        return type_range(call.type)
    least = truncated(part, moment.least, source) if trunc_plain(call, spans) else FIRST_MOMENT
    try:
        return Range(least, truncated(part, moment.most, source))
    except BeforeYearOne:
        return type_range(call.type)
