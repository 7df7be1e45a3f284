"""Aggregates and window calls: reading the parser's many node classes as (name, arguments), and binding them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from sqlglot import exp

from dpsql import functions
from dpsql.catalog.model import fold
from dpsql.domain.types import ANY, BIGINT, BOOLEAN, INTEGER, REAL, Atom, Kind, Type
from dpsql.errors import Refused, Span, SqlError
from dpsql.ir.expr import GROUPING, AggregateCall, Expr, Frame, SortKey, WindowCall, place, walk
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.context import Context
from dpsql.sql.bind.sorting import sort_key

BindExpr = Callable[[exp.Expr, Block], Expr]

# The parser's classes, by DuckDB's name; the arguments are the class's own, in order.
CLASSES: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Count: ("count", ("this", "expressions")),
    exp.Sum: ("sum", ("this",)),
    exp.Avg: ("avg", ("this",)),
    exp.Min: ("min", ("this", "count", "expressions")),
    exp.Max: ("max", ("this", "count", "expressions")),
    exp.Median: ("median", ("this",)),
    exp.Variance: ("var_samp", ("this",)),
    exp.VariancePop: ("var_pop", ("this",)),
    exp.Stddev: ("stddev_samp", ("this",)),
    exp.StddevSamp: ("stddev_samp", ("this",)),
    exp.StddevPop: ("stddev_pop", ("this",)),
    exp.CovarPop: ("covar_pop", ("this", "expression")),
    exp.CovarSamp: ("covar_samp", ("this", "expression")),
    exp.Corr: ("corr", ("this", "expression")),
    exp.RegrSlope: ("regr_slope", ("this", "expression")),
    exp.RegrIntercept: ("regr_intercept", ("this", "expression")),
    exp.RegrR2: ("regr_r2", ("this", "expression")),
    exp.RegrCount: ("regr_count", ("this", "expression")),
    exp.RegrAvgx: ("regr_avgx", ("this", "expression")),
    exp.RegrAvgy: ("regr_avgy", ("this", "expression")),
    exp.RegrSxx: ("regr_sxx", ("this", "expression")),
    exp.RegrSyy: ("regr_syy", ("this", "expression")),
    exp.RegrSxy: ("regr_sxy", ("this", "expression")),
    exp.CountIf: ("count_if", ("this",)),
    exp.Quantile: ("quantile_disc", ("this", "quantile")),
    exp.PercentileCont: ("quantile_cont", ("this", "expression")),
    exp.PercentileDisc: ("quantile_disc", ("this", "expression")),
    exp.ApproxQuantile: ("approx_quantile", ("this", "quantile")),
    exp.ApproxTopK: ("approx_top_k", ("this", "expression")),
    exp.ApproxDistinct: ("approx_count_distinct", ("this",)),
    exp.Mode: ("mode", ("this",)),
    exp.LogicalAnd: ("bool_and", ("this",)),
    exp.LogicalOr: ("bool_or", ("this",)),
    exp.AnyValue: ("any_value", ("this",)),
    exp.ArrayAgg: ("list", ("this",)),
    exp.GroupConcat: ("string_agg", ("this", "separator")),
    exp.First: ("first", ("this",)),
    exp.Last: ("last", ("this",)),
    exp.ArgMin: ("arg_min", ("this", "expression", "count")),
    exp.ArgMax: ("arg_max", ("this", "expression", "count")),
    exp.BitwiseAndAgg: ("bit_and", ("this",)),
    exp.BitwiseOrAgg: ("bit_or", ("this",)),
    exp.BitwiseXorAgg: ("bit_xor", ("this",)),
    exp.Skewness: ("skewness", ("this",)),
    exp.Kurtosis: ("kurtosis", ("this",)),
}
WINDOW_CLASSES: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.RowNumber: ("row_number", ()),
    exp.Rank: ("rank", ()),
    exp.DenseRank: ("dense_rank", ()),
    exp.PercentRank: ("percent_rank", ()),
    exp.CumeDist: ("cume_dist", ()),
    exp.Ntile: ("ntile", ("this",)),
    exp.Lag: ("lag", ("this", "offset", "default")),
    exp.Lead: ("lead", ("this", "offset", "default")),
    exp.FirstValue: ("first_value", ("this",)),
    exp.LastValue: ("last_value", ("this",)),
    exp.NthValue: ("nth_value", ("this", "offset")),
}
WINDOW_TYPES: dict[str, Type] = {
    "row_number": BIGINT,
    "rank": BIGINT,
    "dense_rank": BIGINT,
    "ntile": BIGINT,
    "percent_rank": REAL,
    "cume_dist": REAL,
}
VALUES_OF = ("first", "last", "any_value", "arg_min", "arg_max", "min", "max", "quantile_disc", "mode")
SAME_TYPE = ("lag", "lead", "first_value", "last_value", "nth_value")


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
            if inner is None:
                return None
            return _with(inner, where=node.expression.this)
        case exp.WithinGroup():
            inner = read_aggregate(node.this, context)
            if inner is None:
                return None
            return _within_group(inner, node, context)
        case exp.IgnoreNulls() if isinstance(node.this, exp.AnyValue):  # how the parser reads any_value(x)
            return read_aggregate(node.this, context)
        case exp.Anonymous():
            name = node.name.lower()
            if name not in context.aggregates and name not in functions.SCRATCH_AGGREGATES:
                return None
            return _arguments(name, tuple(node.expressions), node, context)
    known = CLASSES.get(type(node))
    if known is None:
        return None
    name, slots = known
    arguments: list[exp.Expr] = []
    for slot in slots:
        value = node.args.get(slot)
        arguments += value if isinstance(value, list) else [] if value is None else [value]
    return _arguments(name, tuple(arguments), node, context)


def _with(read: AggregateRead, **changes: object) -> AggregateRead:
    return dataclasses.replace(read, **changes)  # type: ignore[arg-type]  # field names are literal at both callers


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
    return SqlError("DISTINCT of nothing", code=105, at=at, fix="Write COUNT(DISTINCT x).")


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
    return _with(read, arguments=(order[0].this, *read.arguments), order=tuple(order))


def bind_aggregate(read: AggregateRead, node: exp.Expr, block: Block, bind_expr: BindExpr) -> AggregateCall:
    context, at = block.context, block.context.at(node)
    args = tuple(bind_expr(argument, block) for argument in read.arguments)
    args = _numbers(read.name, args)
    where = None if read.where is None else bind_expr(read.where, block)
    order = tuple(sort_key(item, bind_expr(item.this, block)) for item in read.order)
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
    if where is not None and where.type.kind not in (Kind.BOOLEAN, Kind.ANY, Kind.NULL):
        raise SqlError("FILTER (WHERE …) needs a condition", code=105, at=at, fix="Write a comparison.")
    signature = context.aggregates.get(read.name)
    try:
        type_ = _type_of(read.name, args) if signature is None else signature.result(args)
    except functions.TypeProblem as problem:
        raise SqlError(problem.what, code=105, at=at, fix=problem.fix) from None
    return AggregateCall(read.name, args, type_, read.distinct, where, order, _options(read.core, context), at)


def _numbers(name: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """True is 1: a sum counts what is true, a mean is its share. (DuckDB sums booleans and does not average them.)"""
    if name not in ("sum", "avg"):
        return args
    return tuple(functions.make("cast", (a,), at=place(a), to=INTEGER) if a.type == BOOLEAN else a for a in args)


def _type_of(name: str, args: tuple[Expr, ...]) -> Type:
    """The result type of an aggregate that has no private form; ANY where only scratch knows it."""
    if name in VALUES_OF and args:
        return args[0].type
    return BOOLEAN if name in ("bool_and", "bool_or") else ANY


def bind_grouping(node: exp.Grouping, block: Block, bind_expr: BindExpr) -> AggregateCall:
    """GROUPING(a, b): which of the keys a grouping set leaves out, as bits."""
    args = tuple(bind_expr(item, block) for item in node.expressions)
    return AggregateCall(GROUPING, args, BIGINT, at=block.context.at(node))


def _options(core: exp.Expr, context: Context) -> tuple[tuple[str, Atom], ...]:
    """contribution_bounds_per_group => (low, high), if the call has it."""
    bounds = context.statement.call_options.get(core.meta.get("start", -1), {})
    return tuple(
        pair for name, b in sorted(bounds.items()) for pair in ((f"{name}_low", b.low), (f"{name}_high", b.high))
    )


def bind_window(node: exp.Window, block: Block, bind_expr: BindExpr) -> WindowCall:
    """f(…) OVER (…) or OVER name, with the named window written out."""
    context, at = block.context, block.context.at(node)
    inner, where, ignore_nulls = node.this, None, False
    if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls) and not isinstance(inner.this, exp.AnyValue):
        ignore_nulls = isinstance(inner, exp.IgnoreNulls)
        inner = inner.this
    if type(inner) in WINDOW_CLASSES:
        name, slots = WINDOW_CLASSES[type(inner)]
        arguments = tuple(inner.args[slot] for slot in slots if inner.args.get(slot) is not None)
        distinct = False
    else:
        read = read_aggregate(inner, context)
        if read is None:
            raise Refused(
                "this is not a window function", code=107, at=at, fix="Use an aggregate, or ROW_NUMBER, RANK, LAG …"
            )
        name, arguments, distinct, where = read.name, read.arguments, read.distinct, read.where
    if ignore_nulls and name not in SAME_TYPE:
        raise SqlError(
            f"IGNORE NULLS means nothing to {name.upper()}",
            code=105,
            at=at,
            fix="Leave it out; LAG, LEAD, FIRST_VALUE, LAST_VALUE and NTH_VALUE have it.",
        )
    args = _numbers(name, tuple(bind_expr(argument, block) for argument in arguments))
    partition, order, spec = _specification(node, block)
    frame = None if spec is None else _frame(spec, block, bind_expr)
    return WindowCall(
        name,
        args,
        _window_type(name, args, context, at),
        tuple(bind_expr(part, block) for part in partition),
        tuple(_window_order(item, block, bind_expr) for item in order),
        frame,
        distinct,
        ignore_nulls,
        None if where is None else bind_expr(where, block),
        at,
    )


def _window_order(item: exp.Expr, block: Block, bind_expr: BindExpr) -> SortKey:
    return sort_key(item, bind_expr(item.this, block))


def _window_type(name: str, args: tuple[Expr, ...], context: Context, at: Span | None) -> Type:
    if name in WINDOW_TYPES:
        return WINDOW_TYPES[name]
    if name in SAME_TYPE and args:
        return args[0].type
    signature = context.aggregates.get(name)
    try:
        return _type_of(name, args) if signature is None else signature.result(args)
    except functions.TypeProblem as problem:
        raise SqlError(problem.what, code=105, at=at, fix=problem.fix) from None


def _specification(
    node: exp.Window, block: Block, within: tuple[str, ...] = ()
) -> tuple[list[exp.Expr], list[exp.Expr], exp.WindowSpec | None]:
    """within: the named windows it stands in."""
    partition = list(node.args.get("partition_by") or ())
    order = list(node.args["order"].expressions) if node.args.get("order") is not None else []
    spec = node.args.get("spec")
    alias = node.args.get("alias")
    if alias is None:
        return partition, order, spec
    named = block.windows.get(fold(alias.name))
    if named is None:
        raise SqlError(
            f'there is no window "{alias.name}"',
            code=102,
            at=block.context.at(alias),
            fix="Define it: WINDOW w AS (PARTITION BY … ORDER BY …).",
        )
    if fold(alias.name) in within:
        raise SqlError(
            f'the window "{alias.name}" is made of itself',
            code=102,
            at=block.context.at(alias),
            fix="Define it: WINDOW w AS (PARTITION BY … ORDER BY …).",
        )
    base_partition, base_order, base_spec = _specification(named, block, (*within, fold(alias.name)))
    return base_partition or partition, base_order or order, base_spec if spec is None else spec


def _frame(spec: exp.WindowSpec, block: Block, bind_expr: BindExpr) -> Frame:
    def edge(value: object, side: str | None) -> tuple[str, Expr | None]:
        if isinstance(value, exp.Expr):
            return str(side), bind_expr(value, block)
        return (f"{value} {side}" if side else str(value or "CURRENT ROW")), None

    start, end = (
        edge(spec.args.get("start"), spec.args.get("start_side")),
        edge(spec.args.get("end"), spec.args.get("end_side")),
    )
    _check_edges(start, end, block.context.at(spec))
    exclude = spec.args.get("exclude")
    return Frame(
        str(spec.args.get("kind") or "ROWS").upper(),
        start,
        end,
        None if exclude is None else str(exclude.name if isinstance(exclude, exp.Expr) else exclude).upper(),
    )


EDGES = ("UNBOUNDED PRECEDING", "PRECEDING", "CURRENT ROW", "FOLLOWING", "UNBOUNDED FOLLOWING")


def _check_edges(start: tuple[str, Expr | None], end: tuple[str, Expr | None], at: Span | None) -> None:
    """The parser takes any words for the ends of a frame; SQL has five, and the end does not come before the start."""
    known = start[0] in EDGES and end[0] in EDGES
    if known and EDGES.index(start[0]) <= EDGES.index(end[0]) and start[0] != EDGES[-1] and end[0] != EDGES[0]:
        return
    raise SqlError(
        f"this is no frame: {start[0]} to {end[0]}",
        code=105,
        at=at,
        fix="Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, or ROWS UNBOUNDED PRECEDING.",
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


def conditions_are_boolean(expr: Expr) -> bool:
    return expr.type.kind in (BOOLEAN.kind, Kind.ANY, Kind.NULL)
