"""Every kind of statement an interface may hand over, dispatched: queries, EXPLAIN, SHOW, DESCRIBE, SET, user tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

from dpsql.accounting import balance_table
from dpsql.accounting.caps import left_of
from dpsql.accounting.loss import Cost
from dpsql.aggregates import BY_NAME
from dpsql.catalog.model import fold
from dpsql.dbapi.changes import change_here, run_change, run_transaction
from dpsql.dbapi.settings import reset, set_one, show_settings
from dpsql.dbapi.small_tables import Cell, small_table
from dpsql.dbapi.user_queries import run_user_query
from dpsql.dbapi.user_tables import create_table_as, insert
from dpsql.domain.types import Type
from dpsql.engine.printing import printed
from dpsql.errors import Error, NotSupportedError, SqlError
from dpsql.execution.earlier_answers import rows_counted
from dpsql.execution.known import check, plan_now
from dpsql.execution.passing import read_for
from dpsql.execution.planning import Parameters, read
from dpsql.execution.query_settings import settings_of, wants_fresh
from dpsql.ir.ids import Ids
from dpsql.plan.dialects.literals import identifier
from dpsql.plan.stages import ReleasePlan
from dpsql.query import Answer, in_text, refusal_now, run_query, would_charge
from dpsql.report.estimates import estimates
from dpsql.report.explanation import Explanation, explanation
from dpsql.report.privacy import amount_report
from dpsql.session import Session
from dpsql.sources.catalog_ledger import account_of
from dpsql.sql.bind import bind
from dpsql.sql.bind.scope import unknown_table
from dpsql.sql.changes import transaction_of
from dpsql.sql.statement import Option, Statement, StatementKind

Options = Mapping[str, Option]


def execute(
    session: Session,
    sql: str,
    parameters: Parameters = None,
    *,
    query_id: str | None = None,
    options: Options | None = None,
) -> Answer:
    """Run one statement. options: what applies unless the text has its own OPTIONS."""
    with in_text(sql):
        ended = run_transaction(session, sql)
        if ended is not None:
            return ended
        change = change_here(session, sql)
        if change is not None:
            return run_change(session, change, parameters)
        answer = run_user_query(session, sql, parameters)
        if answer is not None:
            return answer
        statement = _with_options(read_for(session, sql, parameters), options)
        try:
            return _run(session, statement, query_id)
        except SqlError as error:
            if statement.passed is None or statement.passed.parts:
                raise _in_words(session, sql, parameters, error) from None
            return _planned_instead(session, sql, parameters, error)


def _run(session: Session, statement: Statement, query_id: str | None = None) -> Answer:
    if statement.kind == "query":
        return run_query(session, statement, query_id=query_id)
    return KINDS[statement.kind](session, statement)


def _in_words(session: Session, sql: str, parameters: Parameters, error: SqlError) -> Error:
    """What DuckDB says of text over released rows, as a plan would say it, if that is about names or types."""
    if error.code != "DPSQL-105":
        return error
    try:
        plan_now(session, read(sql, parameters))
    except Error as planned:
        return planned if planned.code in (*IN_WORDS, "DPSQL-100", "DPSQL-113") else error
    return error


def _planned_instead(session: Session, sql: str, parameters: Parameters, error: SqlError) -> Answer:
    """What DuckDB does not know, dpsql may (AVG of booleans, TOP): a plan of its own. Where there is none, what is wrong is
    said as a plan would say it, with the place and what to write, if that is about names or types."""
    try:
        return _run(session, read(sql, parameters))
    except SqlError as planned:
        if planned.code in IN_WORDS:
            raise
    except Error:
        pass
    raise error


def execute_many(session: Session, sql: str, many: Iterable[Parameters]) -> Answer:
    """Run one change of a table with each of many parameters, in order; without a transaction, what was done before an
    error stays."""
    changed, kind = 0, "insert"
    with in_text(sql):
        change = change_here(session, sql)
        if change is not None and not change.repeatable:
            raise _not_many()
    for parameters in many:
        with in_text(sql):
            if change is not None:
                answer = run_change(session, change, parameters)
            else:
                answer = _insert_again(session, sql, parameters)
        changed, kind = changed + max(0, answer.changed), answer.kind
    return Answer(kind=kind, rows=None, changed=changed)


def _insert_again(session: Session, sql: str, parameters: Parameters) -> Answer:
    statement = read_for(session, sql, parameters)
    if statement.kind != "insert":
        raise _not_many()
    return insert(session, statement)


def _not_many() -> NotSupportedError:
    return NotSupportedError(
        "executemany() runs only INSERT, UPDATE, DELETE and MERGE",
        code=122,
        why="A query that runs many times would be charged many times.",
        fix="Execute it once, or in your own loop.",
    )


def kind_of(session: Session, sql: str, parameters: Parameters = None) -> StatementKind:
    """What running the text would be."""
    with in_text(sql):
        if transaction_of(sql) is not None:
            return "transaction"
        change = change_here(session, sql)
        return read_for(session, sql, parameters).kind if change is None else change.kind


IN_WORDS = ("DPSQL-101", "DPSQL-102", "DPSQL-104", "DPSQL-105", "DPSQL-107")


def _with_options(statement: Statement, options: Options | None) -> Statement:
    return dataclasses.replace(statement, options={**options, **statement.options}) if options else statement


def explain(
    session: Session, sql: str, parameters: Parameters = None, *, options: Options | None = None
) -> Explanation:
    """The plan of a query, or of EXPLAIN of it."""
    with in_text(sql):
        return _explained(session, _with_options(read_for(session, sql, parameters), options))


def plan_of_text(session: Session, sql: str, parameters: Parameters = None) -> ReleasePlan:
    with in_text(sql):
        return plan_now(session, read_for(session, sql, parameters))


def charge_of(session: Session, sql: str, parameters: Parameters = None) -> Cost:
    """What running the query now would charge."""
    with in_text(sql):
        return would_charge(session, read_for(session, sql, parameters))


def columns_of(session: Session, name: str) -> tuple[tuple[str, Type], ...]:
    """The columns of a table, a view or a user's table, as the binder sees them."""
    statement = read(f"SELECT * FROM {identifier(name)}")
    with in_text(statement.text):
        tree = bind(
            statement, session.catalog, aggregates=BY_NAME, user_tables=session.user_tables, ids=Ids(), printed=printed
        )
    return tuple((field.name, field.type) for field in tree.fields)


def _explained(session: Session, statement: Statement) -> Explanation:
    plan = plan_now(session, statement)
    plan_sql = check(session, plan)
    if plan_sql.text is not None and not plan.stages:
        plan_sql.describe_text(session.scratch)
    if session.ledger is None:
        return explanation(plan, None)
    rows_of = rows_counted(session, settings_of(session, statement).assumed_rows, promised=True)
    refused = refusal_now(session, plan, plan_sql, fresh=wants_fresh(session, statement))
    left = amount_report(left_of(session.ledger.balance(session.analyst), session.analyst))
    return explanation(plan, left, refused, estimates(plan, rows_of))


def _explain(session: Session, statement: Statement) -> Answer:
    lines = str(_explained(session, statement)).split("\n")
    return Answer(kind="explain", rows=small_table(session, {"explain": "VARCHAR"}, [[line] for line in lines]))


def _show_tables(session: Session, statement: Statement) -> Answer:
    rows: list[list[Cell]] = [
        [t.name, "public" if t.public else "private", t.description or None] for t in session.catalog.tables
    ]
    rows += [[name, "view", None] for name in session.catalog.views]
    rows += [[name, "yours", None] for name in session.user_tables]
    return Answer(
        kind="show_tables",
        rows=small_table(session, {"name": "VARCHAR", "kind": "VARCHAR", "description": "VARCHAR"}, rows),
    )


def _describe(session: Session, statement: Statement) -> Answer:
    names = {"column_name": "VARCHAR", "column_type": "VARCHAR", "role": "VARCHAR", "bounds": "VARCHAR"}
    names |= {"keys": "VARCHAR", "description": "VARCHAR"}
    spec = session.catalog.table(statement.name)
    rows: list[list[Cell]] = []
    if spec is not None:
        for column in spec.columns:
            unit = spec.unit_column is not None and fold(spec.unit_column) == fold(column.name)
            keys = None if column.keys is None else f"{len(column.keys)} public"
            rows.append(
                [
                    column.name,
                    str(column.type),
                    "unit" if unit else None,
                    _bounds(column),
                    keys,
                    column.description or None,
                ]
            )
    elif fold(statement.name) in session.user_tables:
        rows = [[n, str(t), None, None, None, None] for n, t in session.user_tables[fold(statement.name)]]
    else:
        known = [*(t.name for t in session.catalog.tables), *session.user_tables]
        raise unknown_table(statement.name, known, statement.name_at)
    return Answer(kind="describe", rows=small_table(session, names, rows))


def _bounds(column: object) -> str | None:
    from dpsql.catalog.model import ColumnSpec
    from dpsql.report.plan_report import bounds_text

    assert isinstance(column, ColumnSpec)
    return bounds_text(column.type, column.interval)


def _show_budget(session: Session, statement: Statement) -> Answer:
    account = account_of(session.catalog) if session.ledger is None else session.ledger.account
    names = {name: "VARCHAR" if name in ("account", "what") else "DOUBLE" for name in balance_table.columns(account)}
    rows = [] if session.ledger is None else balance_table.rows(account, session.ledger.balance())
    return Answer(kind="show_budget", rows=small_table(session, names, rows))


KINDS: dict[str, Callable[[Session, Statement], Answer]] = {
    "explain": _explain,
    "show_tables": _show_tables,
    "show_budget": _show_budget,
    "describe": _describe,
    "set": set_one,
    "reset": reset,
    "show_settings": show_settings,
    "create_table_as": create_table_as,
    "insert": insert,
}
