"""Places on axes on PostgreSQL: values as integers of an axis' step."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.ir.expr import Literal
from dpsql.plan.dialects.postgres import moments, reals
from dpsql.plan.dialects.postgres.binding import bound
from dpsql.plan.dialects.postgres.casts import to_text
from dpsql.plan.dialects.postgres.literals import integer, literal, real
from dpsql.plan.dialects.postgres.numbers import fitted, numeric
from dpsql.plan.measurements import Axis


def placed_real(x: str, axis: Axis) -> str:
    """A real's place on its axis: put between the ends as it is, then counted in steps, half to even.

    Lemma: it is NULL or an integer from low to high, whatever x is, and it never fails. Proof: where low·h and high·h are
    doubles and 1/h is a power of two, what is multiplied is between the ends, so its product is between low and high; if 1/h
    is below 1, a product could underflow, so numbers below h/4, whose place is 0, are not multiplied. Else by the same
    branches over integers: the product is total (reals.py), and its cast to an integer. NaN is above infinity."""
    low, high, steps = axis.low * axis.step, axis.high * axis.step, 1 / axis.step
    bottom, by = real(float(low)), real(float(steps))
    least, most = integer(axis.low), integer(axis.high)
    ends = f"WHEN {x} < {bottom} THEN {least} WHEN {x} <= {reals.INFINITY} THEN {most}"
    if not _is_power_of_two(steps) or any(Fraction(float(number)) != number for number in (low, high, steps)):
        z = reals.to_integer(reals.multiplied(x, by))
        return bound((z,), lambda z: f"CASE WHEN {z} BETWEEN {least} AND {most} THEN {z} {ends} END")
    place = f"CAST({x} * {by} AS bigint)"
    if steps < 1:
        place = f"CASE WHEN abs({x}) < {real(float(axis.step / 4))} THEN {integer(0)} ELSE {place} END"
    return f"CASE WHEN {x} BETWEEN {bottom} AND {real(float(high))} THEN {place} {ends} END"


def _is_power_of_two(value: Fraction) -> bool:
    return 1 in value.as_integer_ratio() and all(n & (n - 1) == 0 for n in value.as_integer_ratio())


def end(axis: Axis) -> str:
    """The axis' low end in the argument's own type."""
    type_, end = axis.arg.type, axis.low * axis.step
    match type_.kind:
        case Kind.DECIMAL:
            return literal(Literal(end, type_))
        case Kind.DATE | Kind.TIMESTAMP:
            return literal(Literal(axis.low, type_))
        case Kind.BOOLEAN:
            return "FALSE" if axis.low <= 0 else "TRUE"
        case _:
            return f"numeric '{end}'" if end.denominator == 1 else f"numeric '{float(end)!r}'"


def placed_decimal(x: str, axis: Axis) -> str | None:
    """A decimal's place on an axis of its own digits; None on another axis. What is between the ends alone is multiplied.

    Lemma: it is NULL or an integer from low to high, whatever x is, and it never fails: 10^scale times what is between the
    ends is between the integers low and high, and so is its rounding. NaN is above every number."""
    type_ = axis.arg.type
    if type_.kind is not Kind.DECIMAL or axis.step * 10**type_.scale != 1:
        return None
    bottom, top = (literal(Literal(end * axis.step, type_)) for end in (axis.low, axis.high))
    place = f"CAST({x} * numeric '{10**type_.scale}' AS bigint)"
    ends = f"WHEN {x} < {bottom} THEN {integer(axis.low)} WHEN {x} IS NOT NULL THEN {integer(axis.high)}"
    return f"CASE WHEN {x} BETWEEN {bottom} AND {top} THEN {place} {ends} END"


def scaled(x: str, axis: Axis) -> str:
    """The value, of an exact type, as an integer of the axis' step, wherever that lies; NULL where it has none in 64 bits,
    and of NULL.

    Lemma: it never fails. Proof: what may leave 64 bits is kept between their ends first; moments and booleans fit them."""
    type_, step = axis.arg.type, axis.step
    match type_.kind:
        case Kind.DECIMAL:
            if step * 10**type_.scale == 1:
                return fitted(f"{x} * numeric '{10**type_.scale}'", BIGINT)
            return _rounded(x, axis)  # coarser than the type, by a power of two: doubles keep the order
        case Kind.DATE:
            return moments.days(x)
        case Kind.TIMESTAMP:
            return moments.microseconds(x, type_)
        case Kind.BOOLEAN:
            return f"CAST(CAST({x} AS integer) AS bigint)"
        case _:
            if step != 1:
                return _rounded(x, axis)
            return x if type_.bits <= 64 else fitted(numeric(x, type_), BIGINT)


def _rounded(x: str, axis: Axis) -> str:
    """In doubles, as DuckDB. No decimal or integer of 128 bits that is not 0 is below 1e-38 as a double, nor above 1e39; so
    the product is neither zero nor infinite."""
    of = reals.of_exact(x, axis.arg.type)
    return reals.to_integer(reals.whole(f"({of}) * {real(float(1 / axis.step))}"))


def whole_number(value: str, type_: Type) -> str:
    """A key, no text, rounded to 64 bits."""
    return fitted(f"round({value}, 0)", BIGINT) if type_.kind is Kind.DECIMAL else travelled(value, type_)


def travelled(value: str, type_: Type) -> str:
    """A key in the form it travels in (plan/transport.py): a BIGINT, or text with its bytes compared."""
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
            return f"CAST(CAST({value} AS integer) AS bigint)"
        case Kind.INTEGER if type_.bits > 64:
            return fitted(value, BIGINT)
        case Kind.NULL:
            return "CAST(NULL AS bigint)"
        case _:
            return value
