"""The types of columns and expressions: the catalog's seven, and the few more that expressions over them have.

A type knows its SQL name on DuckDB because scratch is DuckDB: results carry exactly DuckDB's types. A backend's own
spelling is its dialect's business.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from fractions import Fraction

# A value as the planner holds it: booleans as bool, integers as int, dates as days and timestamps as microseconds since
# 1970 (int), decimals as Fraction, reals as float, text as str; None is NULL.
Atom = bool | int | Fraction | float | str | None


class Kind(enum.Enum):
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    REAL = "real"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TEXT = "text"
    NULL = "null"  # the type of a bare NULL
    INTERVAL = "interval"  # a literal such as INTERVAL 1 DAY; never stored, never a key
    ANY = "any"  # known only to scratch: the result of a function that is used on released rows alone


@dataclass(frozen=True, slots=True)
class Type:
    kind: Kind
    bits: int = 0  # integers: 8, 16, 32, 64, 128
    precision: int = 0  # decimals
    scale: int = 0

    @property
    def is_numeric(self) -> bool:
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.REAL)

    @property
    def sql(self) -> str:
        match self.kind:
            case Kind.INTEGER:
                return INTEGER_NAMES[self.bits]
            case Kind.DECIMAL:
                return f"DECIMAL({self.precision},{self.scale})"
            case _:
                return SQL_NAMES[self.kind]

    def __str__(self) -> str:
        """The catalog's word for it."""
        match self.kind:
            case Kind.DECIMAL:
                return f"decimal({self.precision}, {self.scale})"
            case _:
                return str(self.kind.value)


INTEGER_NAMES = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT", 128: "HUGEINT"}
SQL_NAMES = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.REAL: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TEXT: "VARCHAR",
    Kind.NULL: "NULL",
    Kind.INTERVAL: "INTERVAL",
    Kind.ANY: "ANY",
}

BOOLEAN = Type(Kind.BOOLEAN)
TINYINT = Type(Kind.INTEGER, bits=8)
SMALLINT = Type(Kind.INTEGER, bits=16)
INTEGER = Type(Kind.INTEGER, bits=32)
BIGINT = Type(Kind.INTEGER, bits=64)
HUGEINT = Type(Kind.INTEGER, bits=128)
REAL = Type(Kind.REAL)
DATE = Type(Kind.DATE)
TIMESTAMP = Type(Kind.TIMESTAMP)
TEXT = Type(Kind.TEXT)
NULL = Type(Kind.NULL)
INTERVAL = Type(Kind.INTERVAL)
ANY = Type(Kind.ANY)


def decimal(precision: int, scale: int) -> Type:
    return Type(Kind.DECIMAL, precision=precision, scale=scale)


def integer_range(type_: Type) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    half: int = 1 << (type_.bits - 1)
    return -half, half - 1


def as_decimal(type_: Type) -> Type | None:
    """The decimal type DuckDB gives an integer when it meets a decimal."""
    if type_.kind is Kind.DECIMAL:
        return type_
    if type_.kind is Kind.INTEGER:
        return decimal({8: 3, 16: 5, 32: 10, 64: 19, 128: 38}[type_.bits], 0)
    return None


def common(left: Type, right: Type) -> Type | None:
    """The type both sides are brought to by CASE, COALESCE, comparison, IN, UNION; None if there is none.

    Text never meets a number or a date here: where texts are compared with these, they are cast by name.
    """
    if left == right or right.kind is Kind.NULL:
        return left
    if left.kind is Kind.NULL:
        return right
    if Kind.ANY in (left.kind, right.kind):
        return ANY
    kinds = {left.kind, right.kind}
    if kinds == {Kind.INTEGER}:
        return left if left.bits >= right.bits else right
    if kinds <= {Kind.INTEGER, Kind.DECIMAL, Kind.REAL}:
        if Kind.REAL in kinds:
            return REAL
        one, other = as_decimal(left), as_decimal(right)
        assert one is not None and other is not None
        whole = max(one.precision - one.scale, other.precision - other.scale)
        scale = min(max(one.scale, other.scale), 38 - whole)  # DuckDB rounds rather than lose digits before the point
        return decimal(whole + scale, scale)
    if kinds == {Kind.DATE, Kind.TIMESTAMP}:
        return TIMESTAMP
    return None
