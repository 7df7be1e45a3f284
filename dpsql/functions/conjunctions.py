"""Conditions, taken apart at AND and OR."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql import functions
from dpsql.ir.expr import Call, Expr


def conjuncts(expr: Expr | None) -> Iterator[Expr]:
    """The parts of a condition that are joined by AND."""
    if isinstance(expr, Call) and expr.function == "and":
        for arg in expr.args:
            yield from conjuncts(arg)
    elif expr is not None:
        yield expr


def conjunction(parts: list[Expr]) -> Expr | None:
    whole: Expr | None = None
    for part in parts:
        whole = part if whole is None else functions.make("and", (whole, part), at=None)
    return whole


def branches(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Call) and expr.function == "or":
        for arg in expr.args:
            yield from branches(arg)
    else:
        yield expr
