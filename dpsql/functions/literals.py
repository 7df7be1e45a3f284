"""Constants: from Python parameters, from number tokens, and from text that stands where another type is wanted."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from fractions import Fraction

from dpsql.domain.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    HUGEINT,
    INTEGER,
    INTERVAL,
    NULL,
    REAL,
    TEXT,
    TIMESTAMP,
    Kind,
    Type,
    integer_range,
)
from dpsql.domain.types import decimal as decimal_type
from dpsql.errors import InterfaceError, Span, SqlError
from dpsql.functions.timestamps import of_date, of_datetime
from dpsql.ir.expr import Literal

NUMBER = re.compile(r"(?P<whole>\d*)(?:\.(?P<part>\d*))?(?P<exponent>[eE][+-]?\d+)?")


def integer_type(value: int) -> Type | None:
    """DuckDB's type of an integer constant."""
    for type_ in (INTEGER, BIGINT, HUGEINT):
        low, high = integer_range(type_)
        if low <= value <= high:
            return type_
    return None


def number_literal(text: str, at: Span | None = None) -> Literal:
    """A number as DuckDB types it: 5 INTEGER, 1.50 DECIMAL(3,2), 1e5 DOUBLE."""
    match = NUMBER.fullmatch(text.replace("_", ""))
    if match is None or not (match["whole"] or match["part"]):
        raise SqlError(
            f"{text} is not a number", code=105, at=at, fix="Write digits, a decimal point, and e for powers of ten."
        )
    whole, part = match["whole"], match["part"]
    if match["exponent"] is None and part is None:
        type_ = integer_type(int(whole))
        if type_ is not None:
            return Literal(int(whole), type_, at)
    elif match["exponent"] is None and part is not None and len(whole) + len(part) <= 38:
        type_ = decimal_type(len(whole) + len(part), len(part))
        return Literal(Fraction(int((whole + part) or "0"), 10 ** len(part)), type_, at)
    value = float(text.replace("_", ""))
    if math.isinf(value):
        raise SqlError(f"{text} is beyond what a DOUBLE can hold", code=105, at=at, fix="Write a smaller number.")
    return Literal(value, REAL, at)


def literal_of(value: object) -> Literal:
    """The constant a Python parameter stands for."""
    item = getattr(value, "item", None)
    if type(value).__module__ == "numpy" and callable(item):
        value = item()
    match value:
        case None:
            return Literal(None, NULL)
        case bool():
            return Literal(value, BOOLEAN)
        case int():
            type_ = integer_type(value)
            if type_ is None:
                raise InterfaceError("an integer parameter has more than 128 bits", code=601, fix="Make it a float.")
            return Literal(value, type_)
        case float() if math.isfinite(value):
            return Literal(value, REAL)
        case decimal.Decimal() if value.is_finite():
            return _decimal(value)
        case str():
            _check_text(value)
            return Literal(value, TEXT)
        case dt.datetime() if value.tzinfo is None:
            return Literal(of_datetime(value), TIMESTAMP)
        case dt.date() if not isinstance(value, dt.datetime):
            return Literal(of_date(value), DATE)
        case _:
            pass
    raise InterfaceError(
        f"a parameter of type {type(value).__name__} cannot be used here",
        code=601,
        why="Parameters are None, bool, int, finite float or Decimal, str, date, or datetime without a time zone.",
        fix="Convert it to one of these.",
    )


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InterfaceError(
            "a text parameter is not valid Unicode", code=601, fix="Remove the lone surrogate."
        ) from None


def _decimal(value: decimal.Decimal) -> Literal:
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    width = max(len(digits) + max(0, exponent), scale, 1)
    if width > 38:
        raise InterfaceError("a Decimal parameter has more than 38 digits", code=601, fix="Round it.")
    return Literal(Fraction(value), decimal_type(width, scale))


def typed_text(text: str, to: Type, at: Span | None) -> Literal:
    """A text constant as a value of another type, read exactly; SqlError 105 at its place where it is malformed."""
    literal = parsed(text.strip(" "), to)
    if literal is None:
        raise SqlError(
            f"{text!r} is not {_article(to)} {to}",
            code=105,
            at=at,
            why=f"It is compared or combined with {_article(to)} {to}.",
            fix=f"Write it as {EXAMPLES.get(to.kind, 'a value of that type')}.",
        )
    return Literal(literal.value, to, at)


def _article(to: Type) -> str:
    return "an" if str(to)[0] in "aeiou" else "a"


EXAMPLES = {
    Kind.DATE: "DATE '2020-01-31'",
    Kind.TIMESTAMP: "TIMESTAMP '2020-01-31 12:30:00'",
    Kind.BOOLEAN: "TRUE or FALSE",
    Kind.INTEGER: "a whole number",
    Kind.DECIMAL: "a number",
    Kind.REAL: "a number",
}
DATE_FORM = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})", re.ASCII)
TIME_FORM = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?", re.ASCII)
PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)


def parsed(text: str, to: Type) -> Literal | None:
    """The value, or None where the text is not surely one of the type."""
    match to.kind:
        case Kind.TEXT:
            return Literal(text, TEXT)
        case Kind.BOOLEAN:
            known = {"true": True, "false": False, "t": True, "f": False}
            return Literal(known[text.lower()], to) if text.lower() in known else None
        case Kind.DATE:
            days = _days(text)
            return None if days is None else Literal(days, to)
        case Kind.TIMESTAMP:
            moment = _moment(text)
            return None if moment is None else Literal(moment, to)
        case Kind.INTEGER | Kind.DECIMAL | Kind.REAL:
            return _parsed_number(text, to)
        case _:
            return None


def _days(text: str) -> int | None:
    match = DATE_FORM.fullmatch(text)
    try:
        return None if match is None else of_date(dt.date(*map(int, match.groups())))
    except ValueError:
        return None


def _moment(text: str) -> int | None:
    day, _, time = text.replace("T", " ", 1).partition(" ")
    days = _days(day)
    if days is None:
        return None
    if not time:
        return days * 86_400_000_000
    match = TIME_FORM.fullmatch(time)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    return (days * 86_400 + hour * 3600 + minute * 60 + second) * 1_000_000 + int((match[4] or "").ljust(6, "0"))


def _parsed_number(text: str, to: Type) -> Literal | None:
    if not PLAIN_NUMBER.fullmatch(text) or len(text) > 400:
        return None
    if to.kind is Kind.REAL:
        value = float(text)
        return Literal(value, to) if math.isfinite(value) else None
    return fitted_number(Fraction(text), to)


def fitted_number(exact: Fraction, to: Type) -> Literal | None:
    """The constant of an integer or decimal type, if the type holds exactly that value."""
    units = exact * 10**to.scale
    if units.denominator != 1:
        return None
    if to.kind is Kind.INTEGER:
        low, high = integer_range(to)
        return Literal(int(exact), to) if low <= exact <= high else None
    return Literal(exact, to) if abs(units) < 10**to.precision else None


MICROSECONDS = {"microsecond": 1, "millisecond": 1000, "second": 10**6, "minute": 60 * 10**6, "hour": 3600 * 10**6}
DAYS = {"day": 1, "week": 7}
MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200, "millennium": 12000}
MOST = {"months": 12 * 10_000, "days": 366 * 10_000, "microseconds": 366 * 10_000 * 86_400 * 10**6}


def interval_literal(amounts: tuple[tuple[int, str], ...], at: Span | None = None) -> Literal:
    """INTERVAL 3 DAY from ((3, "day"),): months, days and microseconds, each within 10,000 years."""
    months = sum(n * MONTHS.get(part, 0) for n, part in amounts)
    days = sum(n * DAYS.get(part, 0) for n, part in amounts)
    micros = sum(n * MICROSECONDS.get(part, 0) for n, part in amounts)
    if abs(months) > MOST["months"] or abs(days) > MOST["days"] or abs(micros) > MOST["microseconds"]:
        raise SqlError("the interval is longer than 10,000 years", code=105, at=at, fix="Write a shorter one.")
    return Literal(f"{months} {days} {micros}", INTERVAL, at)
