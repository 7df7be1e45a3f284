"""CAST and TRY_CAST on Spark. What does not convert is NULL."""

from __future__ import annotations

from dpsql.domain.types import HUGEINT, Kind, Type, decimal
from dpsql.ir.expr import Call
from dpsql.plan.dialects.spark import reals
from dpsql.plan.dialects.spark.literals import type_name
from dpsql.plan.dialects.spark.numbers import as_type, fitted, zero


def cast(call: Call, args: tuple[str, ...]) -> str:
    """Lemma: total. Proof: try_cast answers always; moments are of the years 1 to 9999, which both types hold; of text
    nothing is converted (refusals.py)."""
    (value,), source, to = args, call.args[0].type, call.type
    if source == to or source.kind is Kind.NULL:
        return as_type(value, source, to)
    match to.kind:
        case Kind.TEXT:
            return to_text(value, source)
        case Kind.BOOLEAN:
            return f"({value} <> {zero(source)})"
        case Kind.REAL:
            return reals.of_exact(value, source)
        case Kind.INTEGER:
            return _integer(value, source, to)
        case Kind.DECIMAL:
            return f"try_cast({value} AS {type_name(to)})"
        case _:
            return f"CAST({value} AS {type_name(to)})"


def _integer(value: str, source: Type, to: Type) -> str:
    match source.kind:
        case Kind.BOOLEAN:
            return f"CAST({value} AS {type_name(to)})"
        case Kind.REAL:
            return reals.to_integer(value, to.bits)
        case Kind.DECIMAL:
            return fitted(whole_of(value, source, to), to)
        case _ if source.bits <= to.bits:
            return as_type(value, source, to)
        case _:
            return fitted(as_type(value, source, to), to)


def whole_of(value: str, source: Type, to: Type) -> str:
    """A decimal rounded to a whole number of the type, halves away from zero; Spark's cast to BIGINT would cut its
    fraction."""
    digits = max(1, min(38, source.precision - source.scale + 1))
    rounded = f"try_cast({value} AS {type_name(decimal(digits, 0))})"
    return (
        f"try_cast({rounded} AS {type_name(to)})" if to != HUGEINT else f"try_cast({rounded} AS {type_name(HUGEINT)})"
    )


def to_text(value: str, source: Type) -> str:
    """As DuckDB writes it; of decimals all places, and no zero before the point where the type has no place for one."""
    if source.kind is Kind.TEXT:
        return value
    if source.kind is Kind.NULL:
        value = "NULL"
    shown = f"CAST({value} AS STRING)"
    if source.kind is not Kind.DECIMAL or source.precision != source.scale:
        return shown
    return f"replace({shown}, '0.', '.')"
