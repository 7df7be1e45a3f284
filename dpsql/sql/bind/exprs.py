"""Scalar expressions: from the parser's tree to typed IR. What is no operator or function here is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import UTC, date, datetime

from sqlglot import exp

from dpsql import functions
from dpsql.catalog.model import fold
from dpsql.domain.types import ANY, BOOLEAN, DATE, NULL, TEXT
from dpsql.errors import Refused, SqlError
from dpsql.ir.expr import Call, Expr, Literal
from dpsql.sql.bind.aggregates import bind_aggregate, bind_grouping, read_aggregate
from dpsql.sql.bind.asked import as_condition, read_test
from dpsql.sql.bind.block import Block
from dpsql.sql.bind.made import UNSIGNED, joined_by, unsigned
from dpsql.sql.bind.scalar import bind_scalar
from dpsql.sql.bind.subquery import bind_test
from dpsql.sql.bind.windows import bind_window
from dpsql.sql.call_reading import read as read_call
from dpsql.sql.type_reading import read_interval, read_type


def bind_expr(node: exp.Expr, block: Block) -> Expr:
    """One expression in a block's scope. Aggregates and windows come back as calls; the block lifts them out."""
    context = block.context
    match node:
        case exp.Paren() | exp.Alias():
            return bind_expr(node.this, block)
        case exp.Column():
            return _column(node, block)
        case exp.Literal() if node.is_string:
            return Literal(node.this, TEXT, context.at(node))
        case exp.Literal():
            return dataclasses.replace(functions.number_literal(node.this), at=context.at(node))
        case exp.Boolean():
            return Literal(bool(node.this), BOOLEAN, context.at(node))
        case exp.Null():
            return Literal(None, NULL, context.at(node))
        case exp.Placeholder():
            literal = functions.literal_of(context.statement.placeholder_value(node))
            return dataclasses.replace(literal, at=context.at(node))
        case exp.CurrentDate():
            return Literal((datetime.now(UTC).date() - date(1970, 1, 1)).days, DATE, context.at(node))
        case exp.Interval():
            return read_interval(node, context.at(node))
        case exp.Array():
            items = tuple(bind_expr(item, block) for item in node.expressions)
            return Call("list_value", items, ANY, context.at(node))
        case exp.Subquery() | exp.Select():
            return once(node, block, lambda: bind_scalar(node, block))
        case exp.Window():
            return bind_window(node, block)
        case exp.Grouping():
            return bind_grouping(node, block)
        case exp.Star():
            raise SqlError("* means several columns here", code=105, at=context.at(node), fix="Name one column.")
    asked = read_test(node)
    if asked is not None:
        return once(node, block, lambda: bind_test(asked, node, block))
    aggregate = read_aggregate(node, context)
    if aggregate is not None:
        return bind_aggregate(aggregate, node, block)
    return _call(node, block)


def once(node: exp.Expr, block: Block, bind: Callable[[], Expr]) -> Expr:
    """A subquery that stands twice in a block is one, unless its text does not show parameters or options of calls."""
    if block.context.statement.call_options or node.find(exp.Placeholder) is not None:
        return bind()
    place = "condition" if as_condition(node) else "value"
    text = f"{place} {node.sql()}"
    if text not in block.bound:
        block.bound[text] = bind()
    return dataclasses.replace(block.bound[text], at=block.context.at(node))


def _call(node: exp.Expr, block: Block) -> Expr:
    read = read_call(node) if isinstance(node, exp.Expression) else None
    at = block.context.at(node)
    if read is None:
        name = node.name if isinstance(node, exp.Anonymous) else type(node).__name__.upper()
        raise functions.unknown(name, at)
    name, arguments = read
    args = tuple(bind_expr(argument, block) for argument in arguments)
    if name == "concat_ws":
        return joined_by(args, at)
    if name not in ("cast", "try_cast"):
        return functions.make(name, args, at=at)
    target = node.args["to"]
    if target.this in UNSIGNED:
        return unsigned(name, args[0], target.this, at)
    return functions.make(name, args, at=at, to=read_type(target, at))


def _column(node: exp.Column, block: Block) -> Expr:
    at = block.context.at(node)
    qualifier = ".".join(part.name for part in node.parts[:-1]) or None
    name = node.name
    bare = qualifier is None and block.scope.find(name, None, at) is None and fold(name) not in block.aliases
    if bare and any(fold(source.alias) == fold(name) for source in block.scope.sources):
        raise Refused(
            f'"{name}" is a table, not a column',
            code=120,
            at=at,
            why="A whole row is not a value.",
            fix="Name a column.",
        )
    column = block.column(name, qualifier, at)
    if isinstance(column, exp.Expr):
        inner = dataclasses.replace(block, expanding=(*block.expanding, fold(name)))
        return bind_expr(column, inner)
    return dataclasses.replace(column, at=at)
