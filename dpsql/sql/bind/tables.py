"""FROM: catalog tables, users' tables, CTEs, views, derived tables, VALUES, and the joins between them."""

from __future__ import annotations

import dataclasses

from sqlglot import exp

from dpsql import functions
from dpsql.catalog.model import TableSpec, fold
from dpsql.errors import Refused, Span, SqlError
from dpsql.functions.conjunctions import conjunction
from dpsql.ir.expr import TRUE, Call, Column, Expr, columns_of
from dpsql.ir.nodes import Field, Join, JoinKind, Node, OneRow, Project, Scan, SemiJoin, UserTable, walk
from dpsql.sql.bind.aggregates import no_calls
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.context import Context, Cte, Env
from dpsql.sql.bind.scope import Scope, Source, unknown_column, unknown_table
from dpsql.sql.bind.subquery import Semi, apply, conditions, join_scalars, plain_condition, test_of
from dpsql.sql.limits import RELATIONS_LIMIT

VIEW_DEPTH = 16


def bind_from(select: exp.Select, context: Context, env: Env, parent: Scope | None) -> tuple[Node, Scope]:
    """The relation of FROM with all its joins, and the scope it opens."""
    clause = select.args.get("from_")
    if clause is None:
        return OneRow(), Scope((), parent=parent)
    node, scope = _item(clause.this, context, env)
    for join in select.args.get("joins") or ():
        node, scope = _join(join, node, scope, context, env)
    scope.parent = parent
    return node, scope


def _item(item: exp.Expr, context: Context, env: Env) -> tuple[Node, Scope]:
    match item:
        case exp.Table():
            node, source = _table(item, context, env)
            scope = Scope((source,))
        case exp.Subquery() if _is_joined(item.this):  # (a JOIN b ON …)
            node, scope = _item(item.this, context, env)
            if _alias_name(item):
                node, source = _renamed(node, _alias_name(item), item, context)
                scope = Scope((source,))
        case exp.Subquery() | exp.Values():
            query = item.this if isinstance(item, exp.Subquery) else item
            node = context.query(query, context, env, None)
            node, source = _renamed(node, _alias_name(item), item, context)
            scope = Scope((source,))
        case _:
            raise Refused(
                f"{type(item).__name__} is not possible in FROM", code=120, at=context.at(item), fix="Name a table."
            )
    for join in item.args.get("joins") or ():
        node, scope = _join(join, node, scope, context, env)
    return node, scope


def _is_joined(inner: exp.Expr) -> bool:
    """Whether parentheses stand around tables, not around a query: a query has neither a name nor joins inside them."""
    named = isinstance(inner, exp.Subquery) and (inner.args.get("alias") or inner.args.get("joins"))
    return isinstance(inner, exp.Table) or bool(named) or (isinstance(inner, exp.Subquery) and _is_joined(inner.this))


def _alias_name(item: exp.Expr) -> str:
    alias = item.args.get("alias")
    return "" if alias is None or alias.this is None else str(alias.this.name)


def _alias_columns(item: exp.Expr) -> tuple[str, ...]:
    alias = item.args.get("alias")
    return () if alias is None else tuple(column.name for column in alias.args.get("columns") or ())


def _renamed(node: Node, name: str, item: exp.Expr, context: Context) -> tuple[Node, Source]:
    """Fresh ids over a shared or derived relation, with the alias's column names."""
    columns = _alias_columns(item)
    if len(columns) > len(node.fields):
        raise SqlError(
            f'"{name}" has {len(node.fields)} columns, but {len(columns)} names',
            code=105,
            at=context.at(item),
            fix="Give at most as many names as there are columns.",
        )
    names = [*columns, *(f.name for f in node.fields[len(columns) :])]
    fields = tuple(context.ids.field(n, f.type) for n, f in zip(names, node.fields, strict=True))
    return Project(node, fields, tuple(f.column() for f in node.fields)), Source(name, fields)


def _table(table: exp.Table, context: Context, env: Env) -> tuple[Node, Source]:
    name = table.name
    shown = _alias_name(table) or name
    qualifiers = [part.name for part in (table.args.get("catalog"), table.args.get("db")) if part is not None]
    if not qualifiers and fold(name) in env.ctes:
        return _renamed(_cte(env.ctes[fold(name)], context), shown, table, context)
    path = ".".join([*qualifiers, name])
    view = context.catalog.view(path)
    if view is not None:
        return _renamed(_view(view, table, context, env), shown, table, context)
    if not qualifiers and fold(name) in context.user_tables:
        fields = tuple(context.ids.field(n, t) for n, t in context.user_tables[fold(name)])
        return _renamed(UserTable(fold(name), fields), shown, table, context)
    spec = context.catalog.table(path)
    if spec is None:
        known = [*env.ctes, *context.catalog.views, *(t.name for t in context.catalog.tables), *context.user_tables]
        raise unknown_table(path, known, context.at(table))
    scan = _scan(spec, context)
    if _alias_columns(table):
        return _renamed(scan, shown, table, context)
    qualified = () if table.args.get("alias") is not None else (fold(path),)
    return scan, Source(shown, scan.fields, qualified)


def _scan(spec: TableSpec, context: Context) -> Scan:
    fields = tuple(context.ids.field(column.name, column.type) for column in spec.columns)
    return Scan(spec.name, fields, tuple(column.name for column in spec.columns))


def _cte(cte: Cte, context: Context) -> Node:
    """A CTE is bound once: two uses share one relation, and so one stage and one charge."""
    if cte.bound is None:
        node = context.query(cte.query, context, cte.env, None)
        if cte.columns:
            if len(cte.columns) > len(node.fields):
                raise SqlError(
                    f"WITH names {len(cte.columns)} columns, the query has {len(node.fields)}",
                    code=105,
                    at=context.at(cte.query),
                    fix="Name as many columns as the query selects.",
                )
            names = [*cte.columns, *(f.name for f in node.fields[len(cte.columns) :])]
            fields = tuple(context.ids.field(n, f.type) for n, f in zip(names, node.fields, strict=True))
            node = Project(node, fields, tuple(f.column() for f in node.fields))
        _check_relations(node, context.at(cte.query))
        cte.bound = node
    return cte.bound


def _check_relations(node: Node, at: Span | None) -> None:
    """A relation that is named twice stands there twice: names of names of names grow without end. What is left is counted
    exactly when it is tracked (privacy/track.py), where a release that several names mean stands once."""
    for count, _ in enumerate(walk(node)):
        if count >= RELATIONS_LIMIT:
            raise SqlError(
                f"a subquery is more than {RELATIONS_LIMIT:,} relations once the names in it are written out",
                code=138,
                at=at,
                why="A table or a WITH counts every time it is named.",
                fix="CREATE TABLE the smaller results first, and query those.",
            )


def _view(view: str, table: exp.Table, context: Context, env: Env) -> Node:
    if fold(view) in env.views or len(env.views) >= VIEW_DEPTH:
        raise SqlError(
            f'the view "{view}" uses itself', code=106, at=context.at(table), fix="Correct `views:` in the metadata."
        )
    if fold(view) not in context.views:
        node = context.view(view, context, Env({}, (*env.views, fold(view))))
        _check_relations(node, context.at(table))
        context.views[fold(view)] = node
    return context.views[fold(view)]


def _join(join: exp.Join, left: Node, scope: Scope, context: Context, env: Env) -> tuple[Node, Scope]:
    right, right_scope = _item(join.this, context, env)
    _distinct_aliases(join, scope, right_scope, context)
    side, kind, method = join.side.lower(), join.kind.lower(), (join.args.get("method") or "").lower()
    using = [identifier.name for identifier in join.args.get("using") or ()]
    if method == "natural":
        names = {fold(n) for n in scope.names()}
        using = list(dict.fromkeys(n for n in right_scope.names() if fold(n) in names))
        if not using:
            raise SqlError(
                "NATURAL JOIN finds no column of the same name on both sides",
                code=102,
                at=context.at(join),
                fix="Write JOIN … ON, or CROSS JOIN if every pair is meant.",
            )
    joined = Scope((*scope.sources, *right_scope.sources), {**scope.merged, **right_scope.merged})
    on: Expr | None = None
    if using:
        on, joined = _using(using, side, scope, right_scope, joined, join, context)
    elif join.args.get("on") is not None:
        block = Block(context, env, joined)
        if not side and kind in ("", "inner"):
            return _filtered(join, Join(left, right, "cross", None, context.at(join.this)), block), joined
        on = plain_condition(join.args["on"], block)
        no_calls([on], "ON")
        if side == "right":  # a scalar subquery's value is joined to the rows that are all kept
            right = join_scalars(right, [on], block)
        else:
            left = join_scalars(left, [on], block)
    if kind in ("semi", "anti"):
        return SemiJoin(left, right, on or TRUE, kind == "anti", context.at(join)), scope
    join_kind: JoinKind = "inner"
    if side in ("left", "right", "full"):
        join_kind = side  # type: ignore[assignment]  # the three literals of JoinKind
    elif on is None:
        join_kind = "cross"
    if join_kind not in ("inner", "cross") and on is None:
        raise SqlError("an outer join needs ON or USING", code=105, at=context.at(join), fix="Add ON a.x = b.x.")
    return Join(left, right, join_kind, on, context.at(join.this)), joined


def _filtered(join: exp.Join, pairs: Join, block: Block) -> Node:
    """An inner join: the conditions without subqueries are the join's, and the others are asked of its rows."""
    every = conditions(join.args["on"], block)
    no_calls(map(test_of, every), "ON")
    plain = [one for one in every if not isinstance(one, Semi) and columns_of(one).isdisjoint(block.scalars)]
    kind: JoinKind = "inner" if plain else "cross"
    joined = dataclasses.replace(pairs, kind=kind, on=conjunction(plain))
    return apply(joined, [one for one in every if one not in plain], block)


def _distinct_aliases(join: exp.Join, left: Scope, right: Scope, context: Context) -> None:
    taken = {fold(source.alias) for source in left.sources if source.alias}
    for source in right.sources:
        if fold(source.alias) in taken:
            raise SqlError(
                f'"{source.alias}" names two tables in this FROM',
                code=104,
                at=context.at(join.this),
                fix=f"Give one of them an alias: {source.alias} AS {source.alias}2.",
            )


def _using(
    names: list[str], side: str, left: Scope, right: Scope, joined: Scope, join: exp.Join, context: Context
) -> tuple[Expr, Scope]:
    """USING (k): equality of both columns; unqualified k is the kept side's (FULL: COALESCE of both)."""
    on: Expr | None = None
    merged, hidden = dict(joined.merged), set[int]()
    for name in names:
        one, other = left.find(name, None, context.at(join)), right.find(name, None, context.at(join))
        if one is None or other is None:
            raise unknown_column(name, left if one is None else right, context.at(join))
        equal = functions.make("equal", (one, other), at=context.at(join))
        on = equal if on is None else functions.call("and", on, equal)
        match side:
            case "right":
                merged[fold(name)] = other
            case "full":
                merged[fold(name)] = functions.call("coalesce", one, other)
            case _:
                merged[fold(name)] = one
        hidden |= {c.id for c in _columns(other)}
    sources = tuple(
        Source(s.alias, s.fields, s.qualified, s.hidden | (hidden & {f.id for f in s.fields})) for s in joined.sources
    )
    assert on is not None
    return on, Scope(sources, merged)


def _columns(expr: Expr) -> list[Field]:
    """The columns of a (possibly merged) USING column."""
    parts = expr.args if isinstance(expr, Call) else (expr,)
    return [Field(part.id, part.name, part.type) for part in parts if isinstance(part, Column)]
