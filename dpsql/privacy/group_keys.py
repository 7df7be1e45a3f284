"""The keys of a release's groups: exact types, public or private, in one order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dpsql import functions
from dpsql.domain.facts import KEY_LIMIT, Atom, Domain, key_set
from dpsql.domain.types import Kind
from dpsql.errors import Refused
from dpsql.ir.expr import Expr, place
from dpsql.ir.nodes import Field
from dpsql.plan.stages import Key

KEY_KINDS = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP, Kind.TEXT)
Describe = Callable[[Expr], str]


def group_key(field: Field, expr: Expr, domains: Mapping[int, Domain], describe: Describe) -> Key:
    domain = functions.infer(expr, domains)[1]
    if domain.type.kind not in KEY_KINDS and not (domain.type.kind is Kind.REAL and domain.is_integral):
        raise Refused(
            f"{describe(expr)} cannot be a group key: it is {domain.type}",
            code=117,
            at=place(expr),
            why="Keys must be exact: one real number or interval may have two spellings, and the result would "
            "print one person's.",
            fix="Group by a whole number: FLOOR(x / 10) of a bounded x, CAST(x AS INTEGER), or a CASE.",
        )
    values = key_set(domain)
    if not _fits_bigint(domain, values):
        raise Refused(
            f"{describe(expr)} cannot be a group key: its values may be beyond 64 bits",
            code=117,
            at=place(expr),
            why="Keys leave the database as 64-bit integers, so larger ones would all look the same.",
            fix="Add bounds to its columns in the metadata, clip it (dpsql help bounds), or CAST(x AS BIGINT).",
        )
    if values is not None:
        values = _in_order(values)
    because = domain.because or ("inferred" if values is not None else "")
    return Key(field=field, expr=expr, values=values, integral=domain.is_integral, because=because, at=place(expr))


def _fits_bigint(domain: Domain, values: tuple[Atom, ...] | None) -> bool:
    """Whether every key that is expected travels as an integer and comes back as itself, the listed ones for certain:
    they are whole and within these bounds."""
    if domain.type.kind not in (Kind.REAL, Kind.INTEGER):
        return True
    far = 2**53 if domain.type.kind is Kind.REAL else 2**63 - 1
    numbers = [value for value in values or () if value is not None and not isinstance(value, str)]
    if any(not math.isfinite(value) or value % 1 or not -far - 1 <= value <= far for value in numbers):
        return False
    if domain.type.kind is Kind.INTEGER and domain.type.bits <= 64:
        return True
    return domain.interval.is_finite and all(abs(end) <= far for end in domain.interval.ends())


def _in_order(values: Iterable[Atom]) -> tuple[Atom, ...]:
    """Key order: ascending, NULL last; text by code points, which is the byte order of UTF-8. Each once."""
    distinct = dict.fromkeys(values)
    known: list[Any] = [value for value in distinct if value is not None]  # one type per key
    return (*sorted(known), *((None,) if None in distinct else ()))


def refuse_too_many(keys: tuple[Key, ...]) -> None:
    count = combinations(keys)
    if count > KEY_LIMIT:
        raise Refused(
            f"these keys have {count:,} public combinations, more than {KEY_LIMIT:,}",
            code=118,
            at=keys[0].at,
            why="Every public combination is released, empty ones too.",
            fix="Narrow the keys in WHERE, or group more coarsely.",
        )


def combinations(keys: tuple[Key, ...]) -> int:
    """Public key combinations; a private key counts as one."""
    return math.prod(1 if key.values is None else len(key.values) for key in keys)


def public_combinations(keys: tuple[Key, ...]) -> int | None:
    """How many groups there are; None where a key is private."""
    return combinations(keys) if all(key.values is not None for key in keys) else None
