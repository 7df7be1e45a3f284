"""Aggregates: reading the parser's many node classes as (name, arguments), and binding them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from dpsql import functions
from dpsql.domain.types import ANY, BIGINT, BOOLEAN, INTEGER, Atom, Kind, Type
from dpsql.errors import Span, SqlError
from dpsql.ir.expr import GROUPING, AggregateCall, Expr, WindowCall, place, walk
from dpsql.sql.aggregate_nodes import AGGREGATES, SPELLED
from dpsql.sql.arguments import given
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.context import Context
from dpsql.sql.bind.sorting import sort_key

VALUES_OF = ("first", "last", "any_value", "arg_min", "arg_max", "min", "max", "quantile_disc", "mode")


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateRead:
    """An aggregate call as written, before its arguments are bound."""

    name: str
    arguments: tuple[exp.Expr, ...]
    distinct: bool = False
    order: tuple[exp.Expr, ...] = ()
    where: exp.Expr | None = None
    core: exp.Expr  # the innermost node, which carries the call's position


def read_aggregate(node: exp.Expr, context: Context) -> AggregateRead | None:
    """The node as an aggregate call, or None if it is something else."""
    match node:
        case exp.Filter():
            inner = read_aggregate(node.this, context)
            return None if inner is None else dataclasses.replace(inner, where=node.expression.this)
        case exp.WithinGroup():
            inner = read_aggregate(node.this, context)
            return None if inner is None else _within_group(inner, node, context)
        case exp.IgnoreNulls() if isinstance(node.this, exp.AnyValue):  # how the parser reads any_value(x)
            return read_aggregate(node.this, context)
        case exp.Anonymous():
            name = SPELLED.get(node.name.lower(), node.name.lower())
            if name not in context.aggregates and name not in functions.SCRATCH_AGGREGATES:
                return None
            return _arguments(name, tuple(node.expressions), node, context)
    known = AGGREGATES.get(type(node))
    return None if known is None else _arguments(known[0], given(node, known[1]), node, context)


def _arguments(name: str, arguments: tuple[exp.Expr, ...], node: exp.Expr, context: Context) -> AggregateRead:
    distinct, order = False, ()
    if arguments and isinstance(arguments[0], exp.Order):
        order = tuple(arguments[0].expressions)
        arguments = (arguments[0].this, *arguments[1:])
    if arguments and isinstance(arguments[0], exp.Distinct):
        distinct = True
        inner = arguments[0].expressions
        inner = inner[0].expressions if len(inner) == 1 and isinstance(inner[0], exp.Tuple) else inner
        if not any(inner):  # the parser leaves an empty place for DISTINCT without a value
            raise _of_nothing(context.at(node))
        arguments = (*inner, *arguments[1:])
    if name == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        arguments = ()
    return AggregateRead(name=name, arguments=arguments, distinct=distinct, order=order, core=node)


def _of_nothing(at: Span | None) -> SqlError:
    return SqlError("DISTINCT without an argument", code=105, at=at, fix="Write COUNT(DISTINCT x).")


def _within_group(read: AggregateRead, node: exp.WithinGroup, context: Context) -> AggregateRead:
    """PERCENTILE_CONT(f) WITHIN GROUP (ORDER BY x) is quantile_cont(x, f), and so are the others of its kind."""
    order = node.expression.expressions
    if len(order) != 1 or len(read.arguments) > 1:
        raise SqlError(
            "WITHIN GROUP takes one ORDER BY column",
            code=105,
            at=context.at(node),
            fix="Write WITHIN GROUP (ORDER BY x).",
        )
    return dataclasses.replace(read, arguments=(order[0].this, *read.arguments), order=tuple(order))


def bind_aggregate(read: AggregateRead, node: exp.Expr, block: Block) -> AggregateCall:
    context, at = block.context, block.context.at(node)
    block = dataclasses.replace(block, keys=None)  # of rows, before there are groups
    args = as_numbers(read.name, tuple(map(block.expr, read.arguments)))
    where = None if read.where is None else block.expr(read.where)
    order = tuple(sort_key(item, block.expr(item.this)) for item in read.order)
    if read.distinct and not args:
        raise _of_nothing(at)
    for part in (*args, *(() if where is None else (where,)), *(key.expr for key in order)):
        if any(isinstance(piece, AggregateCall | WindowCall) for piece in walk(part)):
            raise SqlError(
                "an aggregate is inside an aggregate",
                code=105,
                at=at,
                fix="Compute the inner one in a subquery: SELECT SUM(n) FROM (SELECT COUNT(*) AS n … GROUP BY …).",
            )
    if where is not None and not is_condition(where):
        raise SqlError("FILTER (WHERE …) needs a condition", code=105, at=at, fix="Write a comparison.")
    type_ = result_type(read.name, args, context, at)
    return AggregateCall(read.name, args, type_, read.distinct, where, order, _options(read.core, context), at)


def as_numbers(name: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """True is 1: a sum counts what is true, a mean is its share. (DuckDB sums booleans and does not average them.)"""
    if name not in ("sum", "avg"):
        return args
    return tuple(functions.make("cast", (a,), at=place(a), to=INTEGER) if a.type == BOOLEAN else a for a in args)


def result_type(name: str, args: tuple[Expr, ...], context: Context, at: Span | None) -> Type:
    """Of an aggregate that has no private form as well; ANY where only scratch knows it."""
    signature = context.aggregates.get(name)
    if signature is not None:
        try:
            return signature.result(args)
        except functions.TypeProblem as problem:
            raise SqlError(problem.what, code=105, at=at, fix=problem.fix) from None
    if name in VALUES_OF and args:
        return args[0].type
    return BOOLEAN if name in ("bool_and", "bool_or") else ANY


def bind_grouping(node: exp.Grouping, block: Block) -> AggregateCall:
    """GROUPING(a, b): which of the keys a grouping set leaves out, as bits."""
    return AggregateCall(GROUPING, tuple(map(block.expr, node.expressions)), BIGINT, at=block.context.at(node))


def _options(core: exp.Expr, context: Context) -> tuple[tuple[str, Atom], ...]:
    """contribution_bounds_per_group => (low, high), if the call has it."""
    bounds = context.statement.call_options.get(core.meta.get("start", -1), {})
    return tuple(
        pair for name, b in sorted(bounds.items()) for pair in ((f"{name}_low", b.low), (f"{name}_high", b.high))
    )


def no_calls(exprs: Iterable[Expr], clause: str) -> None:
    """Refuse aggregates and window functions where rows are chosen or joined, before there are groups."""
    for expr in exprs:
        for part in walk(expr):
            if isinstance(part, AggregateCall | WindowCall):
                raise SqlError(
                    f"{clause} cannot contain an aggregate or a window function",
                    code=105,
                    at=part.at,
                    fix="Use HAVING for aggregates, QUALIFY for window functions.",
                )


def tests_no_calls(on: Expr) -> None:
    """Refuse what a subquery test compares before there are groups or windows."""
    for part in walk(on):
        if isinstance(part, AggregateCall | WindowCall):
            raise SqlError(
                "an aggregate or a window function is compared with a subquery here",
                code=105,
                at=part.at,
                fix="Name it in a query in FROM, and compare the name outside; or write the test into HAVING.",
            )


def is_condition(expr: Expr) -> bool:
    return expr.type.kind in (Kind.BOOLEAN, Kind.ANY, Kind.NULL)
