"""Whether two conditions can hold of one row: found by what they say of one expression. Nothing private rests on it: a row
is given one slice by a CASE (privacy/slices.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf

from dpsql.domain.types import Kind
from dpsql.functions.conjunctions import conjuncts
from dpsql.ir.expr import Call, Expr, Literal

Value = str | Fraction
MICROSECONDS = 86_400_000_000  # of a day
FAR = 10**300
TURNED: Mapping[str, str] = MappingProxyType(
    {
        "equal": "equal",
        "less": "greater",
        "greater": "less",
        "less_equal": "greater_equal",
        "greater_equal": "less_equal",
    }
)


@dataclass(frozen=True, slots=True)
class Values:
    """One of these, or (None) whatever lies between the ends, an end among them where it is closed. Never NULL."""

    listed: frozenset[Value] | None = None
    low: tuple[Value, bool] | None = None
    high: tuple[Value, bool] | None = None


@dataclass(frozen=True, slots=True)
class Null:
    """NULL, and no value."""


Said = Values | Null


# How a comparison is made: two that are made differently say nothing of each other. Dates become timestamps beside
# timestamps, and all numbers reals beside reals, where unlike ones may be equal.
Way = OneOf["exact", "real", "text", "date", "timestamp", "any"]
Of = tuple[Expr, Way]
Numbers = dict[Of, int]
Condition = Mapping[int, Sequence[Said]]


def condition(expr: Expr, numbers: Numbers) -> Condition:
    """What it says of which expressions, by their numbers; new ones get theirs. So many conditions are compared quickly."""
    said: dict[int, list[Said]] = {}
    for of, what in _said(expr):
        said.setdefault(numbers.setdefault(of, len(numbers)), []).append(what)
    return said


def disjoint(one: Condition, other: Condition) -> bool:
    """That no row satisfies both."""
    if len(one) > len(other):
        one, other = other, one
    return any(_apart(x, y) for number, said in one.items() if number in other for x in said for y in other[number])


def _said(condition: Expr) -> Iterator[tuple[Of, Said]]:
    """Of which expressions the condition says what; `e` and NOT `e` are said of e itself."""
    for part in conjuncts(condition):
        yield from _truth(part, 1)
        if not isinstance(part, Call):
            continue
        match part.function, part.args:
            case "not" | "is_false", (inner,):
                yield from _truth(inner, 0)
            case "is_true", (inner,):
                yield from _truth(inner, 1)
            case "is_null", (inner,):
                yield (inner, "any"), Null()
            case "is_not_null", (inner,):
                yield (inner, "any"), Values()
            case "in", (inner, *items):
                yield from _among(inner, items)
            case "between", (inner, low, high) if _way(inner, low) == _way(inner, high):
                yield from _compared("greater_equal", inner, low)
                yield from _compared("less_equal", inner, high)
            case name, (left, right) if name in TURNED:
                yield from _compared(name, left, right)
                yield from _compared(TURNED[name], right, left)


def _truth(inner: Expr, value: int) -> Iterator[tuple[Of, Said]]:
    if inner.type.kind is Kind.BOOLEAN:
        yield (inner, "exact"), Values(frozenset({Fraction(value)}))
        yield (inner, "any"), Values()


def _among(inner: Expr, items: Sequence[Expr]) -> Iterator[tuple[Of, Said]]:
    values = [_value(inner, item) for item in items]
    ways = {value[0] for value in values if value is not None}
    if len(ways) == 1 and None not in values:
        yield (inner, ways.pop()), Values(frozenset(value[1] for value in values if value is not None))
        yield (inner, "any"), Values()


def _compared(name: str, left: Expr, right: Expr) -> Iterator[tuple[Of, Said]]:
    read = _value(left, right)
    if read is None:
        return
    way, value = read
    closed = name.endswith("_equal")
    match name:
        case "equal":
            said = Values(frozenset({value}))
        case "less" | "less_equal":
            said = Values(None, None, (value, closed))
        case _:
            said = Values(None, (value, closed), None)
    yield (left, way), said
    yield (left, "any"), Values()


def _way(compared: Expr, expr: Expr) -> Way | None:
    read = _value(compared, expr)
    return None if read is None else read[0]


def _value(compared: Expr, expr: Expr) -> tuple[Way, Value] | None:
    """A constant as it is compared with an expression of that type."""
    if not isinstance(expr, Literal) or expr.value is None:
        return None
    kinds = {compared.type.kind, expr.type.kind}
    if isinstance(expr.value, str):
        return ("text", expr.value) if kinds == {Kind.TEXT} else None
    if isinstance(expr.value, float) and not abs(expr.value) < float("inf"):
        return None
    value = Fraction(expr.value)
    if kinds <= {Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL}:
        return "exact", value
    if Kind.REAL in kinds and kinds <= {Kind.INTEGER, Kind.DECIMAL, Kind.REAL}:
        return ("real", Fraction(float(value))) if abs(value) < FAR else None
    if kinds == {Kind.DATE}:
        return "date", value
    if kinds <= {Kind.DATE, Kind.TIMESTAMP}:
        return "timestamp", value * MICROSECONDS if expr.type.kind is Kind.DATE else value
    return None


def _apart(one: Said, other: Said) -> bool:
    if isinstance(one, Null) or isinstance(other, Null):
        return type(one) is not type(other)
    if one.listed is not None and other.listed is not None:
        return one.listed.isdisjoint(other.listed)
    if one.listed is not None:
        return not any(_within(value, other) for value in one.listed)
    if other.listed is not None:
        return _apart(other, one)
    return _below(one.high, other.low) or _below(other.high, one.low)


def _within(value: Value, ends: Values) -> bool:
    point = (value, True)
    return not _below(ends.high, point) and not _below(point, ends.low)


def _below(high: tuple[Value, bool] | None, low: tuple[Value, bool] | None) -> bool:
    """Whether everything up to `high` is below everything from `low` on. Texts are compared by engines, in their order."""
    if high is None or low is None or isinstance(high[0], str) or isinstance(low[0], str):
        return False
    return high[0] < low[0] or (high[0] == low[0] and not (high[1] and low[1]))
