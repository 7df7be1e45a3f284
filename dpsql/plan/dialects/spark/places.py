"""Places on axes on Spark: values as integers of an axis' step; keys as they travel."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.ir.expr import Literal
from dpsql.plan.dialects.spark import moments, reals
from dpsql.plan.dialects.spark.binding import bound
from dpsql.plan.dialects.spark.casts import to_text, whole_of
from dpsql.plan.dialects.spark.literals import integer, literal, real
from dpsql.plan.measurements import Axis


def placed_real(x: str, axis: Axis) -> str:
    """A real's place on its axis: put between the ends as it is, then counted in steps, half to even.

    Lemma: it is NULL or an integer from low to high, whatever x is, and it never fails. Proof: where low·h and high·h are
    doubles and 1/h is a power of two, what is multiplied is between the ends, so its product is between low and high, and so
    is the whole number that rint makes of it, which rint and the cast keep (the ends are within 2^62). Else by the same
    branches over integers (reals.to_integer is total). NaN is above infinity."""
    low, high, steps = axis.low * axis.step, axis.high * axis.step, 1 / axis.step
    bottom, by = real(float(low)), real(float(steps))
    least, most = integer(axis.low), integer(axis.high)
    ends = f"WHEN {x} < {bottom} THEN {least} WHEN {x} <= {reals.INFINITY} THEN {most}"
    if not _is_power_of_two(steps) or any(Fraction(float(number)) != number for number in (low, high, steps)):
        z = reals.to_integer(f"{x} * {by}")
        return bound((z,), lambda z: f"CASE WHEN {z} BETWEEN {least} AND {most} THEN {z} {ends} END")
    place = f"try_cast(rint({x} * {by}) AS BIGINT)"
    return f"CASE WHEN {x} BETWEEN {bottom} AND {real(float(high))} THEN {place} {ends} END"


def _is_power_of_two(value: Fraction) -> bool:
    return 1 in value.as_integer_ratio() and all(n & (n - 1) == 0 for n in value.as_integer_ratio())


def end(axis: Axis) -> str:
    """The axis' low end in the argument's own type; of whole numbers one that is compared with them exactly."""
    type_, end = axis.arg.type, axis.low * axis.step
    match type_.kind:
        case Kind.DECIMAL:
            return literal(Literal(end, type_))
        case Kind.DATE | Kind.TIMESTAMP:
            return literal(Literal(axis.low, type_))
        case Kind.BOOLEAN:
            return "FALSE" if axis.low <= 0 else "TRUE"
        case _:
            return integer(-(-end.numerator // end.denominator))  # x < end iff x < the next whole number


def scaled(x: str, axis: Axis) -> str:
    """The value, of an exact type, as an integer of the axis' step, wherever that lies; NULL where it has none in 64 bits,
    and of NULL.

    Lemma: it never fails. Proof: products and casts are try_multiply and try_cast; moments and booleans fit 64 bits."""
    type_, step = axis.arg.type, axis.step
    match type_.kind:
        case Kind.DECIMAL:
            return _units(x, type_) if step * 10**type_.scale == 1 else _rounded(x, axis)
        case Kind.DATE:
            return moments.days(x)
        case Kind.TIMESTAMP:
            return moments.microseconds(x, type_)
        case Kind.BOOLEAN:
            return f"CAST({x} AS BIGINT)"
        case _:
            if step != 1:
                return _rounded(x, axis)
            return x if type_.bits <= 64 else f"try_cast({x} AS BIGINT)"


def _units(x: str, type_: Type) -> str:
    """A decimal as the integer it is of its last place: the product of its digits and a power of ten keeps all places, of
    which those behind the point are zero. With more than 38 digits together it is read from the decimal's text."""
    if type_.precision + type_.scale + 1 <= 38:
        return f"try_cast(try_multiply({x}, CAST('{10**type_.scale}' AS DECIMAL({type_.scale + 1},0))) AS BIGINT)"
    return f"try_cast(replace(CAST({x} AS STRING), '.', '') AS BIGINT)"


def _rounded(x: str, axis: Axis) -> str:
    """In doubles, as DuckDB: rounding a number next to an end may leave the axis, where `placed` puts it back."""
    of = reals.of_exact(x, axis.arg.type)
    return reals.to_integer(reals.whole(f"{of} * {real(float(1 / axis.step))}"))


def whole_number(value: str, type_: Type) -> str:
    """A key, no text, rounded to 64 bits."""
    return whole_of(value, type_, BIGINT) if type_.kind is Kind.DECIMAL else travelled(value, type_)


def travelled(value: str, type_: Type) -> str:
    """A key in the form it travels in (plan/transport.py): a BIGINT, or text."""
    match type_.kind:
        case Kind.TEXT | Kind.DECIMAL:
            return to_text(value, type_)
        case Kind.DATE:
            return moments.days(value)
        case Kind.TIMESTAMP:
            return moments.microseconds(value, type_)
        case Kind.REAL:
            return reals.to_integer(value)
        case Kind.BOOLEAN:
            return f"CAST({value} AS BIGINT)"
        case Kind.INTEGER if type_.bits > 64:
            return f"try_cast({value} AS BIGINT)"
        case Kind.NULL:
            return "CAST(NULL AS BIGINT)"
        case _:
            return value
