"""A table's rows as COPY writes them, and tables made of such lines: nothing is converted, so types, bits and texts stay.

For dpsql.testing alone, which compares what the backend makes of a table with what the table holds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dpsql.engine.postgres.connecting import connect, driver
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sources import Address, Server
from dpsql.errors import InterfaceError

if TYPE_CHECKING:
    import psycopg

SETTINGS = "SET TimeZone = 'UTC'; SET DateStyle = 'ISO, YMD'; SET extra_float_digits = 1; SET row_security = off"
SCHEMA = "dpsql_judge_"


@dataclass(frozen=True, slots=True)
class Lines:
    """names, types: of the columns; a type is the name of pg_type (of a domain its base type's), "numeric(p,s)" where it
    has digits. rows: a line each, in COPY's text format."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[bytes, ...]


def server_table(source: Server) -> Lines:
    """The rows of a table or view, in the order in which the server gives them."""
    with _connected(source.address) as connection:
        select = f"SELECT * FROM {_name(source.schema, source.table)}"
        described = connection.execute(f"{select} LIMIT 0").description or ()
        names_by_oid = dict(connection.execute("SELECT oid::bigint, typname::text FROM pg_catalog.pg_type").fetchall())
        with connection.cursor().copy(f"COPY ({select}) TO STDOUT") as copy:
            text = b"".join(bytes(part) for part in copy)  # a line feed within a value is written as \n
        names = tuple(column.name for column in described)
        return Lines(names, tuple(_type(column, names_by_oid) for column in described), tuple(text.split(b"\n")[:-1]))


def _type(column: Any, names_by_oid: dict[int, str]) -> str:
    name = names_by_oid[column.type_code]
    return f"numeric({column.precision},{column.scale})" if name == "numeric" and column.precision else name


class Made:
    """Tables like a source's, with some of its rows, in a schema of their own that is made when there is a first one."""

    def __init__(self, source: Server) -> None:
        self._source = source
        self._schema: str | None = None
        self._numbers = itertools.count(1)

    def table(self, rows: Iterable[bytes]) -> Server:
        """A table with the same columns, and these rows in that order. InterfaceError where the role may not make one."""
        like = _name(self._source.schema, self._source.table)
        name = f"t{next(self._numbers)}"
        with _connected(self._source.address) as connection:
            made = _name(self._named(connection), name)
            connection.execute(f"CREATE TABLE {made} (LIKE {like})")
            with connection.cursor().copy(f"COPY {made} FROM STDIN") as copy:
                copy.write(b"".join(row + b"\n" for row in rows))
        return replace(self._source, schema=str(self._schema), table=name)

    def _named(self, connection: psycopg.Connection[Any]) -> str:
        if self._schema is None:
            name = SCHEMA + uuid4().hex
            try:
                connection.execute(f"CREATE SCHEMA {name}")
            except driver().errors.InsufficientPrivilege:
                raise InterfaceError(
                    "the judge writes its copies of a table into its database, and the role may not make a schema there",
                    fix="GRANT CREATE ON DATABASE … to the role, in a database for tests.",
                ) from None
            self._schema = name
        return self._schema

    def drop(self) -> None:
        name, self._schema = self._schema, None
        if name is not None:
            with _connected(self._source.address) as connection:
                connection.execute(f"DROP SCHEMA {name} CASCADE")


@contextmanager
def _connected(address: Address) -> Iterator[psycopg.Connection[Any]]:
    connection = connect(address, None)
    try:
        connection.execute(SETTINGS)
        yield connection
    finally:
        connection.close()


def _name(schema: str, table: str) -> str:
    return f"{quote_identifier(schema)}.{quote_identifier(table)}"
