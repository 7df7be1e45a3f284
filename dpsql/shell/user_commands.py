"""`dpsql user`: who may ask a server, with which tokens and passwords."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsql.shell.commands import CONTEXT
from dpsql.shell.stderr import Exit, say, warn

if TYPE_CHECKING:
    from dpsql.server.accounts import Accounts

DAY = 86_400
METADATA = click.argument("metadata", metavar="METADATA")
NAME = click.argument("name", metavar="NAME")


@click.group(context_settings=CONTEXT)
def user() -> None:
    """Say who may ask a server of this dataset.

    \b
    dpsql user add METADATA ana
    dpsql user token METADATA ana --days 30
    """


@user.command("add", context_settings=CONTEXT)
@METADATA
@NAME
@click.option("--role", type=click.Choice(("analyst", "owner")), default="analyst", help="What they may do.")
def add(metadata: str, name: str, role: str) -> int:
    """Add an account. `dpsql user token` and `dpsql user password` then let it in."""
    from dpsql.metadata.load import load

    accounts = _accounts(metadata)
    listed = load(metadata).analysts
    if listed is not None and name not in listed:
        message = f"the metadata's analysts: does not list {name!r}, so the budget allows it no query."
        if role == "analyst":
            raise click.UsageError(message)
        warn(message)
    accounts.add(name, "owner" if role == "owner" else "analyst")
    say(f"added {name} ({role})")
    return Exit.OK


@user.command("password", context_settings=CONTEXT)
@METADATA
@NAME
def password(metadata: str, name: str) -> int:
    """Set a password, for psql and other PostgreSQL clients. It is read from the terminal, or a line of standard input."""
    accounts = _accounts(metadata)
    if sys.stdin.isatty():
        given = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    else:
        given = sys.stdin.readline().rstrip("\n")
    accounts.set_password(name, given)
    say(f"{name} has a new password")
    return Exit.OK


@user.command("token", context_settings=CONTEXT)
@METADATA
@NAME
@click.option("--days", default=90, type=click.IntRange(1, 3660), help="How long it is valid.")
def token(metadata: str, name: str, days: int) -> int:
    """Make a token, and print it. It is shown only now, and kept nowhere."""
    text, kept = _accounts(metadata).new_token(name, days * DAY)
    print(text)
    say(f"token {kept.name} of {name}, valid for {days} days")
    return Exit.OK


@user.command("revoke", context_settings=CONTEXT)
@METADATA
@NAME
@click.option("--token", "which", metavar="ID", help="Only this one, as `dpsql user list` shows it.")
def revoke(metadata: str, name: str, which: str | None) -> int:
    """Take away all tokens and the password; open sessions end."""
    _accounts(metadata).revoke(name, which)
    say(f"revoked all access of {name}" if which is None else f"revoked token {which} of {name}")
    return Exit.OK


@user.command("list", context_settings=CONTEXT)
@METADATA
def list_(metadata: str) -> int:
    """List accounts, and their tokens by id."""
    for account in _accounts(metadata).all().values():
        live = [one for one in account.tokens if time.time() < one.expires]
        until = [f"token {one.name} until {time.strftime('%Y-%m-%d', time.gmtime(one.expires))}" for one in live]
        ways = [*(["password"] if account.verifier else []), *until] or ["no access"]
        print(f"{account.name} ({account.role}): {', '.join(ways)}")
    return Exit.OK


def _accounts(metadata: str) -> Accounts:
    from dpsql.metadata.load import load
    from dpsql.server.accounts import Accounts
    from dpsql.shell.opening import check_path
    from dpsql.sources.catalog_ledger import ledger_path_of

    check_path(metadata)
    ledger = ledger_path_of(load(Path(metadata)))
    assert ledger is not None
    return Accounts(ledger.with_name(ledger.name + ".users"))
