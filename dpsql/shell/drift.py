"""How the sources' columns differ from the metadata's. Names and types of columns only; no row is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsql.catalog.model import Catalog, ColumnSpec, TableSpec, fold
from dpsql.domain.types import Kind
from dpsql.engine.sources import UNREADABLE, Column, Files
from dpsql.metadata.scaffold import catalog_type
from dpsql.sources.private_data import open_sources
from dpsql.sources.table_sources import engine_of_private, sources_of

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
    """breaks: queries fail until it is corrected."""

    text: str
    breaks: bool = False


def drift(catalog: Catalog, source: object = None) -> list[Difference]:
    """All differences, table by table. SourceError where a source does not open."""
    sources, units, others = sources_of(catalog, source), list[Difference](), list[Difference]()
    engine_of_private(catalog, sources)
    places = {table: getattr(one, "address", None) for table, one in sources.items()}
    for place in dict.fromkeys(places.values()):
        inside = [table for table in catalog.tables if places[table.name] == place]
        with open_sources({table.name: sources[table.name] for table in inside}) as vault:
            for table in inside:
                what = vault.unnumbered(table.name) if table.row_is_unit else None
                if what is not None:
                    text = f"{table.name}: each row is a unit, but the source is {what}"
                    units.append(Difference(text=text, breaks=True))
                computed = None if table.public else vault.computed(table.name)
                if computed is not None:
                    units.append(Difference(text=f"{table.name}: the source is {computed}", breaks=True))
                others += _of_table(table, {fold(c.name): c for c in vault.columns(table.name)})
    return units + others


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
        elif column_there.type.startswith(UNREADABLE):
            why = column_there.type.removeprefix(UNREADABLE)
            yield Difference(text=f'{table.name}: "{column.name}" cannot be read: {why}', breaks=True)
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
