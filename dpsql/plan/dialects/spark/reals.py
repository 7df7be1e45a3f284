"""Doubles on Spark, which are Java's: sums, differences and products answer what IEEE 754 does, and never raise. A
division by zero raises or is NULL, and casts to whole numbers stop at the ends of their type: these have forms here."""

from __future__ import annotations

from dpsql.domain.types import Kind, Type
from dpsql.plan.dialects.spark.binding import bound
from dpsql.plan.dialects.spark.literals import WIDE, integer, real, typed_null

INFINITY, MINUS_INFINITY, NAN = real(float("inf")), real(float("-inf")), real(float("nan"))
ZERO, ONE, HALF = real(0.0), real(1.0), real(0.5)
WHOLE_FROM = real(2.0**52)  # every double from here on is whole


def two_to(exponent: int) -> str:
    return real(2.0**exponent)


def divided(a: str, b: str) -> str:
    return bound((a, b), _divided)


def _divided(a: str, b: str) -> str:
    """By zero: NaN of NaN and zero, else infinite with the signs of both (a zero's sign is in its text)."""
    same = f"({a} > {ZERO}) = (CAST({b} AS STRING) <> '-0.0')"
    by_zero = f"WHEN {a} IS NOT NULL THEN CASE WHEN {same} THEN {INFINITY} ELSE {MINUS_INFINITY} END"
    nan = f"WHEN {a} = {ZERO} OR {a} = {NAN} THEN {NAN}"
    return f"CASE WHEN {b} = {ZERO} THEN CASE {nan} {by_zero} END ELSE try_divide({a}, {b}) END"


def canonical(x: str) -> str:
    """No NaN, no −0.0."""
    return bound((x,), lambda x: f"CASE WHEN {x} <= {INFINITY} THEN {x} + {ZERO} END")


def whole_part(x: str) -> str:
    """Without its fraction, toward zero; the sign of a zero is its own."""

    def body(x: str) -> str:
        size = f"CAST(try_cast(abs({x}) AS BIGINT) AS DOUBLE)"
        part = f"CASE WHEN {x} < {ZERO} OR CAST({x} AS STRING) = '-0.0' THEN -{size} ELSE {size} END"
        return f"CASE WHEN abs({x}) < {WHOLE_FROM} THEN {part} ELSE {x} END"

    return bound((x,), body)


def stepped(name: str, x: str) -> str:
    """FLOOR, CEIL, TRUNC: Spark's are whole numbers of 64 bits."""
    if name == "trunc":
        return whole_part(x)
    beyond, step = (">", "+") if name == "ceil" else ("<", "-")

    def body(x: str) -> str:
        return bound((whole_part(x),), lambda w: f"CASE WHEN {x} {beyond} {w} THEN {w} {step} {ONE} ELSE {w} END")

    return bound((x,), body)


def whole(x: str) -> str:
    """To the nearest whole number, halves away from zero. What is taken off is exact."""

    def body(x: str) -> str:
        def rounded(part: str) -> str:
            away = f"abs({x} - {part}) >= {HALF} AND abs({x}) < {WHOLE_FROM}"
            return f"CASE WHEN {away} THEN {part} + sign({x}) ELSE {part} END"

        return bound((whole_part(x),), rounded)

    return bound((x,), body)


def places(x: str, digits: int) -> str:
    """To so many places, as DuckDB: scaled, rounded, scaled back; where that is not finite the number itself."""
    power = real(10.0 ** abs(digits))

    def body(x: str) -> str:
        rounded = f"({whole(f'{x} * {power}')} / {power})" if digits >= 0 else f"({whole(f'{x} / {power}')} * {power})"
        return bound((rounded,), lambda r: f"CASE WHEN abs({r}) < {INFINITY} THEN {r} ELSE {x} END")

    return bound((x,), body)


def root(x: str) -> str:
    """NaN below zero."""
    return f"sqrt({x})"


# --- whole numbers and decimals as doubles ----------------------------------------------------------------------------


def of_exact(x: str, source: Type) -> str:
    """An integer or decimal as a double: the nearest but of 128 bits."""
    match source.kind:
        case Kind.NULL:
            return typed_null(Type(Kind.REAL))
        case Kind.REAL:
            return x
        case Kind.INTEGER if source.bits > 64:
            return _of_wide(x)
        case _:
            return f"CAST({x} AS DOUBLE)"


def _of_wide(x: str) -> str:
    """Of 128 bits DuckDB adds the doubles of the two halves; from −2^64 to 0 it has a form of its own."""
    word = integer(2**64)

    def body(x: str) -> str:
        low = f"pmod({x}, {word})"
        high = f"(({x} - {low}) div {word})"
        less = f"CAST(CAST('-1' AS {WIDE}) - {x} AS DOUBLE)"
        return (
            f"CASE WHEN {x} BETWEEN {integer(-(2**53))} AND {integer(2**53)} THEN CAST({x} AS DOUBLE) "
            f"WHEN {x} < {integer(0)} AND {x} >= {integer(-(2**64))} THEN -{less} - {ONE} "
            f"ELSE CAST({low} AS DOUBLE) + CAST({high} AS DOUBLE) * {two_to(64)} END"
        )

    return bound((x,), body)


def to_integer(x: str, bits: int = 64) -> str:
    """Half to even; NULL of NaN, which is above every number, and of what the integer does not hold once it is rounded."""
    end = two_to(bits - 1)

    def body(r: str) -> str:
        return f"CASE WHEN {r} >= -{end} AND {r} < {end} THEN try_cast({r} AS BIGINT) END"

    return bound((f"rint({x})",), body)
