"""Aggregates and windows over a unit's rows on PostgreSQL (privacy/rules/per_unit.py, windows.py): functions of the rows as
a multiset, like DuckDB's. What PostgreSQL has no such form of is refused (refusals.py)."""

from __future__ import annotations

import dataclasses

from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.ir.expr import AggregateCall, Expr, Frame, Literal, WindowCall
from dpsql.plan.dialects.function_calls import Printer, Render, sort_keys
from dpsql.plan.dialects.postgres.literals import typed_null

OF_TRUTH = {"min": "bool_and", "max": "bool_or"}  # FALSE is below TRUE, and PostgreSQL has no min of booleans
COUNTED = ("ntile",)  # of 32 bits there
PLACES = {"lag": 1, "lead": 1, "nth_value": 1, "ntile": 0}  # the argument that is a 32-bit number there


def aggregate(call: AggregateCall, column: Printer, render: Render) -> str:
    where = "" if call.where is None else f" FILTER (WHERE {render(call.where, column)})"
    shown = [_argument(arg, column, render) for arg in call.args]
    match call.function:
        case "mode":
            # of values that are as frequent the least comes first
            return f"mode() WITHIN GROUP (ORDER BY {shown[0]}){where}"
        case _:
            arguments = ", ".join(shown) or "*"
            return f"{_name(call.function, call.args)}({'DISTINCT ' if call.distinct else ''}{arguments}){where}"


def _argument(arg: Expr, column: Printer, render: Render, type_: Type | None = None) -> str:
    """A NULL has a type."""
    if arg.type.kind is Kind.NULL:
        return typed_null(type_ or arg.type)
    return render(arg, column)


def _name(function: str, args: tuple[Expr, ...]) -> str:
    return OF_TRUTH[function] if function in OF_TRUTH and args[0].type == BOOLEAN else function


def window(call: WindowCall, column: Printer, render: Render) -> str:
    shown = [_window_argument(call, i, column, render) for i in range(len(call.args))]
    arguments = ", ".join(shown) or ("*" if call.function == "count" else "")
    where = "" if call.where is None else f" FILTER (WHERE {render(call.where, column)})"
    parts = []
    if call.partition:
        parts.append("PARTITION BY " + ", ".join(render(e, column) for e in call.partition))
    if call.order:
        parts.append("ORDER BY " + sort_keys(call.order, column, render))
    if call.frame is not None:
        parts.append(_frame(call, call.frame, column, render))
    made = f"{_name(call.function, call.args)}({arguments}){where} OVER ({' '.join(parts)})"
    return f"CAST({made} AS bigint)" if call.function in COUNTED else made


def _window_argument(call: WindowCall, position: int, column: Printer, render: Render) -> str:
    arg = call.args[position]
    if PLACES.get(call.function) == position:
        assert isinstance(arg, Literal) and isinstance(arg.value, int)
        return str(arg.value)
    return _argument(arg, column, render, call.args[0].type)


def _frame(call: WindowCall, frame: Frame, column: Printer, render: Render) -> str:
    exclude = f" EXCLUDE {frame.exclude}" if frame.exclude else ""
    start, end = (_edge(call, frame, edge, column, render) for edge in (frame.start, frame.end))
    return f"{frame.unit} BETWEEN {start} AND {end}{exclude}"


def _edge(call: WindowCall, frame: Frame, edge: tuple[str, Expr | None], column: Printer, render: Render) -> str:
    word, offset = edge
    if offset is None:
        return word
    if frame.unit == "RANGE" and isinstance(offset, Literal) and offset.type.kind is Kind.INTEGER:
        offset = dataclasses.replace(offset, type=call.order[0].expr.type)  # PostgreSQL wants the key's own type
    return f"{render(offset, column)} {word}"
