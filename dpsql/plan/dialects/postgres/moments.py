"""Dates and timestamps on PostgreSQL. In the vault they are of the years 1 to 9999; what leads out of them is NULL."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dpsql.domain.ranges import FIRST_DAY, LAST_DAY
from dpsql.domain.types import DATE, Kind, Type
from dpsql.functions.date_parts import CLOCK, the_part
from dpsql.ir.expr import Call, Literal
from dpsql.plan.dialects.postgres.binding import bound
from dpsql.plan.dialects.postgres.literals import BYTES, integer, text
from dpsql.plan.dialects.postgres.numbers import as_type, within

EPOCH = "date '1970-01-01'"
BEFORE = {Kind.DATE: "date '0001-12-31 BC'", Kind.TIMESTAMP: "timestamp '0001-12-31 23:59:59.999999 BC'"}
AFTER = {Kind.DATE: "date '10000-01-01'", Kind.TIMESTAMP: "timestamp '10000-01-01 00:00:00'"}
PARTS = {"dayofweek": "dow", "dayofyear": "doy", "millisecond": "milliseconds", "microsecond": "microseconds"}
DAY = 86_400_000_000


def in_years(value: str, type_: Type) -> str:
    return within(value, BEFORE[type_.kind], AFTER[type_.kind])


def timestamp(value: str, source: Type) -> str:
    return as_type(value, source, Type(Kind.TIMESTAMP))


def days(value: str) -> str:
    """Of a date, as bigint."""
    return f"CAST({value} - {EPOCH} AS bigint)"


def microseconds(value: str, source: Type) -> str:
    """Since 1970, exactly: extract answers in numeric."""
    if source == DATE:
        return f"({days(value)} * {integer(DAY)})"
    return f"CAST(extract(epoch FROM {timestamp(value, source)}) * {integer(1_000_000)} AS bigint)"


def moved(call: Call, args: tuple[str, ...], operator: str) -> str:
    """A date and a number of days: reckoned in days, so that no date is made that PostgreSQL does not have. A moment and an
    interval of at most 4,000 years (refusals.py): PostgreSQL's moments begin 4,712 years before the year 1. Months first,
    then days, then time, as in DuckDB."""
    kinds = [arg.type.kind for arg in call.args]
    if Kind.INTERVAL in kinds:
        shown = [
            a if kind is Kind.INTERVAL else timestamp(a, e.type)
            for a, kind, e in zip(args, kinds, call.args, strict=True)
        ]
        return in_years(f"({f' {operator} '.join(shown)})", call.type)
    at = 0 if kinds[0] is Kind.DATE else 1
    number = as_type(args[1 - at], call.args[1 - at].type, Type(Kind.INTEGER, bits=64))
    far = within(number, integer(-4_000_000), integer(4_000_000))
    total = within(f"{days(args[at])} {operator} {far}", integer(FIRST_DAY - 1), integer(LAST_DAY + 1))
    return f"({EPOCH} + CAST({total} AS integer))"


def difference(call: Call, args: tuple[str, ...]) -> str:
    """Of dates, in days."""
    return f"CAST({args[0]} - {args[1]} AS bigint)"


# --- parts ------------------------------------------------------------------------------------------------------------


def part(call: Call, args: tuple[str, ...]) -> str:
    word, source = the_part(call), call.args[1].type
    value = timestamp(args[1], source)
    match word:
        case "era":
            return bound((value,), lambda x: f"CASE WHEN {x} IS NOT NULL THEN {integer(1)} END")
        case "yearweek":
            return bound((value,), lambda x: f"({_field('isoyear', x)} * {integer(100)} + {_field('week', x)})")
        case "epoch" if source == DATE:
            return f"CAST({days(args[1])} * {integer(86_400)} AS float8)"
        case "epoch":
            return f"(CAST({microseconds(args[1], source)} AS float8) / float8 '1000000.0')"
        case _:
            return _field(PARTS.get(word, word), value)


def _field(word: str, value: str) -> str:
    return f"CAST(floor(extract({word} FROM {value})) AS bigint)"


def truncated(call: Call, args: tuple[str, ...]) -> str:
    """The years before the first are none."""
    word = the_part(call)
    return in_years(f"date_trunc('{PARTS.get(word, word)}', {timestamp(args[1], call.args[1].type)})", call.type)


def last_day(call: Call, args: tuple[str, ...]) -> str:
    start = f"date_trunc('month', {timestamp(args[0], call.args[0].type)})"
    return f"CAST({start} + interval '1 month' - interval '1 day' AS date)"


def epoch_us(call: Call, args: tuple[str, ...]) -> str:
    return microseconds(args[0], call.args[0].type)


def epoch_ms(call: Call, args: tuple[str, ...]) -> str:
    if call.args[0].type == DATE:
        return f"({days(args[0])} * {integer(DAY // 1000)})"
    return f"CAST(extract(epoch FROM {timestamp(args[0], call.args[0].type)}) * {integer(1000)} AS bigint)"


# --- differences ------------------------------------------------------------------------------------------------------


def _months(x: str) -> str:
    return f"{_field('year', x)} * {integer(12)} + {_field('month', x)}"


def _quarters(x: str) -> str:
    return f"{_field('year', x)} * {integer(4)} + {_field('quarter', x)}"


def _years(per: int) -> Callable[[str], str]:
    return lambda x: _field("year", x) if per == 1 else f"{_field('year', x)} / {integer(per)}"


NUMBERED: Mapping[str, Callable[[str], str]] = {
    "month": _months,
    "quarter": _quarters,
    "year": _years(1),
    "decade": _years(10),
    "century": _years(100),
    "millennium": _years(1000),
    "isoyear": lambda x: _field("isoyear", x),
}


def boundaries(call: Call, args: tuple[str, ...]) -> str:
    """DATE_DIFF: the number of the part that one moment is in, less the other's."""
    word = the_part(call)
    start, end = (timestamp(a, e.type) for a, e in zip(args[1:], call.args[1:], strict=True))
    if word in NUMBERED:
        number = NUMBERED[word]
        return bound((start, end), lambda a, b: f"({number(b)} - ({number(a)}))")
    if word in ("day", "week"):
        first, last = (days(f"CAST({x} AS date)") for x in (start, end))
        return f"({last} - {first})" if word == "day" else f"(({last} - {first}) / {integer(7)})"
    unit = integer(CLOCK[word])
    first, last = (microseconds(x, Type(Kind.TIMESTAMP)) for x in (start, end))
    if CLOCK[word] == 1:
        return f"({last} - {first})"
    year_1 = integer(-FIRST_DAY * DAY)  # to count from there, so that quotients are rounded down
    return f"(({last} + {year_1}) / {unit} - ({first} + {year_1}) / {unit})"


def full_parts(call: Call, args: tuple[str, ...]) -> str:
    """DATE_SUB of parts that are always as long."""
    word = the_part(call)
    length = CLOCK.get(word) or {"day": DAY, "week": 7 * DAY}[word]
    first, last = (microseconds(a, e.type) for a, e in zip(args[1:], call.args[1:], strict=True))
    return f"(({last} - {first}) / {integer(length)})"


# --- as text ----------------------------------------------------------------------------------------------------------


def named(pattern: str) -> Callable[[Call, tuple[str, ...]], str]:
    def form(call: Call, args: tuple[str, ...]) -> str:
        return f"(to_char({timestamp(args[0], call.args[0].type)}, '{pattern}') {BYTES})"

    return form


WRITTEN = {
    "Y": "YYYY",
    "m": "MM",
    "d": "DD",
    "H": "HH24",
    "M": "MI",
    "S": "SS",
    "y": "YY",
    "j": "DDD",
    "a": "Dy",
    "A": "FMDay",
    "b": "Mon",
    "B": "FMMonth",
    "p": "AM",
}


def formatted(call: Call, args: tuple[str, ...]) -> str:
    """STRFTIME: piece by piece, so that nothing of the format is read by to_char."""
    format_ = call.args[1]
    assert isinstance(format_, Literal) and isinstance(format_.value, str)
    pieces = re.findall("%.|[^%]+", format_.value)

    def shown(x: str, piece: str) -> str:
        if piece[0] != "%" or piece == "%%":
            return text("%" if piece == "%%" else piece)
        return f"(to_char({x}, '{WRITTEN[piece[1]]}') {BYTES})"

    value = timestamp(args[0], call.args[0].type)
    return bound((value,), lambda x: f"({' || '.join(shown(x, piece) for piece in pieces)})")
