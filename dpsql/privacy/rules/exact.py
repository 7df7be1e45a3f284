"""Values that are equal must be the same value, wherever rows of people are sorted, grouped or joined by them."""

from __future__ import annotations

import math

from dpsql import functions
from dpsql.domain.types import Kind
from dpsql.errors import Refused, Span
from dpsql.ir.expr import Call, Column, Expr, Literal, place, rewrite

EQUALITIES = ("equal", "is_not_distinct")


def canonical(expr: Expr) -> Expr:
    """A computed real as one of its kind: -0.0 is 0.0, NaN is NULL.

    Lemma: then every REAL column of a private relation is so. Proof: scans and loaded rows are cleaned so, and whatever
    computes a column goes through here. So two values that an engine holds for equal are the same, and it does not
    matter which of them stands for a group, a peer or a joined pair.
    """
    if expr.type.kind is not Kind.REAL or isinstance(expr, Column):
        return expr
    if isinstance(expr, Call) and expr.function == "canonical":
        return expr
    if isinstance(expr, Literal) and not _is_odd(expr):
        return expr
    return functions.make("canonical", (expr,), at=place(expr))


def _is_odd(literal: Literal) -> bool:
    value = literal.value
    return isinstance(value, float) and (math.isnan(value) or (value == 0 and math.copysign(1, value) < 0))


def canonical_equalities(on: Expr) -> Expr:
    """A join's condition with both sides of each equality canonical: engines may hand over either side for the other."""

    def change(part: Expr) -> Expr | None:
        if not isinstance(part, Call) or part.function not in EQUALITIES:
            return None
        for arg in part.args:
            refuse_interval(arg, "joined by", None)
        return Call(part.function, tuple(map(canonical, part.args)), part.type, part.at)

    return rewrite(on, change)


def refuse_interval(expr: Expr, how: str, at: Span | None) -> None:
    """Lemma: no interval is grouped, sorted or joined by, so it does not matter that 1 month equals 30 days and yet is
    another value."""
    if expr.type.kind is Kind.INTERVAL:
        raise Refused(
            f"rows of people cannot be {how} an INTERVAL",
            code=105,
            at=place(expr) or at,
            why="A month and 30 days are equal but not the same, so a result would depend on which of them came first.",
            fix="Leave it out of the subquery, or turn it into a number: DATE_DIFF('day', a, b).",
        )
