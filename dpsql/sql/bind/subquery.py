"""Subqueries in conditions and expressions, as joins: EXISTS, IN, ANY and ALL become semi-joins where they are conditions
of their own, and marks elsewhere; scalar ones become joins.

A correlated subquery is untangled where its conditions can be moved out: any condition for EXISTS and IN (it becomes
part of the semi-join's ON), equalities for a scalar aggregate (they become its GROUP BY). Anything else is refused.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from sqlglot import exp

from dpsql import functions
from dpsql.domain.types import BOOLEAN, NULL
from dpsql.errors import Span, SqlError
from dpsql.functions.conjunctions import conjunction
from dpsql.ir.expr import TRUE, Expr, Literal, columns_of
from dpsql.ir.nodes import Aggregate, Field, Filter, Join, JoinKind, Node, Project, SemiJoin
from dpsql.sql.bind.aggregates import is_condition, no_calls, tests_no_calls
from dpsql.sql.bind.asked import Asked, as_condition, read_test
from dpsql.sql.bind.block import Block, ScalarJoin
from dpsql.sql.bind.gather import gathered
from dpsql.sql.bind.inner_rows import (
    InnerRows,
    columns_needed,
    has_aggregate,
    over,
    refuse_free,
    simple_select,
    tangled,
)


@dataclass(frozen=True, slots=True)
class Semi:
    """A subquery test: keep a row for which `right` has (anti: has not) a row that satisfies `on`."""

    right: Node
    on: Expr
    anti: bool
    at: Span | None
    of_rows: bool = False  # `right` is made of the rows that it is asked of


Condition = Expr | Semi


def test_of(condition: Condition) -> Expr:
    return condition.on if isinstance(condition, Semi) else condition


def conditions(node: exp.Expr, block: Block) -> list[Condition]:
    """A WHERE or HAVING, split at its ANDs."""
    match node:
        case exp.And():
            return conditions(node.this, block) + conditions(node.expression, block)
        case exp.Paren():
            return conditions(node.this, block)
    asked = read_test(node)
    if asked is not None:
        return [_as_semi(asked, node, block)]
    return [plain_condition(node, block)]


def plain_condition(node: exp.Expr, block: Block) -> Expr:
    expr = block.expr(node)
    if not is_condition(expr):
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
        test = test_of(condition)
        node = join_scalars(node, [test], block)
        if isinstance(condition, Semi):
            node = SemiJoin(node, condition.right, test, condition.anti, condition.at, of_rows=condition.of_rows)
        else:
            node = Filter(node, test)
    return node


def _uses_scalars(condition: Condition, block: Block) -> bool:
    return not columns_of(test_of(condition)).isdisjoint(block.scalars)


def join_scalars(node: Node, exprs: list[Expr], block: Block) -> Node:
    """Join the scalar subqueries that `exprs` use and `node` does not have yet."""
    have = {f.id for f in node.fields}
    for expr in exprs:
        for id_ in sorted(columns_of(expr)):
            scalar = block.scalars.get(id_)
            if scalar is not None and id_ not in have:
                if scalar.mark is not None:
                    on = scalar.on or TRUE
                    tests_no_calls(on)
                    left = join_scalars(node, [on], block)
                    node = SemiJoin(left, scalar.node, on, False, scalar.at, scalar.mark, scalar.of_rows)
                else:
                    kind: JoinKind = "cross" if scalar.on is None else "left"
                    ways = (scalar.correlated, scalar.of_rows, scalar.single)
                    node = Join(node, scalar.node, kind, scalar.on, scalar.at, *ways)
                have = {f.id for f in node.fields}
    return node


def _as_semi(asked: Asked, node: exp.Expr, block: Block) -> Semi:
    """x IN (SELECT y …) and x > ANY (SELECT y …) keep a row if some y compares so. NOT IN and ALL keep it only if no y does
    *and no comparison is unknown*: iff no y has (x = y) IS NOT FALSE."""
    rows, tests = _rows_asked(asked, node, block)
    if asked.negated:
        tests = _maybe(tests, block.context.at(node))
    return Semi(rows.node, all_of([*tests, *rows.tied]), asked.negated, block.context.at(node), rows.of_rows)


def _maybe(tests: list[Expr], at: Span | None) -> list[Expr]:
    """What all hold of where none is false: a row of values is not equal to another iff one of its values is not."""
    return [functions.make("is_not_false", (test,), at=at) for test in tests]


def bind_test(asked: Asked, node: exp.Expr, block: Block) -> Expr:
    """A subquery test as a value: a mark says of each row whether there is one that compares so, another one whether there
    is one that does or may do so; in between, the answer is unknown."""
    at = block.context.at(node)
    rows, tests = _rows_asked(asked, node, block)

    def mark(conditions: list[Expr]) -> Expr:
        there = block.context.ids.field("", BOOLEAN)
        on = all_of([*conditions, *rows.tied])
        block.scalars[there.id] = ScalarJoin(rows.node, on, at, of_rows=rows.of_rows, mark=there)
        return dataclasses.replace(there.column(), at=at)

    if not tests:
        value = mark(tests)
    elif as_condition(node):
        value = mark(_maybe(tests, at) if asked.negated else tests)
    else:
        unknown = functions.make("case", (mark(_maybe(tests, at)), Literal(None, NULL), Literal(False, BOOLEAN)), at=at)
        value = functions.make("case", (mark(tests), TRUE, unknown), at=at)
    return functions.make("not", (value,), at=at) if asked.negated else value


def _rows_asked(asked: Asked, node: exp.Expr, block: Block) -> tuple[InnerRows, list[Expr]]:
    """The subquery's rows, and what one of them is tested for."""
    query = asked.query
    select = simple_select(query)
    values: list[Expr]
    if select is not None and _are_rows(select, asked, block):
        rows = from_and_where(select, block)
        values = [rows.block.expr(item) for item in select.expressions] if asked.sign is not None else []
        rows = dataclasses.replace(rows, node=join_scalars(rows.node, values, rows.block))
    else:
        right = block.context.query(query, block.context, block.env, block.scope)
        values = [f.column() for f in right.fields]
        refuse_free(right, query, block)
        rows = InnerRows(right, [], block)
    if asked.sign is None:
        return rows, []
    if len(values) != len(asked.left):
        raise columns_needed(len(values), len(asked.left), query, block)
    at = block.context.at(node)
    pairs = zip(asked.left, values, strict=True)
    return rows, [functions.make(asked.sign, (block.expr(left), value), at=at) for left, value in pairs]


def _are_rows(select: exp.Select, asked: Asked, block: Block) -> bool:
    """Whether each row that FROM and WHERE leave has its own values, or those are not asked for."""
    if has_aggregate(select, block):
        return False
    if asked.sign is None:
        return True
    items = select.expressions
    starred = any(isinstance(item, exp.Star) or isinstance(item.this, exp.Star) for item in items)
    return not starred and not select.args.get("distinct") and not any(item.find(exp.Window) for item in items)


def from_and_where(select: exp.Select, block: Block, *, beside: bool = False) -> InnerRows:
    """The rows that its own conditions keep, and the correlated conditions. Where outer columns are used deeper (in a
    subquery of its own), and with `beside`: beside the outer query's rows, which take their place."""
    from dpsql.sql.bind.tables import bind_from

    node, scope = bind_from(select, block.context, block.env, block.scope)
    inner = Block(block.context, block.env, scope, rows=node)
    predicates = where_conditions(select, inner)
    have = {f.id for f in node.fields} | set(inner.scalars)
    deeper = [(c.on, c.right) for c in predicates if isinstance(c, Semi)]
    deeper += [(s.on, s.node) for s in inner.scalars.values() if s.on is not None]
    if beside or any(columns_of(on) - {f.id for f in right.fields} - have for on, right in deeper):
        return _beside_outer(node, predicates, inner, select, block, distinct=beside)
    correlated = [c for c in predicates if not isinstance(c, Semi) and not columns_of(c) <= have]
    node = apply(node, [c for c in predicates if isinstance(c, Semi) or columns_of(c) <= have], inner)
    node = join_scalars(node, correlated, inner)
    refuse_free(node, select, block)
    return InnerRows(node, correlated, inner)


def _beside_outer(
    node: Node, predicates: list[Condition], inner: Block, select: exp.Select, block: Block, *, distinct: bool
) -> InnerRows:
    """The outer query's rows (their columns that are used, distinct ones if several of a kind would count twice), joined to
    the subquery's: conditions of any depth are about rows of the join then, and it is tied to the outer query by these
    columns."""
    outer: dict[int, Field] = {} if block.rows is None else {f.id: f for f in block.rows.fields}
    exprs = [inner.expr(item) for item in select.expressions] if distinct else []
    exprs += [test_of(c) for c in predicates] + [s.on for s in inner.scalars.values() if s.on is not None]
    used = sorted(frozenset().union(*map(columns_of, exprs)) & outer.keys())
    if block.rows is None or not used:
        raise tangled(select, block)
    ids = block.context.ids
    copied = {id_: ids.field(outer[id_].name, outer[id_].type) for id_ in used}
    rows: Node = Project(block.rows, tuple(copied.values()), tuple(outer[id_].column() for id_ in used))
    if distinct:
        one_each = tuple(ids.field(f.name, f.type) for f in copied.values())
        rows = Aggregate(rows, one_each, tuple(f.column() for f in copied.values()), (), (), of_rows=True)
        copied = dict(zip(used, one_each, strict=True))

    def moved(expr: Expr) -> Expr:
        return over(expr, copied)

    ties = [c for c in predicates if not isinstance(c, Semi) and columns_of(c) & copied.keys()]
    ties = [c for c in ties if columns_of(c).isdisjoint(inner.scalars)]
    local: list[Condition] = [
        c for c in predicates if not isinstance(c, Semi) and columns_of(c) <= {f.id for f in node.fields}
    ]
    node = apply(node, local, inner)
    joined = [moved(c) for c in ties]
    node = Join(
        rows, node, "inner" if joined else "cross", all_of(joined) if joined else None, block.context.at(select)
    )
    for id_, scalar in inner.scalars.items():
        on = None if scalar.on is None else moved(scalar.on)
        inner.scalars[id_] = dataclasses.replace(scalar, on=on)
    rest = [c for c in predicates if c not in ties and c not in local]
    node = apply(
        node, [dataclasses.replace(c, on=moved(c.on)) if isinstance(c, Semi) else moved(c) for c in rest], inner
    )
    refuse_free(node, select, block)
    tied = [functions.call("is_not_distinct", outer[id_].column(), copied[id_].column()) for id_ in used]
    return InnerRows(node, tied, inner, copied)


def where_conditions(select: exp.Select, block: Block) -> list[Condition]:
    where = select.args.get("where")
    predicates = [] if where is None else conditions(where.this, block)
    no_calls(map(test_of, predicates), "WHERE")
    return predicates


def all_of(parts: list[Expr]) -> Expr:
    return conjunction(parts) or TRUE
