"""One SELECT block, in SQL's order of evaluation:

FROM → WHERE → GROUP BY and aggregates → HAVING → windows → QUALIFY → SELECT list → DISTINCT → ORDER BY → LIMIT.

All expressions are bound in the scope of FROM; `lift` then turns keys and aggregate calls into columns of the Aggregate,
and window calls into columns of the Window node.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from dpsql.catalog.model import fold
from dpsql.errors import Span, SqlError
from dpsql.ir.expr import (
    GROUPING,
    AggregateCall,
    Column,
    Expr,
    SortKey,
    WindowCall,
    children,
    columns_of,
    place,
    rewrite,
    walk,
)
from dpsql.ir.nodes import Aggregate, Field, Limit, Node, Project, Sort, Window
from dpsql.sql.bind.aggregates import no_calls
from dpsql.sql.bind.block import Block, ScalarJoin
from dpsql.sql.bind.context import Context, Env
from dpsql.sql.bind.grouping import Grouping, read_grouping
from dpsql.sql.bind.scope import Scope
from dpsql.sql.bind.sorting import limit_of, limit_place, ordinal, sort_key
from dpsql.sql.bind.subquery import Condition, Semi, apply, conditions, join_scalars, test_of, where_conditions
from dpsql.sql.bind.tables import bind_from
from dpsql.sql.naming import column_names


@dataclass(slots=True)
class Parts:
    """The bound pieces of a block that live above GROUP BY: each is lifted in turn."""

    names: list[str]
    items: list[Expr]
    having: list[Condition]
    qualify: list[Condition]
    order: list[SortKey]

    def exprs(self) -> list[Expr]:
        return [*self.items, *map(test_of, (*self.having, *self.qualify)), *(key.expr for key in self.order)]

    def rewrite(self, change: Callable[[Expr], Expr | None]) -> None:
        def on(expr: Expr) -> Expr:
            return rewrite(expr, change)

        def condition(test: Condition) -> Condition:
            if not isinstance(test, Semi):
                return on(test)
            return dataclasses.replace(test, on=_rewrite_outer(test.on, test.right, change))

        self.items = [on(item) for item in self.items]
        self.having = [condition(test) for test in self.having]
        self.qualify = [condition(test) for test in self.qualify]
        self.order = [dataclasses.replace(key, expr=on(key.expr)) for key in self.order]


def bind_select(select: exp.Select, context: Context, env: Env, parent: Scope | None) -> Node:
    node, scope = bind_from(select, context, env, parent)
    block = Block(context, env, scope, _aliases(select), _windows(select), rows=node)
    predicates = where_conditions(select, block)
    if predicates:
        node = apply(node, predicates, block)
    parts, grouping = _parts(select, block)
    if grouping is not None or any(_has(expr, AggregateCall) for expr in parts.exprs()):
        node = _aggregate(node, grouping or Grouping((), None), parts, block)
    node = apply(node, parts.having, block)
    node = _window(node, parts, block)
    node = apply(node, parts.qualify, block)
    node = join_scalars(node, [*parts.items, *(key.expr for key in parts.order)], block)
    return _output(select, node, parts, context)


def _aliases(select: exp.Select) -> dict[str, exp.Expr]:
    return {fold(item.alias): item.this for item in reversed(select.expressions) if isinstance(item, exp.Alias)}


def _windows(select: exp.Select) -> dict[str, exp.Window]:
    return {fold(window.this.name): window for window in select.args.get("windows") or ()}


def _parts(select: exp.Select, block: Block) -> tuple[Parts, Grouping | None]:
    context = block.context
    names: list[str] = []
    items: list[Expr] = []
    for item, name in zip(select.expressions, column_names(select.expressions, context.printed), strict=True):
        star = item if isinstance(item, exp.Star) else item.this if isinstance(item, exp.Column) else None
        if isinstance(star, exp.Star):
            qualifier = ".".join(p.name for p in item.parts[:-1]) if isinstance(item, exp.Column) else None
            columns = list(block.scope.star(qualifier or None, context.at(item)))
            if not columns:
                raise SqlError("* finds no columns", code=102, at=context.at(item), fix="Add a FROM clause.")
            names += [name for name, _ in columns]
            items += [dataclasses.replace(expr, at=context.at(item)) for _, expr in columns]
        else:
            names.append(_name(item, name, block))
            # an alias is not in sight inside its own expression
            hidden = (fold(item.alias),) if isinstance(item, exp.Alias) else ()
            items.append(dataclasses.replace(block, expanding=hidden).expr(item))
    having, qualify = select.args.get("having"), select.args.get("qualify")
    grouping = read_grouping(select, items, block)
    grouped = dataclasses.replace(block, keys=() if grouping is None else grouping.keys)
    parts = Parts(
        names,
        items,
        [] if having is None else conditions(having.this, grouped),
        [] if qualify is None else conditions(qualify.this, block),
        _order(select, names, items, block),
    )
    return parts, grouping


def _name(item: exp.Expr, name: str, block: Block) -> str:
    """A bare column's own spelling in its table; else the name it has by itself."""
    if isinstance(item, exp.Column):
        qualifier = ".".join(part.name for part in item.parts[:-1]) or None
        column = block.scope.find(item.name, qualifier, block.context.at(item))
        if isinstance(column, Column) and column.name:
            return column.name
    return name


def _order(select: exp.Select, names: list[str], items: list[Expr], block: Block) -> list[SortKey]:
    """ORDER BY: a number counts the SELECT list, a name is an alias before it is a column."""
    order = select.args.get("order")
    keys: list[SortKey] = []
    for item in [] if order is None else order.expressions:
        target = item.this
        if isinstance(target, exp.Var) and target.name.upper() == "ALL":
            keys += [sort_key(item, expr) for expr in items]
            continue
        position = ordinal(target, len(items), "ORDER BY", block.context)
        if position is None and isinstance(target, exp.Column) and not target.table:
            hits = [i for i, name in enumerate(names) if fold(name) == fold(target.name)]
            position = hits[0] if hits else None
        first = dataclasses.replace(block, aliases_first=True)
        keys.append(sort_key(item, first.expr(target) if position is None else items[position]))
    return keys


def _has(expr: Expr, kind: type[AggregateCall] | type[WindowCall]) -> bool:
    return any(isinstance(part, kind) for part in walk(expr))


def _aggregate(node: Node, grouping: Grouping, parts: Parts, block: Block) -> Node:
    context = block.context
    no_calls(grouping.keys, "GROUP BY")
    every = [*parts.exprs(), *(s.on for s in _tied(parts, block).values() if s.on is not None)]
    calls = list(dict.fromkeys(p for e in every for p in walk(e) if isinstance(p, AggregateCall)))
    for call in calls:
        _check_grouping(call, grouping)
    used = [*grouping.keys, *(part for call in calls for part in (*call.args, *((call.where,) if call.where else ())))]
    node = join_scalars(node, used, block)
    called = dict(reversed(list(zip(parts.items, parts.names, strict=True))))
    key_fields = tuple(
        context.ids.field(called.get(k, k.name if isinstance(k, Column) else ""), k.type) for k in grouping.keys
    )
    call_fields = tuple(context.ids.field(call.function, call.type) for call in calls)
    by_key = dict(reversed(list(zip(grouping.keys, key_fields, strict=True))))
    by_call = dict(zip(calls, call_fields, strict=True))

    def lift(expr: Expr, otherwise: Span | None = None) -> Expr | None:
        if expr in by_key and not _is_one_row(expr, block):
            return dataclasses.replace(by_key[expr].column(), at=place(expr))
        if isinstance(expr, AggregateCall):
            return dataclasses.replace(by_call[expr].column(), at=expr.at)
        if isinstance(expr, Column) and expr.id not in block.scalars:
            raise SqlError(
                f'column "{expr.name}" is neither in GROUP BY nor inside an aggregate',
                code=113,
                at=expr.at or otherwise,
                fix=f"Add it to GROUP BY, or aggregate it: AVG({expr.name}).",
            )
        return None

    parts.rewrite(lift)
    for id_, scalar in _tied(parts, block).items():
        assert scalar.on is not None
        on = _rewrite_outer(scalar.on, scalar.node, partial(lift, otherwise=scalar.at))
        block.scalars[id_] = dataclasses.replace(scalar, on=on)
    return Aggregate(node, key_fields, grouping.keys, call_fields, tuple(calls), grouping.sets)


def _is_one_row(expr: Expr, block: Block) -> bool:
    """An uncorrelated scalar subquery: the same above GROUP BY as below it."""
    scalar = block.scalars.get(expr.id) if isinstance(expr, Column) else None
    return scalar is not None and scalar.on is None


def _tied(parts: Parts, block: Block) -> dict[int, ScalarJoin]:
    """The subqueries above GROUP BY that have conditions, by their ids."""
    tied: dict[int, ScalarJoin] = {}
    waiting = parts.exprs()
    while waiting:
        for id_ in columns_of(waiting.pop()):
            scalar = block.scalars.get(id_)
            if scalar is not None and scalar.on is not None and id_ not in tied:
                tied[id_] = scalar
                waiting.append(scalar.on)
    return tied


def _rewrite_outer(on: Expr, inner: Node, change: Callable[[Expr], Expr | None]) -> Expr:
    """The condition of a subquery: its own columns stay, those of the outer query are rewritten."""
    inner_ids = {f.id for f in inner.fields}
    return rewrite(on, lambda part: part if isinstance(part, Column) and part.id in inner_ids else change(part))


def _check_grouping(call: AggregateCall, grouping: Grouping) -> None:
    """GROUPING() speaks of keys alone."""
    if call.function == GROUPING and not (call.args and set(call.args) <= set(grouping.keys)):
        raise SqlError(
            "GROUPING() takes keys of GROUP BY",
            code=105,
            at=call.at,
            fix="Name columns or expressions of GROUP BY.",
        )


def _window(node: Node, parts: Parts, block: Block) -> Node:
    context = block.context
    calls = list(dict.fromkeys(p for e in parts.exprs() for p in walk(e) if isinstance(p, WindowCall)))
    if not calls:
        return node
    for call in calls:
        if any(_has(part, WindowCall) for part in children(call)):
            raise SqlError(
                "a window function is inside a window function",
                code=105,
                at=call.at,
                fix="Compute the inner one in a subquery: SELECT …, f(x) OVER (…) FROM (SELECT …, g(y) OVER (…) AS x …).",
            )
    for test in parts.having:
        if _has(test_of(test), WindowCall):
            at = place(test_of(test))
            raise SqlError("HAVING cannot contain a window function", code=105, at=at, fix="Use QUALIFY.")
    fields = tuple(context.ids.field(call.function, call.type) for call in calls)
    by_call = dict(zip(calls, fields, strict=True))
    node = join_scalars(node, list(calls), block)
    parts.rewrite(lambda expr: by_call[expr].column() if isinstance(expr, WindowCall) else None)
    return Window(node, fields, tuple(calls))


def _output(select: exp.Select, node: Node, parts: Parts, context: Context) -> Node:
    """Project, DISTINCT, ORDER BY, LIMIT; sort keys that are not selected ride along and are dropped last."""
    fields = [context.ids.field(name, item.type) for name, item in zip(parts.names, parts.items, strict=True)]
    visible = tuple(fields)
    by_item: dict[Expr, Field] = dict(reversed(list(zip(parts.items, fields, strict=True))))
    extra: list[Expr] = []
    order: list[SortKey] = []
    for key in parts.order:
        if key.expr not in by_item:
            if select.args.get("distinct") is not None:
                raise SqlError(
                    "with DISTINCT, ORDER BY takes only what is selected",
                    code=105,
                    at=place(key.expr),
                    fix="Select it too.",
                )
            by_item[key.expr] = context.ids.field("", key.expr.type)
            extra.append(key.expr)
            fields.append(by_item[key.expr])
        shown = dataclasses.replace(by_item[key.expr].column(), at=place(key.expr))
        order.append(dataclasses.replace(key, expr=shown))
    node = Project(node, tuple(fields), (*parts.items, *extra))
    if select.args.get("distinct") is not None:
        keys = tuple(context.ids.field(f.name, f.type) for f in visible)
        renamed = {old.id: new for old, new in zip(visible, keys, strict=True)}
        node = Aggregate(node, keys, tuple(f.column() for f in visible), (), ())
        order = [dataclasses.replace(k, expr=_renamed(k.expr, renamed)) for k in order]
        visible = keys
    if order:
        node = Sort(node, tuple(order))
    limit, offset = limit_of(select, context)
    if limit is not None or offset:
        node = Limit(node, limit, offset, limit_place(select, context))
    if extra:
        last = tuple(context.ids.field(f.name, f.type) for f in visible)
        node = Project(node, last, tuple(f.column() for f in visible))
    return node


def _renamed(expr: Expr, renamed: dict[int, Field]) -> Expr:
    assert isinstance(expr, Column)
    return dataclasses.replace(renamed[expr.id].column(), at=expr.at)
