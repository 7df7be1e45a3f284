"""Dates as text and text as dates, by names and constant formats."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain.facts import Domain
from dpsql.domain.types import TEXT, TIMESTAMP, Kind, Type
from dpsql.functions.date_parts import AS_DATE, MOMENTS
from dpsql.functions.function import Args, Domains, TypeProblem, expect, never, row, takes, text_constant
from dpsql.functions.result import result
from dpsql.ir.expr import Call

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = tuple("January February March April May June July August September October November December".split())


FORMAT_PARTS = "YmdHMSyjaAbBp%"


def _names(names: tuple[str, ...]) -> Callable[[Call, Domains], Domain]:
    return lambda call, domains: result(call, domains, keys=names)


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


def _strptime_type(args: Args) -> Type:
    expect(args, 0, (Kind.TEXT,))
    _format_check(args, "YmdHMS%")
    return TIMESTAMP


def _unknown_or_null(call: Call, domains: Domains) -> Domain:
    return result(call, domains, nullable=True)


FUNCTIONS = (
    row(
        "dayname",
        "The name of the day.",
        "DAYNAME(x)",
        1,
        takes(MOMENTS, TEXT, AS_DATE),
        _names(DAYS),
    ),
    row(
        "monthname",
        "The name of the month.",
        "MONTHNAME(x)",
        1,
        takes(MOMENTS, TEXT, AS_DATE),
        _names(MONTHS),
    ),
    row("strftime", "A date as text, by a constant format.", "STRFTIME(x, format)", 2, _strftime_type, result),
    row(
        "strptime",
        "Text as a timestamp, by a constant format; NULL if it does not fit.",
        "STRPTIME(x, format)",
        2,
        _strptime_type,
        result,
        never,
    ),
    row(
        "try_strptime",
        "Text as a timestamp, by a constant format; NULL if it does not fit.",
        "TRY_STRPTIME(x, format)",
        2,
        _strptime_type,
        _unknown_or_null,
    ),
)
