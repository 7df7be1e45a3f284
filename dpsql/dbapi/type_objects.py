"""PEP 249's type objects and constructors.

A column's type code is DuckDB's name for its type, such as "BIGINT" or "DECIMAL(9,2)"; it compares equal to the type
object it belongs to: `cursor.description[0][1] == dpsql.NUMBER`.
"""

from __future__ import annotations

import datetime


class TypeObject:
    """Equal to the type codes of its family. Not hashable: it equals texts that do not equal each other."""

    __slots__ = ("_codes", "_name")
    __hash__ = None  # type: ignore[assignment]  # how Python says that a class is not hashable

    def __init__(self, name: str, codes: frozenset[str]) -> None:
        self._name = name
        self._codes = codes

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeObject):
            return self is other
        if isinstance(other, str):
            return other.partition("(")[0] in self._codes
        return NotImplemented

    def __repr__(self) -> str:
        return f"dpsql.{self._name}"


_INTEGERS = frozenset(f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "BIG", "HUGE"))

STRING = TypeObject("STRING", frozenset({"VARCHAR", "ENUM"}))
BINARY = TypeObject("BINARY", frozenset({"BLOB"}))
NUMBER = TypeObject(
    "NUMBER", _INTEGERS | frozenset({"INTEGER", "UINTEGER", "DECIMAL", "FLOAT", "DOUBLE", "BOOLEAN", "BIGNUM"})
)
DATETIME = TypeObject(
    "DATETIME",
    frozenset(
        {
            "DATE",
            "TIME",
            "TIMESTAMP",
            "TIMESTAMP_S",
            "TIMESTAMP_MS",
            "TIMESTAMP_NS",
            "TIMESTAMP WITH TIME ZONE",
            "INTERVAL",
        }
    ),
)
ROWID = TypeObject("ROWID", frozenset())  # no result of dpsql has one

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:
    """The local date at so many seconds after the epoch."""
    return datetime.datetime.fromtimestamp(ticks).date()


def TimeFromTicks(ticks: float) -> datetime.time:
    """The local time of day at so many seconds after the epoch."""
    return datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime.datetime:
    """The local time at so many seconds after the epoch."""
    return datetime.datetime.fromtimestamp(ticks)
