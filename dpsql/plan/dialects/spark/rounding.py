"""ROUND, FLOOR, CEIL, TRUNC and SIGN on Spark: halves away from zero, as DuckDB and Spark's decimals have it."""

from __future__ import annotations

from dpsql.domain.types import Kind, Type, decimal
from dpsql.ir.expr import Call, Literal
from dpsql.plan.dialects.spark import reals
from dpsql.plan.dialects.spark.binding import bound
from dpsql.plan.dialects.spark.literals import WIDE, integer, type_name
from dpsql.plan.dialects.spark.numbers import Form, as_type, fitted, huge, wide, zero


def _digits(call: Call) -> int:
    places = call.args[1] if len(call.args) == 2 else None
    return places.value if isinstance(places, Literal) and isinstance(places.value, int) else 0


def rounded(call: Call, args: tuple[str, ...]) -> str:
    """Halves away from zero, as DuckDB and Spark's decimals have it."""
    source, digits = call.args[0].type, _digits(call)
    match call.type.kind:
        case Kind.REAL:
            value = reals.of_exact(args[0], source)
            return reals.whole(value) if len(call.args) == 1 else reals.places(value, digits)
        case Kind.INTEGER if digits >= 0:
            return as_type(args[0], source, call.type)
        case Kind.INTEGER:
            if call.type.bits > 64:  # up from below 2^126, which DuckDB has room for
                return _rounded_whole(huge(args[0], source), digits)
            return fitted(f"try_cast({_rounded_whole(wide(args[0], source), digits)} AS BIGINT)", call.type)
        case _ if digits < 0 and -digits > source.precision - source.scale:
            # no value of the type is so large
            return f"CASE WHEN {args[0]} IS NOT NULL THEN CAST('0' AS {type_name(call.type)}) END"
        case _ if digits < 0:
            whole = f"try_cast({_toward_zero(_of_38(args[0], source.scale), source.scale)} AS {WIDE})"
            return f"try_cast({_rounded_whole(whole, digits)} AS {type_name(call.type)})"
        case _:
            return f"try_cast({args[0]} AS {type_name(call.type)})"


def _of_38(value: str, scale: int) -> str:
    return f"try_cast({value} AS DECIMAL(38,{scale}))"


def _toward_zero(value: str, scale: int) -> str:
    """A decimal without its fraction: whether it is halfway to a power of ten, its whole part says."""
    if scale == 0:
        return value
    nothing = zero(decimal(38, scale))
    return bound((value,), lambda v: f"CASE WHEN {v} < {nothing} THEN ceil({v}) ELSE floor({v}) END")


def _rounded_whole(number: str, digits: int) -> str:
    """A wide number to a power of ten, halves away from zero; NULL where 38 digits do not hold it."""
    if -digits > 38:
        return f"CASE WHEN {number} IS NOT NULL THEN CAST('0' AS {WIDE}) END"
    half = integer(10**-digits // 2) if -digits < 19 else f"CAST('{10**-digits // 2}' AS {WIDE})"
    if -digits == 38:  # 10^38 itself has 39 digits
        return bound((number,), lambda x: f"CASE WHEN {x} > -{half} AND {x} < {half} THEN CAST('0' AS {WIDE}) END")
    power = integer(10**-digits) if -digits < 19 else f"CAST('{10**-digits}' AS {WIDE})"

    def body(x: str) -> str:
        off = f"({x} % {power})"
        up = f"WHEN {off} >= {half} THEN try_add({x} - {off}, CAST({power} AS {WIDE}))"
        down = f"WHEN {off} <= -{half} THEN try_subtract({x} - {off}, CAST({power} AS {WIDE}))"
        return f"CASE {up} {down} ELSE {x} - {off} END"

    return bound((number,), body)


def stepped(name: str) -> Form:
    """FLOOR, CEIL, TRUNC; an integer is whole already."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        source = call.args[0].type
        if call.type.kind is Kind.DECIMAL:
            shown = (
                _toward_zero(_of_38(args[0], source.scale), source.scale) if name == "trunc" else f"{name}({args[0]})"
            )
            return f"try_cast({shown} AS {type_name(call.type)})"
        if call.type.kind is Kind.INTEGER:
            return as_type(args[0], source, call.type)
        return reals.stepped(name, reals.of_exact(args[0], source))

    return form


def sign(call: Call, args: tuple[str, ...]) -> str:
    """Of NaN 0."""
    source = call.args[0].type
    value = as_type(args[0], source, Type(Kind.INTEGER, bits=64)) if source.kind is Kind.NULL else args[0]
    nothing, above = zero(source), f" AND {{v}} <= {reals.INFINITY}" if source.kind is Kind.REAL else ""
    kinds = f"WHEN {{v}} < {nothing} THEN (-1L) WHEN {{v}} > {nothing}{above} THEN 1L WHEN {{v}} IS NOT NULL THEN 0L"
    return bound((value,), lambda v: f"CASE {kinds.format(v=v)} END")
