"""CAST and TRY_CAST on PostgreSQL. What does not convert is NULL."""

from __future__ import annotations

from dpsql.domain.types import HUGEINT, Kind, Type, decimal
from dpsql.ir.expr import Call
from dpsql.plan.dialects.postgres import reals
from dpsql.plan.dialects.postgres.literals import BYTES, type_name
from dpsql.plan.dialects.postgres.numbers import as_type, fitted, numeric, to_decimal


def cast(call: Call, args: tuple[str, ...]) -> str:
    """Lemma: total. Proof: numbers are kept between the ends of the type in numeric, or as doubles, before they are
    converted; moments are of the years 1 to 9999, which both types hold; of text nothing is converted (refusals.py)."""
    (value,), source, to = args, call.args[0].type, call.type
    if source == to or source.kind is Kind.NULL:
        return as_type(value, source, to)
    match to.kind:
        case Kind.TEXT:
            return to_text(value, source)
        case Kind.BOOLEAN:
            return f"({value} <> {_zero(source)})"
        case Kind.REAL:
            return reals.of_exact(value, source)
        case Kind.INTEGER:
            return _integer(value, source, to)
        case Kind.DECIMAL if source.kind is Kind.BOOLEAN:
            return f"CAST(CAST({value} AS integer) AS {type_name(to)})"
        case Kind.DECIMAL:
            return to_decimal(value, source, to)
        case _:
            return f"CAST({value} AS {type_name(to)})"


def _zero(source: Type) -> str:
    return reals.ZERO if source.kind is Kind.REAL else f"{type_name(source).split('(')[0]} '0'"


def _integer(value: str, source: Type, to: Type) -> str:
    match source.kind:
        case Kind.BOOLEAN:
            whole = f"CAST(CAST({value} AS integer) AS bigint)"
            return numeric(whole, Type(Kind.INTEGER, bits=64)) if to == HUGEINT else whole
        case Kind.REAL:
            return reals.to_integer(value, to.bits)
        case Kind.DECIMAL:
            return fitted(f"round({value}, 0)", to)
        case _ if source.bits <= to.bits:
            return as_type(value, source, to)
        case _:
            return fitted(numeric(value, source), to)


def to_text(value: str, source: Type) -> str:
    """As DuckDB writes it; of decimals all places, and no zero before the point where the type has no place for one; of
    booleans the words. Byte by byte."""
    if source.kind is Kind.TEXT:
        return value
    if source.kind is Kind.NULL:
        value = "NULL"
    if source.kind is not Kind.DECIMAL:
        return f"(CAST({value} AS text) {BYTES})"
    shown = f"CAST(CAST({value} AS {type_name(decimal(38, source.scale))}) AS text)"
    return f"(replace({shown}, '0.', '.') {BYTES})" if source.precision == source.scale else f"({shown} {BYTES})"
