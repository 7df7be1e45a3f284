"""`dpsql init SOURCE`: a first YAML from names and types alone. What only the owner can know is a TODO."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit, say

DATABASE_ENDINGS = (".duckdb", ".db", ".ddb")
CSV_ENDINGS = (".csv", ".csv.gz", ".tsv")


@click.command(context_settings=CONTEXT)
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--table", metavar="NAME", help="The table of a .duckdb file, if it has several.")
@click.option("--delimiter", metavar="CHAR", help="The character between the fields of a CSV, if it is no comma.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write here; never overwrites.")
def init(source: Path, table: str | None, delimiter: str | None, output: Path | None) -> int:
    """Begin metadata for a Parquet, CSV or .duckdb file, or a folder or glob of files of one table.

    Names and types of columns are read, no value: bounds, keys and limits taken from the data would give it away.
    """
    from dpsql.metadata.scaffold import scaffold

    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    source = inside(source)
    check_options(source, table, delimiter)
    if source.suffix in DATABASE_ENDINGS and table is None:
        table = only_table(source)
    columns = columns_of(source, table, delimiter)
    name = table.rpartition(".")[2] if table else name_of(source)
    place = os.path.relpath(source, output.parent if output is not None else Path())
    full = None if table is None else table if "." in table else f"main.{name}"
    text = scaffold(name, columns, place, table=full, delimiter=delimiter)
    if len(columns) == 1 and (other := next((sign for sign in ";|\t" if sign in columns[0][0]), None)):
        say(f"the only column has a {other!r} in its name: perhaps --delimiter {'tab' if other == chr(9) else other!r}")
    if output is None:
        print(text, end="")
    else:
        _create(output, text)
        say(f"{output} is begun: fill in each TODO, then `dpsql check {output} --source`")
    return Exit.OK


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
    from dpsql.engine.vault import Vault

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
    with Vault.open({name: declared}) as vault:
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


def only_table(source: Path) -> str:
    """The table of a .duckdb file that has one."""
    from dpsql.engine.database_tables import database_tables
    from dpsql.errors import InterfaceError

    tables = database_tables(source)
    if len(tables) != 1:
        there = f"There are {', '.join(tables[:20])}." if tables else ""
        raise InterfaceError(
            f"{source} has {len(tables) or 'no'} tables", code=622, why=there, fix="Say which one: --table main.visits."
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
        raise InterfaceError(f"{path} exists already", code=622, fix="Name another file, or remove it.") from None
    except OSError as error:
        raise InterfaceError(f"{path} cannot be written: {error.strerror}", code=622, fix="Check the folder.") from None
