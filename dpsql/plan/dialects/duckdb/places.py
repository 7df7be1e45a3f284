"""Places on axes on DuckDB: values as integers of an axis' step."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.ir.expr import Literal
from dpsql.plan.dialects.literals import fixed, literal, real
from dpsql.plan.measurements import Axis


def placed_real(x: str, axis: Axis) -> str:
    """A real's place on its axis: put between the ends as it is, then counted in steps.

    Lemma: it is NULL or an integer from low to high, whatever x is, and it never fails. Proof: where low·h and high·h are
    doubles and 1/h is a power of two, by the first three branches the double that is multiplied is one of the ends or
    between them, and its product is between low and high: multiplying by a power of two rounds, if at all, numbers next to
    0. Rounding to whole numbers keeps order and whole numbers. The last branch is reached by NULL and NaN alone (which
    DuckDB sorts above every number), of which TRY_CAST makes NULL. Else (ends past 2^53) by the three branches of integers;
    multiplication of doubles answers always, and the cast is TRY_CAST.
    """
    low, high, steps = axis.low * axis.step, axis.high * axis.step, 1 / axis.step
    bottom, by = real(float(low)), real(float(steps))
    if not _is_power_of_two(steps) or any(Fraction(float(number)) != number for number in (low, high, steps)):
        z = f"TRY_CAST({x} * {by} AS BIGINT)"
        return (
            f"CASE WHEN {z} BETWEEN {axis.low} AND {axis.high} THEN {z} "
            f"WHEN {x} < {bottom} THEN CAST({axis.low} AS BIGINT) WHEN NOT isnan({x}) THEN CAST({axis.high} AS BIGINT) END"
        )
    return (
        f"TRY_CAST(CASE WHEN {x} BETWEEN {bottom} AND {real(float(high))} THEN {x} "
        f"WHEN {x} < {bottom} THEN {bottom} WHEN NOT isnan({x}) THEN {real(float(high))} ELSE {x} END * {by} AS BIGINT)"
    )


def _is_power_of_two(value: Fraction) -> bool:
    return 1 in value.as_integer_ratio() and all(n & (n - 1) == 0 for n in value.as_integer_ratio())


def end(axis: Axis) -> str:
    """The axis' low end in the argument's own type."""
    type_, end = axis.arg.type, axis.low * axis.step
    match type_.kind:
        case Kind.DECIMAL:
            return f"CAST('{fixed(end, type_.scale)}' AS DECIMAL({_width(axis)},{type_.scale}))"
        case Kind.DATE | Kind.TIMESTAMP:
            return literal(Literal(axis.low, type_))
        case Kind.BOOLEAN:
            return "FALSE" if axis.low <= 0 else "TRUE"
        case _:
            return str(end)


def scaled(x: str, axis: Axis) -> str:
    """The value, of an exact type, as an integer of the axis' step, wherever that lies; NULL where it has none in 64 bits,
    and of NULL.

    Lemma: it never fails. Proof: the cast of decimals and integers is TRY_CAST; moments and booleans fit 64 bits."""
    type_, step = axis.arg.type, axis.step
    match type_.kind:
        case Kind.DECIMAL:
            # coarser than the type, by a power of two: doubles keep the order
            return _units(x, type_, _width(axis)) if step * 10**type_.scale == 1 else _rounded(x, axis)
        case Kind.DATE:
            return f"CAST({x} - DATE '1970-01-01' AS BIGINT)"
        case Kind.TIMESTAMP:
            return f"epoch_us({x})"
        case Kind.BOOLEAN:
            return f"CAST({x} AS BIGINT)"
        case _:
            if step != 1:
                return _rounded(x, axis)
            return x if type_ == BIGINT else f"TRY_CAST({x} AS BIGINT)"


def _width(axis: Axis) -> int:
    """Digits of a decimal in which the axis' ends are written."""
    type_ = axis.arg.type
    return _digits(axis, type_.scale) if axis.step * 10**type_.scale == 1 else 38


def _digits(axis: Axis, scale: int) -> int:
    """How many digits a decimal of that scale between the axis' ends has at most."""
    return min(38, max(len(str(abs(axis.low))), len(str(abs(axis.high))), scale + 1))


def _units(x: str, type_: Type, digits: int) -> str:
    """A decimal of so many digits as the integer it is of its last place; in 64 bits where they do, for speed.

    Lemma: exact, and it never fails. Proof: where all digits of its type and those of 10^scale are up to 18 together, the
    product is a 64-bit decimal that holds it. Else what has more digits is NULL. With up to 18 together with those of
    10^scale the product is a 64-bit decimal. With up to 15 a double holds the integer m, and its quotient and product with
    10^scale, which a double holds too, are within m·2^-52 < 1/2 of it, so rounding finds it. With up to 38 together the
    product is a 128-bit decimal. Else the integer is read from the decimal's text, which has all places written.
    """
    scale = type_.scale
    unit = f"CAST({10**scale} AS DECIMAL({scale + 1},0))"
    if type_.precision + scale + 1 <= 18:
        return f"TRY_CAST({x} * {unit} AS BIGINT)"
    narrow = f"TRY_CAST({x} AS DECIMAL({digits},{scale}))"
    if digits + scale > 18 and digits <= 15 and scale <= 22:
        return f"TRY_CAST(CAST({narrow} AS DOUBLE) * {real(float(10**scale))} AS BIGINT)"
    if digits + scale > 18 and digits + scale < 38:
        narrow = f"TRY_CAST({x} AS DECIMAL({max(19, digits)},{scale}))"
    if max(19, digits) + scale < 38:
        return f"TRY_CAST({narrow} * {unit} AS BIGINT)"
    return f"TRY_CAST(replace(CAST({narrow} AS VARCHAR), '.', '') AS BIGINT)"


def _rounded(x: str, axis: Axis) -> str:
    """In doubles: rounding a number next to an end may leave the axis, where `placed` puts it back."""
    scaled = f"round(CAST({x} AS DOUBLE) * {real(float(1 / axis.step))})"
    return f"TRY_CAST({scaled} AS BIGINT)"
