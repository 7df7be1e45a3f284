"""Names, constants and types as Spark reads them back, to the bit. Every constant says its type."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.functions.timestamps import to_date, to_datetime
from dpsql.ir.expr import Literal
from dpsql.plan.dialects.literals import fixed

WIDE = "DECIMAL(38,0)"
SIMPLE_TYPES = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.REAL: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ",
    Kind.TEXT: "STRING",
    Kind.NULL: "BIGINT",
    Kind.ANY: "BIGINT",
}


def identifier(name: str) -> str:
    """Always quoted. NUL cannot be in an identifier."""
    if "\0" in name:
        raise ValueError("an identifier holds a NUL character")
    return "`" + name.replace("`", "``") + "`"


def type_name(type_: Type) -> str:
    """Integers of up to 64 bits are all BIGINT, as no smaller type is proved to hold what is reckoned on the way; wider ones
    are whole decimals of 38 digits: what is kept there is below 2^126."""
    match type_.kind:
        case Kind.INTEGER:
            return "BIGINT" if type_.bits <= 64 else WIDE
        case Kind.DECIMAL:
            return f"DECIMAL({type_.precision},{type_.scale})"
        case _:
            return SIMPLE_TYPES[type_.kind]


def typed_null(type_: Type) -> str:
    return f"CAST(NULL AS {type_name(type_)})"


def integer(value: int) -> str:
    if not -(2**63) < value < 2**63:
        return f"CAST('{value}' AS {'BIGINT' if value == -(2**63) else WIDE})"
    return f"({value}L)" if value < 0 else f"{value}L"


def real(value: float) -> str:
    """The shortest digits that read back as the same double."""
    if math.isnan(value) or math.isinf(value):
        return f"CAST('{'NaN' if math.isnan(value) else 'Infinity' if value > 0 else '-Infinity'}' AS DOUBLE)"
    return f"({value!r}D)" if math.copysign(1.0, value) < 0 else f"{value!r}D"


def text(value: str) -> str:
    """A backslash escapes in Spark's texts, so it is doubled; what is not printable is written by its code, so the SQL stays
    one line."""
    return "'" + "".join(_character(character) for character in value) + "'"


def _character(character: str) -> str:
    if character in ("'", "\\"):
        return "\\" + character
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def literal(constant: Literal) -> str:
    value, type_ = constant.value, constant.type
    if value is None:
        return "NULL" if type_.kind in (Kind.NULL, Kind.ANY) else typed_null(type_)
    if isinstance(value, str):
        return _interval(value) if type_.kind is Kind.INTERVAL else text(value)
    if type_ == BOOLEAN:
        return "TRUE" if value else "FALSE"
    match type_.kind:
        case Kind.DATE:
            return f"DATE'{to_date(int(value)).isoformat()}'"
        case Kind.TIMESTAMP:
            return f"TIMESTAMP_NTZ'{to_datetime(int(value)).isoformat(sep=' ')}'"
        case Kind.REAL:
            return real(float(value))
        case Kind.DECIMAL:
            return f"CAST('{fixed(Fraction(value), type_.scale)}' AS {type_name(type_)})"
        case Kind.INTEGER:
            return integer(int(value)) if type_.bits <= 64 else f"CAST('{int(value)}' AS {WIDE})"
        case _:  # a constant the planner wrote without a type
            return integer(int(value)) if Fraction(value).denominator == 1 else real(float(value))


def _interval(value: str) -> str:
    """As it is added to a moment: months first, then days, then microseconds (moments.py)."""
    months, days, microseconds = (int(part) for part in value.split())
    return f"{months} {days} {microseconds}"
