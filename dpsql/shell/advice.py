"""What the data say, privately and once, about limits and bounds that nobody declared: for `dpsql advise`.

Every figure is the answer of an ordinary query, or a choice of bounds as `bounds: auto` makes it: charged, on record, and
public from then on. Nothing here sees more than an analyst with this ε would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpsql.accounting.loss import Cost, rho_of_pure
from dpsql.catalog.model import Catalog, ColumnSpec, TableSpec, fold
from dpsql.errors import InternalError
from dpsql.execution.choices_first import choose_bounds
from dpsql.execution.planning import ladder_of
from dpsql.plan.dialects.literals import identifier
from dpsql.session import Session

EDGES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to find out. column: None where it is about the table. weight: its part of ε."""

    what: str
    table: str
    column: str | None = None
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Advice:
    """What was found. key: what to write into the metadata, None if it is only information."""

    table: str
    column: str | None
    key: str | None
    text: str


def steps(catalog: Catalog) -> tuple[Step, ...]:
    """What is worth ε: limits and bounds that are not declared, how many rows units have, and what is NULL."""
    return tuple(step for table in catalog.tables if not table.public for step in _steps(table, catalog))


def _steps(table: TableSpec, catalog: Catalog) -> Iterator[Step]:
    if table.caps is not None and table.caps.rows_of_a_unit is None:
        yield Step("rows", table.name, weight=2)
    if not table.row_is_unit and table.unit_column is not None:
        yield Step("spread", table.name)
    for column in table.columns:
        if _lacks_bounds(column, table, catalog):
            yield Step("bounds", table.name, column.name)
    if _may_be_null(table, catalog):
        yield Step("nulls", table.name)


def _lacks_bounds(column: ColumnSpec, table: TableSpec, catalog: Catalog) -> bool:
    """A number that may be summed: not what tells whose a row is, which is never clamped."""
    known = column.interval.is_finite or column.keys is not None or column.keys_from is not None
    return column.type.is_numeric and not known and not column.unique and not _tells_whose(column, table, catalog)


def _tells_whose(column: ColumnSpec, table: TableSpec, catalog: Catalog) -> bool:
    """Whether it is the unit's column, or on either side of a unit path."""
    return (fold(table.name), fold(column.name)) in set(_ties(catalog))


def _ties(catalog: Catalog) -> Iterator[tuple[str, str]]:
    for table in catalog.tables:
        if table.unit_column is not None:
            yield fold(table.name), fold(table.unit_column)
        for mine, other in () if table.unit_path is None else table.unit_path.on:
            assert table.unit_path is not None
            yield fold(table.name), fold(mine)
            yield fold(table.unit_path.through), fold(other)


def _may_be_null(table: TableSpec, catalog: Catalog) -> tuple[ColumnSpec, ...]:
    return tuple(column for column in table.columns if column.nullable and not _tells_whose(column, table, catalog))


def shares(steps: tuple[Step, ...], epsilon: Fraction) -> tuple[Fraction, ...]:
    """In millionths, so that they can be written; together at most epsilon."""
    whole = sum(step.weight for step in steps)
    return tuple(Fraction(epsilon * step.weight * 10**6 // whole, 10**6) for step in steps)


def check_budget(session: Session, epsilon: Fraction) -> None:
    """Refuses, before anything is spent, if the budget does not allow all of it."""
    if session.ledger is None:
        raise InternalError("advice is charged")
    refused = session.ledger.quote(Cost(epsilon=epsilon, rho=rho_of_pure(epsilon)), session.analyst)
    if refused is not None:
        raise refused


def advice(session: Session, step: Step, epsilon: Fraction, ask: Any) -> Iterator[Advice]:
    """Spends epsilon. ask: how to run SQL with an ε, answering rows and the privacy report."""
    table = session.catalog.table(step.table)
    assert table is not None
    match step.what:
        case "rows":
            (rows,), privacy = ask(f"COUNT(*) FROM {identifier(table.name)}", epsilon, "max_rows_contributed = 'auto'")
            limit = int(privacy.limits[0].chosen)
            yield Advice(
                table.name, None, f"rows_per_unit: {limit}", f"about {rows[0]:,} rows; few units have more than {limit}"
            )
        case "spread":
            unit = identifier(str(table.unit_column))
            inner = (
                f"SELECT {unit}, LEAST(COUNT(*), {EDGES[-1] * 2}) AS n FROM {identifier(table.name)} GROUP BY {unit}"
            )
            (rows,), _ = ask(f"HISTOGRAM(n, [{', '.join(map(str, EDGES))}]) FROM ({inner}) AS units", epsilon, "")
            told = ", ".join(f"{_up_to(edge)}: {max(0, count):,}" for edge, count in rows[0].items())
            yield Advice(table.name, None, None, f"number of units by their rows: {told}")
        case "bounds":
            assert step.column is not None
            choice = ladder_of(session, (table.name, step.column), epsilon)
            interval = choose_bounds(session, (table.name, step.column), choice)
            low, high = (_number(end) for end in interval.ends())
            yield Advice(table.name, step.column, f"lower: {low}, upper: {high}", "few units have values beyond")
        case _:
            yield from _nulls(table, session.catalog, epsilon, ask)


def _nulls(table: TableSpec, catalog: Catalog, epsilon: Fraction, ask: Any) -> Iterator[Advice]:
    columns = _may_be_null(table, catalog)
    counts = ", ".join(f"COUNT({identifier(column.name)})" for column in columns)
    limit = "" if table.caps is None or table.caps.rows_of_a_unit is not None else "max_rows_contributed = 'released'"
    (row,), privacy = ask(f"COUNT(*), {counts} FROM {identifier(table.name)}", epsilon, limit)
    every, near = max(1, row[0]), max(m.half_width for m in privacy.measurements)
    for column, count in zip(columns, row[1:], strict=True):
        missing = min(1.0, max(0.0, 1 - count / every))
        off = near / every
        if missing > 2 * off:
            text = f"about {missing:.0%} of its cells are NULL or do not convert (± {off:.1%})"
            yield Advice(table.name, column.name, None, text)


def _up_to(edge: float) -> str:
    return f"more than {EDGES[-1]}" if edge == float("inf") else f"up to {edge:g}"


def _number(end: Fraction) -> str:
    return str(int(end)) if end.denominator == 1 else repr(float(end))
