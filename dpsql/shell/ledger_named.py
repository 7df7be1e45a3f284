"""The ledger that an owner's command names, by its file or by its metadata, and what the command writes of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsql.shell.query_command import MODE_NAMES

if TYPE_CHECKING:
    from dpsql.accounting.ledger import Ledger

MODE = click.option("-m", "--mode", type=click.Choice(MODE_NAMES), help="Table on a terminal, otherwise csv.")
OUTPUT = click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write to a file.")
WHY = click.option("--why", required=True, metavar="TEXT", help="The reason, which the ledger records.")


@contextmanager
def ledger_of(place: str, *, begin: bool = False) -> Iterator[Ledger]:
    """An existing ledger, named by its file or by its metadata. begin: begin the metadata's if it is not there yet."""
    from dpsql.accounting.ledger import Ledger
    from dpsql.shell.opening import ledger_path

    path = ledger_path(place)
    if begin and not path.exists():
        from dpsql.metadata.load import load
        from dpsql.sources.catalog_ledger import account_of

        opened = Ledger.open(path, account_of(load(place)))
    else:
        opened = Ledger.inspect(path)
    try:
        yield opened
    finally:
        opened.close()


def left_of(opened: Ledger, analyst: str | None) -> str:
    from dpsql.report.privacy import amount_report
    from dpsql.shell.summary import amounts

    balance = opened.balance(analyst)
    held = balance if analyst is None else balance.per_analyst.get(analyst, balance)
    return amounts(amount_report(held.left))


def write_report(text: str, output: Path | None, place: str) -> None:
    from dpsql.sources.file_access import write_text

    if output is None:
        print(text)
    else:
        with _belonging_to(place):
            write_text(output, text + "\n")


@contextmanager
def _belonging_to(place: str) -> Iterator[None]:
    """While reports are written, the files of the ledger and of its metadata cannot be overwritten."""
    from dpsql.metadata.load import load
    from dpsql.shell.opening import ledger_path
    from dpsql.sources.belongings import Belongings, Family, of_catalog

    path = ledger_path(place)
    kept = Belongings([Family(path)] if path == Path(place) else of_catalog(load(place)))
    try:
        yield
    finally:
        kept.close()


def write_rows(
    names: tuple[str, ...], rows: Sequence[tuple[Any, ...]], mode: str | None, output: Path | None, place: str
) -> None:
    from dpsql.shell.output import mode_named
    from dpsql.shell.results import Results

    with _belonging_to(place):
        results = Results(mode=None if mode is None else mode_named(mode), path=output)
        try:
            results.check()
            results.write(results.plain_page(names, rows))
        finally:
            results.close()
