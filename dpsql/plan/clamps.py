"""Where a query makes a bound of a NULL: GREATEST(x, 0) is 0 where x is NULL, and counts in sums and means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.ir.expr import AggregateCall, Call, Expr, WindowCall, children, columns_of
from dpsql.ir.scoping import exprs_of
from dpsql.plan.tracked import Tracked

CLAMPS = ("least", "greatest")


def clamped_nulls(tracked: Tracked) -> tuple[Call, ...]:
    """The analyst's clamps, the outermost of each nest, that give a constant where a value may be NULL.

    Advice only. Conditions are followed as inference follows them: WHERE, FILTER and CASE that leave no NULL to the clamp.
    """
    return tuple(dict.fromkeys(_in_relation(tracked)))


def clamped_values(clamp: Expr) -> tuple[Expr, ...]:
    """What a nest of LEAST and GREATEST holds within its constants."""
    if isinstance(clamp, Call) and clamp.function in CLAMPS:
        return tuple(dict.fromkeys(chain.from_iterable(clamped_values(arg) for arg in clamp.args)))
    return () if _is_constant(clamp) else (clamp,)


def clamp_that_keeps(shown: str, low: str = "0", high: str = "100", *, nullable: bool = True) -> str:
    """The form to advise: NULL stays NULL, as a bound it would be counted. Without CASE where nothing can be NULL."""
    clamp = f"LEAST(GREATEST({shown}, {low}), {high})"
    return f"CASE WHEN {shown} IS NOT NULL THEN {clamp} END" if nullable else clamp


def _in_relation(tracked: Tracked) -> Iterator[Call]:
    domains = dict(chain.from_iterable(child.domains.items() for child in tracked.inputs))
    for expr in exprs_of(tracked.node):
        yield from _in_expr(expr, domains)
    for child in tracked.inputs:
        if child.private is not None:
            yield from _in_relation(child)


def _in_expr(expr: Expr, domains: Mapping[int, Domain]) -> Iterator[Call]:
    match expr:
        case AggregateCall() | WindowCall() if expr.where is not None:
            yield from _in_expr(expr.where, domains)
            domains = {**domains, **functions.narrow(expr.where, domains)}
            for arg in expr.args:
                yield from _in_expr(arg, domains)
        case Call(function="case"):
            for position, arg in enumerate(expr.args):
                then = position % 2 == 1
                known = functions.narrow(expr.args[position - 1], domains) if then else {}
                yield from _in_expr(arg, {**domains, **known})
        case Call() if _bounds_a_null(expr, domains):
            yield expr
        case _:
            for part in children(expr):
                yield from _in_expr(part, domains)


def _bounds_a_null(call: Call, domains: Mapping[int, Domain]) -> bool:
    """Whether an argument that may be NULL meets a constant. at: the planner's own clamps have no place in the text."""
    if call.function not in CLAMPS or call.at is None:
        return False
    if not any(_is_constant(arg) for arg in call.args):
        return False
    return any(_may_be_null(arg, domains) for arg in call.args)


def _may_be_null(arg: Expr, domains: Mapping[int, Domain]) -> bool:
    if isinstance(arg, Call) and arg.function in CLAMPS and any(map(_is_constant, arg.args)):
        return _bounds_a_null(arg, domains)  # its own NULLs are gone
    return bool(columns_of(arg)) and functions.infer(arg, domains)[1].nullable


def _is_constant(arg: Expr) -> bool:
    return not columns_of(arg) and not functions.infer(arg, {})[1].nullable
