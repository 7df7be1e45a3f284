"""How aggregate and window calls are printed; `render` prints their parts, plainly for scratch, totally for the vault."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.ir.expr import AggregateCall, Column, Expr, Frame, SortKey, WindowCall

Printer = Callable[[Column], str]
Render = Callable[[Expr, Printer], str]
WITHIN_GROUP = frozenset(("percentile_cont", "percentile_disc", "listagg"))


def sort_keys(keys: tuple[SortKey, ...], column: Printer, render: Render) -> str:
    return ", ".join(_sort_key(key, column, render) for key in keys)


def _sort_key(key: SortKey, column: Printer, render: Render) -> str:
    direction = "DESC" if key.descending else "ASC"
    return f"{render(key.expr, column)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}"


def _arguments(function: str, args: tuple[Expr, ...], distinct: bool, column: Printer, render: Render) -> str:
    shown = ", ".join(render(arg, column) for arg in args)
    if not shown:
        return "*" if function == "count" else ""
    return f"DISTINCT {shown}" if distinct else shown


def _filter(where: Expr | None, column: Printer, render: Render) -> str:
    return "" if where is None else f" FILTER (WHERE {render(where, column)})"


def aggregate(call: AggregateCall, column: Printer, render: Render) -> str:
    args = _arguments(call.function, call.args, call.distinct, column, render)
    order = f"ORDER BY {sort_keys(call.order, column, render)}" if call.order else ""
    where = _filter(call.where, column, render)
    if order and call.function in WITHIN_GROUP:
        return f"{call.function}({args}) WITHIN GROUP ({order}){where}"
    return f"{call.function}({args}{' ' if order and args else ''}{order}){where}"


def window(call: WindowCall, column: Printer, render: Render) -> str:
    args = _arguments(call.function, call.args, call.distinct, column, render)
    nulls = " IGNORE NULLS" if call.ignore_nulls else ""
    parts = []
    if call.partition:
        parts.append("PARTITION BY " + ", ".join(render(e, column) for e in call.partition))
    if call.order:
        parts.append("ORDER BY " + sort_keys(call.order, column, render))
    if call.frame is not None:
        parts.append(_frame(call.frame, column, render))
    return f"{call.function}({args}{nulls}){_filter(call.where, column, render)} OVER ({' '.join(parts)})"


def _frame(frame: Frame, column: Printer, render: Render) -> str:
    exclude = f" EXCLUDE {frame.exclude}" if frame.exclude else ""
    start, end = _edge(frame.start, column, render), _edge(frame.end, column, render)
    return f"{frame.unit} BETWEEN {start} AND {end}{exclude}"


def _edge(edge: tuple[str, Expr | None], column: Printer, render: Render) -> str:
    word, offset = edge
    return word if offset is None else f"{render(offset, column)} {word}"
