"""Scalar expressions. Columns are referred to by an id that is unique in the statement, so no pass can confuse names.

`at` (the place in the text) takes no part in equality: two spellings of one expression are one measurement.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dpsql.domain.types import ANY, BOOLEAN, Atom, Type
from dpsql.errors import Span


@dataclass(frozen=True, slots=True)
class Column:
    id: int
    type: Type
    name: str = field(default="", compare=False)  # for messages only
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant. value is an Atom of the type (dates in days, timestamps in microseconds, reals as float).

    An INTERVAL literal's value is text: "<months> <days> <microseconds>".
    """

    value: Atom
    type: Type
    at: Span | None = field(default=None, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        """1, TRUE and 1.0 are different constants though Python says they are equal."""
        if not isinstance(other, Literal):
            return NotImplemented
        return self.type == other.type and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((self.type, repr(self.value)))


@dataclass(frozen=True, slots=True)
class Call:
    """A scalar function, operator, CASE or CAST: a row of the function table (functions/), by its name there.

    CASE is Call("case", (when, then, when, then, …, else)); CAST is Call("cast", (x,), type=target).
    """

    function: str
    args: tuple[Expr, ...]
    type: Type
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SortKey:
    expr: Expr
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate, private or public: aggregates/ knows the private ones, scratch runs the public ones."""

    function: str  # "count" with no arguments is COUNT(*)
    args: tuple[Expr, ...]
    type: Type
    distinct: bool = False
    where: Expr | None = None  # FILTER (WHERE …)
    order: tuple[SortKey, ...] = ()  # ORDER BY inside the call, or WITHIN GROUP
    options: tuple[tuple[str, Atom], ...] = ()  # contribution_bounds_per_group_low, …
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Frame:
    unit: str  # ROWS, RANGE, GROUPS
    start: tuple[str, Expr | None]  # ("UNBOUNDED PRECEDING" | "PRECEDING" | "CURRENT ROW" | "FOLLOWING" | …, offset)
    end: tuple[str, Expr | None]
    exclude: str | None = None


@dataclass(frozen=True, slots=True)
class WindowCall:
    function: str
    args: tuple[Expr, ...]
    type: Type
    partition: tuple[Expr, ...] = ()
    order: tuple[SortKey, ...] = ()
    frame: Frame | None = None
    distinct: bool = False
    ignore_nulls: bool = False
    where: Expr | None = None
    at: Span | None = field(default=None, compare=False, repr=False)


Expr = Column | Literal | Call | AggregateCall | WindowCall

TRUE = Literal(True, BOOLEAN)


def children(expr: Expr) -> tuple[Expr, ...]:
    match expr:
        case Column() | Literal():
            return ()
        case Call():
            return expr.args
        case AggregateCall():
            where = () if expr.where is None else (expr.where,)
            return (*expr.args, *where, *(key.expr for key in expr.order))
        case WindowCall():
            where = () if expr.where is None else (expr.where,)
            offsets = () if expr.frame is None else (expr.frame.start[1], expr.frame.end[1])
            return (
                *expr.args,
                *where,
                *expr.partition,
                *(key.expr for key in expr.order),
                *(offset for offset in offsets if offset is not None),
            )
        case _:
            assert_never(expr)


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and all its parts, each before its own."""
    waiting = [expr]
    while waiting:
        expr = waiting.pop()
        yield expr
        waiting.extend(reversed(children(expr)))


def rewrite(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """Top-down: where `change` answers an expression it stands in, unvisited; where None, the parts are rewritten."""
    new = change(expr)
    if new is not None:
        return new

    def sub(part: Expr) -> Expr:
        return rewrite(part, change)

    def sort(keys: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
        return tuple(dataclasses.replace(key, expr=sub(key.expr)) for key in keys)

    match expr:
        case Column() | Literal():
            return expr
        case Call():
            return dataclasses.replace(expr, args=tuple(map(sub, expr.args)))
        case AggregateCall():
            return dataclasses.replace(
                expr,
                args=tuple(map(sub, expr.args)),
                where=None if expr.where is None else sub(expr.where),
                order=sort(expr.order),
            )
        case WindowCall():
            return dataclasses.replace(
                expr,
                args=tuple(map(sub, expr.args)),
                where=None if expr.where is None else sub(expr.where),
                partition=tuple(map(sub, expr.partition)),
                order=sort(expr.order),
                frame=None if expr.frame is None else _frame(expr.frame, sub),
            )
        case _:
            assert_never(expr)


def _frame(frame: Frame, sub: Callable[[Expr], Expr]) -> Frame:
    def end(edge: tuple[str, Expr | None]) -> tuple[str, Expr | None]:
        return edge if edge[1] is None else (edge[0], sub(edge[1]))

    return dataclasses.replace(frame, start=end(frame.start), end=end(frame.end))


def columns_of(expr: Expr) -> frozenset[int]:
    return frozenset(part.id for part in walk(expr) if isinstance(part, Column))


def number(value: int | Fraction, type_: Type = ANY) -> Literal:
    """A numeric constant that the planner itself writes."""
    return Literal(value, type_)


def place(expr: Expr) -> Span | None:
    """Where an expression stands in the text: its own span, else the hull of its parts'."""
    if expr.at is not None:
        return expr.at
    span: Span | None = None
    for child in children(expr):
        at = place(child)
        span = at if span is None else span.join(at)
    return span


GROUPING = "grouping"
