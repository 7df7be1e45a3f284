"""A catalog's account: where its ledger is, and what it allows. A second ledger would be a second budget."""

from __future__ import annotations

from pathlib import Path

from dpsql.accounting.account import Account
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_open import Changes
from dpsql.catalog.model import Amount, Catalog
from dpsql.errors import InterfaceError


def open_ledger(catalog: Catalog, given: str | Path | None, *, new_epoch: bool, changes: Changes) -> Ledger:
    """given: only where the catalog is no file and names no ledger is it for the caller to say where it is."""
    path = ledger_path_of(catalog)
    if given is not None:
        if not isinstance(given, str | Path):
            raise InterfaceError("ledger= must be a path", fix="Write ledger='spending.ledger', or leave it out.")
        wanted = Path(given).absolute()
        if path is not None and wanted.resolve() != path.resolve():
            raise _not_the_callers(catalog, given, path)
        path = wanted if path is None else path
    return Ledger.open(path, account_of(catalog), new_epoch=new_epoch, changes=changes)


def _not_the_callers(catalog: Catalog, given: str | Path, path: Path) -> InterfaceError:
    where = "the metadata" if catalog.path is None else catalog.path.name
    move = f"The owner can move it and write the line `ledger: {given}` into {where}."
    return InterfaceError(
        f"the ledger of dataset {catalog.dataset!r} is {path}, not {given}",
        code=426,
        why="Only the owner chooses its place: a second ledger would be a second budget.",
        fix=f"Leave out ledger=. {move}"
        if catalog.format == "dpsql"
        else "Leave out ledger=: the ledger is beside the file.",
    )


def ledger_path_of(catalog: Catalog) -> Path | None:
    """Where the catalog's ledger is: where it says, else beside the YAML; None for a catalog without a file."""
    return catalog.ledger or _beside(catalog)


def _beside(catalog: Catalog) -> Path | None:
    """A link to a catalog is no second budget: the ledger lies beside the file itself."""
    if catalog.path is None:
        return None
    real = catalog.path.resolve()
    return real.with_name(real.name + ".ledger")


def account_of(catalog: Catalog) -> Account:
    budget, analysts, most = catalog.budget, catalog.analysts, catalog.max_per_query
    return Account(
        dataset=catalog.dataset,
        epsilon=budget.total.epsilon,
        delta=budget.total.delta,
        capped=budget.capped,
        accounting=catalog.accounting,
        delta_keys=catalog.delta_keys,
        per=budget.per,
        per_query=None if most == Amount() else (most.epsilon, most.delta),
        analysts=None if analysts is None else {name: (cap.epsilon, cap.delta) for name, cap in analysts.items()},
    )
