"""Tables that users make, filled from what was released: CREATE TABLE AS and INSERT over private data, and frames. They live
in scratch and are public; statements on them that read nothing private are dbapi/changes.py's."""

from __future__ import annotations

from contextlib import closing

from dpsql.catalog.model import fold
from dpsql.domain.types import BIGINT, HUGEINT, INTEGER, REAL, SMALLINT, TIMESTAMP, Kind, Type
from dpsql.engine.loading import LOADING
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.user_database import user_relation
from dpsql.errors import InterfaceError, SqlError
from dpsql.plan.dialects.literals import identifier
from dpsql.query import Answer, run_query
from dpsql.session import Session
from dpsql.sql.bind.scope import unknown_table
from dpsql.sql.statement import Statement


def create_table_as(session: Session, statement: Statement) -> Answer:
    name = _new_name(session, statement)
    if name is None:
        return Answer(kind=statement.kind, rows=None, changed=0)
    answer = run_query(session, statement)
    assert answer.rows is not None
    with closing(answer.rows) as rows:
        columns = tuple((column.name, column.type) for column in rows.columns)
        _distinct([n for n, _ in columns], statement)
        _keep(session, name, columns, rows)
        count = len(rows)
    return Answer(kind=statement.kind, rows=None, plan=answer.plan, privacy=answer.privacy, changed=count)


def load_frame(session: Session, name: str, frame: object) -> None:
    """A table of the user's from a frame, in place of one of the same name. Columns of other types become the nearest
    of ours."""
    folded = fold(name)
    if not name or not name.isprintable():
        raise InterfaceError("a table's name must be plain text", code=604)
    if session.catalog.has(name):
        raise InterfaceError(f'"{name}" is a table of the metadata', code=604, fix="Choose another name.")
    staging = f"i_{session.next_number()}"
    session.scratch.load_frame(staging, frame)
    try:
        columns = tuple(
            (column.name, _NEAREST[column.type].sql if column.type in _NEAREST else column.type)
            for column in session.scratch.columns(staging)
        )
        with closing(session.scratch.query(f"SELECT * FROM {identifier(staging)}")) as rows:
            _keep(session, folded, columns, rows)
    finally:
        session.scratch.drop(staging)


def _keep(session: Session, name: str, columns: tuple[tuple[str, str], ...], rows: ScratchResult) -> None:
    """Rows as a table of the user's, with these types: in a stream some are decimals or texts."""
    rows.refuse_39_digits()
    items = ", ".join(f"CAST({identifier(n)} AS {type_}) AS {identifier(n)}" for n, type_ in columns)
    session.user.fill(f"CREATE OR REPLACE TABLE {user_relation(name)} AS SELECT {items} FROM {LOADING}", rows)


def insert(session: Session, statement: Statement) -> Answer:
    name = _existing(session, statement)
    target = session.user_tables[name]
    by_name = {fold(n): (n, t) for n, t in target}
    wanted = [c.name for c in statement.columns] or [n for n, _ in target]
    for column in wanted:
        if fold(column) not in by_name:
            raise SqlError(
                f'"{statement.name}" has no column "{column}"',
                code=102,
                at=statement.name_at,
                fix=f"Its columns are: {', '.join(n for n, _ in target)}.",
            )
    answer = run_query(session, statement)
    assert answer.rows is not None
    with closing(answer.rows) as rows:
        if len(rows.columns) != len(wanted):
            raise SqlError(
                f"{len(rows.columns)} values for {len(wanted)} columns",
                code=105,
                at=statement.name_at,
                fix="Give one value for each column.",
            )
        rows.refuse_39_digits()
        changed = session.user.fill(_insertion(name, wanted, rows, by_name), rows)
    return Answer(kind=statement.kind, rows=None, plan=answer.plan, privacy=answer.privacy, changed=changed)


def _insertion(name: str, wanted: list[str], rows: ScratchResult, by_name: dict[str, tuple[str, Type]]) -> str:
    names = [by_name[fold(column)] for column in wanted]
    values = ", ".join(
        f"CAST({identifier(f'v{i}')} AS {type_.sql})" if type_.kind is not Kind.ANY else identifier(f"v{i}")
        for i, (_, type_) in enumerate(names)
    )
    columns = ", ".join(identifier(n) for n, _ in names)
    aliases = ", ".join(identifier(f"v{i}") for i in range(len(rows.columns)))
    return f"INSERT INTO {user_relation(name)} ({columns}) SELECT {values} FROM {LOADING} AS t({aliases})"


def _new_name(session: Session, statement: Statement) -> str | None:
    """The folded name; None if it exists and IF NOT EXISTS was said."""
    name = fold(statement.name)
    if session.catalog.has(statement.name):
        raise SqlError(
            f'"{statement.name}" is a table of the metadata', code=106, at=statement.name_at, fix="Choose another name."
        )
    if name not in session.user_tables or "or replace" in statement.flags:
        return name
    if "if not exists" in statement.flags:
        return None
    raise SqlError(
        f'there is already a table "{statement.name}"',
        code=106,
        at=statement.name_at,
        fix="Choose another name, DROP it, or write CREATE OR REPLACE TABLE.",
    )


def _existing(session: Session, statement: Statement) -> str:
    name = fold(statement.name)
    if name not in session.user_tables:
        if session.catalog.table(statement.name) is not None:
            raise SqlError(
                f'"{statement.name}" is a table of the metadata and cannot be changed',
                code=106,
                at=statement.name_at,
                fix="Make a table of your own: CREATE TABLE … AS SELECT ….",
            )
        raise unknown_table(statement.name, list(session.user_tables), statement.name_at)
    return name


_NEAREST = {
    "FLOAT": REAL,
    "UTINYINT": SMALLINT,
    "USMALLINT": INTEGER,
    "UINTEGER": BIGINT,
    "UBIGINT": HUGEINT,
    "TIMESTAMP_S": TIMESTAMP,
    "TIMESTAMP_MS": TIMESTAMP,
    "TIMESTAMP_NS": TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": TIMESTAMP,
}


def _distinct(names: list[str], statement: Statement) -> None:
    seen: set[str] = set()
    for name in names:
        if fold(name) in seen:
            raise SqlError(
                f'two columns are called "{name}"', code=104, at=statement.name_at, fix="Rename one with AS."
            )
        seen.add(fold(name))


__all__ = ["create_table_as", "insert", "load_frame"]
