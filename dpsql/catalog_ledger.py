"""A catalog's account: where its ledger is, and what it allows. A second ledger would be a second budget."""

from __future__ import annotations

from pathlib import Path

from dpsql.accounting.account import Account
from dpsql.accounting.ledger import Ledger
from dpsql.accounting.ledger_open import Changes
from dpsql.catalog.model import Amount, Catalog
from dpsql.errors import InterfaceError


def open_ledger(catalog: Catalog, given: str | Path | None, *, new_epoch: bool, changes: Changes) -> Ledger:
    beside = _beside(catalog)
    path = ledger_path_of(catalog)
    if given is not None:
        if not isinstance(given, str | Path):
            raise InterfaceError("ledger= is a path", fix="Write ledger='spending.ledger', or leave it out.")
        wanted = Path(given).absolute()
        if catalog.ledger is not None and wanted.resolve() != catalog.ledger.resolve():
            raise InterfaceError(
                f"the metadata says where the ledger is: {catalog.ledger}",
                why="A second ledger would be a second budget.",
                fix="Leave ledger= out.",
            )
        if beside is not None and beside.exists() and wanted.resolve() != beside.resolve():
            raise InterfaceError(
                f"there is already a ledger beside the metadata: {beside.name}",
                why="A second ledger would be a second budget.",
                fix="Leave ledger= out, or ask the owner to name one in the metadata.",
            )
        path = wanted
    return Ledger.open(path, account_of(catalog), new_epoch=new_epoch, changes=changes)


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
