"""DuckDB's SQL, for the vault."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.catalog.model import ColumnSpec, TableSpec
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.ir.expr import Expr, Literal
from dpsql.plan.dialects import literals
from dpsql.plan.dialects.dialect import ColumnPrinter, Dialect
from dpsql.plan.dialects.duckdb import functions, places, reading
from dpsql.plan.measurements import Axis
from dpsql.plan.vault_query import Step, with_steps


class DuckDb(Dialect):
    name = "DuckDB"

    def identifier(self, name: str) -> str:
        return literals.identifier(name)

    def text(self, value: str) -> str:
        return literals.text(value)

    def real(self, value: float) -> str:
        return literals.real(value)

    def integer(self, value: int) -> str:
        return str(value) if -(2**63) < value < 2**63 else f"CAST('{value}' AS HUGEINT)"

    def literal(self, constant: Literal) -> str:
        return literals.literal(constant)

    def type(self, type_: Type) -> str:
        return type_.sql

    def render(self, expr: Expr, column: ColumnPrinter) -> str:
        return functions.render(expr, column)

    def refusal(self, expr: Expr) -> str | None:
        return None  # the function table is of what DuckDB can do

    def read(self, column: str, actual: str, declared: ColumnSpec, spec: TableSpec, *, is_unit: bool) -> str:
        return reading.read(column, actual, declared, spec, is_unit=is_unit)

    def loaded(self, value: str, type_: Type) -> str:
        if type_.kind is Kind.TEXT:
            return f'CAST({value} AS VARCHAR) COLLATE "binary"'
        return f"TRY_CAST({value} AS {type_.sql})"

    def is_number(self, value: str) -> str:
        return f"NOT isnan({value})"

    def is_moment(self, value: str) -> str:
        return f"NOT isinf({value})"

    def positive_zero(self, value: str) -> str:
        return f"{value} + 0e0"

    def kept_real(self, value: str, low: str | None, high: str | None) -> str:
        """Of two bounds the last branch is reached by NULL and NaN alone, and is NULL (written so that DuckDB keeps what it
        knows of the others)."""
        if low is None or high is None:
            below = "" if low is None else f"WHEN {value} < {low} THEN {low} "
            above = "" if high is None else f"WHEN {value} > {high} THEN {high} "
            return f"CASE WHEN isnan({value}) THEN NULL {below}{above}ELSE {value} + 0e0 END"
        return (
            f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} + 0e0 WHEN {value} < {low} THEN {low} "
            f"WHEN NOT isnan({value}) THEN {high} ELSE CAST(TRY_CAST({value} AS BIGINT) AS DOUBLE) END"
        )

    def placed_real(self, x: str, axis: Axis) -> str:
        return places.placed_real(x, axis)

    def scaled(self, x: str, axis: Axis) -> str:
        return places.scaled(x, axis)

    def end(self, axis: Axis) -> str:
        return places.end(axis)

    def travelled(self, value: str, type_: Type) -> str:
        match type_.kind:
            case Kind.TEXT | Kind.DECIMAL:
                return f"CAST({value} AS VARCHAR)"
            case Kind.DATE:
                return f"CAST({value} - DATE '1970-01-01' AS BIGINT)"
            case Kind.TIMESTAMP:
                return f"epoch_us({value})"
            case _:
                return f"TRY_CAST({value} AS BIGINT)"

    def whole_number(self, value: str, type_: Type) -> str:
        if type_.kind is Kind.DATE:
            return f"({value} - DATE '1970-01-01')"
        return value if type_ == BIGINT else f"TRY_CAST({value} AS BIGINT)"

    def same(self, left: str, right: str, type_: Type) -> str:
        return f"{left} IS NOT DISTINCT FROM {right}"

    def wide(self, x: str) -> str:
        return f"CAST({x} AS HUGEINT)"

    def narrow(self, x: str) -> str:
        return f"CAST({x} AS BIGINT)"

    def sum(self, x: str, *, most: int | None = None, where: str | None = None) -> str:
        return f"sum({x})" if where is None else f"sum({x}) FILTER (WHERE {where})"

    def quotient(self, dividend: str, divisor: str, *, wide: bool = False) -> str:
        return f"{dividend} // {divisor}"

    def remainder(self, dividend: str, divisor: str) -> str:
        return f"{dividend} % {divisor}"

    def halved(self, x: str, shift: int) -> str:
        return f"CAST(({x} + {self.integer(2 ** (shift - 1))}) >> {shift} AS BIGINT)"

    def double(self, x: str) -> str:
        return f"CAST({x} AS DOUBLE)"

    def wide_of_double(self, x: str) -> str:
        return f"TRY_CAST({x} AS HUGEINT)"

    def statement(self, steps: Sequence[Step], select: str) -> str:
        return with_steps(steps, select)

    def semi_join(self, left: str, right: str, on: str) -> str:
        return f"{left} SEMI JOIN {right} ON {on}"

    def anti_join(self, right: str, on: str) -> tuple[str, str]:
        return f"ANTI JOIN {right} ON {on}", ""

    def any_of_one(self, column: str) -> str:
        return f"any_value({column})"


DUCKDB = DuckDb()
