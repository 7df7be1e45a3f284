"""The parts of dates: their spellings, their values, and how a row of the table of date functions is written."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import Range, type_range
from dpsql.domain.types import BIGINT, DATE, REAL, Kind, Type
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, expect, text_constant
from dpsql.functions.numbers import fitted
from dpsql.functions.result import reaching, result
from dpsql.functions.timestamps import as_datetime
from dpsql.ir.expr import Call, Literal

MOMENTS = (Kind.DATE, Kind.TIMESTAMP)
AS_DATE = "Use CAST(x AS DATE), or write DATE '2020-01-31' for a constant."

# The shortest and the longest days of a part; parts of a day in microseconds.
DAYS = {
    "day": (1, 1),
    "week": (7, 7),
    "month": (28, 31),
    "quarter": (90, 92),
    "year": (365, 366),
    "isoyear": (364, 371),
    "decade": (3652, 3653),
    "century": (36524, 36525),
    "millennium": (365242, 365243),
}
CLOCK = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "millisecond": 1000, "microsecond": 1}

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
    moment = domains[1]
    if the_part(call) != "epoch" or moment.type.kind not in MOMENTS:
        return reaching(part_reach)(call, domains)
    unit = 86_400 if moment.type == DATE else Fraction(1, 1_000_000)
    return result(
        call, domains, interval=Interval(*(end * unit for end in fitted(moment.interval, moment.type).ends()))
    )


def part_reach(call: Call, spans: Spans) -> Range | None:
    part, range_ = the_part(call), spans[1]
    if part in RISING and range_ is not None and call.args[1].type.kind in MOMENTS:
        low, high = (RISING[part](as_datetime(end, call.args[1].type)) for end in (range_.least, range_.most))
        return Range(low, high)
    return Range(*PART_RANGE[part]) if part in PART_RANGE else type_range(call.type)
