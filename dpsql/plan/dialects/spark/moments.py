"""Dates and timestamps on Spark. In the vault they are of the years 1 to 9999, and without a time zone; what leads out of
these years is NULL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dpsql.domain.ranges import FIRST_DAY, LAST_DAY
from dpsql.domain.types import BIGINT, DATE, Kind, Type
from dpsql.functions.date_parts import CLOCK, the_part
from dpsql.functions.date_texts import DAYS, MONTHS
from dpsql.ir.expr import Call, Literal
from dpsql.plan.dialects.spark.binding import bound
from dpsql.plan.dialects.spark.literals import integer, text
from dpsql.plan.dialects.spark.numbers import as_type, between

EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
FIRST = {Kind.DATE: "DATE'0001-01-01'", Kind.TIMESTAMP: "TIMESTAMP_NTZ'0001-01-01 00:00:00'"}
LAST = {Kind.DATE: "DATE'9999-12-31'", Kind.TIMESTAMP: "TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"}
DAY, MINUTE = 86_400_000_000, 60_000_000


def in_years(value: str, type_: Type) -> str:
    return between(value, FIRST[type_.kind], LAST[type_.kind])


def timestamp(value: str, source: Type) -> str:
    return as_type(value, source, Type(Kind.TIMESTAMP))


def days(value: str) -> str:
    """Of a date, as BIGINT."""
    return f"CAST(unix_date({value}) AS BIGINT)"


def microseconds(value: str, source: Type) -> str:
    """Since 1970, whatever the session's time zone is."""
    if source == DATE:
        return f"({days(value)} * {integer(DAY)})"
    return f"timestampdiff(MICROSECOND, {EPOCH}, {timestamp(value, source)})"


def of_microseconds(value: str) -> str:
    """The session's time zone is UTC."""
    return f"CAST(timestamp_micros({value}) AS TIMESTAMP_NTZ)"


def of_days(value: str) -> str:
    return f"date_from_unix_date(CAST({value} AS INT))"


def moved(call: Call, args: tuple[str, ...], operator: str) -> str:
    """A date and a number of days: reckoned in days. A moment and an interval of at most 4,000 years (refusals.py): months
    first, then days and time, as in DuckDB."""
    kinds = [arg.type.kind for arg in call.args]
    if Kind.INTERVAL in kinds:
        at = kinds.index(Kind.INTERVAL)
        interval = call.args[at]
        assert isinstance(interval, Literal) and isinstance(interval.value, str)
        return _by_interval(timestamp(args[1 - at], call.args[1 - at].type), interval.value, operator, call.type)
    at = 0 if kinds[0] is Kind.DATE else 1
    number = as_type(args[1 - at], call.args[1 - at].type, BIGINT)
    far = between(number, integer(-4_000_000), integer(4_000_000))
    total = between(f"({days(args[at])} {operator} {far})", integer(FIRST_DAY), integer(LAST_DAY))
    return of_days(total)


def _by_interval(value: str, interval: str, operator: str, type_: Type) -> str:
    """Spark's moments reach 290,000 years, so nothing here leaves them."""
    months, days_, time = (int(part) * (1 if operator == "+" else -1) for part in interval.split())
    by_months = f"({value} + INTERVAL '{months}' MONTH)" if months else value
    rest = days_ * DAY + time
    by_time = by_months
    if rest:
        by_time = of_microseconds(f"({microseconds(by_months, Type(Kind.TIMESTAMP))} + {integer(rest)})")
    return in_years(by_time, type_)


def difference(call: Call, args: tuple[str, ...]) -> str:
    """Of dates, in days."""
    return f"CAST(datediff({args[0]}, {args[1]}) AS BIGINT)"


# --- parts ------------------------------------------------------------------------------------------------------------


def part(call: Call, args: tuple[str, ...]) -> str:
    word, source = the_part(call), call.args[1].type
    if word == "epoch" and source == DATE:
        return f"CAST({days(args[1])} * {integer(86_400)} AS DOUBLE)"
    if word == "epoch":
        return f"(CAST({microseconds(args[1], source)} AS DOUBLE) / 1000000.0D)"
    return bound((timestamp(args[1], source),), lambda x: field(word, x))


def _number(function: str) -> Callable[[str], str]:
    return lambda x: f"CAST({function}(CAST({x} AS DATE)) AS BIGINT)"


def _clock(function: str) -> Callable[[str], str]:
    return lambda x: f"CAST({function}({x}) AS BIGINT)"


def _years(first: int, per: int) -> Callable[[str], str]:
    return lambda x: f"(({field('year', x)} + {integer(first)}) div {integer(per)})"


def _in_minute(per: int) -> Callable[[str], str]:
    return lambda x: f"(pmod({microseconds(x, Type(Kind.TIMESTAMP))}, {integer(MINUTE)}) div {integer(per)})"


FIELDS: Mapping[str, Callable[[str], str]] = {
    "year": _number("year"),
    "quarter": _number("quarter"),
    "month": _number("month"),
    "week": _number("weekofyear"),
    "day": _number("day"),
    "dayofyear": _number("dayofyear"),
    "dayofweek": lambda x: f"({_number('dayofweek')(x)} - 1L)",
    "isodow": lambda x: f"({_number('weekday')(x)} + 1L)",
    "isoyear": lambda x: f"CAST(extract(YEAROFWEEK FROM CAST({x} AS DATE)) AS BIGINT)",
    "yearweek": lambda x: f"({field('isoyear', x)} * 100L + {field('week', x)})",
    "hour": _clock("hour"),
    "minute": _clock("minute"),
    "second": _clock("second"),
    "millisecond": _in_minute(1000),
    "microsecond": _in_minute(1),
    "decade": _years(0, 10),
    "century": _years(99, 100),
    "millennium": _years(999, 1000),
    "era": lambda x: f"CASE WHEN {x} IS NOT NULL THEN 1L END",
}


def field(word: str, x: str) -> str:
    return FIELDS[word](x)


def truncated(call: Call, args: tuple[str, ...]) -> str:
    """The years before the first are none."""
    word, value = the_part(call), timestamp(args[1], call.args[1].type)
    if word == "decade":
        cut = bound((value,), lambda x: f"make_date(CAST({field('decade', x)} * 10L AS INT), 1, 1)")
    else:
        cut = f"date_trunc('{word.upper()}', {value})"
    return in_years(f"CAST({cut} AS {'DATE' if call.type == DATE else 'TIMESTAMP_NTZ'})", call.type)


def last_day(call: Call, args: tuple[str, ...]) -> str:
    return f"last_day(CAST({args[0]} AS DATE))"


def epoch_us(call: Call, args: tuple[str, ...]) -> str:
    return microseconds(args[0], call.args[0].type)


def epoch_ms(call: Call, args: tuple[str, ...]) -> str:
    """Rounded to the nearest, halves away from zero."""
    if call.args[0].type == DATE:
        return f"({days(args[0])} * {integer(DAY // 1000)})"
    exact = microseconds(args[0], call.args[0].type)
    return bound((exact,), lambda n: f"(({n} + CASE WHEN {n} < 0L THEN (-500L) ELSE 500L END) div 1000L)")


# --- differences ------------------------------------------------------------------------------------------------------

NUMBERED: Mapping[str, Callable[[str], str]] = {
    "month": lambda x: f"({field('year', x)} * 12L + {field('month', x)})",
    "quarter": lambda x: f"({field('year', x)} * 4L + {field('quarter', x)})",
    "year": FIELDS["year"],
    "decade": _years(0, 10),
    "century": _years(0, 100),
    "millennium": _years(0, 1000),
    "isoyear": FIELDS["isoyear"],
}


def boundaries(call: Call, args: tuple[str, ...]) -> str:
    """DATE_DIFF: the number of the part that one moment is in, less the other's."""
    word = the_part(call)
    start, end = (timestamp(a, e.type) for a, e in zip(args[1:], call.args[1:], strict=True))
    if word in NUMBERED:
        number = NUMBERED[word]
        return bound((start, end), lambda a, b: f"({number(b)} - {number(a)})")
    if word in ("day", "week"):
        first, last = (days(f"CAST({x} AS DATE)") for x in (start, end))
        return f"({last} - {first})" if word == "day" else f"(({last} - {first}) div 7L)"
    unit = integer(CLOCK[word])
    first, last = (microseconds(x, Type(Kind.TIMESTAMP)) for x in (start, end))
    if CLOCK[word] == 1:
        return f"({last} - {first})"
    year_1 = integer(-FIRST_DAY * DAY)  # to count from there, so that quotients are rounded down
    return f"(({last} + {year_1}) div {unit} - ({first} + {year_1}) div {unit})"


def full_parts(call: Call, args: tuple[str, ...]) -> str:
    """DATE_SUB of parts that are always as long."""
    word = the_part(call)
    length = CLOCK.get(word) or {"day": DAY, "week": 7 * DAY}[word]
    first, last = (microseconds(a, e.type) for a, e in zip(args[1:], call.args[1:], strict=True))
    return f"(({last} - {first}) div {integer(length)})"


# --- as text ----------------------------------------------------------------------------------------------------------


def _one_of(words: tuple[str, ...], number: str, first: int, length: int | None = None) -> str:
    return (
        f"CASE {number} {' '.join(f'WHEN {i + first}L THEN {text(word[:length])}' for i, word in enumerate(words))} END"
    )


def named(what: str) -> Callable[[Call, tuple[str, ...]], str]:
    def form(call: Call, args: tuple[str, ...]) -> str:
        return bound((timestamp(args[0], call.args[0].type),), lambda x: _name(what, x, None))

    return form


def _name(what: str, x: str, length: int | None) -> str:
    if what == "day":
        return _one_of(DAYS, field("dayofweek", x), 0, length)
    return _one_of(MONTHS, field("month", x), 1, length)


def _padded(word: str, width: int) -> Callable[[str], str]:
    return lambda x: f"lpad(CAST({field(word, x)} AS STRING), {width}, '0')"


WRITTEN: Mapping[str, Callable[[str], str]] = {
    "Y": _padded("year", 4),
    "m": _padded("month", 2),
    "d": _padded("day", 2),
    "H": _padded("hour", 2),
    "M": _padded("minute", 2),
    "S": _padded("second", 2),
    "y": lambda x: f"lpad(CAST({field('year', x)} % 100L AS STRING), 2, '0')",
    "j": _padded("dayofyear", 3),
    "a": lambda x: _name("day", x, 3),
    "A": lambda x: _name("day", x, None),
    "b": lambda x: _name("month", x, 3),
    "B": lambda x: _name("month", x, None),
    "p": lambda x: f"CASE WHEN {field('hour', x)} < 12L THEN 'AM' WHEN {x} IS NOT NULL THEN 'PM' END",
}


def formatted(call: Call, args: tuple[str, ...]) -> str:
    """STRFTIME, piece by piece."""
    format_ = call.args[1]
    assert isinstance(format_, Literal) and isinstance(format_.value, str)
    pieces = re.findall("%.|[^%]+", format_.value)

    def shown(x: str, piece: str) -> str:
        return text("%" if piece == "%%" else piece) if piece[0] != "%" or piece == "%%" else WRITTEN[piece[1]](x)

    value = timestamp(args[0], call.args[0].type)
    there = "CASE WHEN {x} IS NOT NULL THEN concat({all}) END"
    return bound((value,), lambda x: there.format(x=x, all=", ".join(shown(x, piece) for piece in pieces)))
