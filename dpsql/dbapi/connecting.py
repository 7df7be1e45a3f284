"""connect(): from what a caller gives to a connection, here or at a server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, overload

from dpsql.catalog.model import Catalog
from dpsql.dbapi.boundary import boundary
from dpsql.dbapi.channel import is_address
from dpsql.dbapi.connection import Connection
from dpsql.dbapi.given_options import Amountlike, exact_option, limit_option
from dpsql.dbapi.rows import RowFactory, T, TupleRow, tuple_row
from dpsql.dbapi.telling import Asked, tell_of
from dpsql.errors import InterfaceError
from dpsql.session import open_session


@overload
def connect(
    catalog: str | Path | Mapping[str, object] | Catalog,
    *,
    source: object = None,
    analyst: str | None = None,
    epsilon: Amountlike | None = None,
    delta: Amountlike | None = None,
    max_rows_contributed: int | str | None = None,
    max_groups_contributed: int | str | None = None,
    budget: object = None,
    ledger: str | Path | None = None,
    temp_folder: str | Path | None = None,
    restricted: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    token: str | None = None,
    progress: Asked = None,
) -> Connection[TupleRow]: ...
@overload
def connect(
    catalog: str | Path | Mapping[str, object] | Catalog,
    *,
    source: object = None,
    analyst: str | None = None,
    epsilon: Amountlike | None = None,
    delta: Amountlike | None = None,
    max_rows_contributed: int | str | None = None,
    max_groups_contributed: int | str | None = None,
    budget: object = None,
    ledger: str | Path | None = None,
    temp_folder: str | Path | None = None,
    restricted: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    token: str | None = None,
    progress: Asked = None,
    row_factory: RowFactory[T],
) -> Connection[T]: ...
@boundary
def connect(
    catalog: str | Path | Mapping[str, object] | Catalog,
    *,
    source: object = None,
    analyst: str | None = None,
    epsilon: Amountlike | None = None,
    delta: Amountlike | None = None,
    max_rows_contributed: int | str | None = None,
    max_groups_contributed: int | str | None = None,
    budget: object = None,
    ledger: str | Path | None = None,
    temp_folder: str | Path | None = None,
    restricted: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
    token: str | None = None,
    progress: Asked = None,
    row_factory: RowFactory[Any] = tuple_row,
) -> Connection[Any]:
    """Open a catalog (a YAML file, a dict, or a Catalog) for querying.

    epsilon, delta, max_rows_contributed, max_groups_contributed: of each query that does not say otherwise; ε and δ are
    never the total. source: the data, where the catalog does
    not say (a frame, {table: frame or file}, a .duckdb file). budget: for a catalog that has none; ledger: for one that is
    no file. temp_folder: where rows that do not fit into memory are written down. restricted: no files for whoever asks.
    row_factory: what its cursors' rows are, tuples unless said. Nothing private is read before a query is charged.
    progress: a function that is told, every half second, how far a query is; True: a line on the screen.
    A catalog "https://…" is a server (`dpsql help server`), token: what it lets you in by.
    """
    if is_address(catalog):
        return _at_server(str(catalog), token, row_factory, dict(locals()))
    if token is not None:
        raise InterfaceError("token= is for a server", fix="Leave it out, or give the address: https://…")
    session = open_session(
        catalog,
        source=source,
        analyst=analyst,
        epsilon=exact_option("epsilon", epsilon),
        delta=exact_option("delta", delta),
        rows=limit_option("max_rows_contributed", max_rows_contributed),
        groups=limit_option("max_groups_contributed", max_groups_contributed),
        budget=budget,
        ledger=ledger,
        temp_folder=temp_folder,
        restricted=restricted,
        memory_limit=memory_limit,
        threads=threads,
    )
    session.tell = tell_of(progress)
    return Connection(session, row_factory=row_factory)


def _at_server(
    address: str, token: str | None, row_factory: RowFactory[Any], given: Mapping[str, object]
) -> Connection[Any]:
    from dpsql.dbapi.remote import connect_remote

    return connect_remote(address, token, row_factory, given)
