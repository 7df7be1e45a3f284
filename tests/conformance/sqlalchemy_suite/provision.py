"""What SQLAlchemy's suite needs to be told of a database: its second schema, and how temporary tables are made."""

from __future__ import annotations

from typing import Any

from sqlalchemy import event
from sqlalchemy.testing.provision import (
    delete_from_all_tables,
    post_configure_engine,
    post_configure_testing_engine,
    temp_table_keyword_args,
)


@post_configure_engine.for_db("dpsql")
def _with_its_schema(url: Any, engine: Any, follower_ident: Any) -> None:
    _on_connecting(engine)


def _on_connecting(engine: Any) -> None:
    @event.listens_for(engine, "connect")
    def connected(connection: Any, record: Any) -> None:
        connection.execute("CREATE SCHEMA IF NOT EXISTS test_schema")
        connection.commit()


@post_configure_testing_engine.for_db("dpsql")
def _with_its_schema_too(url: Any, engine: Any, options: Any, scope: Any) -> None:
    _on_connecting(getattr(engine, "sync_engine", engine))


@temp_table_keyword_args.for_db("dpsql")
def _temporary(cfg: Any, eng: Any) -> dict[str, Any]:
    return {"prefixes": ["TEMPORARY"]}


@delete_from_all_tables.for_db("dpsql")
def _emptied(connection: Any, cfg: Any, metadata: Any) -> None:
    """DuckDB keeps what was deleted in a transaction among its keys until the end of it: such tables are made anew."""
    tables = metadata.sorted_tables
    keyed = any(table.foreign_keys for table in tables)
    for table in reversed(tables):
        if keyed:
            table.drop(connection)
        else:
            connection.execute(table.delete())
    for table in tables if keyed else ():
        table.create(connection)
