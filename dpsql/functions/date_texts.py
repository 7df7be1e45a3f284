"""Dates as text and text as dates, by names and constant formats."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping

from dpsql.domain.facts import Atom, Domain
from dpsql.domain.types import TEXT, TIMESTAMP, Kind, Type
from dpsql.functions.date_parts import AS_DATE, MOMENTS
from dpsql.functions.function import Args, Domains, TypeProblem, expect, never, row, takes, text_constant
from dpsql.functions.result import result
from dpsql.functions.sets import Inexact, mapped
from dpsql.functions.timestamps import as_datetime
from dpsql.ir.expr import Call, Literal

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = tuple("January February March April May June July August September October November December".split())


def _day_domain(names: tuple[str, ...], rule: Callable[[dt.datetime], int]) -> Callable[[Call, Domains], Domain]:
    def domain(call: Call, domains: Domains) -> Domain:
        moment = domains[0]
        keys = mapped(lambda v: names[rule(as_datetime(v, moment.type))], domains)
        return result(call, domains, keys=keys if keys is not None else names)

    return domain


WRITTEN: Mapping[str, Callable[[dt.datetime], str]] = {
    "Y": lambda t: f"{t.year:04}",
    "m": lambda t: f"{t.month:02}",
    "d": lambda t: f"{t.day:02}",
    "H": lambda t: f"{t.hour:02}",
    "M": lambda t: f"{t.minute:02}",
    "S": lambda t: f"{t.second:02}",
    "y": lambda t: f"{t.year % 100:02}",
    "j": lambda t: f"{t.timetuple().tm_yday:03}",
    "a": lambda t: DAYS[t.isoweekday() % 7][:3],
    "A": lambda t: DAYS[t.isoweekday() % 7],
    "b": lambda t: MONTHS[t.month - 1][:3],
    "B": lambda t: MONTHS[t.month - 1],
    "p": lambda t: "AM" if t.hour < 12 else "PM",
    "%": lambda t: "%",
}
FORMAT_PARTS = "".join(WRITTEN)


def _format_check(args: Args, parts: str) -> str:
    format_ = text_constant(args, 1, "the format")
    rest = format_
    if "%" not in format_:  # sqlglot reads '' as 'None'
        raise TypeProblem("the format has no part", 1, "Write for example '%Y-%m-%d'.")
    while "%" in rest:
        before, _, rest = rest.partition("%")
        if not rest[:1] or rest[0] not in parts:
            raise TypeProblem(f"the format has %{rest[:1]}", 1, f"Use the parts {' '.join('%' + p for p in parts)}.")
        rest = rest[1:]
    if len(format_) > 60:
        raise TypeProblem("the format is longer than 60 characters", 1, "Join shorter texts with ||.")
    if not format_.isascii() or "\x00" in format_:
        raise TypeProblem("the format has letters beyond ASCII", 1, "Join the other letters with ||.")
    return format_


def _strftime_type(args: Args) -> Type:
    expect(args, 0, MOMENTS, AS_DATE)
    _format_check(args, FORMAT_PARTS)
    return TEXT


def _strftime_domain(call: Call, domains: Domains) -> Domain:
    """Of few days or moments the texts are known. DuckDB writes years before 1000 in a way of its own."""
    format_, moment = call.args[1], domains[0]
    if not isinstance(format_, Literal) or not isinstance(format_.value, str):
        return result(call, domains[:1])
    pieces = re.findall("%.|[^%]+", format_.value)

    def apply(value: Atom) -> Atom:
        at = as_datetime(value, moment.type)
        if at.year < 1000:
            raise Inexact
        return "".join(WRITTEN[piece[1]](at) if piece[0] == "%" else piece for piece in pieces)

    return result(call, domains[:1], keys=mapped(apply, (moment,)))


def _strptime_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,))
    _format_check(args, "YmdHMS%")
    return TIMESTAMP


def _unknown(call: Call, domains: Domains) -> Domain:
    return result(call, domains[:1])


def _unknown_or_null(call: Call, domains: Domains) -> Domain:
    return result(call, domains[:1], nullable=True)


FUNCTIONS = (
    row(
        "dayname",
        "The name of the day.",
        "DAYNAME(x)",
        1,
        takes(MOMENTS, TEXT, AS_DATE),
        _day_domain(DAYS, lambda t: t.isoweekday() % 7),
    ),
    row(
        "monthname",
        "The name of the month.",
        "MONTHNAME(x)",
        1,
        takes(MOMENTS, TEXT, AS_DATE),
        _day_domain(MONTHS, lambda t: t.month - 1),
    ),
    row(
        "strftime", "A date as text, by a constant format.", "STRFTIME(x, format)", 2, _strftime_type, _strftime_domain
    ),
    row(
        "strptime",
        "Text as a timestamp, by a constant format; NULL where it does not fit.",
        "STRPTIME(x, format)",
        2,
        _strptime_type,
        _unknown,
        never,
    ),
    row(
        "try_strptime",
        "Text as a timestamp, by a constant format; NULL where it does not fit.",
        "TRY_STRPTIME(x, format)",
        2,
        _strptime_type,
        _unknown_or_null,
    ),
)
