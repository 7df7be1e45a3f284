"""Subqueries and windows inside a column name, as DuckDB prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sqlglot import exp

from dpsql.catalog.model import fold

Show = Callable[[exp.Expr], str]


def _items(nodes: list[exp.Expr], show: Show) -> str:
    return ", ".join(show(node) for node in nodes)


def show_query(node: exp.Expr, show: Show) -> str:
    """A plain SELECT over tables; for anything richer sqlglot's own printing, which differs in spaces and capitals."""
    if not isinstance(node, exp.Select) or not _is_plain(node):
        return node.sql("duckdb")
    items = ", ".join(_aliased(item, show) for item in node.expressions)
    clauses = [f"SELECT {'DISTINCT ' if node.args.get('distinct') else ''}{items}"]
    source, where, group = node.args.get("from_"), node.args.get("where"), node.args.get("group")
    if source is not None:
        clauses.append(f"FROM {_table(source.this, show)}")
    if where is not None:
        clauses.append(f"WHERE {show(where.this)}")
    if group is not None:
        clauses.append(f"GROUP BY {_items(group.expressions, show)}")
    return " ".join(clauses)


_PLAIN = {"expressions", "distinct", "from_", "where", "group"}


def _is_plain(node: exp.Select) -> bool:
    source, group = node.args.get("from_"), node.args.get("group")
    known = all(not value or name in _PLAIN for name, value in node.args.items())
    grouped = group is None or not group.args.get("all")
    return known and grouped and (source is None or isinstance(source.this, exp.Table))


def _aliased(item: exp.Expr, show: Show) -> str:
    if isinstance(item, exp.Alias):
        return f"{show(item.this)} AS {show(item.args['alias'])}"
    return show(item)


def _table(table: exp.Expr, show: Show) -> str:
    name = ".".join(show(part) for part in table.parts) if isinstance(table, exp.Table) else show(table)
    alias = table.args.get("alias")
    return name if alias is None else f"{name} AS {show(alias.this)}"


def show_window(node: exp.Expr, show: Show) -> str:
    """f(…) OVER (…), a named window written out."""
    partition, order, spec = _specification(node, set())
    parts = []
    if partition:
        parts.append(f"PARTITION BY {_items(partition, show)}")
    if order is not None:
        parts.append(f"ORDER BY {_items(order.expressions, show)}")
    if spec is not None and (frame := _frame(spec, show)):
        parts.append(frame)
    return f"{_function(node.this, show)} OVER ({' '.join(parts)})"


def _function(call: exp.Expr, show: Show) -> str:
    """DuckDB prints IGNORE NULLS inside the parentheses, wherever it was written, and RESPECT NULLS not at all."""
    if isinstance(call, exp.IgnoreNulls) and not isinstance(call.this, exp.AnyValue):
        return f"{show(call.this)[:-1]} IGNORE NULLS)"
    return show(call)


def _specification(node: exp.Expr, seen: set[str]) -> tuple[list[exp.Expr], exp.Expr | None, exp.Expr | None]:
    partition, order, spec = node.args.get("partition_by") or [], node.args.get("order"), node.args.get("spec")
    alias = node.args.get("alias")
    if alias is None or fold(alias.name) in seen:
        return partition, order, spec
    base = _named(node, fold(alias.name))
    if base is None:
        return partition, order, spec
    inherited = _specification(base, seen | {fold(alias.name)})
    return partition or inherited[0], order or inherited[1], spec or inherited[2]


def _named(node: exp.Expr, name: str) -> exp.Expr | None:
    select = node.find_ancestor(exp.Select)
    windows = [] if select is None else select.args.get("windows") or []
    return next((window for window in windows if fold(window.this.name) == name), None)


_EXCLUDED: Mapping[str, str] = MappingProxyType({"NO OTHERS": ""})


def _frame(spec: exp.Expr, show: Show) -> str:
    """DuckDB leaves out the frame that would hold anyway, and writes out both ends of any other."""

    def edge(name: str) -> str:
        value, side = spec.args.get(name), spec.args.get(f"{name}_side")
        shown = show(value) if isinstance(value, exp.Expr) else str(value or "CURRENT ROW").upper()
        return f"{shown} {str(side).upper()}" if side else shown

    kind = str(spec.args.get("kind") or "ROWS").upper()
    exclude = spec.args.get("exclude")
    word = "" if exclude is None else str(exclude.name if isinstance(exclude, exp.Expr) else exclude).upper()
    tail = f" EXCLUDE {word}" if _EXCLUDED.get(word, word) else ""
    frame = f"{kind} BETWEEN {edge('start')} AND {edge('end')}"
    if frame == "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW":
        return tail.strip()
    return frame + tail
