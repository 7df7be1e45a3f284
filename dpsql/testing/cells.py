"""What a source's cell is as a unit or as a column of a unit path: the catalogue's rule, in Python.

The rule of plan/render/clean.py, written a second time and not imported: the judge must not share a mistake with what it
judges. Only forms whose meaning is plain are converted; of others DuckDB may make something, so they are an error here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from dpsql.catalog.model import ColumnSpec, Format
from dpsql.domain.types import Kind, Type
from dpsql.errors import InterfaceError

INT64 = range(-(2**63), 2**63)
DAY = 86_400_000_000
FIRST, LAST = date(1, 1, 1).toordinal() - date(1970, 1, 1).toordinal(), 2932896  # days of the years 1 to 9999
EXACT = Context(prec=100)
PLAIN_NUMBER = re.compile(r"[ \t\n\v\f\r]*([+-]?(\d+\.?\d*|\.\d+)([eE]\+?\d{1,3})?)[ \t\n\v\f\r]*", re.ASCII)
NO_NUMBER = re.compile(r"[^0-9]*|[ \t]*[A-Za-z].*|.*\s\S+\s.*", re.ASCII | re.DOTALL)
PLAIN_DAY = re.compile(r"(\d{4}-\d\d-\d\d)([ T]\d\d:\d\d:\d\d(\.\d{1,6})?)?", re.ASCII)
CANONICAL = re.compile(r"0|-?[1-9]\d*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Moment:
    """A day or a point in time, in microseconds since 1970; forever: one of the two infinities."""

    micros: int
    is_day: bool
    forever: bool = False


Cell = None | bool | int | float | Decimal | str | Moment
Value = None | bool | int | float | Decimal | str


def unit_of(cell: Cell, type_: Type) -> int | str | None:
    """The unit: None unless the conversion is exact and keeps different cells different."""
    if type_.kind is Kind.TEXT:
        return text_of(cell)
    match cell:
        case bool() | None | Moment():
            return None
        case int():
            return cell if cell in INT64 else None
        case float():
            return int(cell) if math.isfinite(cell) and cell == int(cell) and abs(cell) < 2**53 else None
        case Decimal():
            return int(cell) if cell.as_tuple().exponent == 0 and int(cell) in INT64 else None
        case str():
            return int(cell) if CANONICAL.fullmatch(cell) and int(cell) in INT64 else None


def value_of(cell: Cell, column: ColumnSpec, form: Format | None = None) -> Value:
    """The cell in its declared type, within its declared bounds; None where it has no such value. form: of a CSV's cell.

    Two values of one column's type are equal here where they are equal in SQL: −0.0 is 0.0, NaN is None."""
    if isinstance(cell, str) and form is not None:
        cell = _rewritten(cell, column, form)
    if cell is None:
        return None
    match column.type.kind:
        case Kind.TEXT:
            return text_of(cell)
        case Kind.INTEGER:
            return _clamped(_whole(cell), column)
        case Kind.DECIMAL:
            return _clamped(_decimal(cell, column.type), column)
        case Kind.REAL:
            return _clamped(_real(cell), column)
        case Kind.DATE | Kind.TIMESTAMP:
            return _moment(cell, column)
        case Kind.BOOLEAN if isinstance(cell, bool):
            return cell
        case _:
            raise _unknown(cell, column)


def _rewritten(cell: str, column: ColumnSpec, form: Format) -> Cell:
    """The cell as it would stand in a CSV without a format; None where it is not of the form that the metadata describes."""
    match column.type.kind:
        case Kind.BOOLEAN if form.true_words:
            return True if cell in form.true_words else False if cell in form.false_words else None
        case Kind.INTEGER | Kind.DECIMAL | Kind.REAL if form.decimal != "." or form.thousands:
            return _without_separators(cell, form)
        case Kind.DATE if form.date_format is not None:
            raise _unknown(cell, column)
        case Kind.TIMESTAMP if form.timestamp_format is not None:
            raise _unknown(cell, column)
    return cell


def _without_separators(cell: str, form: Format) -> str | None:
    """Read from the left: sign, groups of digits, the decimal sign and digits, a power of ten."""
    rest = cell.strip(" ")
    sign, rest = (rest[0], rest[1:]) if rest[:1] in ("+", "-") else ("", rest)
    number, mark, power = rest.replace("E", "e").partition("e")
    if mark and not (0 < len(power.lstrip("+-")) <= 3 and _digits(power[power[0] in "+-" :])):
        return None
    whole, comma, part = number.partition(form.decimal)
    groups = whole.split(form.thousands) if form.thousands else [whole]
    if len(groups) > 1 and not (1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])):
        return None
    digits = "".join(groups)
    if not all(map(_digits, groups)) if whole else not part:
        return None
    if part and not _digits(part):
        return None
    return f"{sign}{digits}{'.' if comma else ''}{part}{mark}{power}"


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def text_of(cell: Cell) -> str | None:
    match cell:
        case None | str():
            return cell
        case bool():
            return "true" if cell else "false"
        case float():
            return repr(cell)
        case Decimal():
            return format(cell, "f")
        case int():
            return str(cell)
        case Moment(forever=False) if cell.is_day and FIRST <= cell.micros // DAY <= LAST:
            return date.fromordinal(date(1970, 1, 1).toordinal() + cell.micros // DAY).isoformat()
    raise InterfaceError(f"the judge writes no {type(cell).__name__} as text")


def _whole(cell: Cell) -> int | None:
    number = _number(cell)
    if number is None:
        return None
    rounded = round(number) if isinstance(cell, float) else int(number.to_integral_value(ROUND_HALF_UP))
    return rounded if rounded in INT64 else None


def _decimal(cell: Cell, type_: Type) -> Decimal | None:
    number = _number(cell)
    if number is None or abs(number) >= Decimal(10) ** (type_.precision - type_.scale):
        return None
    rounded = number.quantize(Decimal(1).scaleb(-type_.scale), ROUND_HALF_UP, EXACT)
    return rounded if abs(rounded) < Decimal(10) ** (type_.precision - type_.scale) else None


def _real(cell: Cell) -> float | None:
    if isinstance(cell, float):
        return None if math.isnan(cell) else cell + 0.0
    number = _number(cell)
    return None if number is None else float(number) + 0.0


def _number(cell: Cell) -> Decimal | None:
    match cell:
        case bool() | int() | Decimal():
            return Decimal(cell)
        case float():
            return Decimal(cell) if math.isfinite(cell) else None
        case str():
            plain = PLAIN_NUMBER.fullmatch(cell)
            if plain is not None:
                return Decimal(plain[1])
            if NO_NUMBER.fullmatch(cell) or "\0" in cell:
                return None
    raise InterfaceError(f"the judge does not know what number a cell like this is ({type(cell).__name__})")


def _moment(cell: Cell, column: ColumnSpec) -> int | None:
    """Days, or microseconds, of the years 1 to 9999: far ones are the last or first of them."""
    if isinstance(cell, str):
        plain = PLAIN_DAY.fullmatch(cell)
        if plain is None:
            if not re.search(r"\d", cell) and cell.strip().lower() not in ("epoch", "infinity", "-infinity"):
                return None
            raise _unknown(cell, column)
        read = _read(plain[0])
        if read is None:
            return None
        cell = read
    if not isinstance(cell, Moment):
        raise _unknown(cell, column)
    if cell.forever:
        return None
    is_day = column.type.kind is Kind.DATE
    unit = 1 if is_day else DAY
    within = min(max(cell.micros // DAY if is_day else cell.micros, FIRST * unit), (LAST + 1) * unit - 1)
    clamped = _clamped(within, column)
    assert isinstance(clamped, int)
    return clamped


def _read(text: str) -> Moment | None:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    days = when.toordinal() - date(1970, 1, 1).toordinal()
    seconds = when.hour * 3600 + when.minute * 60 + when.second
    return Moment(days * DAY + seconds * 1_000_000 + when.microsecond, is_day=len(text) == 10)


def _clamped(value: int | float | Decimal | None, column: ColumnSpec) -> int | float | Decimal | None:
    low, high = column.interval.lower, column.interval.upper
    if value is None or (low is None and high is None):
        return value
    kind = column.type.kind
    if kind is Kind.REAL:
        value = max(value, float(low)) if low is not None else value
        return min(value, float(high)) if high is not None else value
    if kind is Kind.DECIMAL and any(b is not None and (b * 10**column.type.scale).denominator > 1 for b in (low, high)):
        raise InterfaceError(f"the bounds of {column.name} have more digits than it has")
    if low is not None and value < low:
        return type(value)(math.ceil(low) if kind is not Kind.DECIMAL else _as_decimal(low))
    if high is not None and value > high:
        return type(value)(math.floor(high) if kind is not Kind.DECIMAL else _as_decimal(high))
    return value


def _as_decimal(bound: Fraction | int) -> Decimal:
    exact = Fraction(bound)
    return EXACT.divide(Decimal(exact.numerator), Decimal(exact.denominator))


def _unknown(cell: Cell, column: ColumnSpec) -> InterfaceError:
    return InterfaceError(
        f"the judge does not know what {column.name} ({column.type}) makes of a {type(cell).__name__}"
    )
