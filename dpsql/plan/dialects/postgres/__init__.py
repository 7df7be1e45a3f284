"""PostgreSQL's SQL, for the vault: 14 and later, in a database encoded in UTF-8, under the settings of engine/postgres.

literals   names, constants, types          reals      doubles that overflow and underflow as IEEE 754 has it
binding    an argument is evaluated once    numbers    integers and decimals
functions  every function's form            casts, texts, moments
refusals   what has none, and why           rows       aggregates and windows of a unit's rows
firsts     FIRST and LAST without arrays      boxes      doubles of medium size, computed plainly
reading    stored columns                   places     values on axes, and keys as they travel
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

from dpsql.catalog.model import ColumnSpec, TableSpec
from dpsql.domain.types import TEXT, Kind, Type
from dpsql.ir.expr import Expr, Literal
from dpsql.ir.nodes import Aggregate, Node
from dpsql.plan.dialects.dialect import ColumnPrinter, Dialect
from dpsql.plan.dialects.postgres import binding, firsts, functions, literals, places, reading, reals
from dpsql.plan.dialects.postgres.refusals import refusal, refusal_of
from dpsql.plan.measurements import Axis
from dpsql.plan.vault_query import Step, with_steps


class Postgres(Dialect):
    name = "PostgreSQL"
    text_room = 2**27
    sorts = True

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

    def refusal_of(self, node: Node) -> str | None:
        return refusal_of(node)

    def read(self, column: str, actual: str, declared: ColumnSpec, spec: TableSpec, *, is_unit: bool) -> str:
        return reading.read(column, actual, declared, spec, is_unit=is_unit)

    def loaded(self, value: str, type_: Type) -> str:
        """Loads are of the type already (engine/postgres/loads.py)."""
        if type_.kind is Kind.TEXT:
            return f"({value} {literals.BYTES})"
        return f"CAST({value} AS {literals.type_name(type_)})"

    def is_number(self, value: str) -> str:
        return f"({value} <= {reals.INFINITY}) IS TRUE"

    def is_moment(self, value: str) -> str:
        return f"isfinite({value}) IS TRUE"

    def positive_zero(self, value: str) -> str:
        return f"{value} + {reals.ZERO}"

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
        """Two equalities, each of which can be hashed (IS NOT DISTINCT FROM cannot): NULL meets NULL alone."""
        absent = literals.text("") if type_ == TEXT else literals.integer(0)
        values = f"coalesce({left}, {absent}) = coalesce({right}, {absent})"
        return f"{values} AND ({left} IS NULL) = ({right} IS NULL)"

    def wide(self, x: str) -> str:
        return f"CAST({x} AS numeric)"

    def narrow(self, x: str) -> str:
        return f"CAST({x} AS bigint)"

    def sum(self, x: str, *, most: int | None = None, where: str | None = None) -> str:
        return f"sum({x})" if where is None else f"sum({x}) FILTER (WHERE {where})"

    def quotient(self, dividend: str, divisor: str, *, wide: bool = False) -> str:
        return f"div({dividend}, {divisor})" if wide else f"{dividend} / {divisor}"

    def remainder(self, dividend: str, divisor: str) -> str:
        return f"{dividend} % {divisor}"

    def halved(self, x: str, shift: int) -> str:
        """div goes toward zero, so it is asked of a number that is not negative: x within ±2^125 and 2^126, which 2^shift
        divides, is at least 2^125."""
        far, unit = 2**126, 2**shift
        moved = f"{x} + numeric '{far + unit // 2}'"
        return f"CAST(div({moved}, numeric '{unit}') - numeric '{far // unit}' AS bigint)"

    def double(self, x: str) -> str:
        return f"CAST({x} AS float8)"

    def wide_of_double(self, x: str) -> str:
        """By bigint: of a double numeric keeps 15 digits."""
        return f"CAST(CAST({x} AS bigint) AS numeric)"

    def different(self, columns: str, source: str) -> str:
        """DISTINCT ON is always done by sorting, which windows over the same rows need as well. Where pairs of a unit and a
        key do not fit into work_mem, that took two thirds of the time of a hash, of pairs stored, counted and joined."""
        return f"SELECT DISTINCT ON ({columns}) {columns} FROM {source}"

    def levels(self) -> AbstractContextManager[binding.Levels]:
        return binding.levels()

    def once(self, select: str) -> str:
        return f"{select} OFFSET 0"

    def dear(self, select: str) -> bool:
        return binding.is_bound(select)

    def placed(self, x: str, z: str, axis: Axis) -> str:
        return places.placed_decimal(x, axis) or super().placed(x, z, axis)

    def statement(self, steps: Sequence[Step], select: str) -> str:
        return with_steps(steps, select)

    def semi_join(self, left: str, right: str, on: str) -> str:
        return f"{left} WHERE EXISTS (SELECT FROM {right} WHERE {on})"

    def anti_join(self, right: str, on: str) -> tuple[str, str]:
        return "", f"NOT EXISTS (SELECT FROM {right} WHERE {on})"

    def aggregated(self, node: Aggregate) -> Aggregate:
        return firsts.without_arrays(node)

    def any_of_one(self, column: str) -> str:
        return f"min({column})"


POSTGRES = Postgres()

__all__ = ["POSTGRES", "Postgres"]
