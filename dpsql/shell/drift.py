"""How the sources' columns differ from the metadata's. Names and types of columns only; no row is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsql.catalog.model import Catalog, ColumnSpec, TableSpec, fold
from dpsql.domain.types import Kind
from dpsql.engine.sources import Column, Files
from dpsql.engine.vault import Vault
from dpsql.metadata.scaffold import catalog_type
from dpsql.sources.table_sources import sources_of

# What a source's type is read as without losing values, by what the metadata may call it.
FITS = {
    Kind.TEXT: ("text",),
    Kind.BOOLEAN: ("boolean",),
    Kind.INTEGER: ("integer",),
    Kind.DECIMAL: ("decimal", "integer"),
    Kind.REAL: ("real", "decimal", "integer"),
    Kind.DATE: ("date",),
    Kind.TIMESTAMP: ("timestamp", "date"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """breaks: queries fail until it is mended."""

    text: str
    breaks: bool = False


def drift(catalog: Catalog, source: object = None) -> list[Difference]:
    """All differences, table by table. SourceError where a source does not open."""
    sources = sources_of(catalog, source)
    with Vault.open(sources) as vault:
        unnumbered = [table for table in catalog.tables if table.row_is_unit and not vault.has_row_numbers(table.name)]
        units = [
            Difference(text=f"{t.name}: each row is a unit, but the source is a view", breaks=True) for t in unnumbered
        ]
        return units + [
            difference
            for table in catalog.tables
            for difference in _of_table(table, {fold(c.name): c for c in vault.columns(table.name)})
        ]


def not_known(catalog: Catalog, source: object = None) -> dict[str, list[str]]:
    """The columns of CSVs that are declared as more than text, by table: only their cells could say whether they convert."""
    by_table: dict[str, list[str]] = {}
    for name, opened in sources_of(catalog, source).items():
        table = catalog.table(name)
        if table is not None and isinstance(opened, Files) and opened.kind == "csv":
            columns = [column.name for column in table.columns if column.type.kind is not Kind.TEXT]
            by_table |= {table.name: columns} if columns else {}
    return by_table


def _of_table(table: TableSpec, there: dict[str, Column]) -> Iterator[Difference]:
    for column in table.columns:
        column_there = there.get(fold(column.name))
        if column_there is None:
            yield Difference(text=f'{table.name}: the source has no column "{column.name}"', breaks=True)
        elif column_there.type.startswith("PARQUET "):
            what = column_there.type.removeprefix("PARQUET ").lower()
            text = f'{table.name}: "{column.name}" holds {what} in Parquet, which is refused; `dpsql help errors`, 307'
            yield Difference(text=text, breaks=True)
        elif not _fits(column, column_there.type, is_csv=_is_csv(table)):
            yield Difference(
                text=f'{table.name}: "{column.name}" is {column.type} here and {column_there.type} in the source: '
                "what does not convert is NULL"
            )
    declared = {fold(column.name) for column in table.columns}
    more = [column.name for name, column in there.items() if name not in declared]
    if more:
        yield Difference(text=f"{table.name}: the source has more columns, which nobody can ask for: {', '.join(more)}")


def _is_csv(table: TableSpec) -> bool:
    return getattr(table.source, "kind", "") == "csv"


def _fits(column: ColumnSpec, engine_type: str, *, is_csv: bool) -> bool:
    word = catalog_type(engine_type)
    if is_csv and word == "text":
        return True  # every column of a CSV is text until the metadata says more
    return word is not None and word.partition("(")[0] in FITS.get(column.type.kind, ())
