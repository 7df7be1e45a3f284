"""Integers and decimals on PostgreSQL: numeric has room for every result, and what a type does not hold is NULL.

A plain call is proved by Ranges not to leave its type: its form is PostgreSQL's own, in bigint or numeric. A checked one is
reckoned in numeric, and comes back only from between the type's ends."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain.types import Kind, Type, decimal, integer_range
from dpsql.functions.numbers import decimals
from dpsql.ir.expr import Call, Literal
from dpsql.plan.dialects.postgres import reals
from dpsql.plan.dialects.postgres.binding import bound
from dpsql.plan.dialects.postgres.literals import integer, real, type_name, typed_null

Form = Callable[[Call, tuple[str, ...]], str]


def within(value: str, low: str, high: str) -> str:
    """The value strictly between two constants, else NULL: LEAST passes a NULL over, NULLIF removes the constants. NaN and
    the infinities of numeric are at the ends of its order."""
    return f"nullif(nullif(greatest(least({value}, {high}), {low}), {low}), {high})"


def within_size(value: str, size: str) -> str:
    return within(value, f"numeric '-{size}'", f"numeric '{size}'")


def decimal_size(type_: Type, divisor: int = 1) -> str:
    """The first power of ten (or a share of it) that the decimal does not hold."""
    units = 10**type_.precision // divisor
    whole, rest = divmod(units, 10**type_.scale)
    return f"{whole}.{str(rest).rjust(type_.scale, '0')}" if type_.scale else str(whole)


def fitted(value: str, type_: Type) -> str:
    """A whole numeric as an integer type, else NULL; a numeric of the type's scale as a decimal type."""
    if type_.kind is Kind.DECIMAL:
        return within_size(value, decimal_size(type_))
    low, high = integer_range(type_)
    kept = within(value, f"numeric '{low - 1}'", f"numeric '{high + 1}'")
    return kept if type_.bits > 64 else f"CAST({kept} AS bigint)"


def numeric(value: str, source: Type) -> str:
    match source.kind:
        case Kind.INTEGER if source.bits <= 64:
            return f"CAST({value} AS numeric)"
        case Kind.NULL:
            return "CAST(NULL AS numeric)"
        case _:
            return value


def as_type(value: str, source: Type, to: Type) -> str:
    """Conversions that cannot fail, which DuckDB makes in silence: to a wider number, of a date to a timestamp, of NULL."""
    match source.kind, to.kind:
        case Kind.NULL, _:
            return typed_null(to)
        case ((Kind.INTEGER | Kind.DECIMAL), Kind.REAL):
            return reals.of_exact(value, source)
        case Kind.INTEGER, Kind.INTEGER if source.bits > 64 >= to.bits:
            return f"CAST({value} AS bigint)"
        case Kind.INTEGER, Kind.INTEGER if source.bits <= 64 < to.bits:
            return numeric(value, source)
        case Kind.INTEGER, Kind.DECIMAL:
            return numeric(value, source)
        case Kind.DATE, Kind.TIMESTAMP:
            return f"CAST({value} AS timestamp)"
        case _:
            return value


def to_decimal(value: str, source: Type, to: Type) -> str:
    """A number, no real, as a decimal with all its places: rounded, halves away from zero, then NULL if it is too large."""
    number = numeric(value, source)
    if source.kind is Kind.DECIMAL and source.scale >= to.scale:
        number = number if source.scale == to.scale else f"round({number}, {to.scale})"
        fits = source.scale == to.scale and source.precision <= to.precision
        return number if fits else within_size(number, decimal_size(to))
    return f"CAST({within_size(number, decimal_size(to))} AS {type_name(to)})"


def all_as(call: Call, args: tuple[str, ...], to: Type) -> list[str]:
    return [as_type(text, arg.type, to) for text, arg in zip(args, call.args, strict=True)]


def _wide(value: str, source: Type, type_: Type, headroom: int) -> str:
    """A decimal operand as DuckDB brings it to 38 digits: its size below a share of what they hold."""
    number = numeric(value, source)
    as_decimal = source if source.kind is Kind.DECIMAL else decimals_of(source)
    if as_decimal.precision - as_decimal.scale + type_.scale + 1 <= 38:
        return number
    return within_size(number, decimal_size(decimal(38, type_.scale), headroom))


def decimals_of(source: Type) -> Type:
    return decimal({8: 3, 16: 5, 32: 10, 64: 19, 128: 38}.get(source.bits, 1), 0)


def _huge(value: str, source: Type) -> str:
    """A 128-bit operand with a bit to spare, as DuckDB's form keeps it."""
    return within_size(numeric(value, source), str(2**126))


def _two(sides: list[str]) -> tuple[str, str]:
    left, right = sides
    return left, right


def sum_of(operator: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        if call.type.kind is Kind.REAL:
            return reals.added(*_two(all_as(call, args, call.type)), operator)
        return f"({f' {operator} '.join(all_as(call, args, call.type))})"

    return form


def checked_sum(operator: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        if call.type.kind is Kind.DECIMAL:
            sides = zip(args, decimals(call.args), call.args, strict=True)
            left, right = (
                _wide(a, side if e.type.kind is Kind.DECIMAL else e.type, call.type, 2) for a, side, e in sides
            )
        elif call.type.bits > 64:
            left, right = (_huge(a, e.type) for a, e in zip(args, call.args, strict=True))
            return f"({left} {operator} {right})"
        else:
            left, right = (numeric(a, e.type) for a, e in zip(args, call.args, strict=True))
        return fitted(f"{left} {operator} {right}", call.type)

    return form


def product(call: Call, args: tuple[str, ...]) -> str:
    if call.type.kind is Kind.REAL:
        return reals.multiplied(*_two(all_as(call, args, call.type)))
    if call.type.kind is Kind.DECIMAL:
        return f"({' * '.join(numeric(a, e.type) for a, e in zip(args, call.args, strict=True))})"
    return f"({' * '.join(all_as(call, args, call.type))})"


def checked_product(call: Call, args: tuple[str, ...]) -> str:
    left, right = (numeric(a, e.type) for a, e in zip(args, call.args, strict=True))
    if call.type.kind is Kind.DECIMAL:
        sides = decimals(call.args)
        if sum(side.precision for side in sides) <= 38:
            return fitted(f"{left} * {right}", call.type)
        left, right = (_held(a, decimal(38, side.scale)) for a, side in zip((left, right), sides, strict=True))
        limit = 10**38 // 10**call.type.scale
        types = tuple(decimal(38, side.scale) for side in sides)
        return fitted(_guarded(left, right, types, limit), call.type)
    if call.type.bits > 64:
        return _guarded(left, right, (call.type, call.type), 2**126)
    return fitted(f"{left} * {right}", call.type)


def _held(value: str, type_: Type) -> str:
    return within_size(value, decimal_size(type_))


def _guarded(left: str, right: str, types: tuple[Type, ...], limit: int) -> str:
    """The product where its size, reckoned in doubles as DuckDB's form does it, is surely below the limit."""

    def body(a: str, b: str) -> str:
        one, other = (reals.of_exact(x, type_) for x, type_ in zip((a, b), types, strict=True))
        size = f"abs({one} * ({other}))"
        # no double of 38 digits or 128 bits is beyond 1e39, none but 0 below 1e-38
        return f"CASE WHEN {size} < {real(float(limit))} * {real(0.999999999999)} THEN {a} * {b} END"

    return bound((left, right), body)


def negated(call: Call, args: tuple[str, ...]) -> str:
    return f"(-({as_type(args[0], call.args[0].type, call.type)}))"


def checked_unary(name: str) -> Form:
    def form(call: Call, args: tuple[str, ...]) -> str:
        source = call.args[0].type
        wide = _huge(args[0], source) if call.type.bits > 64 else numeric(args[0], source)
        return fitted(f"{name}({wide})", call.type) if call.type.kind is Kind.INTEGER else f"{name}({wide})"

    return form


def quotient(call: Call, args: tuple[str, ...]) -> str:
    return reals.divided(*(reals.of_exact(a, e.type) for a, e in zip(args, call.args, strict=True)))


def whole_quotient(call: Call, args: tuple[str, ...]) -> str:
    if call.type.kind is Kind.REAL:
        return quotient(call, args)
    left, right = all_as(call, args, call.type)
    return f"div({left}, {right})" if call.type.bits > 64 else f"({left} / {right})"


def checked_whole_quotient(call: Call, args: tuple[str, ...]) -> str:
    """By zero NULL."""
    left, right = call.args
    if call.type.kind is Kind.REAL:
        divisor = reals.of_exact(args[1], right.type)
        return reals.divided(reals.of_exact(args[0], left.type), f"nullif({divisor}, {reals.ZERO})")
    dividend = _huge(args[0], left.type) if call.type.bits > 64 else numeric(args[0], left.type)
    return fitted(f"div({dividend}, nullif({numeric(args[1], right.type)}, {integer(0)}))", call.type)


def remainder(call: Call, args: tuple[str, ...]) -> str:
    left, right = all_as(call, args, call.type) if call.type.kind is Kind.INTEGER else _decimals(call, args)
    return f"({left} % {right})"


def _decimals(call: Call, args: tuple[str, ...]) -> list[str]:
    """Both sides in the decimal type of the call."""
    return [to_decimal(a, e.type, call.type) for a, e in zip(args, call.args, strict=True)]


def checked_remainder(call: Call, args: tuple[str, ...]) -> str:
    """By zero NULL."""
    if call.type.kind is Kind.INTEGER and call.type.bits <= 64:
        left, right = all_as(call, args, call.type)
        return f"({left} % nullif({right}, {integer(0)}))"
    if call.type.kind is Kind.INTEGER:
        dividend = _huge(args[0], call.args[0].type)
        return f"({dividend} % nullif({numeric(args[1], call.args[1].type)}, {integer(0)}))"
    sides = _decimals(call, args)
    return f"({sides[0]} % nullif({sides[1]}, {integer(0)}))"


# --- rounding ---------------------------------------------------------------------------------------------------------


def _digits(call: Call) -> int:
    places = call.args[1] if len(call.args) == 2 else None
    return places.value if isinstance(places, Literal) and isinstance(places.value, int) else 0


def rounded(call: Call, args: tuple[str, ...]) -> str:
    """Halves away from zero, as DuckDB and numeric have it."""
    source, digits = call.args[0].type, _digits(call)
    match call.type.kind:
        case Kind.REAL:
            value = reals.of_exact(args[0], source)
            return reals.whole(value) if len(call.args) == 1 else reals.places(value, digits)
        case Kind.INTEGER if digits >= 0:
            return as_type(args[0], source, call.type)
        case Kind.INTEGER:
            result = f"round({numeric(args[0], source)}, {digits})"
            return result if call.type.bits > 64 else f"CAST({result} AS bigint)"
        case _ if digits < 0 and -digits > source.precision - source.scale:
            return f"CASE WHEN {args[0]} IS NOT NULL THEN numeric '0' END"  # no value of the type is so large
        case _:
            return args[0] if digits >= source.scale > 0 else f"round({args[0]}, {digits})"


def checked_rounded(call: Call, args: tuple[str, ...]) -> str:
    source, digits = call.args[0].type, _digits(call)
    if call.type.kind is Kind.DECIMAL and digits < 0:
        end = str(10**38 - 10**-digits // 2)
        return f"round({within_size(args[0], end)}, {digits})"
    wide = _huge(args[0], source) if call.type.bits > 64 else numeric(args[0], source)
    return fitted(f"round({wide}, {digits})", call.type)


def stepped(name: str) -> Form:
    """FLOOR, CEIL, TRUNC; an integer is whole already."""

    def form(call: Call, args: tuple[str, ...]) -> str:
        if call.type.kind is Kind.DECIMAL:
            return f"{name}({args[0]})"
        if call.type.kind is Kind.INTEGER:
            return as_type(args[0], call.args[0].type, call.type)
        return f"{name}({reals.of_exact(args[0], call.args[0].type)})"

    return form


def absolute(call: Call, args: tuple[str, ...]) -> str:
    return f"abs({as_type(args[0], call.args[0].type, call.type)})"


def sign(call: Call, args: tuple[str, ...]) -> str:
    source = call.args[0].type
    value = as_type(args[0], source, Type(Kind.INTEGER, bits=64)) if source.kind is Kind.NULL else args[0]
    value = value if source.kind in (Kind.REAL, Kind.DECIMAL) else f"CAST({value} AS numeric)"
    return f"CAST(sign({value}) AS bigint)"
