"""What private stages ask of their engine, and it has no form of: refused while the query is planned, before anything is
charged. An engine that differs in what it answers, or could fail on a stored value, is not asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from dpsql.domain.types import Kind
from dpsql.errors import Refused, Span
from dpsql.functions.function import unchecked
from dpsql.functions.text import JOINED_LIMIT
from dpsql.ir.expr import Call, Column, Expr, Literal, children, place, walk
from dpsql.ir.nodes import Filter, Join, Limit, Loaded, Project, Scan, Sort
from dpsql.ir.nodes import walk as nodes
from dpsql.ir.scoping import exprs_of, where
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.stages import NoisyStage
from dpsql.plan.what_is_read import exprs

SHORT = 1000


def refuse_unsupported(stages: Iterable[NoisyStage], dialect: Dialect) -> None:
    """Refused 140 where a stage's rows, keys or measurements hold what the dialect has no form of."""
    for stage in stages:
        at = where(stage.source.node)
        for node in nodes(stage.source.node):
            _refuse(dialect.refusal_of(node), "this GROUP BY", dialect, at)
        for expr in _evaluated(stage):
            for part in walk(expr):
                _refuse(dialect.refusal(part), _called(part), dialect, place(part) or place(expr) or at)
        _refuse(_too_many_texts(stage, dialect), "a query that makes so many texts", dialect, at)


def _refuse(reason: str | None, what: str, dialect: Dialect, at: Span | None) -> None:
    if reason is not None:
        why, _, fix = reason.partition(". ")
        raise Refused(f"{what} is not answered on {dialect.name}", code=140, at=at, why=f"{why}.", fix=fix)


def _too_many_texts(stage: NoisyStage, dialect: Dialect) -> str | None:
    if dialect.text_room is None:
        return None
    made = set(_made_texts(stage))
    pieces = (len(text.args) for text in made if isinstance(text, Call) and text.function.startswith("concat"))
    if len(made) * max(dialect.longest_text, max(pieces, default=0) * JOINED_LIMIT) <= dialect.text_room:
        return None
    return "With one person's long texts a row could be larger than it holds. Make fewer of them, or join fewer pieces."


def _made_texts(stage: NoisyStage) -> Iterator[Expr]:
    """Lemma: all texts that a row of the stage holds beside stored and short ones are among these, and none has more
    characters than the longest that is stored, or than the pieces that are joined. Proof: a value is a call's, or a column's
    that a relation introduces; of stored ones a row holds where they are. Nothing but joining makes a text longer."""
    light: set[int] = set()  # stored or short
    for node in reversed(list(nodes(stage.source.node))):
        for n, field in enumerate(node.fields):
            if field.type.kind is not Kind.TEXT or isinstance(node, Filter | Join | Sort | Limit):
                continue
            held = node.exprs[n] if isinstance(node, Project) else field.column()
            if isinstance(node, Scan | Loaded) or (isinstance(node, Project) and not _may_be_long(held, light)):
                light.add(field.id)
            elif isinstance(held, Column) and field.id not in light:
                yield field.column()
    for expr in _evaluated(stage):
        yield from (part for part in walk(expr) if isinstance(part, Call) and _may_be_long(part, light))


def _may_be_long(expr: Expr, light: Set[int]) -> bool:
    if expr.type.kind is not Kind.TEXT or isinstance(expr, Literal):
        return False
    if isinstance(expr, Column):
        return expr.id not in light
    return not _is_cut(expr) and any(a.type.kind is Kind.TEXT and not isinstance(a, Literal) for a in children(expr))


def _is_cut(expr: Expr) -> bool:
    last = expr.args[-1] if isinstance(expr, Call) and expr.function in ("left", "right", "substring") else None
    return isinstance(last, Literal) and isinstance(last.value, int) and 0 <= last.value <= SHORT


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
