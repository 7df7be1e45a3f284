"""Whether two conditions can hold of one row: found by what they say of one expression. Nothing private rests on it: a row
is given one slice by a CASE (privacy/slices.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from dpsql.functions.conjunctions import conjuncts
from dpsql.ir.expr import Call, Expr, Literal

Value = str | Fraction
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


Condition = Mapping[int, Sequence[Said]]


def condition(expr: Expr, numbers: dict[Expr, int]) -> Condition:
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


def _said(condition: Expr) -> Iterator[tuple[Expr, Said]]:
    """Of which expressions the condition says what; `e` and NOT `e` are said of e itself."""
    for part in conjuncts(condition):
        yield part, Values(frozenset({Fraction(1)}))
        if not isinstance(part, Call):
            continue
        match part.function, part.args:
            case "not" | "is_false", (inner,):
                yield inner, Values(frozenset({Fraction(0)}))
            case "is_true", (inner,):
                yield inner, Values(frozenset({Fraction(1)}))
            case "is_null", (inner,):
                yield inner, Null()
            case "is_not_null", (inner,):
                yield inner, Values()
            case "in", (inner, *items) if all(_value(item) is not None for item in items):
                yield inner, Values(frozenset(value for item in items if (value := _value(item)) is not None))
            case "between", (inner, low, high):
                least, most = _value(low), _value(high)
                if least is not None and most is not None:
                    yield inner, Values(None, (least, True), (most, True))
            case name, (left, right) if name in TURNED:
                yield from _compared(name, left, right)
                yield from _compared(TURNED[name], right, left)


def _compared(name: str, left: Expr, right: Expr) -> Iterator[tuple[Expr, Said]]:
    value = _value(right)
    if value is None:
        return
    closed = name.endswith("_equal")
    match name:
        case "equal":
            yield left, Values(frozenset({value}))
        case "less" | "less_equal":
            yield left, Values(None, None, (value, closed))
        case "greater" | "greater_equal":
            yield left, Values(None, (value, closed), None)


def _value(expr: Expr) -> Value | None:
    if not isinstance(expr, Literal) or expr.value is None:
        return None
    if isinstance(expr.value, str):
        return expr.value
    if isinstance(expr.value, float) and not abs(expr.value) < float("inf"):
        return None
    return Fraction(expr.value)


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
