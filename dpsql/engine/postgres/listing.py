"""The tables of a database, by name: for an owner who begins metadata."""

from __future__ import annotations

from dpsql.engine.hardening import Limits
from dpsql.engine.postgres import describing, settings
from dpsql.engine.postgres.connecting import connect
from dpsql.engine.sources import Address


def server_tables(address: Address) -> list[str]:
    """schema.name of each table and view that the role may read. SourceError where the database cannot be connected to."""
    connection = connect(address, None)
    try:
        settings.begin(connection, (), address.timeout, Limits())
        return describing.tables(connection)
    finally:
        connection.close()
