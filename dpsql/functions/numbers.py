"""Numeric types as DuckDB joins them."""

from __future__ import annotations

import math
from fractions import Fraction

from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval, intersect, point
from dpsql.domain.ranges import ZERO, Range, clipped, in_type, type_range
from dpsql.domain.types import BIGINT, HUGEINT, REAL, Kind, Type, as_decimal, common, decimal, integer_range
from dpsql.functions.function import Args, Spans, TypeProblem, expect
from dpsql.ir.expr import Call, Expr, Literal

NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.REAL)
AS_NUMBER = "Use CAST or TRY_CAST to make it a number."
LARGEST_REAL = Fraction(1.7976931348623157e308)


def joined(args: Args) -> Type:
    """The type operands of `+`, CASE branches, comparisons… are brought to.

    An integer literal takes the other side's smaller type where it fits, as in DuckDB.
    """
    type_: Type | None = None
    for position, arg in enumerate(args):
        new = arg.type if type_ is None else _join(type_, args[:position], arg)
        if new is None:
            raise TypeProblem(
                f"{arg.type} and {type_} cannot be combined",
                position,
                "Convert both to one type with CAST or TRY_CAST.",
            )
        type_ = new
    assert type_ is not None
    return type_


def _join(type_: Type, before: Args, arg: Expr) -> Type | None:
    if type_.kind is Kind.INTEGER and arg.type.kind is Kind.INTEGER:
        if isinstance(arg, Literal) and _fits(arg, type_):
            return type_
        if all(isinstance(b, Literal) and (b.value is None or _fits(b, arg.type)) for b in before):
            return arg.type
    return common(type_, arg.type)


def _fits(literal: Literal, type_: Type) -> bool:
    """Only constants of DuckDB's INTEGER, as `5` is one, take a smaller type."""
    low, high = integer_range(type_)
    return literal.type.bits == 32 and isinstance(literal.value, int) and low <= literal.value <= high


def expect_numbers(args: Args) -> None:
    for position in range(len(args)):
        expect(args, position, NUMBERS, AS_NUMBER)


def added(args: Args) -> Type:
    """DuckDB's type of a sum or difference of decimals, or the joined type."""
    expect_numbers(args)
    type_ = joined(args)
    if type_.kind is not Kind.DECIMAL:
        return _numeric(type_)
    sides = decimals(args)
    scale = max(s.scale for s in sides)
    widest = max(s.precision for s in sides)
    width = max(scale + max(s.precision - s.scale for s in sides), widest) + 1
    return decimal(min(width, 38), scale)


def multiplied(args: Args) -> Type:
    expect_numbers(args)
    type_ = joined(args)
    if type_.kind is not Kind.DECIMAL:
        return _numeric(type_)
    sides = decimals(args)
    scale = sum(s.scale for s in sides)
    if scale > 38:
        raise TypeProblem("the product has more than 38 decimal places", None, "CAST one side to DOUBLE.")
    width, widest = sum(s.precision for s in sides), max(s.precision for s in sides)
    in_64_bits = width > 18 >= widest and scale < 18
    return decimal(18 if in_64_bits else min(width, 38), scale)


def decimals(args: Args) -> tuple[Type, ...]:
    """The decimal type of each argument; a NULL takes its neighbour's."""
    types = [as_decimal(arg.type) for arg in args]
    known = next(side for side in types if side is not None)
    return tuple(known if side is None else side for side in types)


def _numeric(type_: Type) -> Type:
    return BIGINT if type_.kind is Kind.NULL else type_


def type_interval(type_: Type) -> Interval:
    """All values a type can hold in the vault (dates: years 1 to 9999); reals and the like have no ends."""
    range_ = None if type_.kind is Kind.BOOLEAN else type_range(type_)
    if range_ is None:
        return Interval()
    unit = 10**type_.scale
    return Interval(Fraction(range_.least, unit), Fraction(range_.most, unit))


def fitted(interval: Interval, type_: Type) -> Interval:
    """The interval cut to what the type can hold; ends no DOUBLE can reach are open (the value is infinite)."""
    if type_ != REAL:
        return intersect(interval, type_interval(type_))
    lower = None if interval.lower is None or interval.lower < -LARGEST_REAL else interval.lower
    upper = None if interval.upper is None or interval.upper > LARGEST_REAL else interval.upper
    return Interval(
        Fraction(LARGEST_REAL) if lower is not None and lower > LARGEST_REAL else lower,
        -LARGEST_REAL if upper is not None and upper < -LARGEST_REAL else upper,
    )


def finite(domain: Domain) -> Interval:
    """Nothing is beyond its type; a NULL is as good as zero."""
    if domain.type.kind in (Kind.NULL, Kind.INTERVAL) or domain.interval.is_empty:
        return point(0)
    return fitted(domain.interval, domain.type)


def expected_range(domain: Domain) -> Range | None:
    """What is expected of an argument, as if its definition said so."""
    if domain.type.kind is Kind.NULL or domain.interval.is_empty:
        return ZERO
    whole = type_range(domain.type)
    if whole is None:
        return None
    unit, low, high = 10**domain.type.scale, domain.interval.lower, domain.interval.upper
    range_ = Range(
        whole.least if low is None else math.floor(low * unit), whole.most if high is None else math.ceil(high * unit)
    )
    return clipped(range_, whole)


def held(range_: Range, type_: Type) -> bool:
    """Whether the type holds all of it. (A HUGEINT can be -2^127, but DuckDB fails at a product that is.)"""
    whole = type_range(type_)
    assert whole is not None
    return range_.within(Range(-whole.most, whole.most) if type_ == HUGEINT else whole)


def span_in(call: Call, position: int, spans: Spans) -> Range:
    """An argument's Range in the unit of the call's own type."""
    source = call.args[position].type
    range_ = in_type(spans[position], source, call.type)
    return ZERO if range_ is None else range_


def operands_fit(call: Call, spans: Spans) -> bool:
    """DuckDB brings decimals to the result's width (and, for + - %, scale) before it computes."""
    if call.type.kind is not Kind.DECIMAL:
        return True
    multiplies = call.function.endswith("multiply")
    whole = 10**call.type.precision
    return all(
        (range_ or ZERO).size < whole if multiplies else span_in(call, i, spans).size < whole
        for i, range_ in enumerate(spans)
    )
