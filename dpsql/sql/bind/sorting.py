"""ORDER BY items, ordinals and LIMIT: the small shared grammar of blocks and set operations."""

from __future__ import annotations

from sqlglot import exp

from dpsql import functions
from dpsql.errors import Span, SqlError
from dpsql.ir.expr import Expr, SortKey
from dpsql.sql.bind.context import Context


def sort_key(item: exp.Expr, expr: Expr) -> SortKey:
    """DuckDB sorts NULLs last unless told otherwise, descending too; the parser has already said which."""
    return SortKey(expr, bool(item.args.get("desc")), bool(item.args.get("nulls_first")))


def ordinal(node: exp.Expr, count: int, clause: str, context: Context) -> int | None:
    """The position a bare whole number names in GROUP BY or ORDER BY; None when the item is no number."""
    if not isinstance(node, exp.Literal) or node.is_string:
        return None
    if not node.name.isdigit() or not 1 <= int(node.name) <= count:
        raise SqlError(
            f"{clause} {node.name} names no column",
            code=102,
            at=context.at(node),
            fix=f"Numbers in {clause} count the SELECT list: 1 to {count}.",
        )
    return int(node.name) - 1


def limit_of(query: exp.Expr, context: Context) -> tuple[int | None, int]:
    """(LIMIT or None, OFFSET): whole numbers that the statement or a parameter gives."""
    limit, fetch, offset = query.args.get("limit"), None, query.args.get("offset")
    if isinstance(limit, exp.Fetch):
        fetch = limit.args.get("count")
        return (1 if fetch is None else _whole(fetch, "FETCH", context)), _offset(offset, context)
    return (None if limit is None else _whole(limit.expression, "LIMIT", context)), _offset(offset, context)


def limit_place(query: exp.Expr, context: Context) -> Span | None:
    clause = query.args.get("limit") or query.args.get("offset")
    return None if clause is None else context.at(clause)


def _offset(offset: exp.Expr | None, context: Context) -> int:
    return 0 if offset is None else _whole(offset.expression, "OFFSET", context)


def _whole(node: exp.Expr, clause: str, context: Context) -> int:
    value: object = None
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        value = int(node.name)
    elif isinstance(node, exp.Placeholder):
        value = functions.literal_of(context.statement.placeholder_value(node)).value
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise SqlError(f"{clause} takes a whole number", code=105, at=context.at(node), fix=f"Write {clause} 10.")
    return value
