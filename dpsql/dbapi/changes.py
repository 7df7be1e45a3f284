"""Statements on the analyst's tables that read nothing private: DuckDB's, as text, in engine/user_database.py's database."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

from dpsql.catalog.model import Catalog
from dpsql.dbapi.system_names import check_system_names
from dpsql.engine.apart.tree import is_several, table_function_names
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sources import Column
from dpsql.errors import NotSupportedError, Refused, Span, SqlError
from dpsql.execution.passing import DENIED, OF_SEQUENCES, TABLE_FUNCTIONS
from dpsql.execution.planning import Parameters
from dpsql.query import Answer
from dpsql.session import Session
from dpsql.sql.bind.scope import unknown_table
from dpsql.sql.changes import ROWS, Change, change_of, last_word, transaction_of
from dpsql.sql.parameters import plain_values


def change_here(session: Session, sql: str) -> Change | None:
    """The statement, if it is one on the analyst's tables that reads nothing private. The rows of a PIVOT without IN are a
    query's: DuckDB makes several statements of it, and here each is one."""
    change = change_of(sql)
    if change is None:
        return None
    if change.kind in ("insert", "create_table_as") and (_is_planned(session.catalog, change) or is_several(sql)):
        return None
    return change


def _is_planned(catalog: Catalog, change: Change) -> bool:
    """Whether private rows are asked for: then the query in it is dpsql's."""
    if change.planned:
        return True
    named = [catalog.table(name) for name in change.tables]
    views = any(catalog.view(name) is not None for name in change.tables)
    return change.reads and (views or any(table is not None and not table.public for table in named))


def check_functions(called: Iterable[tuple[str, Span]]) -> None:
    """Refuse functions that reach for files, settings or other statements; scratch is locked against them, too."""
    for name, at in called:
        if name in (table_function_names() - TABLE_FUNCTIONS) | (DENIED - OF_SEQUENCES):
            raise Refused(
                f"the function {name[:40]}() is not available here",
                code=120,
                at=at,
                why="Statements on your tables reach no file, no setting and no other statement.",
            )


def run_change(session: Session, change: Change, parameters: Parameters = None) -> Answer:
    check_functions(change.functions)
    check_system_names(change.text)
    _check_target(session, change)
    if change.kind == "create_table" and change.if_not_there and change.target in session.user_tables:
        return Answer(kind=change.kind, rows=None)
    for name in sorted(change.tables):
        spec = session.catalog.table(name)
        if spec is not None and spec.public:
            session.user.show(spec, session.load_public(spec.name))
    if not session.user.autocommit and not session.user.in_transaction:
        session.user.begin()
    given = plain_values(parameters)
    try:
        changed = session.user.change(change.text, given, returning=change.returning)
    except SqlError as error:
        raise _explained(session.catalog, change, error) from None
    counted = changed.count if change.kind == "create_table_as" or change.verb in ROWS else -1
    return Answer(kind=change.kind, rows=changed.rows, changed=counted)


def returned_columns(session: Session, change: Change) -> tuple[Column, ...] | None:
    """What its RETURNING gives, as a query over the table: nothing is changed."""
    if not change.returning:
        return None
    check_functions(change.functions)
    check_system_names(change.text)
    _check_target(session, change)
    items = change.text[last_word(change.text, "RETURNING").end :]
    table = ".".join(map(quote_identifier, change.target.split(".")))
    try:
        with closing(session.user.query(f"SELECT {items} FROM {table} LIMIT 0")) as rows:
            return rows.columns
    except SqlError as error:
        raise NotSupportedError(
            "the columns of this RETURNING cannot be known before it runs",
            code=122,
            why=error.what,
            fix="RETURNING * or columns of the table, without an alias.",
        ) from None


def run_transaction(session: Session, sql: str) -> Answer | None:
    """BEGIN, COMMIT and ROLLBACK concern the analyst's tables alone: what was released stays released and charged."""
    match transaction_of(sql):
        case "BEGIN":
            session.user.begin()
        case "COMMIT":
            session.user.commit()
        case "ROLLBACK":
            session.user.rollback()
        case _:
            return None
    return Answer(kind="transaction", rows=None)


def _check_target(session: Session, change: Change) -> None:
    """Tables of the metadata stay as they are; a table that is not there, or is, is said in our words."""
    target, known = change.target, session.user_tables
    if session.catalog.has(target):
        if change.verb == "CREATE":
            fix = "Choose another name."
            raise SqlError(f'"{target}" is a table of the metadata', code=106, at=change.target_at, fix=fix)
        raise SqlError(
            f'"{target}" is a table of the metadata and cannot be changed',
            code=106,
            at=change.target_at,
            fix="Make a table of your own: CREATE TABLE … AS SELECT ….",
        )
    made = change.kind in ("create_table", "create_table_as") and not (change.if_not_there or change.replacing)
    if made and target in known:
        raise SqlError(
            f'there is already a table "{target}"',
            code=106,
            at=change.target_at,
            fix="Choose another name, DROP it, or write CREATE OR REPLACE TABLE.",
        )
    missing = target not in known and "." not in target and bool(target)
    if missing and (change.verb in ROWS or (change.kind == "drop_table" and not change.if_there)):
        raise unknown_table(target, list(known), change.target_at)


def _explained(catalog: Catalog, change: Change, error: SqlError) -> SqlError | Refused:
    """DuckDB's error; where it did not find a private table, why."""
    for name in sorted(change.tables):
        spec = catalog.table(name)
        if (spec is not None and not spec.public) or catalog.view(name) is not None:
            return Refused(
                f'"{name}" cannot be read by this statement',
                code=122,
                why="Private data is read by SELECT, CREATE TABLE AS and INSERT, as noisy totals.",
                fix="Make a table of the answer first: CREATE TABLE answer AS SELECT ….",
            )
    return error


__all__ = ["change_here", "run_change", "run_transaction"]
