"""Dates as days and timestamps as microseconds since 1970, in Python, for years 1 to 9999."""

from __future__ import annotations

import calendar
import datetime as dt

from dpsql.domain.ranges import DAY, EPOCH
from dpsql.domain.types import DATE, Atom, Type
from dpsql.functions.sets import Inexact
from dpsql.ir.expr import Expr, Literal

MIDNIGHT = dt.datetime(1970, 1, 1)


def to_date(days: int) -> dt.date:
    return EPOCH + dt.timedelta(days=days)


def to_datetime(microseconds: int) -> dt.datetime:
    return MIDNIGHT + dt.timedelta(microseconds=microseconds)


def of_date(date: dt.date) -> int:
    return (date - EPOCH).days


def of_datetime(moment: dt.datetime) -> int:
    return (moment - MIDNIGHT) // dt.timedelta(microseconds=1)


def as_datetime(value: Atom, type_: Type) -> dt.datetime:
    if not isinstance(value, int):
        raise Inexact
    return to_datetime(value * DAY if type_ == DATE else value)


def interval_parts(by: Expr) -> tuple[int, int, int]:
    """Months, days, microseconds of an INTERVAL constant."""
    if not isinstance(by, Literal) or not isinstance(by.value, str):
        raise Inexact
    months, days, microseconds = map(int, by.value.split())
    return months, days, microseconds


def shift_range(by: Expr, sign: int) -> tuple[int, int]:
    """The least and greatest number of microseconds adding the interval can move a moment by."""
    if isinstance(by, Literal) and by.value is None:
        return 0, 0
    months, days, microseconds = (sign * part for part in interval_parts(by))
    fixed = days * DAY + microseconds
    ends = sorted((months * 28 * DAY, months * 31 * DAY))
    return ends[0] + fixed, ends[1] + fixed


def moved(value: Atom, type_: Type, by: Expr, sign: int) -> Atom:
    """The moment plus (sign -1: minus) the interval: months first, to the month's last day at most, then the rest."""
    months, days, microseconds = (sign * part for part in interval_parts(by))
    start = as_datetime(value, type_)
    month = start.year * 12 + start.month - 1 + months
    year, month = divmod(month, 12)
    if not 1 <= year <= 9999:
        raise Inexact
    day = min(start.day, calendar.monthrange(year, month + 1)[1])
    return of_datetime(start.replace(year=year, month=month + 1, day=day)) + days * DAY + microseconds
