"""Scalar subqueries: one row by their form, or a correlated aggregate, which becomes a join with its groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from sqlglot import exp

from dpsql import functions
from dpsql.domain.types import BIGINT
from dpsql.errors import Refused
from dpsql.ir.expr import (
    GROUPING,
    TRUE,
    AggregateCall,
    Column,
    Expr,
    Literal,
    WindowCall,
    rewrite,
    walk,
)
from dpsql.ir.nodes import Aggregate, Field
from dpsql.sql.bind.block import Block, ScalarJoin
from dpsql.sql.bind.equalities import split_equality, with_columns
from dpsql.sql.bind.inner_rows import InnerRows, has_aggregate, only_field, over, refuse_free, simple_select
from dpsql.sql.bind.lookups import is_public, looked_up, several
from dpsql.sql.bind.one_row import Rows, rows
from dpsql.sql.bind.sorting import limit_of, sort_key
from dpsql.sql.bind.subquery import all_of, from_and_where, join_scalars


def bind_scalar(query: exp.Expr, block: Block) -> Expr:
    """(SELECT …) as a value: at most one row of one column, by its form."""
    inner = query
    while isinstance(inner, exp.Subquery | exp.Paren) and isinstance(inner.this, exp.Subquery | exp.Paren | exp.Select):
        inner = inner.this
    if isinstance(inner, exp.Select):
        correlated = _correlated(inner, block) or looked_up(inner, block)
        if correlated is not None:
            return correlated
    node = block.context.query(inner, block.context, block.env, block.scope)
    field = only_field(node, query, block)
    refuse_free(node, query, block)
    count = rows(node)
    single = count is Rows.SEVERAL
    if single and not is_public(node, block):
        raise several(query, block)
    on = None if count is Rows.ONE else TRUE
    block.scalars[field.id] = ScalarJoin(node, on, block.context.at(query), single=single)
    return Column(field.id, field.type, field.name, block.context.at(query))


def _correlated(select: exp.Select, block: Block) -> Expr | None:
    """(SELECT agg(…) FROM … WHERE …) as a left join with groups; None if it is not correlated.
    (SELECT x … ORDER BY y LIMIT 1) is the aggregate FIRST(x ORDER BY y)."""
    order: list[exp.Expr] = []
    if select.args.get("order") is not None and limit_of(select, block.context) == (1, 0):
        select = select.copy()
        order = select.args.pop("order").expressions
        del select.args["limit"]
    if len(select.expressions) != 1 or simple_select(select) is None or select.args.get("distinct"):
        return None
    if has_aggregate(select, block) is bool(order):
        return None
    rows = from_and_where(select, block)
    if not rows.tied:
        return None
    if not rows.of_rows and all(split_equality(c, rows.node) for c in rows.tied):
        return _by_equalities(rows, select, order, block)
    return _by_rows(from_and_where(select, block, beside=True), select, order, block)


def _by_equalities(rows: InnerRows, select: exp.Select, order: list[exp.Expr], block: Block) -> Expr:
    """inner = outer: the groups of the inner sides."""
    context = block.context
    pairs = [pair for c in rows.tied if (pair := split_equality(c, rows.node)) is not None]
    value, calls = _value(rows, select, order, block)
    node, pairs = with_columns(join_scalars(rows.node, [value], rows.block), pairs, context)
    keys = tuple(context.ids.field("", inner_key.type) for inner_key, _ in pairs)
    call_fields = tuple(context.ids.field("", call.type) for call in calls)
    grouped = Aggregate(node, keys, tuple(inner_key for inner_key, _ in pairs), call_fields, tuple(calls))
    on = all_of([functions.call("equal", k.column(), other) for k, (_, other) in zip(keys, pairs, strict=True)])
    for field in call_fields:
        block.scalars[field.id] = ScalarJoin(grouped, on, context.at(select), correlated=True)
    # outside the join: an outer row without a group has the value of no rows
    return _lifted(value, dict(zip(calls, call_fields, strict=True)), select, block)


def _by_rows(rows: InnerRows, select: exp.Select, order: list[exp.Expr], block: Block) -> Expr:
    """Any condition: the groups of the outer query's own rows, each beside the inner rows that it lets pass."""
    context = block.context
    value, calls = _value(rows, select, order, block)
    node = join_scalars(rows.node, [value], rows.block)
    copies = tuple(rows.copied.values())
    keys = tuple(context.ids.field("", f.type) for f in copies)
    call_fields = tuple(context.ids.field("", call.type) for call in calls)
    moved = tuple(c for call in calls if isinstance(c := over(call, rows.copied), AggregateCall))
    grouped = Aggregate(node, keys, tuple(f.column() for f in copies), call_fields, moved, of_rows=True)
    outer = {f.id: f.column() for f in ([] if block.rows is None else block.rows.fields)}
    pairs = zip(keys, rows.copied, strict=True)
    on = all_of([functions.call("is_not_distinct", k.column(), outer[id_]) for k, id_ in pairs])
    for field in call_fields:
        block.scalars[field.id] = ScalarJoin(grouped, on, context.at(select), correlated=True, of_rows=True)
    return _lifted(value, dict(zip(calls, call_fields, strict=True)), select, block)


def _value(
    rows: InnerRows, select: exp.Select, order: list[exp.Expr], block: Block
) -> tuple[Expr, list[AggregateCall]]:
    value = rows.block.expr(select.expressions[0])
    if order:
        keys = tuple(sort_key(item, rows.block.expr(item.this)) for item in order)
        if any(isinstance(key.expr, Literal) for key in keys) or isinstance(value, WindowCall):
            raise _refuse_shape(select, block)
        value = AggregateCall("first", (value,), value.type, order=keys, at=block.context.at(select))
    calls = list(dict.fromkeys(part for part in walk(value) if isinstance(part, AggregateCall)))
    if not calls or any(call.function == GROUPING for call in calls):
        raise _refuse_shape(select, block)
    return value, calls


def _lifted(value: Expr, by_call: Mapping[AggregateCall, Field], select: exp.Select, block: Block) -> Expr:
    """The value over the columns of the groups; counts of no rows are 0."""

    def lift(part: Expr) -> Expr | None:
        if isinstance(part, AggregateCall):
            column = dataclasses.replace(by_call[part].column(), at=part.at)
            if part.function not in ("count", "count_if"):
                return column
            return functions.make("coalesce", (column, Literal(0, BIGINT)), at=part.at)
        if isinstance(part, Column | WindowCall):
            raise _refuse_shape(select, block)
        return None

    return rewrite(value, lift)


def _refuse_shape(select: exp.Select, block: Block) -> Refused:
    return Refused(
        "dpsql cannot turn this correlated subquery into a join",
        code=121,
        at=block.context.at(select),
        why="It must be one aggregate over FROM and WHERE (or end with ORDER BY and LIMIT 1), "
        "connected to the outer query by conditions of WHERE.",
        fix="Write it as a JOIN with a GROUP BY.",
    )
