"""Public tables of a database: their rows, as text, for the reader of public tables."""

from __future__ import annotations

from dpsql.engine.hardening import Limits
from dpsql.engine.postgres.backend import Postgres
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sources import UNREADABLE, Column, Frame, Server
from dpsql.engine.vault import Vault


def public_rows(table: str, source: Server, limits: Limits) -> Frame:
    """All rows, every readable column as text that says its value exactly, as a CSV would: the metadata's types are applied
    to it later. SourceError as for private tables, ExecutionError where reading fails."""
    backend = Postgres({table: source}, limits, None)
    with Vault(backend, None) as vault:
        readable = [column for column in vault.columns(table) if not column.type.startswith(UNREADABLE)]
        items = ", ".join(f"{_text(column)} AS {quote_identifier(column.name)}" for column in readable)
        rows = vault.run(f"SELECT {items} FROM {vault.relation(table)}")
    return Frame(data=rows)


def _text(column: Column) -> str:
    """A real has fewer digits as text than as the double it is read as."""
    name = quote_identifier(column.name)
    return f"CAST(CAST({name} AS double precision) AS text)" if column.type == "real" else f"CAST({name} AS text)"
