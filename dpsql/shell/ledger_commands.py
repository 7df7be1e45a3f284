"""The owner's commands: budget, releases, ledger, void. They read the ledger, named by its file or its metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsql.shell.commands import CONTEXT, DefaultGroup
from dpsql.shell.query_command import MODE_NAMES
from dpsql.shell.stderr import Exit, say

if TYPE_CHECKING:
    from dpsql.accounting.ledger import Ledger
    from dpsql.accounting.releases import Release

RELEASE_COLUMNS = ("id", "time", "analyst", "epsilon", "delta", "rho", "state", "measured")
MODE = click.option("-m", "--mode", type=click.Choice(MODE_NAMES), help="Table on a terminal, else csv.")
OUTPUT = click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Into a file.")
ANALYST = click.option("--analyst", metavar="NAME", help="This analyst's cap; by default the dataset's.")
WHY = click.option("--why", required=True, metavar="TEXT", help="Goes on record.")


class BudgetGroup(DefaultGroup):
    default = "show"


@click.group(cls=BudgetGroup, context_settings=CONTEXT)
def budget() -> None:
    """What is spent and left; grant more, or limit.

    \b
    dpsql budget METADATA
    dpsql budget grant METADATA --epsilon 2 --why "second survey wave"
    """


@budget.command("show", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@MODE
@OUTPUT
def show(place: str, mode: str | None, output: Path | None) -> int:
    """What is spent and what is left (`show` may be left out)."""
    from dpsql.accounting import balance_table

    with ledger_of(place, begin=True) as ledger:
        rows = balance_table.rows(ledger.account, ledger.balance())
        names = balance_table.columns(ledger.account)
    _write(names, rows, mode, output, place)
    return Exit.OK


def _amounts(function: Any) -> Any:
    function = click.option("--delta", metavar="NUMBER", help="δ.")(function)
    return click.option("--epsilon", metavar="NUMBER", help="ε.")(function)


@budget.command("report", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@click.option(
    "--format", "form", type=click.Choice(("table", "json")), default="table", help="json: all of it as data."
)
@click.option("--tight", metavar="DELTA", help="Also a tight total at this δ, by privacy loss distributions.")
@MODE
@OUTPUT
def report(place: str, form: str, tight: str | None, mode: str | None, output: Path | None) -> int:
    """Who spent what on which plans. With json also what is left, of the dataset and of each analyst."""
    from dpsql.accounting import spending

    with ledger_of(place, begin=True) as ledger:
        spent = spending.report(ledger, tight_delta=_exact(tight))
    if form == "json":
        _put(json.dumps(spent.to_dict(), indent=1, ensure_ascii=False), output, place)
        return Exit.OK
    zcdp = spent.accounting == "zcdp"
    rows = [
        (
            s.analyst,
            s.plan[:12],
            s.tables,
            s.measured,
            s.charges,
            s.released,
            float(s.cost.epsilon),
            float(s.cost.delta),
            *((float(s.cost.rho),) if zcdp else ()),
        )
        for s in spent.plans
    ]
    amounts = ("epsilon", "delta", "rho") if zcdp else ("epsilon", "delta")
    names = ("analyst", "plan", "tables", "measured", "charges", "released", *amounts)
    _write(names, rows, mode, output, place)
    if spent.tight is not None:
        say(f"tight total: ε = {spent.tight.epsilon:.6g}, δ = {spent.tight.delta:.6g}; {spent.tight.label}")
    return Exit.OK


@budget.command("new-epoch", context_settings=CONTEXT)
@click.argument("metadata", metavar="METADATA")
@click.option("--yes", is_flag=True, help="Do not ask.")
def new_epoch(metadata: str, yes: bool) -> int:
    """Start the budget over, on record: what was spent before does not count any more."""
    from dpsql.accounting.ledger import Ledger
    from dpsql.metadata.load import load
    from dpsql.shell.opening import ledger_path
    from dpsql.sources.catalog_ledger import account_of

    path = ledger_path(metadata)
    account = account_of(load(metadata))
    if not yes:
        click.confirm(
            f"Give the whole budget of {account.dataset!r} again, about the people in the data now?", abort=True
        )
    opened = Ledger.open(path, account, new_epoch=True)
    opened.close()
    for notice in opened.notices:
        say(notice)
    return Exit.OK


@budget.command("grant", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@_amounts
@ANALYST
@WHY
def grant(place: str, epsilon: str | None, delta: str | None, analyst: str | None, why: str) -> int:
    """Raise a cap by this much above the metadata's, on record."""
    if epsilon is None and delta is None:
        raise click.UsageError("grant what? Give --epsilon or --delta.")
    with ledger_of(place) as ledger:
        _check_known(ledger, analyst)
        ledger.grant(analyst=analyst, epsilon=_exact(epsilon), delta=_exact(delta), why=why)
        say(f"granted; left now: {_left(ledger, analyst)}")
    return Exit.OK


@budget.command("limit", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@_amounts
@ANALYST
@WHY
def limit(place: str, epsilon: str | None, delta: str | None, analyst: str | None, why: str) -> int:
    """Limit a cap to this, whatever metadata and grants allow; without amounts, lift such a limit."""
    with ledger_of(place) as ledger:
        ledger.limit(analyst=analyst, epsilon=_exact(epsilon), delta=_exact(delta), why=why)
        say(f"limited; left now: {_left(ledger, analyst)}")
    return Exit.OK


@click.command(context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@click.option("--analyst", metavar="NAME", help="Only this analyst's.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("markdown", "json")),
    help="The whole release table, to publish with the numbers.",
)
@MODE
@OUTPUT
def releases(place: str, analyst: str | None, form: str | None, mode: str | None, output: Path | None) -> int:
    """Every charge: its time, analyst, cost, state and measurements."""
    from dpsql.accounting import releases as table
    from dpsql.accounting.spending import published

    with ledger_of(place) as ledger:
        publication = published(ledger, analyst)
    if form == "markdown":
        _put(table.as_markdown(publication).removesuffix("\n"), output, place)
    elif form == "json":
        _put(json.dumps(table.as_json(publication), indent=1, ensure_ascii=False), output, place)
    else:
        zcdp = publication.account.accounting == "zcdp"
        columns = tuple(name for name in RELEASE_COLUMNS if zcdp or name != "rho")
        rows = [tuple(_release_row(one)[name] for name in columns) for one in publication.releases]
        _write(columns, rows, mode, output, place)
    return Exit.OK


def _release_row(one: Release) -> dict[str, Any]:
    time = one.time.replace(microsecond=0, tzinfo=None)
    amounts = {"epsilon": float(one.cost.epsilon), "delta": float(one.cost.delta), "rho": float(one.cost.rho)}
    return {"id": one.id, "time": time, "analyst": one.analyst, **amounts, "state": one.state, "measured": one.measured}


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
    """Everything but the released rows, as JSON, with the hashes to check it by."""
    with ledger_of(place) as opened:
        text = json.dumps(opened.export(), indent=1, ensure_ascii=False)
    _put(text, output, place)
    return Exit.OK


def _put(text: str, output: Path | None, place: str) -> None:
    from dpsql.sources.file_access import write_text

    if output is None:
        print(text)
    else:
        with _belonging_to(place):
            write_text(output, text + "\n")


@contextmanager
def _belonging_to(place: str) -> Iterator[None]:
    """While its reports are written, nothing of the ledger and of its metadata is written over."""
    from dpsql.metadata.load import load
    from dpsql.shell.opening import ledger_path
    from dpsql.sources.belongings import Belongings, Family, of_catalog

    path = ledger_path(place)
    kept = Belongings([Family(path)] if path == Path(place) else of_catalog(load(place)))
    try:
        yield
    finally:
        kept.close()


@click.command(context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@click.argument("charge", type=int)
@WHY
def void(place: str, charge: int, why: str) -> int:
    """Give back a charge whose run never began (see `dpsql releases`), on record."""
    with ledger_of(place) as opened:
        opened.void(charge, why)
        say(f"charge {charge} is void; left now: {_left(opened, None)}")
    return Exit.OK


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


def _check_known(opened: Ledger, analyst: str | None) -> None:
    """More would be granted to nobody, and nobody would notice."""
    known = sorted(opened.balance(None).per_analyst)
    if analyst is not None and analyst not in known:
        there = f"There are {', '.join(known)}." if known else "The metadata names no analysts."
        raise click.UsageError(f'there is no analyst "{analyst}". {there}')


def _left(opened: Ledger, analyst: str | None) -> str:
    from dpsql.report.privacy import amount_report
    from dpsql.shell.summary import amounts

    balance = opened.balance(analyst)
    held = balance if analyst is None else balance.per_analyst.get(analyst, balance)
    return amounts(amount_report(held.left))


def _exact(text: str | None) -> Fraction | None:
    from dpsql.sql.options import number

    if text is None:
        return None
    value = number(text)
    if value is None:
        raise click.UsageError(f"{text[:40]!r} is not a number")
    return value


def _write(
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
