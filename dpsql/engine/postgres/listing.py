"""The tables of a database and their declared keys, by name: for an owner who begins metadata. No row is read."""

from __future__ import annotations

from dataclasses import replace

from dpsql.engine.database_tables import Keys, Reference
from dpsql.engine.hardening import Limits
from dpsql.engine.postgres import describing, settings
from dpsql.engine.postgres.connecting import connect
from dpsql.engine.sources import Address

_KEYS = """
    SELECT n.nspname || '.' || c.relname, k.contype = 'p', columns.names, t.nspname || '.' || o.relname, others.names
    FROM pg_constraint k
    JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_class o ON o.oid = k.confrelid LEFT JOIN pg_namespace t ON t.oid = o.relnamespace,
    LATERAL (
        SELECT array_agg(a.attname::text ORDER BY at.n) FROM unnest(k.conkey) WITH ORDINALITY AS at (number, n)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = at.number
    ) AS columns (names),
    LATERAL (
        SELECT array_agg(a.attname::text ORDER BY at.n) FROM unnest(k.confkey) WITH ORDINALITY AS at (number, n)
        JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = at.number
    ) AS others (names)
    WHERE k.contype IN ('p', 'f') ORDER BY 1, k.conname
"""


def server_tables(address: Address) -> dict[str, Keys]:
    """The keys of each table and view that the role may read, by schema.name. SourceError where the database cannot be
    connected to."""
    connection = connect(address, None)
    try:
        settings.begin(connection, (), address.timeout, Limits())
        tables = {name: Keys() for name in describing.tables(connection)}
        for name, is_primary, columns, other, others in connection.execute(_KEYS).fetchall():
            before = tables.get(name)
            if before is None:
                continue
            if is_primary:
                tables[name] = replace(before, primary=tuple(columns))
            else:
                reference = Reference(tuple(columns), other, tuple(others))
                tables[name] = replace(before, references=(*before.references, reference))
        return tables
    finally:
        connection.close()
