"""`dpsql init SOURCE`: a first YAML from names and types alone. What only the owner can know is a TODO."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from dpsql.metadata.clusters import is_cluster
from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit, say

if TYPE_CHECKING:
    from dpsql.metadata.scaffold import Described

DATABASE_ENDINGS = (".duckdb", ".db", ".ddb")
CSV_ENDINGS = (".csv", ".csv.gz", ".tsv")


@click.command(context_settings=CONTEXT)
@click.argument("source")
@click.option(
    "--table",
    metavar="NAME",
    help="One table of a .duckdb file or a database; of PostgreSQL also all of a schema: 'shop.*'.",
)
@click.option("--delimiter", metavar="CHAR", help="The character between the fields of a CSV, if it is not a comma.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to this file; never overwrites."
)
def init(source: str, table: str | None, delimiter: str | None, output: Path | None) -> int:
    """Start metadata for files or a database. A Parquet, CSV or .duckdb file (all its tables, with their declared keys), a
    folder or glob of files of one table, postgresql://user@host/database, or sc://host of Spark.

    It reads names and types of columns, and no value: bounds, keys and limits from the data would reveal them.
    """
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    if is_cluster(source):
        columns, text = of_cluster(source, table, delimiter)
    elif "://" in source:
        columns, text = of_server(source, table, delimiter)
    else:
        columns, text = _of_files(inside(Path(source)), table, delimiter, output)
    if len(columns) == 1 and (other := next((sign for sign in ";|\t" if sign in columns[0][0]), None)):
        say(f"the only column has a {other!r} in its name: perhaps --delimiter {'tab' if other == chr(9) else other!r}")
    if output is None:
        print(text, end="")
    else:
        _create(output, text)
        say(f"{output} is written: fill in each TODO, then run `dpsql check {output} --source`")
    return Exit.OK


def _of_files(
    source: Path, table: str | None, delimiter: str | None, output: Path | None
) -> tuple[list[tuple[str, str]], str]:
    from dpsql.metadata.scaffold import scaffold, scaffold_all
    from dpsql.sources.table_sources import check_path

    check_path(str(source))
    check_options(source, table, delimiter)
    place = os.path.relpath(source, output.parent if output is not None else Path())
    if source.suffix in DATABASE_ENDINGS and table is None:
        tables = tables_of(source)
        if len(tables) > 1:
            return list(tables[0].columns), scaffold_all(name_of(source), tables, place)
        table = tables[0].name
    columns = columns_of(source, table, delimiter)
    name = table.rpartition(".")[2] if table else name_of(source)
    full = None if table is None else table if "." in table else f"main.{name}"
    return columns, scaffold(name, columns, place, table=full, delimiter=delimiter)


def of_server(source: str, table: str | None, delimiter: str | None) -> tuple[list[tuple[str, str]], str]:
    """The columns of a database's table, and the metadata's beginning."""
    from dpsql.errors import InterfaceError
    from dpsql.metadata.scaffold import scaffold, scaffold_all
    from dpsql.sources.table_sources import server_of

    if delimiter is not None:
        raise InterfaceError("--delimiter is for CSV files", code=622, fix="Leave it out.")
    if table is None or table.endswith(".*"):
        address = server_of(source, "t").address
        tables = tables_of_server(source, None if table is None else table.removesuffix("*"))
        if len(tables) > 1:
            return list(tables[0].columns), scaffold_all(dict(address.parameters).get("dbname", "data"), tables, source)
        table = tables[0].name
    columns = columns_of_server(source, table)
    return columns, scaffold(
        table.rpartition(".")[2], columns, source, table=table if "." in table else f"public.{table}"
    )


def columns_of_server(source: str, table: str) -> list[tuple[str, str]]:
    """(name, engine type) of each column."""
    from dpsql.sources.private_data import open_sources
    from dpsql.sources.table_sources import server_of

    name = table.rpartition(".")[2]
    with open_sources({name: server_of(source, table)}) as vault:
        return [(column.name, column.type) for column in vault.columns(name)]


def tables_of_server(source: str, schema: str | None) -> list[Described]:
    """All tables of a database (schema: that begin with it and a point) with their declared keys. One that dpsql does not
    read is left out, and it is said why."""
    from dpsql.engine.postgres.listing import server_tables
    from dpsql.errors import SourceError
    from dpsql.metadata.scaffold import Described
    from dpsql.sources.table_sources import server_of

    keys = server_tables(server_of(source, "t").address)
    names = [name for name in keys if schema is None or name.startswith(schema)]
    _check_names(names, "the database" if schema is None else f"the schema {schema[:-1]}")
    described = []
    for name in names:
        try:
            columns = columns_of_server(source, name)
        except SourceError as error:
            say(f"{name} is left out: {error}")
            continue
        declared = keys[name]
        described.append(
            Described(name=name, columns=columns, primary=declared.primary, references=declared.references)
        )
    return described or [_none_of(names)]


def of_cluster(source: str, table: str | None, delimiter: str | None) -> tuple[list[tuple[str, str]], str]:
    """The columns of a table on Spark, and the metadata's beginning."""
    from dpsql.errors import InterfaceError
    from dpsql.metadata.scaffold import scaffold
    from dpsql.sources.private_data import open_sources
    from dpsql.sources.spark_sources import cluster_of, table_at

    if delimiter is not None:
        raise InterfaceError("--delimiter is for CSV files", code=622, fix="Leave it out.")
    if table is None:
        from dpsql.engine.spark.listing import spark_tables

        table = _the_one(spark_tables(cluster_of(source)), "Spark")
    name = table.rpartition(".")[2]
    with open_sources({name: table_at(source, table)}) as vault:
        columns = [(column.name, column.type) for column in vault.columns(name)]
    return columns, scaffold(name, columns, source, table=table, engine="spark")


def check_options(source: Path, table: str | None, delimiter: str | None) -> None:
    """Each option belongs to one kind of source."""
    from dpsql.errors import InterfaceError

    if table is not None and source.suffix not in DATABASE_ENDINGS:
        raise InterfaceError("--table is for .duckdb files", code=622, fix="Leave it out.")
    if delimiter is not None and not source.name.lower().endswith(CSV_ENDINGS):
        raise InterfaceError("--delimiter is for CSV files", code=622, fix="Leave it out.")
    if delimiter is not None and not (len(delimiter) == 1 and delimiter.isascii()):
        raise InterfaceError("--delimiter is one ASCII character", code=622, fix="Write --delimiter ';' or tab.")


def columns_of(source: Path, table: str | None, delimiter: str | None) -> list[tuple[str, str]]:
    """(name, engine type) of each column."""
    from dpsql.engine import sources
    from dpsql.sources.private_data import open_sources

    declared: sources.Source
    if source.suffix in DATABASE_ENDINGS and table is not None:
        schema, _, name = table.rpartition(".")
        declared = sources.Database(path=source, schema=schema or "main", table=name)
    elif source.name.lower().endswith(CSV_ENDINGS):
        usual = "\t" if source.suffix == ".tsv" else ","
        declared = sources.Files(paths=(source,), kind="csv", delimiter=delimiter or usual)
    else:
        declared = sources.Files(paths=(source,), kind="parquet")
    name = name_of(source)
    with open_sources({name: declared}) as vault:
        return [(column.name, column.type) for column in vault.columns(name)]


def inside(source: Path) -> Path:
    """A folder of CSV files is written as a glob; a folder by itself means Parquet files."""
    if source.is_dir() and not any(source.rglob("*.parquet")) and any(source.glob("*.csv")):
        return source / "*.csv"
    return source


def name_of(source: Path) -> str:
    """The table's name: the file's, or of a glob that of its folder."""
    path = source.absolute()
    return (path.parent.name if set(path.name) & set("*?[") else path.stem) or "t"


def tables_of(source: Path) -> list[Described]:
    """All tables of a .duckdb file, with their declared keys."""
    from dpsql.engine.database_tables import Keys, database_keys, database_tables
    from dpsql.errors import InterfaceError
    from dpsql.metadata.scaffold import Described

    names, keys = database_tables(source), database_keys(source)
    if not names:
        raise InterfaceError(f"{source} has no tables", code=622, fix="Name another file.")
    _check_names(names, str(source))
    described = []
    for name in names:
        declared = keys.get(name, Keys())
        columns = columns_of(source, name, None)
        described.append(
            Described(name=name, columns=columns, primary=declared.primary, references=declared.references)
        )
    return described


def _check_names(names: list[str], source: str) -> None:
    """Where two schemas have a table of one name, the owner chooses."""
    shorts = [name.rpartition(".")[2].lower() for name in names]
    if not names or len(set(shorts)) < len(shorts):
        _the_one(names, source)


def _none_of(names: list[str]) -> NoReturn:
    from dpsql.errors import InterfaceError

    raise InterfaceError(f"none of {', '.join(names[:20])} can be read", code=622, fix="The lines above say why.")


def _the_one(tables: list[str], source: str) -> str:
    from dpsql.errors import InterfaceError

    if len(tables) != 1:
        there = f"There are {', '.join(tables[:20])}." if tables else ""
        raise InterfaceError(
            f"{source} has {len(tables) or 'no'} tables",
            code=622,
            why=there,
            fix=f"Say which one: --table {tables[0]}."
            if tables
            else "Name another, or GRANT SELECT and USAGE on its schema.",
        )
    return tables[0]


def _create(path: Path, text: str) -> None:
    from dpsql.errors import InterfaceError
    from dpsql.sources.file_access import permitted

    permitted(path, "write")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InterfaceError(f"{path} already exists", code=622, fix="Name another file, or remove it.") from None
    except OSError as error:
        raise InterfaceError(f"{path} cannot be written: {error.strerror}", code=622, fix="Check the folder.") from None
