"""Constants and identifiers as DuckDB reads them back, to the bit."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.domain.types import BOOLEAN, NULL, Kind, Type, decimal
from dpsql.functions.literals import integer_type
from dpsql.functions.timestamps import to_date, to_datetime
from dpsql.ir.expr import Literal


def identifier(name: str) -> str:
    """Always quoted. NUL cannot be in an identifier."""
    if "\x00" in name:
        raise ValueError("an identifier holds a NUL character")
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text constant; quotes are doubled, control characters and NUL written by code, so the SQL stays one line."""
    if value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    pieces: list[str] = []
    plain = ""
    for character in value:
        if character.isprintable():
            plain += character
            continue
        if plain:
            pieces.append(text(plain))
            plain = ""
        pieces.append(f"chr({ord(character)})")
    if plain:
        pieces.append(text(plain))
    return pieces[0] if len(pieces) == 1 else "(" + " || ".join(pieces) + ")"


def real(value: float) -> str:
    """The shortest digits that read back as the same DOUBLE."""
    if math.isnan(value) or math.isinf(value):
        return f"'{'NaN' if math.isnan(value) else 'Infinity' if value > 0 else '-Infinity'}'::DOUBLE"
    digits = repr(value) if "e" in repr(value) else f"{value!r}e0"  # without an exponent it would be a DECIMAL
    return f"({digits})" if math.copysign(1.0, value) < 0 else digits


def fixed(value: Fraction, scale: int) -> str:
    """A decimal's digits, all places written."""
    units = abs(value) * 10**scale
    digits = str(units.numerator // units.denominator).rjust(scale + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits


def literal(constant: Literal) -> str:
    value, type_ = constant.value, constant.type
    if value is None:
        return "NULL" if type_ in (NULL,) or type_.kind is Kind.ANY else f"CAST(NULL AS {type_.sql})"
    if isinstance(value, str):
        return interval(value) if type_.kind is Kind.INTERVAL else text(value)
    if type_ == BOOLEAN:
        return "TRUE" if value else "FALSE"
    return _number(value, type_)


def interval(value: str) -> str:
    months, days, microseconds = (int(part) for part in value.split())
    parts = [(months, "MONTH"), (days, "DAY"), (microseconds, "MICROSECOND")]
    shown = [f"INTERVAL ({count}) {part}" for count, part in parts if count] or ["INTERVAL (0) DAY"]
    return shown[0] if len(shown) == 1 else "(" + " + ".join(shown) + ")"


def _number(value: bool | int | Fraction | float, type_: Type) -> str:
    match type_.kind:
        case Kind.DATE:
            return f"DATE '{to_date(int(value)).isoformat()}'"
        case Kind.TIMESTAMP:
            return f"TIMESTAMP '{to_datetime(int(value)).isoformat(sep=' ')}'"
        case Kind.REAL:
            return real(float(value))
        case Kind.DECIMAL:
            return _decimal(Fraction(value), type_)
        case Kind.INTEGER:
            return _integer(int(value), type_)
        case _:  # a constant the planner wrote without a type
            return str(int(value)) if Fraction(value).denominator == 1 else real(float(value))


def _integer(value: int, type_: Type) -> str:
    digits = f"({value})" if value < 0 else str(value)
    return digits if type_ == integer_type(value) else f"CAST({digits} AS {type_.sql})"


def _decimal(value: Fraction, type_: Type) -> str:
    """1.50 is a DECIMAL(3,2) by itself; any other width is cast from text, which is exact."""
    digits = fixed(value, type_.scale)
    if type_.scale and value >= 0 and decimal(len(digits) - 1, type_.scale) == type_:
        return digits
    return f"CAST('{digits}' AS {type_.sql})"
