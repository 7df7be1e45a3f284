"""`dpsql budget`: what is spent and left, who spent it, and the owner's word on more, less and anew."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsql.shell.commands import CONTEXT, DefaultGroup
from dpsql.shell.ledger_named import MODE, OUTPUT, WHY, ledger_of, left_of, write_report, write_rows
from dpsql.shell.stderr import Exit, say

if TYPE_CHECKING:
    from dpsql.accounting.ledger import Ledger

ANALYST = click.option("--analyst", metavar="NAME", help="Change this analyst's cap; by default the dataset's.")


class BudgetGroup(DefaultGroup):
    default = "show"


@click.group(cls=BudgetGroup, context_settings=CONTEXT)
def budget() -> None:
    """Show what is spent and left; grant more, or set a limit.

    \b
    dpsql budget METADATA
    dpsql budget grant METADATA --epsilon 2 --why "second survey wave"
    """


@budget.command("show", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@MODE
@OUTPUT
def show(place: str, mode: str | None, output: Path | None) -> int:
    """Show what is spent and what is left. You can leave out `show`."""
    from dpsql.accounting import balance_table

    with ledger_of(place, begin=True) as ledger:
        rows = balance_table.rows(ledger.account, ledger.balance())
        names = balance_table.columns(ledger.account)
    write_rows(names, rows, mode, output, place)
    return Exit.OK


def _amounts(function: Any) -> Any:
    function = click.option("--delta", metavar="NUMBER", help="δ.")(function)
    return click.option("--epsilon", metavar="NUMBER", help="ε.")(function)


@budget.command("report", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@click.option(
    "--format", "form", type=click.Choice(("table", "json")), default="table", help="json gives all of it as data."
)
@click.option("--tight", metavar="DELTA", help="Also a tight total at this δ, by privacy loss distributions.")
@MODE
@OUTPUT
def report(place: str, form: str, tight: str | None, mode: str | None, output: Path | None) -> int:
    """Show who spent what on which plans. With json also what is left, of the dataset and of each analyst."""
    from dpsql.accounting import spending

    with ledger_of(place, begin=True) as ledger:
        spent = spending.report(ledger, tight_delta=_exact(tight))
    if form == "json":
        write_report(json.dumps(spent.to_dict(), indent=1, ensure_ascii=False), output, place)
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
    write_rows(names, rows, mode, output, place)
    if spent.tight is not None:
        say(f"tight total: ε = {spent.tight.epsilon:.6g}, δ = {spent.tight.delta:.6g}; {spent.tight.label}")
    return Exit.OK


@budget.command("new-epoch", context_settings=CONTEXT)
@click.argument("metadata", metavar="METADATA")
@click.option("--yes", is_flag=True, help="Do not ask.")
def new_epoch(metadata: str, yes: bool) -> int:
    """Start the budget over, on record. What was spent before no longer counts."""
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
        raise click.UsageError("nothing to grant is given: give --epsilon or --delta.")
    with ledger_of(place) as ledger:
        _check_known(ledger, analyst)
        ledger.grant(analyst=analyst, epsilon=_exact(epsilon), delta=_exact(delta), why=why)
        say(f"granted; left now: {left_of(ledger, analyst)}")
    return Exit.OK


@budget.command("limit", context_settings=CONTEXT)
@click.argument("place", metavar="METADATA|LEDGER")
@_amounts
@ANALYST
@WHY
def limit(place: str, epsilon: str | None, delta: str | None, analyst: str | None, why: str) -> int:
    """Limit a cap, whatever metadata and grants allow. Without amounts, remove the limit."""
    with ledger_of(place) as ledger:
        ledger.limit(analyst=analyst, epsilon=_exact(epsilon), delta=_exact(delta), why=why)
        say(f"limited; left now: {left_of(ledger, analyst)}")
    return Exit.OK


def _check_known(opened: Ledger, analyst: str | None) -> None:
    """Otherwise a grant to a misspelt name would have no effect, and nobody would notice."""
    known = sorted(opened.balance(None).per_analyst)
    if analyst is not None and analyst not in known:
        there = f"There are {', '.join(known)}." if known else "The metadata names no analysts."
        raise click.UsageError(f'there is no analyst "{analyst}". {there}')


def _exact(text: str | None) -> Fraction | None:
    from dpsql.sql.options import number

    if text is None:
        return None
    value = number(text)
    if value is None:
        raise click.UsageError(f"{text[:40]!r} is not a number")
    return value
