"""Integers and decimals on Spark. A plain call is proved by Ranges not to leave its type: its form is Spark's own. A
checked one is made of try_add and its like, which are NULL where the type ends, with ANSI mode and without.

Decimals keep all their places (spark.sql.decimalOperations.allowPrecisionLoss is off, engine/spark/settings.py): what has
no room is NULL, never rounded. A whole number of 128 bits is a decimal of 38 digits, and below 2^126."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain.types import HUGEINT, Kind, Type, decimal, integer_range
from dpsql.functions.numbers import decimals
from dpsql.ir.expr import Call
from dpsql.plan.dialects.spark import reals
from dpsql.plan.dialects.spark.binding import bound
from dpsql.plan.dialects.spark.literals import WIDE, integer, real, type_name, typed_null

Form = Callable[[Call, tuple[str, ...]], str]
WORDS = {"+": "try_add", "-": "try_subtract", "*": "try_multiply"}


def between(value: str, low: str, high: str) -> str:
    """The value from one constant to another, else NULL."""
    return bound((value,), lambda v: f"CASE WHEN {v} BETWEEN {low} AND {high} THEN {v} END")


def fitted(value: str, type_: Type) -> str:
    """A whole number (a BIGINT of up to 64 bits, else wide) of an integer type, else NULL."""
    if type_.bits == 64:
        return value
    low, high = integer_range(type_)
    if type_.bits > 64:
        low, high = -(2**126) + 1, 2**126 - 1
    return between(value, integer(low), integer(high))


def wide(value: str, source: Type) -> str:
    """A whole number of 38 digits."""
    if source == HUGEINT:
        return value
    return f"CAST({value if source.kind is not Kind.NULL else 'NULL'} AS {WIDE})"


def huge(value: str, source: Type) -> str:
    """A 128-bit operand with a bit to spare, as DuckDB's form keeps it."""
    return fitted(value, HUGEINT) if source == HUGEINT else wide(value, source)


def as_type(value: str, source: Type, to: Type) -> str:
    """Conversions that DuckDB makes in silence: to a wider number, of a date to a timestamp, of NULL. They cannot fail: the
    wider type has room for all digits before the point, and is rounded to behind it, halves away from zero."""
    if source == to:
        return value
    match source.kind, to.kind:
        case Kind.NULL, _:
            return typed_null(to)
        case ((Kind.INTEGER | Kind.DECIMAL), Kind.REAL):
            return reals.of_exact(value, source)
        case Kind.INTEGER, Kind.INTEGER if (source.bits > 64) != (to.bits > 64):
            return f"try_cast({value} AS {type_name(to)})"
        case ((Kind.INTEGER | Kind.DECIMAL), Kind.DECIMAL):
            return f"try_cast({value} AS {type_name(to)})"
        case Kind.DATE, Kind.TIMESTAMP:
            return f"CAST({value} AS TIMESTAMP_NTZ)"
        case _:
            return value


def all_as(call: Call, args: tuple[str, ...], to: Type) -> list[str]:
    return [as_type(text, arg.type, to) for text, arg in zip(args, call.args, strict=True)]


def _of_38(value: str, source: Type, scale: int) -> str:
    return (
        f"try_cast({value} AS DECIMAL(38,{scale}))"
        if source.kind is not Kind.NULL
        else f"CAST(NULL AS DECIMAL(38,{scale}))"
    )


def _held(value: str, source: Type, type_: Type, headroom: int) -> str:
    """A decimal operand in 38 digits; its size below a share of what they hold, where DuckDB's form asks for it."""
    as_decimal = source if source.kind is Kind.DECIMAL else decimals_of(source)
    cast = _of_38(value, source, type_.scale)
    if as_decimal.precision - as_decimal.scale + type_.scale + 1 <= 38:
        return cast
    units = 10**38 // headroom - 1
    end = (
        f"{units // 10**type_.scale}.{str(units % 10**type_.scale).rjust(type_.scale, '0')}"
        if type_.scale
        else str(units)
    )
    low, high = (f"CAST('{sign}{end}' AS DECIMAL(38,{type_.scale}))" for sign in ("-", ""))
    return between(cast, low, high)


def decimals_of(source: Type) -> Type:
    return decimal({8: 3, 16: 5, 32: 10, 64: 19, 128: 38}.get(source.bits, 1), 0)


def sum_of(operator: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        if call.type.kind is Kind.DECIMAL:
            return _decimal_sum(operator, call, args)
        return f"({f' {operator} '.join(all_as(call, args, call.type))})"

    return form


def _decimal_sum(operator: str, call: Call, args: tuple[str, ...]) -> str:
    """In 38 digits of the sum's places; it has room for them, or it is NULL."""
    left, right = (_of_38(a, e.type, call.type.scale) for a, e in zip(args, call.args, strict=True))
    return f"try_cast({WORDS[operator]}({left}, {right}) AS {type_name(call.type)})"


def checked_sum(operator: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        if call.type.kind is Kind.DECIMAL:
            sides = zip(args, decimals(call.args), call.args, strict=True)
            left, right = (
                _held(a, side if e.type.kind is Kind.DECIMAL else e.type, call.type, 2) for a, side, e in sides
            )
            return f"try_cast({WORDS[operator]}({left}, {right}) AS {type_name(call.type)})"
        left, right = all_as(call, args, Type(Kind.INTEGER, bits=64))
        return fitted(f"{WORDS[operator]}({left}, {right})", call.type)

    return form


def product(call: Call, args: tuple[str, ...]) -> str:
    if call.type.kind is Kind.DECIMAL:
        sides = decimals(call.args)
        left, right = (f"try_cast({a} AS {type_name(side)})" for a, side in zip(args, sides, strict=True))
        return f"try_cast(try_multiply({left}, {right}) AS {type_name(call.type)})"
    return f"({' * '.join(all_as(call, args, call.type))})"


def checked_product(call: Call, args: tuple[str, ...]) -> str:
    if call.type.kind is Kind.DECIMAL:
        sides = decimals(call.args)
        if sum(side.precision for side in sides) <= 38:
            return product(call, args)
        types = tuple(decimal(38, side.scale) for side in sides)
        left, right = (_of_38(a, e.type, t.scale) for a, e, t in zip(args, call.args, types, strict=True))
        guarded = _guarded(left, right, types, 10**38 // 10**call.type.scale)
        return f"try_cast({guarded} AS {type_name(call.type)})"
    if call.type.bits > 64:
        left, right = (wide(a, e.type) for a, e in zip(args, call.args, strict=True))
        return _guarded(left, right, (HUGEINT, HUGEINT), 2**126)
    return fitted(f"try_multiply({', '.join(all_as(call, args, Type(Kind.INTEGER, bits=64)))})", call.type)


def _guarded(left: str, right: str, types: tuple[Type, ...], limit: int) -> str:
    """The product where its size, reckoned in doubles as DuckDB's form does it, is surely below the limit."""

    def body(a: str, b: str) -> str:
        one, other = (reals.of_exact(x, type_) for x, type_ in zip((a, b), types, strict=True))
        size = f"abs({one} * {other})"
        return f"CASE WHEN {size} < {real(float(limit))} * {real(0.999999999999)} THEN try_multiply({a}, {b}) END"

    return bound((left, right), body)


def zero(type_: Type) -> str:
    """Of the type itself: beside another zero a decimal would lose places before it is compared."""
    return reals.ZERO if type_.kind is Kind.REAL else f"CAST('0' AS {type_name(type_)})"


def opposite(value: str, type_: Type) -> str:
    """Not Spark's own minus, nor its abs, which keep 34 digits of a decimal."""
    if type_.kind is Kind.DECIMAL or type_ == HUGEINT:
        return f"try_cast(try_subtract({zero(type_)}, {value}) AS {type_name(type_)})"
    return f"(-({value}))"


def size(value: str, type_: Type) -> str:
    if type_.kind is Kind.DECIMAL or type_ == HUGEINT:
        return bound((value,), lambda v: f"CASE WHEN {v} < {zero(type_)} THEN {opposite(v, type_)} ELSE {v} END")
    return f"abs({value})"


def negated(call: Call, args: tuple[str, ...]) -> str:
    return opposite(as_type(args[0], call.args[0].type, call.type), call.type)


def checked_negated(call: Call, args: tuple[str, ...]) -> str:
    source = call.args[0].type
    if call.type.kind is Kind.DECIMAL:
        return opposite(args[0], call.type)
    if call.type.bits > 64:
        return opposite(huge(args[0], source), HUGEINT)
    return fitted(f"try_subtract({integer(0)}, {as_type(args[0], source, call.type)})", call.type)


def absolute(call: Call, args: tuple[str, ...]) -> str:
    return size(as_type(args[0], call.args[0].type, call.type), call.type)


def checked_absolute(call: Call, args: tuple[str, ...]) -> str:
    source = call.args[0].type
    if call.type.kind is Kind.DECIMAL:
        return size(args[0], call.type)
    if call.type.bits > 64:
        return size(huge(args[0], source), HUGEINT)
    number = as_type(args[0], source, call.type)
    least = bound((number,), lambda n: f"CASE WHEN {n} < 0L THEN try_subtract(0L, {n}) ELSE {n} END")
    return fitted(least, call.type)


def quotient(call: Call, args: tuple[str, ...]) -> str:
    return reals.divided(*(reals.of_exact(a, e.type) for a, e in zip(args, call.args, strict=True)))


def whole_quotient(call: Call, args: tuple[str, ...]) -> str:
    """Toward zero; by zero NULL (of reals what DuckDB's checked and plain forms say). The least divided by −1 is none."""
    left, right = call.args
    if call.type.kind is Kind.REAL:
        if not call.function.startswith("checked_"):
            return quotient(call, args)
        divided, divisor = reals.of_exact(args[0], left.type), reals.of_exact(args[1], right.type)
        return bound((divided, divisor), lambda a, b: f"try_divide({a}, {b})")
    sides = (as_type(args[0], left.type, call.type), as_type(args[1], right.type, call.type))

    def body(a: str, b: str) -> str:
        return f"CASE WHEN {b} = (-1L) THEN try_subtract(0L, {a}) WHEN {b} <> 0L THEN {a} div {b} END"

    return fitted(bound(sides, body), call.type)


def remainder(call: Call, args: tuple[str, ...]) -> str:
    """By zero NULL."""
    left, right = call.args
    if call.type.kind is Kind.DECIMAL:
        sides = [f"try_cast({a} AS {type_name(call.type)})" for a in args]
        zero = f"CAST('0' AS {type_name(call.type)})"
    elif call.type.bits > 64:
        sides, zero = [huge(args[0], left.type), wide(args[1], right.type)], f"CAST('0' AS {WIDE})"
    else:
        sides, zero = all_as(call, args, call.type), integer(0)
    return bound(tuple(sides), lambda a, b: f"CASE WHEN {b} <> {zero} THEN {a} % {b} END")
