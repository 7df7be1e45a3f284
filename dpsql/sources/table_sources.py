"""Where each table's rows come from: what connect() was given, else what the catalog declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dpsql.catalog.model import Catalog, DatabaseSource, FileSource, TableSpec, fold
from dpsql.engine import sources
from dpsql.errors import InterfaceError, SourceError


def sources_of(catalog: Catalog, given: object = None) -> dict[str, sources.Source]:
    """Every table's source, public ones' too."""
    given_sources = overrides(catalog, given)
    return {table.name: given_sources.get(fold(table.name)) or declared_source(table) for table in catalog.tables}


def overrides(catalog: Catalog, source: object) -> dict[str, sources.Source]:
    """source= of connect(): {table: frame or path}, a .duckdb file, or one frame for a catalog with one table."""
    if source is None:
        return {}
    if isinstance(source, str | Path):
        return _from_path(catalog, source)
    if isinstance(source, Mapping) and all(isinstance(key, str) for key in source):
        names = {fold(name): value for name, value in source.items()}
        known = {spelling: table for table in catalog.tables for spelling in (fold(table.name),)}
        resolved: dict[str, sources.Source] = {}
        unknown: list[str] = []
        for name, value in names.items():
            table = known.get(name) or catalog.table(name)
            if table is None:
                unknown.append(name)
            else:
                resolved[fold(table.name)] = _source_from(value, table)
        if unknown and not resolved and len(catalog.tables) == 1:
            return {fold(catalog.tables[0].name): sources.Frame(data=source)}  # a dict of arrays is a frame
        if unknown:
            raise InterfaceError(
                f'source names "{unknown[0]}", which is no table of the metadata',
                fix=f"The tables are: {', '.join(t.name for t in catalog.tables)}.",
            )
        return resolved
    kind = type(source)
    if kind.__module__.startswith("pyspark"):
        raise SourceError("Spark is not a backend yet", code=311, fix="Use Parquet files, a .duckdb file or a frame.")
    if len(catalog.tables) != 1:
        raise InterfaceError(
            "one frame is given for several tables", fix="Say which is which: source={'visits': frame, …}."
        )
    return {fold(catalog.tables[0].name): sources.Frame(data=source)}


def _from_path(catalog: Catalog, source: str | Path) -> dict[str, sources.Source]:
    text = str(source)
    if "://" in text:
        scheme = text.split("://", 1)[0]
        raise SourceError(
            f"{scheme} is not a backend yet", code=311, fix="Use Parquet files, a .duckdb file or a frame."
        )
    if text.endswith((".duckdb", ".db", ".ddb")):
        return {
            fold(table.name): sources.Database(path=Path(text), schema="main", table=table.name)
            for table in catalog.tables
        }
    if len(catalog.tables) == 1:
        return {fold(catalog.tables[0].name): _source_from(source, catalog.tables[0])}
    raise InterfaceError(
        "one file is given for several tables", fix="Say which is which: source={'visits': 'visits.parquet', …}."
    )


def _source_from(value: object, table: TableSpec) -> sources.Source:
    if isinstance(value, sources.Files | sources.Database | sources.Frame):
        return value
    if isinstance(value, str | Path):
        kind = "csv" if str(value).lower().endswith((".csv", ".csv.gz", ".tsv")) else "parquet"
        return sources.Files(paths=(Path(value),), kind=kind, exact_text=_exact_text(table))  # type: ignore[arg-type]  # one of the two words
    return sources.Frame(data=value)


def declared_source(table: TableSpec) -> sources.Source:
    declared = table.source
    match declared:
        case FileSource():
            form = declared.format
            return sources.Files(
                paths=declared.paths,
                kind=declared.kind,  # type: ignore[arg-type]  # the loader admits parquet and csv
                delimiter=form.delimiter,
                quote=form.quote,
                escape=form.escape,
                header=form.header,
                names=() if form.header else tuple(c.name for c in table.columns),
                exact_text=_exact_text(table),
            )
        case DatabaseSource():
            return sources.Database(path=declared.database, schema=declared.table[0], table=declared.table[1])
        case None:
            raise SourceError(
                f"table {table.name} has no source",
                code=310,
                fix=f"Add `source:` to it in the metadata, or connect(…, source={{'{table.name}': frame}}).",
            )


def _exact_text(table: TableSpec) -> frozenset[str]:
    """The unit's column: two people's spellings must not be read as one."""
    return frozenset() if table.unit_column is None else frozenset({table.unit_column})
