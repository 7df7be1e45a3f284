"""From a command's arguments to a connection, a catalog, a ledger."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpsql.errors import CatalogError, InterfaceError, Problem
from dpsql.shell.stderr import did_you_mean, warn

CATALOG_ENDINGS = (".yaml", ".yml")
DATA_ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".duckdb", ".ddb", ".db", ".json", ".xlsx")
SQLITE = b"SQLite format 3\x00"


@contextmanager
def connection_of(metadata: str, given: Mapping[str, Any]) -> Iterator[Any]:
    """A connection as the options of a command ask for it, closed at the end."""
    import dpsql
    from dpsql.dbapi.channel import is_address

    at_server = is_address(metadata)
    if not at_server:
        check_path(metadata)
    sources = source_of(given.get("source") or ())
    connection = dpsql.connect(
        metadata,
        source=sources,
        analyst=given.get("analyst"),
        epsilon=given.get("epsilon"),
        delta=given.get("delta"),
        budget=budget_of(given.get("budget")),
        ledger=given.get("ledger"),
        temp_folder=given.get("temp_folder"),
        restricted=bool(given.get("restricted")),
        memory_limit=given.get("memory_limit"),
        threads=given.get("threads"),
        token=token_of_terminal() if at_server else None,
    )
    try:
        for _, notice in connection.messages:
            warn(str(notice))
        if given.get("confirm_above") is not None:
            connection.execute(f"SET confirm_above = {number_text(given['confirm_above'], '--confirm-above')}")
        yield connection
    finally:
        connection.close()


def token_of_terminal() -> str:
    """The token of a server: from the environment or typed, never from the command line, which others can see."""
    import click

    return os.environ.get("DPSQL_TOKEN") or click.prompt("Token", hide_input=True, err=True)


def number_text(text: str, option: str) -> str:
    from dpsql.sql.options import number

    if number(text) is None:
        raise InterfaceError(f"{option} takes a number, not {text[:40]!r}", code=119, fix=f"Write {option} 0.5.")
    return text


def budget_of(text: str | None) -> float | None:
    return None if text is None else float(number_text(text, "--budget"))


def source_of(words: Sequence[str]) -> object:
    """None, one path or address, or {table: path or address}."""
    pairs = [word.partition("=") for word in words]
    named = [bool(equals) and "://" not in table for table, equals, _ in pairs]  # an address has = itself
    if len(words) == 1 and not named[0]:
        return words[0]
    if not all(named):
        which = words[named.index(False)].partition("://")
        raise InterfaceError(
            f"--source {which[0]}{which[1]} does not say which table", fix="Write --source TABLE=PATH for each."
        )
    return {table: path for table, _, path in pairs} or None


def check_path(metadata: str) -> None:
    """CatalogError for a path that is no file, with a file of nearly that name; and for data in the metadata's place."""
    path = Path(metadata)
    if path.is_file() and path.suffix.lower() in DATA_ENDINGS:
        begun = f"Start its metadata with `dpsql init {metadata} -o {path.stem}.yaml`, then open that file."
        raise CatalogError([Problem(metadata, "this is data, not metadata", begun)])
    if path.is_file():
        return
    what = "this is a folder, not a file" if path.is_dir() else "there is no such file"
    folders = [path] if path.is_dir() else [path.parent, Path("metadata"), Path()]
    near = list(
        dict.fromkeys(str(f) for folder in folders for f in sorted(folder.glob("*")) if f.suffix in CATALOG_ENDINGS)
    )
    fix = did_you_mean(metadata, near).strip() or (f"There are {', '.join(near[:5])}." if near else "Check the path.")
    raise CatalogError([Problem(metadata, what, fix)])


def ledger_path(place: str) -> Path:
    """The ledger a command names: by its file, or by the metadata whose ledger it is."""
    path = Path(place)
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(SQLITE)) == SQLITE:
                return path
    check_path(place)
    from dpsql.metadata.load import load
    from dpsql.sources.catalog_ledger import ledger_path_of

    ledger = ledger_path_of(load(path))
    assert ledger is not None  # a catalog with a file has a place for its ledger
    return ledger
