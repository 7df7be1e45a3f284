"""Scalar subqueries: one row by their form, or a correlated aggregate, which becomes a join with its groups."""

from __future__ import annotations

import dataclasses

from sqlglot import exp

from dpsql import functions
from dpsql.domain.types import BIGINT
from dpsql.errors import Refused
from dpsql.ir.expr import (
    GROUPING,
    TRUE,
    AggregateCall,
    Call,
    Column,
    Expr,
    Literal,
    WindowCall,
    columns_of,
    place,
    rewrite,
    walk,
)
from dpsql.ir.nodes import Aggregate, Field, Limit, Node, Project
from dpsql.sql.bind.block import Block, ScalarJoin
from dpsql.sql.bind.calls import no_calls
from dpsql.sql.bind.context import Context
from dpsql.sql.bind.subquery import (
    Semi,
    all_of,
    apply,
    conditions,
    has_aggregate,
    join_scalars,
    only_field,
    refuse_free,
    simple_select,
)


def bind_scalar(query: exp.Expr, block: Block) -> Expr:
    """(SELECT …) as a value: at most one row of one column, by its form."""
    inner = query
    while isinstance(inner, exp.Subquery | exp.Paren) and isinstance(inner.this, exp.Subquery | exp.Paren | exp.Select):
        inner = inner.this
    if isinstance(inner, exp.Select) and _is_global_aggregate(inner, block):
        correlated = _correlated_aggregate(inner, block)
        if correlated is not None:
            return correlated
    node = block.context.query(inner, block.context, block.env, block.scope)
    field = only_field(node, query, block)
    refuse_free(node, query, block)
    if isinstance(inner, exp.Select) and _is_global_aggregate(inner, block) and inner.args.get("having") is None:
        block.scalars[field.id] = ScalarJoin(node, None)
    elif isinstance(node, Limit) and node.limit is not None and node.limit <= 1:
        block.scalars[field.id] = ScalarJoin(node, TRUE)
    else:
        raise Refused(
            "this subquery may have several rows",
            code=121,
            at=block.context.at(query),
            why="Used as a value, a subquery must have at most one row, and its form must say so.",
            fix="Aggregate without GROUP BY, or end it with LIMIT 1.",
        )
    return Column(field.id, field.type, field.name, block.context.at(query))


def _is_global_aggregate(select: exp.Select, block: Block) -> bool:
    return select.args.get("group") is None and has_aggregate(select, block) and select.args.get("limit") is None


def _correlated_aggregate(select: exp.Select, block: Block) -> Expr | None:
    """(SELECT agg(…) FROM … WHERE inner = outer …) as a left join with GROUP BY inner; None if it is not correlated."""
    from dpsql.sql.bind.exprs import bind_expr
    from dpsql.sql.bind.tables import bind_from

    context = block.context
    if len(select.expressions) != 1 or simple_select(select) is None:
        return None
    node, scope = bind_from(select, context, block.env, block.scope)
    inner = Block(context, block.env, scope)
    where = select.args.get("where")
    predicates = [] if where is None else conditions(where.this, inner)
    no_calls([c.on if isinstance(c, Semi) else c for c in predicates], "WHERE")
    have = {f.id for f in node.fields} | set(inner.scalars)
    outer = [c for c in predicates if not isinstance(c, Semi) and not columns_of(c) <= have]
    if not outer:
        return None
    node = apply(node, [c for c in predicates if c not in outer], inner)
    refuse_free(node, select, block)
    pairs = [_split_equality(c, have, select, block) for c in outer if not isinstance(c, Semi)]
    value = bind_expr(select.expressions[0], inner)
    node = join_scalars(node, [value, *(inner_key for inner_key, _ in pairs)], inner)
    node, pairs = _with_columns(node, pairs, context)
    calls = list(dict.fromkeys(part for part in walk(value) if isinstance(part, AggregateCall)))
    keys = tuple(context.ids.field("", inner_key.type) for inner_key, _ in pairs)
    call_fields = tuple(context.ids.field("", call.type) for call in calls)
    by_call = dict(zip(calls, call_fields, strict=True))

    def lift(part: Expr) -> Expr | None:
        if isinstance(part, AggregateCall):
            column = dataclasses.replace(by_call[part].column(), at=part.at)
            if part.function not in ("count", "count_if"):
                return column
            return functions.make("coalesce", (column, Literal(0, BIGINT)), at=part.at)  # of no rows
        if isinstance(part, Column | WindowCall):
            raise _refuse_shape(select, block)
        return None

    if not calls or any(call.function == GROUPING for call in calls):
        raise _refuse_shape(select, block)
    grouped = Aggregate(node, keys, tuple(inner_key for inner_key, _ in pairs), call_fields, tuple(calls))
    on = all_of(
        [functions.make("equal", (k.column(), other), at=None) for k, (_, other) in zip(keys, pairs, strict=True)]
    )
    for field in call_fields:
        block.scalars[field.id] = ScalarJoin(grouped, on, context.at(select), correlated=True)
    return rewrite(value, lift)  # outside the join: an outer row without a group has the value of no rows


def _with_columns(node: Node, pairs: list[tuple[Expr, Expr]], context: Context) -> tuple[Node, list[tuple[Expr, Expr]]]:
    """The rows with each inner side as a column of its own."""
    computed: dict[Expr, Field] = {
        inner_key: context.ids.field("", inner_key.type) for inner_key, _ in pairs if not isinstance(inner_key, Column)
    }
    if not computed:
        return node, pairs
    every = (*(f.column() for f in node.fields), *computed)
    node = Project(node, (*node.fields, *computed.values()), every)
    at: dict[Expr, Expr] = {
        inner_key: dataclasses.replace(f.column(), at=place(inner_key)) for inner_key, f in computed.items()
    }
    return node, [(at.get(inner_key, inner_key), other) for inner_key, other in pairs]


def _split_equality(condition: Expr, have: set[int], select: exp.Select, block: Block) -> tuple[Expr, Expr]:
    """(inner side, outer side) of a correlated equality."""
    if isinstance(condition, Call) and condition.function == "equal":
        for inner_key, other in (condition.args, condition.args[::-1]):
            if columns_of(inner_key) <= have and columns_of(inner_key) and not columns_of(other) & have:
                return inner_key, other
    raise _refuse_shape(select, block)


def _refuse_shape(select: exp.Select, block: Block) -> Refused:
    return Refused(
        "this correlated subquery is none that dpsql can turn into a join",
        code=121,
        at=block.context.at(select),
        why="It must be one aggregate over FROM and WHERE, connected to the outer query by equalities.",
        fix="Write it as a JOIN with a GROUP BY.",
    )
