"""Queries around SELECT blocks: WITH, parentheses, UNION / INTERSECT / EXCEPT, and ORDER BY / LIMIT over them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from sqlglot import exp

from dpsql import functions
from dpsql.catalog.model import Catalog, fold
from dpsql.domain.types import Kind, Type, common
from dpsql.errors import Error, Refused, Span, SqlError
from dpsql.ir.expr import Expr
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Field, Limit, Node, Project, PublicText, SetOp, Sort
from dpsql.ir.scoping import free_columns
from dpsql.sql.allow import allow
from dpsql.sql.bind.context import AggregateSignature, Context, Cte, Env, UserTables
from dpsql.sql.bind.exprs import bind_expr
from dpsql.sql.bind.scope import Scope
from dpsql.sql.bind.select import bind_select
from dpsql.sql.bind.sorting import limit_of, limit_place, ordinal, sort_key
from dpsql.sql.bind.unused import without_unused
from dpsql.sql.bind.values import bind_values
from dpsql.sql.naming import Printed
from dpsql.sql.parse import parse
from dpsql.sql.statement import Passed, Statement


def bind(
    statement: Statement,
    catalog: Catalog,
    *,
    aggregates: Mapping[str, AggregateSignature],
    user_tables: UserTables,
    ids: Ids,
    printed: Printed,
) -> Node:
    """The IR of a statement's query. Its fields, in order, are the result's columns."""
    if statement.passed is not None:
        alone = [
            dataclasses.replace(
                statement, tree=part.tree, call_options=part.call_options, parameters=part.parameters, passed=None
            )
            for part in statement.passed.parts
        ]
        given = {"aggregates": aggregates, "user_tables": user_tables, "ids": ids, "printed": printed}
        return _text(statement.passed, [bind(one, catalog, **given) for one in alone], ids)  # type: ignore[arg-type]  # the same
    if statement.tree is None:
        raise SqlError("there is no query here", code=100)
    _check_unit(statement, catalog)
    context = Context(statement, catalog, aggregates, user_tables, ids, printed, bind_query, bind_view, bind_expr)
    node = bind_query(statement.tree, context, Env(), None)
    if any(type_.kind is Kind.ANY for columns in user_tables.values() for _, type_ in columns):
        node = without_unused(node)
    if free_columns(node):
        raise Refused(
            "a subquery uses a column of the outer query in a way that dpsql cannot untangle",
            code=121,
            at=context.at(statement.tree),
            why="dpsql would have to compute its value again for each row of a join.",
            fix="Write it as a JOIN with a GROUP BY.",
        )
    return node


def _text(passed: Passed, bound: list[Node], ids: Ids) -> PublicText:
    parts = tuple(
        node if part.columns is None else _under(part.columns, node, ids)
        for part, node in zip(passed.parts, bound, strict=True)
    )
    for node in parts:
        _check_names(node, passed.at)
    return PublicText(
        text=passed.text,
        parts=parts,
        names=tuple(part.name for part in passed.parts),
        printed=tuple(part.printed for part in passed.parts),
        tables=passed.tables,
        users=passed.users,
        views=passed.views,
        parameters=passed.parameters,
        at=passed.at,
    )


def _under(names: tuple[str, ...], node: Node, ids: Ids) -> Node:
    fields = tuple(ids.field(name, f.type) for name, f in zip(names, node.fields, strict=True))
    return Project(node, fields, tuple(f.column() for f in node.fields))


def _check_names(part: Node, at: Span | None) -> None:
    """The text reads the part's rows as a table."""
    seen: set[str] = set()
    for f in part.fields:
        if fold(f.name) in seen:
            raise SqlError(
                f'two columns of a subquery are called "{f.name}"', code=104, at=at, fix="Rename one with AS."
            )
        seen.add(fold(f.name))


def _check_unit(statement: Statement, catalog: Catalog) -> None:
    """The owner decides whom a dataset protects; an option may say it again, and nothing else."""
    option = statement.options.get("privacy_unit_column")
    if option is None:
        return
    columns = tuple(dict.fromkeys(fold(t.unit_column) for t in catalog.tables if t.unit_column is not None))
    if fold(str(option.value)) not in columns:
        raise SqlError(
            f"{option.value} is not the unit of this dataset",
            code=119,
            at=option.at,
            why=f"The owner chooses whom it protects: {catalog.unit}.",
            fix=f"Leave the option out{f', or write {columns[0]}' if columns else ''}.",
        )


def bind_query(query: exp.Expr, context: Context, env: Env, parent: Scope | None) -> Node:
    """A query in any of its forms. `parent` is the scope around it, for correlated names."""
    env = _with_ctes(query, context, env)
    match query:
        case exp.Select():
            return bind_select(query, context, env, parent)
        case exp.Values():
            return bind_values(query, context, env)
        case exp.Subquery() if query.args.get("joins"):
            raise SqlError(
                "a query in parentheses is joined to something",
                code=100,
                at=context.at(query.args["joins"][0]),
                fix="Write SELECT * FROM (SELECT …) AS a CROSS JOIN b.",
            )
        case exp.Subquery():
            return _ordered(query, bind_query(query.this, context, env, parent), context)
        case exp.Paren():
            return bind_query(query.this, context, env, parent)
        case exp.Union() | exp.Intersect() | exp.Except():
            return _ordered(query, _set_operation(query, context, env, parent), context)
        case _:
            raise Refused(
                f"{type(query).__name__} is not a query dpsql can answer",
                code=120,
                at=context.at(query),
                fix="Write it as a SELECT.",
            )


def bind_view(view: str, context: Context, env: Env) -> Node:
    """A view of the catalog, parsed and allowed like analyst text; its mistakes are shown in its own text."""
    text = context.catalog.views[view]
    try:
        statement = parse(text)
        allow(statement)
        if statement.kind != "query" or statement.tree is None:
            raise SqlError(f'the view "{view}" is not a query', code=106, fix="Write it as a SELECT.")
        inner = dataclasses.replace(context, statement=statement)
        return bind_query(statement.tree, inner, env, None)
    except Error as error:
        raise error.in_text(text) from None


def _with_ctes(query: exp.Expr, context: Context, env: Env) -> Env:
    clause = query.args.get("with_")
    if clause is None:
        return env
    defined: set[str] = set()
    for cte in clause.expressions:
        alias = cte.args["alias"]
        name = fold(alias.this.name)
        if name in defined:
            raise SqlError(f'WITH defines "{alias.this.name}" twice', code=106, at=context.at(cte), fix="Rename one.")
        defined.add(name)
        columns = tuple(column.name for column in alias.args.get("columns") or ())
        env = Env({**env.ctes, name: Cte(cte.this, columns, env)}, env.views)
    return env


def _set_operation(query: exp.Expr, context: Context, env: Env, parent: Scope | None) -> Node:
    left = bind_query(query.this, context, env, parent)
    right = bind_query(query.expression, context, env, parent)
    if len(left.fields) != len(right.fields):
        raise SqlError(
            f"the two sides have {len(left.fields)} and {len(right.fields)} columns",
            code=105,
            at=context.at(query.expression),
            fix="Select the same number of columns on both sides.",
        )
    fields: list[Field] = []
    for one, other in zip(left.fields, right.fields, strict=True):
        type_ = common(one.type, other.type)
        if type_ is None:
            raise SqlError(
                f'column "{one.name}" is {one.type} on one side and {other.type} on the other',
                code=105,
                at=context.at(query.expression),
                fix="CAST one of them.",
            )
        fields.append(context.ids.field(one.name, type_))
    kind: str = type(query).__name__.lower()
    assert kind in ("union", "intersect", "except")
    types = [f.type for f in fields]
    return SetOp(
        kind,  # type: ignore[arg-type]  # asserted above
        query.args.get("distinct") is False,
        _cast_columns(left, types, context),
        _cast_columns(right, types, context),
        tuple(fields),
        context.at(query.expression),
    )


def _cast_columns(node: Node, types: list[Type], context: Context) -> Node:
    """A projection that gives each column its common type; the node itself when all have it."""
    if [f.type for f in node.fields] == types:
        return node
    fields, exprs = [], []
    for old, type_ in zip(node.fields, types, strict=True):
        column: Expr = old.column()
        if old.type != type_ and type_.kind is not Kind.ANY:
            column = functions.call("cast", column, to=type_)
        fields.append(context.ids.field(old.name, column.type))
        exprs.append(column)
    return Project(node, tuple(fields), tuple(exprs))


def _ordered(query: exp.Expr, node: Node, context: Context) -> Node:
    """ORDER BY and LIMIT behind a set operation or a parenthesis: they see the output columns only."""
    order = query.args.get("order")
    if order is not None:
        keys = [sort_key(item, _output(item, node, context)) for item in order.expressions]
        node = Sort(node, tuple(keys))
    limit, offset = limit_of(query, context)
    return node if limit is None and offset == 0 else Limit(node, limit, offset, limit_place(query, context))


def _output(item: exp.Expr, node: Node, context: Context) -> Expr:
    target = item.this
    position = ordinal(target, len(node.fields), "ORDER BY", context)
    if position is not None:
        return node.fields[position].column()
    if isinstance(target, exp.Column) and not target.table:
        hits = [f for f in node.fields if fold(f.name) == fold(target.name)]
        if hits:
            return hits[0].column()
    raise SqlError(
        "after a set operation, ORDER BY takes the name or the number of an output column",
        code=102,
        at=context.at(target),
        fix=f"The columns are: {', '.join(f.name for f in node.fields)}.",
    )
