"""What one row adds to a measurement, as an integer: clamped to its axis, NULL where the row does not enter."""

from __future__ import annotations

from dpsql.domain.types import Kind
from dpsql.ir.expr import Expr
from dpsql.plan.dialects.literals import fixed, real
from dpsql.plan.stages import Axis, Measure


def sources(measure: Measure) -> tuple[Expr, ...]:
    """The expressions a piece is made of, in the order of x<j>_0, x<j>_1, …: both factors, then what must be there."""
    axes = tuple(axis.arg for axis in (measure.axis, measure.second) if axis is not None)
    return tuple(dict.fromkeys((*axes, *measure.needs)))


def enters_all(measure: Measure) -> bool:
    """Whether every row enters."""
    return not sources(measure) and measure.where is None


def piece(j: int, measure: Measure) -> str:
    """The row's integer; for counts any non-NULL will do."""
    exprs = sources(measure)
    tests = [f"w{j}"] if measure.where is not None else []
    needed = exprs if measure.axis is None else exprs[1:]
    tests += [present(f"x{j}_{exprs.index(expr)}", expr) for expr in needed]
    value = "1" if measure.axis is None else _value(j, measure, measure.axis)
    return f"CASE WHEN {' AND '.join(tests)} THEN {value} END" if tests else value


def present(x: str, expr: Expr) -> str:
    """Neither NULL nor NaN."""
    return f"{x} IS NOT NULL AND NOT isnan({x})" if expr.type.kind is Kind.REAL else f"{x} IS NOT NULL"


def _value(j: int, measure: Measure, axis: Axis) -> str:
    on_grid = on_axis(f"x{j}_0", axis)
    if measure.kind in ("sum", "candidates"):
        return on_grid
    z = _centred(on_grid, axis)
    match measure.kind:
        case "square":
            return f"({z}) * ({z}) * 2 - {axis.width**2}"
        case "product":
            assert measure.second is not None
            exprs = sources(measure)
            other = on_axis(f"x{j}_{exprs.index(measure.second.arg)}", measure.second)
            return f"({z}) * ({_centred(other, measure.second)})"
        case _:
            return z


def _centred(on_grid: str, axis: Axis) -> str:
    return f"({on_grid}) * 2 - {axis.low + axis.high}"


def on_axis(x: str, axis: Axis) -> str:
    """The value as an integer from axis.low to axis.high.

    Lemma: it never fails and never leaves them, whatever x is. Proof: of reals nothing is assumed: what the cast cannot
    hold is NULL, and least and greatest, which pass NULL over, keep the rest between the ends; the other kinds are
    compared in their own type, and within the ends their casts are exact, or TRY_CAST."""
    low, high, step = axis.low, axis.high, axis.step
    type_ = axis.arg.type
    match type_.kind:
        case Kind.REAL:
            bottom, top = real(float(low * step)), real(float(high * step))
            scaled = _between(f"TRY_CAST({x} * {real(float(1 / step))} AS BIGINT)", axis)
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
    # What is usual is tested first, in one test; at the ends, which are whole on the axis, `scaled` is low or high itself.
    # NaN, which DuckDB sorts above every number, is neither between the ends nor below.
    above = f"NOT isnan({x})" if type_.kind is Kind.REAL else f"{x} IS NOT NULL"
    return (
        f"CASE WHEN {x} BETWEEN {bottom} AND {top} THEN {scaled} "
        f"WHEN {x} < {bottom} THEN {low_text} WHEN {above} THEN {high_text} END"
    )


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
    return _between(f"TRY_CAST(round(CAST({x} AS DOUBLE) * {real(float(1 / axis.step))}) AS BIGINT)", axis)


def _between(scaled: str, axis: Axis) -> str:
    """An integer, clamped to the axis; what was none is above it."""
    return f"greatest(least({scaled}, {axis.high}), {axis.low})"
