"""The owner's commands over the record of all charges: releases, ledger, void."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.ledger_named import MODE, OUTPUT, WHY, ledger_of, left_of, write_report, write_rows
from dpsql.shell.stderr import Exit, say

if TYPE_CHECKING:
    from dpsql.accounting.releases import Release

RELEASE_COLUMNS = ("id", "time", "analyst", "epsilon", "delta", "rho", "state", "measured", "sql")


@click.command(context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@click.option("--analyst", metavar="NAME", help="Only the charges of this analyst.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "json")),
    help="The whole release table, to publish with the numbers.",
)
@click.option("--sql", is_flag=True, help="With --format json: the statements too; their literals may name people.")
@MODE
@OUTPUT
def releases(
    place: str, analyst: str | None, form: str | None, sql: bool, mode: str | None, output: Path | None
) -> int:
    """List all charges: time, analyst, cost, state, measurements, and the SQL as it was asked."""
    from dpsql.accounting import releases as table
    from dpsql.accounting.spending import published

    with ledger_of(place) as ledger:
        publication = published(ledger, analyst)
    if form == "markdown":
        write_report(table.as_markdown(publication).removesuffix("\n"), output, place)
    elif form == "json":
        write_report(json.dumps(table.as_json(publication, sql=sql), indent=1, ensure_ascii=False), output, place)
    else:
        zcdp = publication.account.accounting == "zcdp"
        columns = tuple(name for name in RELEASE_COLUMNS if zcdp or name != "rho")
        rows = [tuple(_release_row(one)[name] for name in columns) for one in publication.releases]
        write_rows(columns, rows, mode, output, place)
    return Exit.OK


def _release_row(one: Release) -> dict[str, Any]:
    time = one.time.replace(microsecond=0, tzinfo=None)
    amounts = {"epsilon": float(one.cost.epsilon), "delta": float(one.cost.delta), "rho": float(one.cost.rho)}
    return {"id": one.id, "time": time, "analyst": one.analyst, **amounts, **_what(one)}


def _what(one: Release) -> dict[str, str | None]:
    sql = None if one.sql is None else " ".join(one.sql.split())
    return {"state": one.state, "measured": one.measured, "sql": sql}


@click.group(context_settings=CONTEXT)
def ledger() -> None:
    """Verify or export the record of all charges."""


@ledger.command("verify", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@click.option("--head", metavar="COUNT:HASH", help="A head you kept elsewhere; finds a ledger rewritten as a whole.")
def verify(place: str, head: str | None) -> int:
    """Read the whole ledger again; name the first entry that was changed."""
    from dpsql.accounting.ledger import Ledger
    from dpsql.errors import TamperedLedger
    from dpsql.shell.opening import ledger_path

    path = ledger_path(place)
    bad = Ledger.verify_file(path, head)
    if bad is not None:
        raise TamperedLedger(
            f"the ledger was changed: {path}", why=str(bad), fix="Restore it from a copy whose head you know."
        )
    with ledger_of(place) as opened:
        print(f"OK; head {opened.head()}")
    return Exit.OK


@ledger.command("export", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@OUTPUT
def export(place: str, output: Path | None) -> int:
    """Write everything but the released rows as JSON, with the hashes to check it by."""
    with ledger_of(place) as opened:
        text = json.dumps(opened.export(), indent=1, ensure_ascii=False)
    write_report(text, output, place)
    return Exit.OK


@click.command(context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@click.argument("charge", type=int)
@WHY
def void(place: str, charge: int, why: str) -> int:
    """Give back a charge whose run never began. `dpsql releases` shows its state. The ledger records it."""
    with ledger_of(place) as opened:
        opened.void(charge, why)
        say(f"charge {charge} is void; left now: {left_of(opened, None)}")
    return Exit.OK
