"""The cleaned table: one deterministic projection of a source, row by row. WHERE, keys and aggregates see only this.

Declared types by TRY_CAST; NaN and infinite moments become NULL; numbers and moments are clamped to their declared
bounds (moments always to the years 1 to 9999, where every date function is total); text is compared byte by byte; −0.0
is 0.0; rows are dropped that have no unit, or NULL in a column declared `nullable: false`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from fractions import Fraction

from dpsql.catalog.cleaning import ends
from dpsql.catalog.model import ColumnSpec, TableSpec, fold
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.errors import SourceError
from dpsql.ir.expr import Literal
from dpsql.ir.nodes import Field, Scan
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.render.relation import name

ROW = "__row"


def cleaned(
    scan: Scan,
    spec: TableSpec,
    source: str,
    types: Mapping[str, str],
    dialect: Dialect = DUCKDB,
    *,
    placed: Container[int] = (),
) -> str:
    """SELECT c<id>… of the cleaned table. source: what to read; types: the source's own columns and their types, by its
    engine. placed: reals that are only put on axes (plan/render/placed.py), as they are stored."""
    actual_names = {fold(column): column for column in types}
    raw: list[str] = []
    values: list[str] = []
    required: list[str] = []
    for f, column in zip(scan.fields, scan.columns, strict=True):
        if column == ROW:
            raw.append(f"{dialect.identifier(ROW)} AS r{f.id}")
            values.append(f"r{f.id} AS {name(f.id)}")
            continue
        declared = spec.column(column)
        assert declared is not None
        if fold(column) not in actual_names:
            raise SourceError(
                f'table {spec.name}: the source has no column "{column}"',
                code=309,
                # its names are not listed: a CSV without a header has a person's row for names
                fix="Correct the metadata or the source; the owner's `dpsql check --source` compares them.",
            )
        actual = actual_names[fold(column)]
        is_unit = spec.unit_column is not None and fold(spec.unit_column) == fold(column)
        stored = dialect.read(dialect.identifier(actual), types[actual], declared, spec, is_unit=is_unit)
        raw.append(f"{stored} AS r{f.id}")
        value = f"r{f.id}"
        values.append(f"{value if f.id in placed else kept(value, declared, dialect)} AS {name(f.id)}")
        if is_unit or not declared.nullable:
            required.append(_present(f"r{f.id}", declared, dialect))
    rows = f"SELECT {', '.join(values)} FROM (SELECT {', '.join(raw)} FROM {source}) AS raw"
    return f"{rows} WHERE {' AND '.join(required)}" if required else rows


def _present(value: str, declared: ColumnSpec, dialect: Dialect) -> str:
    """Whether `kept` leaves a value: said of the raw one, so that an engine can test it while it reads."""
    match declared.type.kind:
        case Kind.REAL:
            return dialect.is_number(value)
        case Kind.DATE | Kind.TIMESTAMP:
            return dialect.is_moment(value)
        case _:
            return f"{value} IS NOT NULL"


def kept(value: str, declared: ColumnSpec, dialect: Dialect = DUCKDB) -> str:
    """NaN and infinities out, clamped to the bounds."""
    type_ = declared.type
    if type_.kind is Kind.REAL:
        interval = declared.interval
        return dialect.kept_real(
            value, *(None if end is None else dialect.real(float(end)) for end in (interval.lower, interval.upper))
        )
    low, high = (None if end is None else _end(end, type_, dialect) for end in ends(declared))
    if type_.kind in (Kind.DATE, Kind.TIMESTAMP):
        assert low is not None and high is not None
        return _clamp(value, low, high, f"WHEN NOT ({dialect.is_moment(value)}) THEN NULL ")
    return value if low is None and high is None else _clamp(value, low, high)


def _end(end: int, type_: Type, dialect: Dialect) -> str:
    if type_.kind is Kind.INTEGER:
        return dialect.integer(end)
    return dialect.literal(Literal(Fraction(end, 10**type_.scale) if type_.kind is Kind.DECIMAL else end, type_))


def _clamp(value: str, low: str | None, high: str | None, out: str = "") -> str:
    """Between the bounds; what is usual is tested first."""
    usual = "" if low is None or high is None else f"WHEN {value} BETWEEN {low} AND {high} THEN {value} "
    below = "" if low is None else f"WHEN {value} < {low} THEN {low} "
    above = "" if high is None else f"WHEN {value} > {high} THEN {high} "
    return f"CASE {usual}{out}{below}{above}ELSE {value} END"


def loaded_column(f: Field, value: str, dialect: Dialect = DUCKDB) -> str:
    """A public column as the vault's expressions expect it: no NaN, no far moment, text byte by byte."""
    column = ColumnSpec(name=f.name, type=f.type if f.type.kind is not Kind.NULL else BIGINT)
    read = dialect.loaded(value, column.type)
    return read if column.type.kind is Kind.TEXT else kept(read, column, dialect)
