"""What a call over one unit's rows is, what it asks for, and what is said where it is not answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import Ranges
from dpsql.domain.types import REAL, Type
from dpsql.errors import Refused, Span
from dpsql.ir.expr import Column, Expr, Literal, SortKey


class Ask(Protocol):
    """The column of a primitive over the same rows (and FILTER) as the call that is being made."""

    def __call__(
        self,
        function: str,
        args: tuple[Expr, ...],
        type_: Type,
        domain: Domain,
        *,
        distinct: bool = False,
        order: tuple[SortKey, ...] = (),
    ) -> Column: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCall:
    """An aggregate of one unit's rows. some: there is at least one row; filtered: FILTER stands there.

    order: its own ORDER BY (given), then every column of the input: rows that still tie are the same.
    ranges: of the input's columns.
    """

    function: str
    args: tuple[Expr, ...]
    type: Type
    distinct: bool
    some: bool
    filtered: bool
    order: tuple[SortKey, ...]
    given: tuple[SortKey, ...]
    ranges: Ranges
    at: Span | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How the call is finished from primitives, and what is known of it beyond what its expression shows."""

    expr: Expr
    interval: Interval | None = None


Maker = Callable[[UnitCall, Mapping[int, Domain], Ask], Made]


def refused(call: UnitCall, why: str = "", fix: str = "") -> Refused:
    return Refused(
        f"{call.function.upper()} of one person's rows is not answered",
        code=129,
        at=call.at,
        why=why
        or "Inside the subquery, an aggregate must depend only on the person's rows as a set, and must never fail.",
        fix=fix or "`dpsql help sql` lists what is possible here.",
    )


def domain_of(expr: Expr, domains: Mapping[int, Domain]) -> Domain:
    return functions.infer(expr, domains)[1]


def maybe_none(known: Domain, call: UnitCall) -> Domain:
    if not call.filtered and call.some and not known.nullable:
        return known
    return known.or_null()


def real(expr: Expr) -> Expr:
    return functions.call("cast", expr, to=REAL)


def constant(value: Fraction) -> Literal:
    return Literal(float(value), REAL)
