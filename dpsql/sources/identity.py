"""Whether a server's tables are those on which the budget was spent before."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.accounting.ledger import Ledger
from dpsql.catalog.model import ServerSource, TableSpec, fold
from dpsql.engine.vault import Vault
from dpsql.errors import SourceError


def check_identity(vault: Vault, declared: list[TableSpec], ledger: Ledger) -> None:
    """declared: the private tables that are read where the metadata says. SourceError 317 where one is in another database
    than the ledger remembers; what it does not know yet it remembers."""
    identities = {fold(table.name): identity for table in declared if (identity := vault.identity(table.name))}
    meant = {fold(t.name) for t in declared if isinstance(t.source, ServerSource) and t.source.system is not None}
    other = ledger.remember_sources(identities, meant=meant) if identities else None
    if other is not None:
        raise SourceError(
            f"table {other} is another table, or in another database, than the one on which the budget was spent",
            code=317,
            why="By what the server says of itself: its system identifier, the database, schema and table.",
            fix=f"Connect to that one. {_if_moved(identities[other])}Other data has its own `dataset:` name.",
        )


def _if_moved(identity: Mapping[str, str]) -> str:
    if "system" not in identity:
        return ""
    return f'If the data moved here, the owner writes `system: "{identity["system"]}"` into its source. '
