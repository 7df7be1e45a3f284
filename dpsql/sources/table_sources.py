"""Where each table's rows come from: what connect() was given, else what the catalog declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dpsql.catalog.model import Catalog, DatabaseSource, FileSource, ServerSource, SparkSource, TableSpec, fold
from dpsql.engine import sources
from dpsql.engine.opening import EngineName, engine_of
from dpsql.errors import InterfaceError, SourceError
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Scan
from dpsql.metadata.addresses import AddressError, holds_password, is_address, read_address, scheme_of
from dpsql.metadata.clusters import is_cluster
from dpsql.sources.spark_sources import cluster_of, is_session, of_spark, on_spark, spark_source


def sources_of(catalog: Catalog, given: object = None) -> dict[str, sources.Source]:
    """Every table's source, public ones' too."""
    given_sources = overrides(catalog, given)
    return {table.name: source_of(table, given_sources) for table in catalog.tables}


def source_of(table: TableSpec, given: Mapping[str, sources.Source]) -> sources.Source:
    return given.get(fold(table.name)) or declared_source(table)


def scan_of(table: TableSpec) -> Scan:
    """All of a table's declared columns."""
    ids = Ids()
    fields = tuple(ids.field(c.name, c.type) for c in table.columns)
    return Scan(table.name, fields, tuple(c.name for c in table.columns))


def overrides(catalog: Catalog, source: object) -> dict[str, sources.Source]:
    """source= of connect(): {table: frame, path or address}, a .duckdb file or a database's address, or one frame for a
    catalog with one table."""
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
                f'source names "{unknown[0]}", which is not a table of the metadata',
                fix=f"The tables are: {', '.join(t.name for t in catalog.tables)}.",
            )
        return resolved
    if is_session(source):
        return on_spark(catalog, sources.Cluster(session=source))
    if len(catalog.tables) != 1:
        raise InterfaceError(
            "one frame is given for several tables", fix="Name the table of each: source={'visits': frame, …}."
        )
    return {fold(catalog.tables[0].name): _source_from(source, catalog.tables[0])}


def _from_path(catalog: Catalog, source: str | Path) -> dict[str, sources.Source]:
    text = str(source)
    if is_cluster(text):
        return on_spark(catalog, cluster_of(text))
    if "://" in text:
        return {fold(table.name): _server(text, table) for table in catalog.tables}
    check_path(text)
    if text.endswith((".duckdb", ".db", ".ddb")):
        return {
            fold(table.name): sources.Database(path=Path(text), schema="main", table=table.name)
            for table in catalog.tables
        }
    if len(catalog.tables) == 1:
        return {fold(catalog.tables[0].name): _source_from(source, catalog.tables[0])}
    raise InterfaceError(
        "one file is given for several tables", fix="Name the table of each: source={'visits': 'visits.parquet', …}."
    )


def check_path(text: str) -> None:
    """SourceError 318 for a path that looks like an address with a password."""
    if holds_password(text):
        raise SourceError(
            "a path with : and @ looks like an address with a password",
            code=318,
            fix="Write postgresql://user@host/database, without the password; or rename the file.",
        )


def _server(text: str, table: TableSpec, name: str | None = None) -> sources.Server:
    """A table of the database that an address leads to: the one that the metadata declares, or of its own name in public."""
    if not is_address(text):
        raise SourceError(
            f"{scheme_of(text)[:20]} is not a backend",
            code=311,
            fix="Use postgresql://user@host/database, sc://host, Parquet files, a .duckdb file or a frame.",
        )
    wrong: SourceError | None = None
    try:
        declared = ServerSource(address=read_address(text), table=_place(table, name))
    except AddressError as error:  # nothing of it quotes the address
        wrong = SourceError(error.what, code=318 if error.secret else 321, fix=f"{error.fix}.")
    if wrong is not None:
        raise wrong
    return _of_server(declared)


def server_of(address: str, name: str) -> sources.Server:
    """The table of that name (schema.table, or table in public) of the database that an address leads to. SourceError."""
    return _server(address, TableSpec(name=name, columns=()), name)


def _place(table: TableSpec, name: str | None) -> tuple[str, str]:
    if name is not None:
        schema, _, table_name = name.rpartition(".")
        return schema or "public", table_name
    return table.source.table if isinstance(table.source, ServerSource) else ("public", table.name)


def _of_server(declared: ServerSource) -> sources.Server:
    address = declared.address
    named = () if address.database is None else (("dbname", address.database),)
    return sources.Server(
        address=sources.Address(
            parameters=(*named, *address.parameters), password_file=address.password_file, timeout=address.timeout
        ),
        schema=declared.table[0],
        table=declared.table[1],
        system=declared.system,
    )


def engine_of_private(catalog: Catalog, given: Mapping[str, sources.Source]) -> EngineName:
    """The engine on which the private tables are: what was given for them (by name, folded or not), else what is declared.
    Opens nothing. SourceError 320 where they are on several; "duckdb" where nothing says it."""
    given = {fold(name): source for name, source in given.items()}
    private = [table for table in catalog.tables if not table.public]
    known = {t.name: given.get(fold(t.name)) or (declared_source(t) if t.source is not None else None) for t in private}
    return engine_of({name: source for name, source in known.items() if source is not None})


def _source_from(value: object, table: TableSpec) -> sources.Source:
    if isinstance(value, sources.Files | sources.Database | sources.Server | sources.SparkTable | sources.Frame):
        return value
    if (here := spark_source(value, table)) is not None:
        return here
    if isinstance(value, str) and "://" in value:
        return _server(value, table)
    if isinstance(value, Mapping) and isinstance(value.get("database"), str) and set(value) == {"database", "table"}:
        return _server(value["database"], table, str(value["table"]))
    if isinstance(value, str | Path):
        check_path(str(value))
        is_csv = str(value).lower().endswith((".csv", ".csv.gz", ".tsv"))
        return sources.Files(paths=(Path(value),), kind="csv" if is_csv else "parquet", exact=_whose(table))
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
                exact=_whose(table),
            )
        case DatabaseSource():
            return sources.Database(path=declared.database, schema=declared.table[0], table=declared.table[1])
        case ServerSource():
            return _of_server(declared)
        case SparkSource():
            return of_spark(declared)
        case None:
            raise SourceError(
                f"table {table.name} has no source",
                code=310,
                fix=f"Add `source:` to it in the metadata, or connect(…, source={{'{table.name}': frame}}).",
            )


def _whose(table: TableSpec) -> frozenset[str]:
    """The columns that say whose a row is, its unit's or those of its path: two spellings must not be read as one."""
    if table.unit_path is not None:
        return frozenset(column for column, _ in table.unit_path.on)
    return frozenset() if table.unit_column is None else frozenset({table.unit_column})
