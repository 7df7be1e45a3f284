"""`dpsql check FILE`: what is allowed but probably a mistake. It looks at the catalog alone, never at the data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dpsql.catalog.model import Caps, Catalog, ColumnSpec, TableSpec
from dpsql.domain.facts import Domain as ColumnDomain
from dpsql.domain.facts import key_set
from dpsql.domain.types import Kind
from dpsql.metadata.delta import unlikely_enough
from dpsql.metadata.reading import quoted

# Names whose column usually says who somebody is.
PERSON = re.compile(r"(?i)(person|people|user|patient|customer|client|member|student|pupil|employee|citizen|account)")
IDENTIFIER = re.compile(r"(?i)(^|_)(id|uid|uuid|ssn|email|phone|nr|no|number|key)$|^id")
TODO = "TODO"  # what `dpsql init` writes where only the owner knows
WIDE = 10**9
MANY_ROWS = 10_000
HIGH_EPSILON, HIGH_DELTA = 20, 1e-4


def lint(catalog: Catalog) -> list[str]:
    """Warnings in words, in the order of the file; an empty list means that nothing looks wrong."""
    warnings = [*_unfinished(catalog), *_budget(catalog)]
    for table in catalog.tables:
        warnings += [f"{table.where}: {table.name}: {warning}" for warning in _table(catalog, table)]
    return warnings


def _unfinished(catalog: Catalog) -> Iterator[str]:
    """What `dpsql init` left to the owner and nothing else refuses, since any word would do."""
    if catalog.version == TODO:
        yield "version is still TODO: name the data, such as 2026-11"
    if catalog.unit == TODO:
        yield "unit is still TODO: say who is protected, such as patient"
    for table in catalog.tables:
        if table.description == TODO:
            yield f"{table.where}: {table.name}: the description is still TODO"


def _budget(catalog: Catalog) -> Iterator[str]:
    private = any(not table.public for table in catalog.tables)
    total = catalog.budget.total
    if private and not catalog.budget.capped:
        yield "there is no budget: give one to connect(); otherwise the ledger counts without a cap"
    if total.epsilon is not None and total.epsilon > HIGH_EPSILON:
        yield f"a budget of ε = {float(total.epsilon):g} protects hardly anybody; 1 to 10 is usual"
    if catalog.units is not None:
        yield from unlikely_enough(catalog)
    elif total.delta is not None and total.delta > HIGH_DELTA:
        yield f"a δ of {float(total.delta):g} may reveal one unit in {round(1 / total.delta):,}; 1e-6 is usual"
    for what in ("epsilon", "delta"):
        default, most, limit = (getattr(each, what) for each in (catalog.per_query, catalog.max_per_query, total))
        if default is not None and limit is not None and default > limit:
            yield f"per_query's {what} is above the budget's: a query that does not set a smaller one is always refused"
        if most is not None and limit is not None and most > limit:
            yield f"max_per_query's {what} is above the budget's: it caps nothing"
    if (catalog.max_per_query.delta or 0) > catalog.max_delta:
        yield f"max_per_query's delta is above max_delta ({float(catalog.max_delta):g}): it caps nothing"
    if catalog.version is None and catalog.format == "dpsql" and private:
        yield "there is no version: repeats of a query are charged again"


def _table(catalog: Catalog, table: TableSpec) -> Iterator[str]:
    if table.public:
        return
    if table.row_is_unit:
        for column in table.columns:
            if _names_a_person(column):
                yield (
                    f"row_is_unit, but {quoted(column.name)} looks like a person's id: "
                    f"if one person can have several rows, write unit: {column.name}"
                )
    elif table.caps is not None and (rows := table.caps.rows_of_a_unit) is None:
        yield (
            "rows_per_unit is left to the data: each query spends a part of its ε on choosing it; "
            f"if you know a number that nearly every {catalog.unit} stays within, declare it"
        )
    elif table.caps is not None and rows is not None and rows > MANY_ROWS:
        yield f"such large contribution limits need noise that hides everything: {rows:,} rows of a unit count"
    if table.caps is not None and table.caps.rows_in_group is not None:
        yield _older(table.caps)
    if catalog.format == "smartnoise" and table.caps is not None and not table.row_is_unit:
        yield f"rows_per_unit is {table.caps.rows} (max_ids): if a unit has more rows, each counts less"
    for column in table.columns:
        yield from _column(table, column)


def _older(caps: Caps) -> str:
    """dpsql always understands the older pair; the warning says what it means in the newer terms."""
    return (
        f"max_groups and max_rows are older: max_groups: {caps.groups}, max_rows: {caps.rows_in_group} means "
        f"rows_per_unit: {caps.rows_of_a_unit}, groups_per_unit: {caps.groups}"
    )


def _names_a_person(column: ColumnSpec) -> bool:
    identifying = IDENTIFIER.search(column.name) is not None
    return column.type.kind in (Kind.INTEGER, Kind.TEXT) and (
        identifying or (PERSON.search(column.name) is not None and column.keys is None)
    )


def _column(table: TableSpec, column: ColumnSpec) -> Iterator[str]:
    interval, name = column.interval, quoted(column.name)
    if (interval.lower is None) != (interval.upper is None):
        yield f"{name} has only one bound: sums and averages need both"
    if interval.is_finite and column.type.is_numeric:
        low, high = interval.ends()
        if high - low > WIDE:
            yield f"{name} has bounds {float(low):g} to {float(high):g}: noise grows with them"
        if low == high:
            yield f"{name} has one possible value"
    if column.keys is not None and column.nullable and None not in column.keys:
        yield f"{name} may be NULL, but its keys do not list null: such rows are dropped from its groups"
    inferred = key_set(ColumnDomain(type=column.type, interval=interval, nullable=column.nullable))
    if column.keys is None and inferred is not None and len(inferred) > 100_000:
        yield f"{name} has {len(inferred):,} public keys by its bounds: a GROUP BY releases all of them"
