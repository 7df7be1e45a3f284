"""What a column of an exact type can hold, by its definition: all that may say that an expression cannot fail.

A Range is set once, where a column is defined, and nothing changes it: no WHERE, no join. Engines evaluate expressions
on rows that a filter will drop, so what holds after a filter proves nothing; what holds by definition holds wherever the
value is met. Reals, text and intervals have none: nothing is assumed about them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from dpsql.domain.types import Kind, Type, integer_range
from dpsql.errors import InternalError

DAY = 86_400_000_000  # microseconds
EPOCH = dt.date(1970, 1, 1)
FIRST_DAY = (dt.date.min - EPOCH).days
LAST_DAY = (dt.date.max - EPOCH).days
FIRST_MOMENT = FIRST_DAY * DAY
LAST_MOMENT = (LAST_DAY + 1) * DAY - 1
EXACT = (Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest that a value can be if it is not NULL, in its type's own unit: integers as they are,
    decimals in their last place, dates in days, timestamps in microseconds since 1970, FALSE as 0 and TRUE as 1."""

    least: int
    most: int

    def __contains__(self, value: int) -> bool:
        return self.least <= value <= self.most

    def within(self, other: Range) -> bool:
        return other.least <= self.least and self.most <= other.most

    @property
    def size(self) -> int:
        return max(abs(self.least), abs(self.most))


Ranges = Mapping[int, Range]  # by the id of a column; of one that is not there its type says all
ZERO = Range(0, 0)


def type_range(type_: Type) -> Range | None:
    """All values a type can have in the vault, where dates and timestamps are of the years 1 to 9999; None for what has
    no Range."""
    match type_.kind:
        case Kind.INTEGER:
            return Range(*integer_range(type_))
        case Kind.DECIMAL:
            return Range(1 - 10**type_.precision, 10**type_.precision - 1)
        case Kind.DATE:
            return Range(FIRST_DAY, LAST_DAY)
        case Kind.TIMESTAMP:
            return Range(FIRST_MOMENT, LAST_MOMENT)
        case Kind.BOOLEAN:
            return Range(0, 1)
        case _:
            return None


def clipped(range_: Range, to: Range) -> Range:
    """What is left of a Range within another; all of the other where nothing is, since then every value is NULL."""
    least, most = max(range_.least, to.least), min(range_.most, to.most)
    return Range(least, most) if least <= most else to


def hull(ranges: Iterable[Range]) -> Range:
    return reduce(lambda a, b: Range(min(a.least, b.least), max(a.most, b.most)), ranges)


def in_type(range_: Range | None, source: Type, to: Type) -> Range | None:
    """Where the conversion of exact values leads, before anything is cut off: their Range in the other type's unit, any
    way of rounding allowed for. None where one of the types has no Range."""
    if range_ is None or source.kind not in EXACT or to.kind not in EXACT:
        return None
    if source.kind is Kind.DATE and to.kind is Kind.TIMESTAMP:
        return Range(range_.least * DAY, range_.most * DAY)
    if source.kind is Kind.TIMESTAMP and to.kind is Kind.DATE:
        return Range(range_.least // DAY, range_.most // DAY)
    up, down = 10 ** max(to.scale - source.scale, 0), 10 ** max(source.scale - to.scale, 0)
    return Range(range_.least * up // down, -(-range_.most * up // down))


def together(*parts: Ranges) -> dict[int, Range]:
    """The ranges of columns of several relations. Each is said once: two that differ are a mistake of ours."""
    ranges: dict[int, Range] = {}
    for part in parts:
        for id_, range_ in part.items():
            if ranges.setdefault(id_, range_) != range_:
                raise InternalError(f"column {id_} has two ranges")
    return ranges
