"""What one row adds to a measurement, as an integer: clamped to its axis, NULL where the row does not enter."""

from __future__ import annotations

from dpsql.domain.types import Kind
from dpsql.ir.expr import Expr
from dpsql.plan.dialects.literals import fixed, real
from dpsql.plan.measurements import (
    Axis,
    Measurement,
    OnAxis,
    Product,
    RowMoments,
    RowTotal,
    UnitTotal,
    axes,
    entering,
    needed,
    parts,
)
from dpsql.plan.render.relation import Relations


def enters_all(one: Measurement) -> bool:
    """Whether every row enters."""
    read, where = entering(one)
    return not read and where is None


def tests(one: Measurement, relations: Relations) -> list[str]:
    """When a row enters, but for the axes, which are NULL themselves where their argument is."""
    found = [] if one.where is None else [relations.expr(one.where)]
    compared = parts(one)
    if len(compared) > 1:  # of several values NULLs are values, too
        compared = ()
    return found + [present(relations.expr(expr), expr) for expr in dict.fromkeys((*compared, *needed(one)))]


def axis_values(one: Measurement, relations: Relations) -> list[str]:
    """The integers that a piece is made of, before they are held within their axes."""
    return [on_axis(relations.expr(axis.arg), axis) for axis in axes(one)]


def piece(one: Measurement, values: list[str]) -> str:
    """The row's integer from those of its axes; 1 for counts, any non-NULL will do for what is compared."""
    clamped = [within(value, axis) for value, axis in zip(values, axes(one), strict=True)]
    match one:
        case RowMoments(axis=axis):
            return _centred(clamped[0], axis)
        case RowTotal(piece=Product(axis=axis, second=second)):
            return f"({_centred(clamped[0], axis)}) * ({_centred(clamped[1], second)})"
        case RowTotal(piece=OnAxis()) | UnitTotal(piece=OnAxis()):
            return clamped[0]
        case _ if clamped:
            return clamped[0]
        case _:
            return "1"


def present(x: str, expr: Expr) -> str:
    """Neither NULL nor NaN."""
    return f"{x} IS NOT NULL AND NOT isnan({x})" if expr.type.kind is Kind.REAL else f"{x} IS NOT NULL"


def _centred(on_grid: str, axis: Axis) -> str:
    return f"{on_grid} * 2 - {axis.low + axis.high}"


def within(z: str, axis: Axis) -> str:
    """An integer held within its axis; NULL stays NULL. What is usual is tested first."""
    low, high = axis.low, axis.high
    return (
        f"CASE WHEN {z} BETWEEN {low} AND {high} THEN {z} WHEN {z} > {high} THEN {high} WHEN {z} < {low} THEN {low} END"
    )


def on_axis(x: str, axis: Axis) -> str:
    """The value as an integer near its place on the axis; `within` holds it there.

    Lemma: it never fails, whatever x is, and is NULL only where x is NULL or NaN. Proof: x is first held within the axis in
    its own type (of reals nothing is assumed: what the cast cannot hold is an end); of numbers there the casts are exact
    or TRY_CAST, and the one that could still be NULL, of an integer beyond 64 bits, has been replaced by an end.
    """
    low, high, step = axis.low, axis.high, axis.step
    type_ = axis.arg.type
    match type_.kind:
        case Kind.REAL:
            bottom, top = real(float(low * step)), real(float(high * step))
            return f"TRY_CAST(({_held(x, bottom, top, above=f'NOT isnan({x})')}) * {real(float(1 / step))} AS BIGINT)"
        case Kind.DECIMAL:
            by_units = step * 10**type_.scale == 1
            width = _digits(axis, type_.scale) if by_units else 38
            bottom = f"CAST('{fixed(low * step, type_.scale)}' AS DECIMAL({width},{type_.scale}))"
            top = f"CAST('{fixed(high * step, type_.scale)}' AS DECIMAL({width},{type_.scale}))"
            # coarser than the type, by a power of two: doubles keep the order, and the ends are tested first
            scaled = _units(x, type_.scale, width) if by_units else _rounded(x, axis)
        case Kind.DATE | Kind.TIMESTAMP:
            x = f"({x} - DATE '1970-01-01')" if type_.kind is Kind.DATE else f"epoch_us({x})"
            bottom, top, scaled = str(low), str(high), f"CAST({x} AS BIGINT)"
        case _:
            if type_.kind is Kind.BOOLEAN:
                x = f"CAST({x} AS BIGINT)"
            bottom, top = str(low * step), str(high * step)
            scaled = f"TRY_CAST({x} AS BIGINT)" if step == 1 else _rounded(x, axis)
    low_text, high_text = f"CAST({low} AS BIGINT)", f"CAST({high} AS BIGINT)"
    return (
        f"CASE WHEN {x} BETWEEN {bottom} AND {top} THEN {scaled} "
        f"WHEN {x} < {bottom} THEN {low_text} WHEN {x} IS NOT NULL THEN {high_text} END"
    )


def _held(x: str, bottom: str, top: str, *, above: str) -> str:
    """NaN, which DuckDB sorts above every number, is neither between the ends nor below."""
    return f"CASE WHEN {x} BETWEEN {bottom} AND {top} THEN {x} WHEN {x} < {bottom} THEN {bottom} WHEN {above} THEN {top} END"


def _digits(axis: Axis, scale: int) -> int:
    """How many digits a decimal of that scale between the axis' ends has at most."""
    return min(38, max(len(str(abs(axis.low))), len(str(abs(axis.high))), scale + 1))


def _units(x: str, scale: int, digits: int) -> str:
    """A decimal of so many digits as the integer it is of its last place; in 64 bits where they do, for speed.

    Lemma: exact, and it never fails. Proof: what has more digits is NULL. With up to 18 together with those of 10^scale
    the product is a 64-bit decimal. With up to 15 a double holds the integer m, and its quotient and product with
    10^scale, which a double holds too, are within m·2^-52 < 1/2 of it, so rounding finds it. With up to 38 together the
    product is a 128-bit decimal. Else the integer is read from the decimal's text, which has all places written.
    """
    narrow = f"TRY_CAST({x} AS DECIMAL({digits},{scale}))"
    if digits + scale > 18 and digits <= 15 and scale <= 22:
        return f"TRY_CAST(CAST({narrow} AS DOUBLE) * {real(float(10**scale))} AS BIGINT)"
    if digits + scale > 18 and digits + scale < 38:
        narrow = f"TRY_CAST({x} AS DECIMAL({max(19, digits)},{scale}))"
    if max(19, digits) + scale < 38:
        return f"TRY_CAST({narrow} * CAST({10**scale} AS DECIMAL({scale + 1},0)) AS BIGINT)"
    return f"TRY_CAST(replace(CAST({narrow} AS VARCHAR), '.', '') AS BIGINT)"


def _rounded(x: str, axis: Axis) -> str:
    """In doubles, held within the axis there: rounding a number next to an end may leave it."""
    scaled = f"round(CAST({x} AS DOUBLE) * {real(float(1 / axis.step))})"
    return f"TRY_CAST({scaled} AS BIGINT)"
