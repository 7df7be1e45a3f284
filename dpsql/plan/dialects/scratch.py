"""Scratch's forms: DuckDB's own, as the user would write them. What fails here fails on released rows only."""

from __future__ import annotations

from typing import assert_never

from dpsql.functions.function import CHECKED
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, WindowCall
from dpsql.plan.dialects import function_calls as calls
from dpsql.plan.dialects.duckdb import DuckDb, functions
from dpsql.plan.dialects.forms import plain
from dpsql.plan.dialects.function_calls import Printer
from dpsql.plan.dialects.literals import identifier, literal

__all__ = ["SCRATCH", "identifier", "literal", "render"]


def render(expr: Expr, column: Printer) -> str:
    """The expression as DuckDB's user would write it; checked calls keep the vault's form."""
    match expr:
        case Column():
            return column(expr)
        case Literal():
            return literal(expr)
        case Call():
            args = tuple(render(arg, column) for arg in expr.args)
            return functions.form(expr, args) if expr.function.startswith(CHECKED) else plain(expr, args)
        case AggregateCall():
            return calls.aggregate(expr, column, render)
        case WindowCall():
            return calls.window(expr, column, render)
        case _:
            assert_never(expr)


class Scratch(DuckDb):
    """DuckDB, where nothing is private."""

    def render(self, expr: Expr, column: Printer) -> str:
        return render(expr, column)


SCRATCH = Scratch()
