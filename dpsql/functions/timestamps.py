"""Dates as days and timestamps as microseconds since 1970, in Python, for years 1 to 9999."""

from __future__ import annotations

import datetime as dt

from dpsql.domain.ranges import DAY, EPOCH
from dpsql.domain.types import DATE, Type
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


def as_datetime(value: int, type_: Type) -> dt.datetime:
    return to_datetime(value * DAY if type_ == DATE else value)


def interval_parts(by: Expr) -> tuple[int, int, int]:
    """Months, days, microseconds of an INTERVAL constant."""
    assert isinstance(by, Literal) and isinstance(by.value, str)
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
