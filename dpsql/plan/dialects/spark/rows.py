"""Aggregates and windows over a unit's rows on Spark (privacy/rules/per_unit.py, windows.py): functions of the rows as a
multiset, like DuckDB's. What Spark has no such form of is refused (refusals.py)."""

from __future__ import annotations

from dpsql.domain.types import HUGEINT, Kind, Type
from dpsql.ir.expr import AggregateCall, Expr, Frame, Literal, SortKey, WindowCall
from dpsql.plan.dialects.function_calls import Printer, Render, sort_keys
from dpsql.plan.dialects.spark.literals import type_name, typed_null
from dpsql.plan.dialects.spark.moments import microseconds
from dpsql.plan.dialects.spark.numbers import opposite

FIXED = (Kind.TEXT, Kind.REAL)
COUNTED = ("row_number", "rank", "dense_rank", "ntile")  # of 32 bits there
PLACES = {"lag": 1, "lead": 1, "nth_value": 1, "ntile": 0}  # the argument that is a 32-bit constant there


def aggregate(call: AggregateCall, column: Printer, render: Render) -> str:
    where = "" if call.where is None else f" FILTER (WHERE {render(call.where, column)})"
    shown = [_argument(arg, column, render) for arg in call.args]
    match call.function:
        case "first" | "last":
            name = extreme(call)
            assert name is not None
            fields = [text for key in call.order for text in _fields(key, name, call.function, column, render)]
            return f"{name}({shown[0]}, struct({', '.join(fields)})){where}"
        case "sum":
            return f"{_sum(call.type, shown[0], distinct=call.distinct)}{where}"
        case _:
            arguments = ", ".join(shown) or "*"
            return f"{call.function}({'DISTINCT ' if call.distinct else ''}{arguments}){where}"


def extreme(call: AggregateCall) -> str | None:
    """FIRST and LAST are the value of the row whose keys, as one struct, are least or largest. Keys of which Spark sorts the
    opposite are turned around; of texts and reals there is none, so all of those must go one way: else None."""
    ways = {key.descending for key in call.order if key.expr.type.kind in FIXED}
    if len(ways) > 1:
        return None
    return "max_by" if (call.function == "last") != (True in ways) else "min_by"


def _fields(key: SortKey, name: str, function: str, column: Printer, render: Render) -> tuple[str, str]:
    """A key as two fields of the struct: whether it is NULL, and its value (NULL is below every value there)."""
    forward = (name == "min_by") == (function == "first")  # whether what comes first in the order is what sorts first
    value = _argument(key.expr, column, render)
    after = f"({value} IS {'NOT ' if key.nulls_first == forward else ''}NULL)"
    return after, value if key.descending != forward else _turned(value, key.expr.type)


def _turned(value: str, type_: Type) -> str:
    """What sorts in the opposite order."""
    match type_.kind:
        case Kind.BOOLEAN:
            return f"(NOT {value})"
        case Kind.DATE:
            return f"(-unix_date({value}))"
        case Kind.TIMESTAMP:
            return f"(-{microseconds(value, type_)})"
        case Kind.INTEGER if type_.bits <= 64:
            return f"(~{value})"
        case _:
            return opposite(value, type_)


def _sum(type_: Type, value: str, *, distinct: bool) -> str:
    """In 38 digits: 2^40 rows of 64 bits have no more together."""
    wide = type_name(HUGEINT) if type_.kind is Kind.INTEGER else type_name(type_)
    return f"sum({'DISTINCT ' if distinct else ''}CAST({value} AS {wide}))"


def _argument(arg: Expr, column: Printer, render: Render, type_: Type | None = None) -> str:
    """A NULL has a type."""
    if arg.type.kind is Kind.NULL:
        return typed_null(type_ or arg.type)
    return render(arg, column)


def window(call: WindowCall, column: Printer, render: Render) -> str:
    shown = [_window_argument(call, i, column, render) for i in range(len(call.args))]
    arguments = ", ".join(shown) or ("*" if call.function == "count" else "")
    parts = []
    if call.partition:
        parts.append("PARTITION BY " + ", ".join(render(e, column) for e in call.partition))
    if call.order:
        parts.append("ORDER BY " + sort_keys(call.order, column, render))
    if call.frame is not None:
        parts.append(_frame(call.frame, column, render))
    called = _sum(call.type, arguments, distinct=False) if call.function == "sum" else f"{call.function}({arguments})"
    nulls = " IGNORE NULLS" if call.ignore_nulls else ""
    made = f"{called}{nulls} OVER ({' '.join(parts)})"
    return f"CAST({made} AS BIGINT)" if call.function in COUNTED else made


def _window_argument(call: WindowCall, position: int, column: Printer, render: Render) -> str:
    arg = call.args[position]
    if PLACES.get(call.function) == position:
        assert isinstance(arg, Literal) and isinstance(arg.value, int)
        return str(arg.value)
    return _argument(arg, column, render, call.args[0].type)


def _frame(frame: Frame, column: Printer, render: Render) -> str:
    start, end = (_edge(frame, edge, column, render) for edge in (frame.start, frame.end))
    return f"{frame.unit} BETWEEN {start} AND {end}"


def _edge(frame: Frame, edge: tuple[str, Expr | None], column: Printer, render: Render) -> str:
    """Rows are counted in 32 bits there."""
    word, offset = edge
    if offset is None:
        return word
    assert frame.unit == "ROWS" and isinstance(offset, Literal) and isinstance(offset.value, int)
    return f"{min(offset.value, 2**31 - 1)} {word}"
