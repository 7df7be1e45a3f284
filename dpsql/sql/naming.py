"""The name DuckDB gives a SELECT item without an alias."""

from __future__ import annotations

from sqlglot import exp


def column_name(node: exp.Expr) -> str:
    """DuckDB's name of an unnamed SELECT item."""
    return str(node.name) if isinstance(node, exp.Column) else node.sql("duckdb").lower()
