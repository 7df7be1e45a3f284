"""Calls that are made of others, so that neither the kernel nor a dialect needs to know them: CONCAT_WS, casts to unsigned
types. What they are made of is certified like any other expression."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql import functions
from dpsql.domain.types import BIGINT, HUGEINT, INTEGER, SMALLINT, TEXT, TINYINT, Type
from dpsql.errors import Span
from dpsql.ir.expr import Expr, Literal, place

# half of the type's range; the type it is read in, the signed one of its size, the one it then has
UNSIGNED: Mapping[exp.DType, tuple[int, Type, Type, Type]] = MappingProxyType(
    {
        exp.DType.UTINYINT: (2**7, INTEGER, TINYINT, SMALLINT),
        exp.DType.USMALLINT: (2**15, INTEGER, SMALLINT, INTEGER),
        exp.DType.UINT: (2**31, BIGINT, INTEGER, BIGINT),
        exp.DType.UBIGINT: (2**63, HUGEINT, BIGINT, HUGEINT),
    }
)


def unsigned(name: str, value: Expr, to: exp.DType, at: Span | None) -> Expr:
    """The cast to an unsigned type of n bits, as a number of the next larger signed type.

    Lemma: it answers where 0 <= v < 2^n, and nowhere else. Proof: v − 2^(n−1) is within the signed type of n bits exactly
    then, and the cast to that type answers exactly there; adding 2^(n−1) again gives v.
    """
    half, read, same, result = UNSIGNED[to]
    shift = Literal(half, result)
    moved = functions.make("subtract", (functions.make(name, (value,), at=at, to=read), shift), at=at)
    held = functions.make(name, (moved,), at=at, to=same)
    return functions.make("add", (functions.make("cast", (held,), at=at, to=result), shift), at=at)


def joined_by(args: tuple[Expr, ...], at: Span | None) -> Expr:
    """CONCAT_WS: each text that is not NULL with the separator before it, and then the first separator is cut off.

    A separator that is no constant is left to the engine, which has it for results alone.
    """
    separator, *texts = args
    if not isinstance(separator, Literal) or separator.type != TEXT or not texts:
        return functions.make("concat_ws", args, at=at)
    pieces = tuple(functions.make("concat", (separator, text), at=place(text) or at) for text in texts)
    start = Literal(len(str(separator.value)) + 1, INTEGER)
    return functions.make("substring", (functions.make("concat_all", pieces, at=at), start), at=at)
