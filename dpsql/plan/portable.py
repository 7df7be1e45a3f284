"""What private stages ask of their engine, and it has no form of: refused while the query is planned, before anything is
charged. An engine that differs in what it answers, or could fail on a stored value, is not asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpsql.errors import Refused, Span
from dpsql.functions.function import unchecked
from dpsql.ir.expr import Expr, Literal, place, walk
from dpsql.ir.nodes import walk as nodes
from dpsql.ir.scoping import exprs_of, where
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.stages import NoisyStage
from dpsql.plan.what_is_read import exprs


def refuse_unsupported(stages: Iterable[NoisyStage], dialect: Dialect) -> None:
    """Refused 140 where a stage's rows, keys or measurements hold what the dialect has no form of."""
    for stage in stages:
        at = where(stage.source.node)
        for node in nodes(stage.source.node):
            _refuse(dialect.refusal_of(node), "this GROUP BY", dialect, at)
        for expr in _evaluated(stage):
            for part in walk(expr):
                _refuse(dialect.refusal(part), _called(part), dialect, place(part) or place(expr) or at)


def _refuse(reason: str | None, what: str, dialect: Dialect, at: Span | None) -> None:
    if reason is not None:
        why, _, fix = reason.partition(". ")
        raise Refused(f"{what} is not answered on {dialect.name}", code=140, at=at, why=f"{why}.", fix=fix)


def _evaluated(stage: NoisyStage) -> Iterator[Expr]:
    """All that the vault evaluates. (Below what it loads scratch does.)"""
    for node in nodes(stage.source.node):
        yield from exprs_of(node)
    yield stage.source.unit
    for key in stage.keys:
        yield key.expr
    for noised in stage.noised:
        yield from exprs(noised.measurement)


def _called(expr: Expr) -> str:
    return "this constant" if isinstance(expr, Literal) else f"this {unchecked(getattr(expr, 'function', '')).upper()}"
