"""Where private data is opened: nothing else does. How each kind of source is read is in engine/."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.catalog.model import Catalog, TableSpec
from dpsql.engine.hardening import Limits
from dpsql.engine.sources import Source
from dpsql.engine.vault import OwnerLog, Vault
from dpsql.errors import SourceError
from dpsql.plan.dialects.engines import dialect_of
from dpsql.plan.render.clean import cleaned
from dpsql.sources.table_sources import scan_of, source_of


def open_sources(
    sources: Mapping[str, Source], limits: Limits | None = None, owner_log: OwnerLog | None = None
) -> Vault:
    """What to put behind one vault: tables by name. Reads schemas, and no cell of a file or a database."""
    return Vault.open(sources, limits, owner_log=owner_log)


def open_private(catalog: Catalog, given: Mapping[str, Source], limits: Limits, owner_log: OwnerLog) -> Vault:
    """Open the private sources and check that each has its declared columns: free, and without reading a cell."""
    private = [table for table in catalog.tables if not table.public]
    vault = open_sources({table.name: source_of(table, given) for table in private}, limits, owner_log)
    try:
        for table in private:
            if table.row_is_unit and (what := vault.unnumbered(table.name)) is not None:
                raise _without_row_numbers(table, what)
            if (what := vault.computed(table.name)) is not None:
                raise _computed(table, what)
            types = {c.name: c.type for c in vault.columns(table.name)}
            cleaned(scan_of(table), table, "source", types, dialect_of(vault.engine))
    except BaseException:
        vault.close()
        raise
    return vault


def _without_row_numbers(table: TableSpec, what: str) -> SourceError:
    return SourceError(
        f"table {table.name}: each row is a unit, and its source is {what}",
        code=313,
        why="Its rows may come in another order each time, so nothing would tell which row is which.",
        fix="Turn it into a plain table: CREATE TABLE … AS SELECT * FROM it; or declare a unit column.",
    )


def _computed(table: TableSpec, what: str) -> SourceError:
    return SourceError(
        f"table {table.name}: its source is {what}",
        code=322,
        why="It is computed as it is read: where it fails on a stored value, or differs, a person's row would show.",
        fix="Make a table of it or a materialised view; or declare what it reads, and write it under `views:`.",
    )
