"""Subqueries in conditions and expressions, as joins: EXISTS and IN become semi-joins, scalar ones become joins.

A correlated subquery is untangled where its conditions can be moved out: any condition for EXISTS and IN (it becomes
part of the semi-join's ON), equalities for a scalar aggregate (they become its GROUP BY). Anything else is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dpsql import functions
from dpsql.errors import Refused, Span, SqlError
from dpsql.ir.expr import TRUE, Expr, columns_of
from dpsql.ir.nodes import Field, Filter, Join, JoinKind, Node, SemiJoin
from dpsql.ir.scoping import free_columns
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.calls import conditions_are_boolean, no_calls
from dpsql.sql.bind.gather import gathered


@dataclass(frozen=True, slots=True)
class Semi:
    """A subquery test: keep a row for which `right` has (anti: has not) a row that satisfies `on`."""

    right: Node
    on: Expr
    anti: bool
    at: Span | None


Condition = Expr | Semi


def conditions(node: exp.Expr, block: Block) -> list[Condition]:
    """A WHERE or HAVING, split at its ANDs."""
    match node:
        case exp.And():
            return conditions(node.this, block) + conditions(node.expression, block)
        case exp.Paren():
            return conditions(node.this, block)
        case exp.Exists():
            return [_exists(node.this, block, anti=False)]
        case exp.In() if node.args.get("query") is not None:
            return [_in(node, block, anti=False)]
        case exp.Not():
            inner = node.this
            while isinstance(inner, exp.Paren):
                inner = inner.this
            if isinstance(inner, exp.Exists):
                return [_exists(inner.this, block, anti=True)]
            if isinstance(inner, exp.In) and inner.args.get("query") is not None:
                return [_in(inner, block, anti=True)]
    return [plain_condition(node, block)]


def plain_condition(node: exp.Expr, block: Block) -> Expr:
    from dpsql.sql.bind.exprs import bind_expr

    expr = bind_expr(node, block)
    if not conditions_are_boolean(expr):
        raise SqlError(
            f"a condition is needed here, not {expr.type}",
            code=105,
            at=block.context.at(node),
            fix="Write a comparison, such as x > 0.",
        )
    return expr


def apply(node: Node, conditions: list[Condition], block: Block) -> Node:
    """Conditions that tie the tables of FROM go into their joins, then filters, then semi-joins; last come those that use
    scalar subqueries, so that these are asked for as few rows as possible."""
    plain = [condition for condition in conditions if not isinstance(condition, Semi)]
    node, filters = gathered(node, plain, block.context.catalog)
    ordered: list[Condition] = [*filters, *(condition for condition in conditions if isinstance(condition, Semi))]
    for condition in sorted(ordered, key=lambda one: _uses_scalars(one, block)):
        test = condition.on if isinstance(condition, Semi) else condition
        node = join_scalars(node, [test], block)
        if isinstance(condition, Semi):
            node = SemiJoin(node, condition.right, test, condition.anti, condition.at)
        else:
            node = Filter(node, test)
    return node


def _uses_scalars(condition: Condition, block: Block) -> bool:
    test = condition.on if isinstance(condition, Semi) else condition
    return not columns_of(test).isdisjoint(block.scalars)


def join_scalars(node: Node, exprs: list[Expr], block: Block) -> Node:
    """Join the scalar subqueries that `exprs` use and `node` does not have yet."""
    have = {f.id for f in node.fields}
    for expr in exprs:
        for id_ in sorted(columns_of(expr)):
            scalar = block.scalars.get(id_)
            if scalar is not None and id_ not in have:
                kind: JoinKind = "cross" if scalar.on is None else "left"
                node = Join(node, scalar.node, kind, scalar.on, scalar.at, correlated=scalar.correlated)
                have = {f.id for f in node.fields}
    return node


def simple_select(query: exp.Expr) -> exp.Select | None:
    """The SELECT of a subquery that is nothing but FROM and WHERE; None for any other."""
    while isinstance(query, exp.Subquery | exp.Paren) and not any(
        query.args.get(a) for a in ("limit", "offset", "with_")
    ):
        query = query.this
    if not isinstance(query, exp.Select):
        return None
    busy = ("group", "having", "qualify", "limit", "offset", "with_", "windows")
    return None if any(query.args.get(a) for a in busy) else query


def _exists(query: exp.Expr, block: Block, *, anti: bool) -> Semi:
    select = simple_select(query)
    if select is None or has_aggregate(select, block):
        right = block.context.query(query, block.context, block.env, block.scope)
        refuse_free(right, query, block)
        return Semi(right, TRUE, anti, block.context.at(query))
    right, on, _ = _open(select, block)
    return Semi(right, all_of(on), anti, block.context.at(query))


def _in(node: exp.In, block: Block, *, anti: bool) -> Semi:
    """x IN (SELECT y …). NOT IN keeps a row only if no y equals x *and no comparison is unknown*: x NOT IN S is true
    iff every y in S has (x = y) false, that is iff no y has (x = y) IS NOT FALSE."""
    from dpsql.sql.bind.exprs import bind_expr

    query, at = node.args["query"], block.context.at(node)
    left = bind_expr(node.this, block)
    select = simple_select(query)
    correlated: list[Expr] = []
    rows_only = select is not None and not has_aggregate(select, block) and not _has_window(select)
    if select is not None and rows_only and select.args.get("distinct") is None:
        right, correlated, inner = _open(select, block)
        if len(select.expressions) != 1 or isinstance(select.expressions[0], exp.Star):
            right = block.context.query(query, block.context, block.env, block.scope)
            value, correlated = only_field(right, query, block).column(), []
            refuse_free(right, query, block)
        else:
            value = bind_expr(select.expressions[0], inner)  # type: ignore[assignment]  # any Expr will do
            right = join_scalars(right, [value], inner)
    else:
        right = block.context.query(query, block.context, block.env, block.scope)
        value = only_field(right, query, block).column()
        refuse_free(right, query, block)
    test = functions.make("equal", (left, value), at=at)
    if anti:
        test = functions.make("is_not_false", (test,), at=at)
    return Semi(right, all_of([test, *correlated]), anti, at)


def _open(select: exp.Select, block: Block) -> tuple[Node, list[Expr], Block]:
    """FROM and WHERE of a subquery: (the rows that its own conditions keep, the correlated conditions, its block)."""
    from dpsql.sql.bind.tables import bind_from

    node, scope = bind_from(select, block.context, block.env, block.scope)
    inner = Block(block.context, block.env, scope)
    where = select.args.get("where")
    inner_conditions: list[Condition] = []
    correlated: list[Expr] = []
    predicates = [] if where is None else conditions(where.this, inner)
    no_calls([c.on if isinstance(c, Semi) else c for c in predicates], "WHERE")
    for condition in predicates:
        if isinstance(condition, Semi) or columns_of(condition) <= {f.id for f in node.fields} | set(inner.scalars):
            inner_conditions.append(condition)
        else:
            correlated.append(condition)
    node = apply(node, inner_conditions, inner)
    node = join_scalars(node, correlated, inner)
    refuse_free(node, select, block)
    return node, correlated, inner


def all_of(parts: list[Expr]) -> Expr:
    if not parts:
        return TRUE
    whole = parts[0]
    for part in parts[1:]:
        whole = functions.make("and", (whole, part), at=None)
    return whole


def has_aggregate(select: exp.Select, block: Block) -> bool:
    from dpsql.sql.bind.calls import read_aggregate

    return any(
        read_aggregate(node, block.context) is not None and not isinstance(node.parent, exp.Window)
        for item in select.expressions
        for node in item.walk(prune=lambda n: isinstance(n, exp.Subquery | exp.Select))
    )


def _has_window(select: exp.Select) -> bool:
    return any(item.find(exp.Window) is not None for item in select.expressions)


def only_field(node: Node, query: exp.Expr, block: Block) -> Field:
    if len(node.fields) != 1:
        raise SqlError(
            f"this subquery has {len(node.fields)} columns, one is needed",
            code=105,
            at=block.context.at(query),
            fix="Select one column.",
        )
    return node.fields[0]


def refuse_free(node: Node, query: exp.Expr, block: Block) -> None:
    free = free_columns(node)
    if free:
        raise Refused(
            "this subquery uses a column of the query around it in a way dpsql cannot untangle",
            code=121,
            at=block.context.at(query),
            why="A correlated subquery is answered as a join, so its outer columns are possible only in its WHERE: "
            "in any condition under EXISTS or IN, in equalities under an aggregate.",
            fix="Write it as a JOIN with a GROUP BY.",
        )
