"""Names, constants and types as PostgreSQL reads them back, to the bit. Every constant says its type: a bare number would be
a 32-bit integer, a bare text of no type and compared by the database's own collation."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.functions.timestamps import to_date, to_datetime
from dpsql.ir.expr import Literal
from dpsql.plan.dialects.literals import fixed, identifier

__all__ = ["BYTES", "identifier", "integer", "literal", "real", "text", "type_name", "typed_null"]

BYTES = 'COLLATE "C"'  # text is compared byte by byte
SIMPLE_TYPES = {
    Kind.BOOLEAN: "boolean",
    Kind.REAL: "float8",
    Kind.DATE: "date",
    Kind.TIMESTAMP: "timestamp",
    Kind.TEXT: "text",
    Kind.INTERVAL: "interval",
    Kind.NULL: "bigint",
    Kind.ANY: "bigint",
}


def type_name(type_: Type) -> str:
    """Integers of up to 64 bits are all bigint, as no smaller type is proved to hold what is reckoned on the way; wider ones
    numeric."""
    match type_.kind:
        case Kind.INTEGER:
            return "bigint" if type_.bits <= 64 else "numeric"
        case Kind.DECIMAL:
            return f"numeric({type_.precision},{type_.scale})"
        case _:
            return SIMPLE_TYPES[type_.kind]


def typed_null(type_: Type) -> str:
    return f"CAST(NULL AS {type_name(type_)})"


def integer(value: int) -> str:
    return f"{'bigint' if -(2**63) <= value < 2**63 else 'numeric'} '{value}'"


def real(value: float) -> str:
    """The shortest digits that read back as the same double."""
    if math.isnan(value) or math.isinf(value):
        return f"float8 '{'NaN' if math.isnan(value) else 'Infinity' if value > 0 else '-Infinity'}'"
    return f"float8 '{value!r}'"


def text(value: str) -> str:
    """Compared byte by byte. Quotes are doubled; what is not printable is written by code, so the SQL stays one line. A NUL
    is in no text of PostgreSQL: such a constant is refused before (refusals.py)."""
    if "\0" in value:
        raise ValueError("a text constant holds a NUL character")
    pieces = [piece for piece in re.split(r"([^\x20-\x7e\w])", value) if piece] or [""]
    shown = [_piece(piece) for piece in pieces]
    joined: list[str] = []
    for piece in shown:
        if joined and not piece.startswith("chr(") and not joined[-1].startswith("chr("):
            joined[-1] = joined[-1][:-1] + piece.removeprefix("text '")
        else:
            joined.append(piece)
    return f"({' || '.join(joined)} {BYTES})" if len(joined) == 1 else f"(({' || '.join(joined)}) {BYTES})"


def _piece(value: str) -> str:
    if value.isprintable():
        return "text '" + value.replace("'", "''") + "'"
    return " || ".join(f"chr({ord(character)})" for character in value)


def literal(constant: Literal) -> str:
    value, type_ = constant.value, constant.type
    if value is None:
        return "NULL" if type_.kind in (Kind.NULL, Kind.ANY) else typed_null(type_)
    if isinstance(value, str):
        return interval(value) if type_.kind is Kind.INTERVAL else text(value)
    if type_ == BOOLEAN:
        return "TRUE" if value else "FALSE"
    match type_.kind:
        case Kind.DATE:
            return f"date '{to_date(int(value)).isoformat()}'"
        case Kind.TIMESTAMP:
            return f"timestamp '{to_datetime(int(value)).isoformat(sep=' ')}'"
        case Kind.REAL:
            return real(float(value))
        case Kind.DECIMAL:
            return f"numeric '{fixed(Fraction(value), type_.scale)}'"
        case Kind.INTEGER:
            return f"{type_name(type_)} '{int(value)}'"
        case _:  # a constant the planner wrote without a type
            return integer(int(value)) if Fraction(value).denominator == 1 else real(float(value))


def interval(value: str) -> str:
    months, days, microseconds = (int(part) for part in value.split())
    return f"interval '{months} months {days} days {microseconds} microseconds'"
