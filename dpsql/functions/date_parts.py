"""The parts of dates: their spellings, their values, and how a row of the table of date functions is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval, interval
from dpsql.domain.ranges import Range, type_range
from dpsql.domain.types import BIGINT, DATE, REAL, Kind, Type
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, expect, text_constant
from dpsql.functions.numbers import fitted
from dpsql.functions.result import result
from dpsql.functions.sets import mapped
from dpsql.functions.timestamps import as_datetime
from dpsql.ir.expr import Call, Literal

MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
AS_DATE = "Use CAST(x AS DATE), or write DATE '2020-01-31' for a constant."

# Every spelling DuckDB has for a part.
SPELLINGS = {
    "year": ("yr", "y", "years", "yrs"),
    "quarter": ("quarters",),
    "month": ("mon", "months", "mons"),
    "week": ("weeks", "w", "weekofyear"),
    "day": ("days", "d", "dayofmonth"),
    "hour": ("hr", "hours", "hrs", "h"),
    "minute": ("min", "minutes", "mins", "m"),
    "second": ("sec", "seconds", "secs", "s"),
    "millisecond": ("milliseconds", "ms", "msec", "msecs"),
    "microsecond": ("microseconds", "us", "usec", "usecs"),
    "decade": ("decades", "dec", "decs"),
    "century": ("centuries", "cent", "c"),
    "millennium": ("millenniums", "millennia", "mil", "mils", "millenium"),
    "dayofweek": ("dow", "weekday"),
    "isodow": (),
    "dayofyear": ("doy",),
    "isoyear": (),
    "yearweek": (),
    "era": (),
    "epoch": (),
    "julian": (),
}
PART = {word: part for part, words in SPELLINGS.items() for word in (part, *words)}

PART_RANGE = {
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "hour": (0, 23),
    "minute": (0, 59),
    "second": (0, 59),
    "millisecond": (0, 59_999),
    "microsecond": (0, 59_999_999),
    "dayofweek": (0, 6),
    "isodow": (1, 7),
    "dayofyear": (1, 366),
    "era": (1, 1),
}
RISING: dict[str, Callable[[dt.datetime], int]] = {
    "year": lambda t: t.year,
    "decade": lambda t: t.year // 10,
    "century": lambda t: (t.year - 1) // 100 + 1,
    "millennium": lambda t: (t.year - 1) // 1000 + 1,
    "isoyear": lambda t: t.isocalendar()[0],
    "yearweek": lambda t: t.isocalendar()[0] * 100 + t.isocalendar()[1],
}
VALUES: dict[str, Callable[[dt.datetime], int]] = {
    **RISING,
    "quarter": lambda t: (t.month + 2) // 3,
    "month": lambda t: t.month,
    "week": lambda t: t.isocalendar()[1],
    "day": lambda t: t.day,
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
    "second": lambda t: t.second,
    "dayofweek": lambda t: t.isoweekday() % 7,
    "isodow": lambda t: t.isoweekday(),
    "dayofyear": lambda t: t.timetuple().tm_yday,
}


def part_of(args: Args) -> str:
    word = text_constant(args, 0, "the part")
    part = PART.get(word.lower())
    if part is None:
        raise TypeProblem(f"{word!r} is not a part of a date", 0, "Write 'year', 'month', 'day', 'hour'…")
    return part


def the_part(call: Call) -> str:
    word = call.args[0]
    return PART[word.value.lower()] if isinstance(word, Literal) and isinstance(word.value, str) else "day"


def part_type(args: Args) -> Type:
    part = part_of(args)
    expect(args, 1, MOMENTS, AS_DATE)
    return REAL if part in ("epoch", "julian") else BIGINT


def part_domain(call: Call, domains: Domains) -> Domain:
    part, moment = the_part(call), domains[1]
    if moment.type.kind not in MOMENTS:
        return result(call, domains, nullable=True)
    span = fitted(moment.interval, moment.type)
    rule = VALUES.get(part)
    keys = None if rule is None else mapped(lambda v: rule(as_datetime(v, moment.type)), (moment,))
    if part in RISING and not span.is_empty:
        ends = [RISING[part](as_datetime(int(end), moment.type)) for end in span.ends()]
        return result(call, domains[1:], interval=interval(*ends), keys=keys)
    values = interval(*PART_RANGE[part]) if part in PART_RANGE else Interval()
    if part == "epoch":
        unit = 86_400 if moment.type == DATE else Fraction(1, 1_000_000)
        values = Interval(*(end * unit for end in span.ends()))
    return result(call, domains[1:], interval=values, keys=keys)


def part_reach(call: Call, spans: Spans) -> Range | None:
    part, range_ = the_part(call), spans[1]
    if part in RISING and range_ is not None and call.args[1].type.kind in MOMENTS:
        low, high = (RISING[part](as_datetime(end, call.args[1].type)) for end in (range_.least, range_.most))
        return Range(low, high)
    return Range(*PART_RANGE[part]) if part in PART_RANGE else type_range(call.type)
