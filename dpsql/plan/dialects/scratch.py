"""Scratch's forms: DuckDB's own, as the user would write them. What fails here fails on released rows only."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Frame, Literal, SortKey, WindowCall
from dpsql.plan.dialects import duckdb
from dpsql.plan.dialects.forms import plain
from dpsql.plan.dialects.literals import identifier, literal
from dpsql.sql.functions.model import CHECKED

__all__ = ["identifier", "literal", "render", "sort_keys"]

Printer = Callable[[Column], str]
WITHIN_GROUP = frozenset(("percentile_cont", "percentile_disc", "mode", "listagg"))


def render(expr: Expr, column: Printer) -> str:
    """The expression as DuckDB's user would write it; checked calls keep the vault's form."""
    match expr:
        case Column():
            return column(expr)
        case Literal():
            return literal(expr)
        case Call():
            args = tuple(render(arg, column) for arg in expr.args)
            return duckdb.form(expr, args) if expr.function.startswith(CHECKED) else plain(expr, args)
        case AggregateCall():
            return _aggregate(expr, column)
        case WindowCall():
            return _window(expr, column)
        case _:
            assert_never(expr)


def sort_keys(keys: tuple[SortKey, ...], column: Printer) -> str:
    return ", ".join(_sort_key(key, column) for key in keys)


def _sort_key(key: SortKey, column: Printer) -> str:
    direction = "DESC" if key.descending else "ASC"
    return f"{render(key.expr, column)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _arguments(function: str, args: tuple[Expr, ...], distinct: bool, column: Printer) -> str:
    shown = ", ".join(render(arg, column) for arg in args)
    if not shown:
        return "*" if function == "count" else ""
    return f"DISTINCT {shown}" if distinct else shown


def _filter(where: Expr | None, column: Printer) -> str:
    return "" if where is None else f" FILTER (WHERE {render(where, column)})"


def _aggregate(call: AggregateCall, column: Printer) -> str:
    args = _arguments(call.function, call.args, call.distinct, column)
    order = f"ORDER BY {sort_keys(call.order, column)}" if call.order else ""
    where = _filter(call.where, column)
    if order and call.function in WITHIN_GROUP:
        return f"{call.function}({args}) WITHIN GROUP ({order}){where}"
    return f"{call.function}({args}{' ' if order and args else ''}{order}){where}"


def _window(call: WindowCall, column: Printer) -> str:
    args = _arguments(call.function, call.args, call.distinct, column)
    nulls = " IGNORE NULLS" if call.ignore_nulls else ""
    parts = []
    if call.partition:
        parts.append("PARTITION BY " + ", ".join(render(e, column) for e in call.partition))
    if call.order:
        parts.append("ORDER BY " + sort_keys(call.order, column))
    if call.frame is not None:
        parts.append(_frame(call.frame, column))
    return f"{call.function}({args}{nulls}){_filter(call.where, column)} OVER ({' '.join(parts)})"


def _frame(frame: Frame, column: Printer) -> str:
    exclude = f" EXCLUDE {frame.exclude}" if frame.exclude else ""
    return f"{frame.unit} BETWEEN {_edge(frame.start, column)} AND {_edge(frame.end, column)}{exclude}"


def _edge(edge: tuple[str, Expr | None], column: Printer) -> str:
    word, offset = edge
    return word if offset is None else f"{render(offset, column)} {word}"
