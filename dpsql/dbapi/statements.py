"""Every kind of statement an interface may hand over, dispatched: queries, EXPLAIN, SHOW, DESCRIBE, SET, user tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from dpsql.accounting import balance_table
from dpsql.accounting.caps import left_of
from dpsql.accounting.loss import Cost
from dpsql.aggregates import BY_NAME
from dpsql.catalog.model import fold
from dpsql.dbapi.user_tables import create_table, create_table_as, drop_table, insert
from dpsql.domain.types import Type
from dpsql.engine.printing import printed
from dpsql.engine.scratch_result import ScratchResult
from dpsql.errors import InternalError, NotSupportedError
from dpsql.execution.earlier_answers import rows_counted
from dpsql.execution.known import check, plan_now
from dpsql.execution.planning import Parameters, read
from dpsql.ir.ids import Ids
from dpsql.metadata.delta import check_delta
from dpsql.plan.dialects.literals import identifier, text
from dpsql.plan.stages import ReleasePlan
from dpsql.query import Answer, in_text, refusal_now, run_query, would_charge
from dpsql.report.estimates import estimates
from dpsql.report.explanation import Explanation, explanation
from dpsql.report.privacy import amount_report
from dpsql.session import Session, as_limit
from dpsql.sources.catalog_ledger import account_of
from dpsql.sql.bind import bind
from dpsql.sql.bind.scope import unknown_table
from dpsql.sql.statement import Option, Statement

Cell = str | float | int | None


Options = Mapping[str, Option]


def execute(
    session: Session,
    sql: str,
    parameters: Parameters = None,
    *,
    query_id: str | None = None,
    options: Options | None = None,
) -> Answer:
    """Run one statement. options: what counts where the text's own OPTIONS say nothing."""
    with in_text(sql):
        statement = _with_options(read(sql, parameters), options)
        if statement.kind == "query":
            return run_query(session, statement, query_id=query_id)
        return KINDS[statement.kind](session, statement)


def execute_many(session: Session, sql: str, many: Iterable[Parameters]) -> Answer:
    """Run one INSERT with each of many parameters, in order; what was inserted before an error stays."""
    changed = 0
    for parameters in many:
        with in_text(sql):
            statement = read(sql, parameters)
            if statement.kind != "insert":
                raise NotSupportedError(
                    "only INSERT may be run with many parameters",
                    code=122,
                    why="A query that runs many times would be charged many times.",
                    fix="Execute it once, or in a loop of your own.",
                )
            changed += max(0, insert(session, statement).changed)
    return Answer(kind="insert", rows=None, changed=changed)


def _with_options(statement: Statement, options: Options | None) -> Statement:
    return dataclasses.replace(statement, options={**options, **statement.options}) if options else statement


def explain(
    session: Session, sql: str, parameters: Parameters = None, *, options: Options | None = None
) -> Explanation:
    """The plan of a query, or of EXPLAIN of it."""
    with in_text(sql):
        return _explained(session, _with_options(read(sql, parameters), options))


def plan_text(session: Session, sql: str, parameters: Parameters = None) -> ReleasePlan:
    with in_text(sql):
        return plan_now(session, read(sql, parameters))


def charge_of(session: Session, sql: str, parameters: Parameters = None) -> Cost:
    """What running the query now would charge."""
    with in_text(sql):
        return would_charge(session, read(sql, parameters))


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
    if session.ledger is None:
        return explanation(plan, None)
    rows_of = rows_counted(session, session.settings(statement).assumed_rows, promised=True)
    refused = refusal_now(session, plan, plan_sql, fresh=session.fresh(statement))
    left = amount_report(left_of(session.ledger.balance(session.analyst), session.analyst))
    return explanation(plan, left, refused, estimates(plan, rows_of))


def _explain(session: Session, statement: Statement) -> Answer:
    lines = str(_explained(session, statement)).split("\n")
    return Answer(kind="explain", rows=_table(session, {"explain": "VARCHAR"}, [[line] for line in lines]))


def _show_tables(session: Session, statement: Statement) -> Answer:
    rows: list[list[Cell]] = [
        [t.name, "public" if t.public else "private", t.description or None] for t in session.catalog.tables
    ]
    rows += [[name, "view", None] for name in session.catalog.views]
    rows += [[name, "yours", None] for name in session.user_tables]
    return Answer(
        kind="show_tables",
        rows=_table(session, {"name": "VARCHAR", "kind": "VARCHAR", "description": "VARCHAR"}, rows),
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
    return Answer(kind="describe", rows=_table(session, names, rows))


def _bounds(column: object) -> str | None:
    from dpsql.catalog.model import ColumnSpec
    from dpsql.report.explanation import bounds_text

    assert isinstance(column, ColumnSpec)
    return bounds_text(column.type, column.interval)


def _show_budget(session: Session, statement: Statement) -> Answer:
    account = account_of(session.catalog) if session.ledger is None else session.ledger.account
    names = {name: "VARCHAR" if name in ("account", "what") else "DOUBLE" for name in balance_table.columns(account)}
    rows = [] if session.ledger is None else balance_table.rows(account, session.ledger.balance())
    return Answer(kind="show_budget", rows=_table(session, names, rows))


def _set(session: Session, statement: Statement) -> Answer:
    option = statement.value
    if option is None:
        raise InternalError("SET without a value")
    value = option.value
    match option.name:
        case "epsilon" | "delta" | "confirm_above":
            assert isinstance(value, Fraction | int)
            if option.name == "delta":
                check_delta(session.catalog, Fraction(value), at=option.at)
            setattr(session.defaults, option.name, Fraction(value))
        case "max_groups_contributed":
            session.defaults.groups = as_limit(option, None)
        case "max_rows_contributed":  # the later of two ways to limit rows counts
            session.defaults.rows, session.defaults.rows_in_group = as_limit(option, None), None
        case "max_rows_per_group":
            session.defaults.rows, session.defaults.rows_in_group = None, int(value)  # type: ignore[arg-type]  # the same
        case _:
            setattr(session.defaults, option.name, value)
    return Answer(kind="set", rows=None)


def _table(session: Session, columns: dict[str, str], rows: Sequence[Sequence[Cell]]) -> ScratchResult:
    """A small table of our own as a result."""
    types = list(columns.values())

    def cell(value: Cell, type_: str) -> str:
        if value is None:
            return f"CAST(NULL AS {type_})"
        return text(value) if isinstance(value, str) else f"CAST('{value!r}' AS {type_})"

    lines = [", ".join(cell(v, t) for v, t in zip(row, types, strict=True)) for row in rows]
    names = ", ".join(identifier(name) for name in columns)
    if not lines:
        empty = ", ".join(f"CAST(NULL AS {t}) AS {identifier(n)}" for n, t in columns.items())
        return session.scratch.query(f"SELECT {empty} LIMIT 0")
    values = ", ".join(f"({line})" for line in lines)
    return session.scratch.query(f"SELECT * FROM (VALUES {values}) AS t({names})")


KINDS: dict[str, Callable[[Session, Statement], Answer]] = {
    "explain": _explain,
    "show_tables": _show_tables,
    "show_budget": _show_budget,
    "describe": _describe,
    "set": _set,
    "create_table_as": create_table_as,
    "create_table": create_table,
    "insert": insert,
    "drop_table": drop_table,
}
