"""Spark's SQL, for the vault: Spark 4, under the settings of engine/spark/settings.py (ANSI mode, UTC, decimals that keep
their places).

literals   names, constants, types          reals      doubles: divisions, rounding, whole numbers
binding    an argument is evaluated once    numbers    integers and decimals
functions  every function's form            casts, texts, moments, rounding
refusals   what has none, and why           rows       aggregates and windows of a unit's rows
reading    stored columns                   places     values on axes, and keys as they travel
steps      a statement, step by step        sums       totals, in 64-bit parts where that is proved
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from dpsql.catalog.model import ColumnSpec, TableSpec
from dpsql.domain.types import Kind, Type
from dpsql.ir.expr import Expr, Literal
from dpsql.plan.dialects.dialect import ColumnPrinter, Dialect, Levels
from dpsql.plan.dialects.spark import binding, functions, literals, places, reading, reals, sums
from dpsql.plan.dialects.spark.literals import WIDE
from dpsql.plan.dialects.spark.refusals import refusal
from dpsql.plan.dialects.spark.steps import script
from dpsql.plan.measurements import Axis
from dpsql.plan.vault_query import Step

FEW_ROWS = 128  # of a unit; measured: with 150 rows of each in eight groups both ways of `by_unit` take as long


class Spark(Dialect):
    name = "Spark"
    text_room = 2**27
    sorts = adds_first = True

    def identifier(self, name: str) -> str:
        return literals.identifier(name)

    def text(self, value: str) -> str:
        return literals.text(value)

    def real(self, value: float) -> str:
        return literals.real(value)

    def integer(self, value: int) -> str:
        return literals.integer(value)

    def literal(self, constant: Literal) -> str:
        return literals.literal(constant)

    def type(self, type_: Type) -> str:
        return literals.type_name(type_)

    def render(self, expr: Expr, column: ColumnPrinter) -> str:
        return functions.render(expr, column)

    def refusal(self, expr: Expr) -> str | None:
        return refusal(expr)

    def read(self, column: str, actual: str, declared: ColumnSpec, spec: TableSpec, *, is_unit: bool) -> str:
        return reading.read(column, actual, declared, spec, is_unit=is_unit)

    def loaded(self, value: str, type_: Type) -> str:
        """Loads are texts but for integers (engine/spark/loads.py)."""
        return value if type_.kind is Kind.TEXT else f"try_cast({value} AS {literals.type_name(type_)})"

    def is_number(self, value: str) -> str:
        return f"({value} <= {reals.INFINITY}) IS TRUE"

    def is_moment(self, value: str) -> str:
        return f"{value} IS NOT NULL"

    def positive_zero(self, value: str) -> str:
        return f"{value} + {reals.ZERO}"

    def whole_part(self, value: str) -> str:
        return reals.whole_part(value)

    def placed_real(self, x: str, axis: Axis) -> str:
        return places.placed_real(x, axis)

    def scaled(self, x: str, axis: Axis) -> str:
        return places.scaled(x, axis)

    def end(self, axis: Axis) -> str:
        return places.end(axis)

    def travelled(self, value: str, type_: Type) -> str:
        return places.travelled(value, type_)

    def whole_number(self, value: str, type_: Type) -> str:
        return places.whole_number(value, type_)

    def same(self, left: str, right: str, type_: Type) -> str:
        return f"{left} <=> {right}"

    def wide(self, x: str) -> str:
        return f"CAST({x} AS {WIDE})"

    def narrow(self, x: str) -> str:
        return f"CAST({x} AS BIGINT)"

    def sum(self, x: str, *, most: int | None = None, where: str | None = None) -> str:
        return sums.total(x, most, "" if where is None else f" FILTER (WHERE {where})")

    def parts(self, x: str, most: int) -> Sequence[tuple[str, int, int]]:
        return sums.parts(x, most, "")

    def quotient(self, dividend: str, divisor: str, *, wide: bool = False) -> str:
        """DIV of wide numbers answers 64 bits of the quotient: one above 2^62 is 2^62."""
        if not wide:
            return f"{dividend} div {divisor}"
        far = literals.integer(2**62)
        large = f"(try_multiply({divisor}, CAST({far} AS {WIDE})) <= {dividend}) IS TRUE"
        return f"CASE WHEN {large} THEN {far} ELSE {dividend} div {divisor} END"

    def remainder(self, dividend: str, divisor: str) -> str:
        return f"{dividend} % {divisor}"

    def halved(self, x: str, shift: int) -> str:
        """What is above a multiple of 2^shift is taken off first: the rest divides exactly, below zero too."""
        unit = f"CAST('{2**shift}' AS {WIDE})"
        moved = f"({x} + CAST('{2 ** (shift - 1)}' AS {WIDE}))"
        return f"({moved} - pmod({moved}, {unit})) div {unit}"

    def double(self, x: str) -> str:
        return f"CAST({x} AS DOUBLE)"

    def wide_of_double(self, x: str) -> str:
        return f"CAST(CAST({x} AS BIGINT) AS {WIDE})"

    def statement(self, steps: Sequence[Step], select: str) -> str:
        return script(steps, select)

    def semi_join(self, left: str, right: str, on: str) -> str:
        return f"{left} LEFT SEMI JOIN {right} ON {on}"

    def anti_join(self, right: str, on: str) -> tuple[str, str]:
        return f"LEFT ANTI JOIN {right} ON {on}", ""

    def by_unit(self, source: str, most: int, unit: str = "u") -> str:
        """A unit's rows travel to one task, which groups them by u and more, and then by u alone: where units have few rows,
        that takes three quarters of the time in which they are added up before they travel, and travel again by u.

        Few tasks at a time are not kept waiting by one unit's rows; with many, hints are off (engine/spark/settings.py)."""
        return source if most > FEW_ROWS else f"(SELECT /*+ REPARTITION({unit}) */ * FROM {source}) AS by_unit"

    def levels(self) -> AbstractContextManager[Levels]:
        return binding.levels()

    def any_of_one(self, column: str) -> str:
        return f"any_value({column})"


SPARK = Spark()

__all__ = ["SPARK", "Spark"]
