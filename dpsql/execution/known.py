"""What is known of a query before it runs: the charge that it would be, the rows that answer it at no cost, and its plan
with what was chosen for it before. None of it looks at the data.
"""

from __future__ import annotations

import dataclasses
import json

from dpsql.accounting.account import Charge
from dpsql.accounting.ledger import Ledger
from dpsql.errors import InterfaceError, InternalError
from dpsql.execution.auto_bounds import Column
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.planning import UNDECIDED, Decided, plan_of, released_bounds
from dpsql.execution.query_settings import wants_fresh
from dpsql.plan.fingerprint import plan_fingerprint, user_tables_of
from dpsql.plan.stages import ReleasePlan
from dpsql.release.codec import decode
from dpsql.report.release_record import release_record
from dpsql.session import Session
from dpsql.sql.statement import Statement

MOST_KEPT = 4000  # characters of a statement's text on record


def check(session: Session, plan: ReleasePlan) -> PlanSql:
    """Step 8's scratch half: the SQL over the noisy tables describes itself over empty ones."""
    sql = PlanSql.of(session, plan)
    sql.describe(session.scratch)
    for stage in plan.stages:
        sql.check_fan_outs(session.scratch, stage, released=False)
    sql.check_single(session.scratch)
    return sql


def plan_now(session: Session, statement: Statement, query_id: str | None = None) -> ReleasePlan:
    """The query's plan, with what was chosen for it before: it is that of the run which chose its bounds, where that
    released rows and this has not. That run had the rest of ε, and a repeat of it is as free as any. query_id: what was
    chosen under it is taken over whether repeats are free or not."""
    plan = _with_known_limits(session, statement, UNDECIDED, query_id)
    if session.exact or not any(stage.bounds for stage in plan.stages):
        return plan
    fresh = wants_fresh(session, statement)
    if fresh and query_id is None:
        return plan
    if not plan.before and _has_rows(session, plan, query_id, fresh=fresh):
        return plan
    first = _with_known_limits(session, statement, Decided(bounds=released_bounds(session)), query_id)
    return first if not first.before and _has_rows(session, first, query_id, fresh=fresh) else plan


def _with_known_limits(
    session: Session, statement: Statement, decided: Decided, query_id: str | None = None
) -> ReleasePlan:
    """The plan; where its limits come first, and an equal run (or this one before) has chosen them, with these."""
    plan = plan_of(session, statement, decided)
    if session.ledger is None or len(plan.before) != 1 or plan.before[0].column is not None:
        return plan
    choice = plan.before[0].plan
    charge = charge_of(session, choice, PlanSql.of(session, choice), id_of_choice(query_id))
    rows = _known_rows(session, charge, fresh=wants_fresh(session, statement))
    if rows is None:
        return plan
    limits = [each.chosen for each in decode(rows)]
    return plan_of(session, statement, dataclasses.replace(decided, limits=limits))


def _has_rows(session: Session, plan: ReleasePlan, query_id: str | None, *, fresh: bool) -> bool:
    return _known_rows(session, charge_of(session, plan, check(session, plan), query_id), fresh=fresh) is not None


def _known_rows(session: Session, charge: Charge, *, fresh: bool) -> bytes | None:
    """None, too, where the query id is another plan's: so it is not this plan that the id's run had."""
    try:
        return earlier_rows(session, charge, fresh=fresh)
    except InterfaceError as refused:
        if refused.code != "DPSQL-412":
            raise
        return None


def id_of_choice(query_id: str | None, column: Column | None = None) -> str | None:
    """Under which id a choice is charged that comes before a query with an id: a retry finds it, and draws nothing again."""
    of = "limits" if column is None else f"bounds of {'.'.join(column)}"
    return None if query_id is None else f"{query_id} ({of})"


def ledger_of(session: Session) -> Ledger:
    if session.ledger is None:
        raise InternalError("a charge without a ledger")
    return session.ledger


def charge_of(
    session: Session, plan: ReleasePlan, plan_sql: PlanSql, query_id: str | None, *, sql: str | None = None
) -> Charge:
    """sql: the statement, where the charge is made for one: the record keeps it for the owner."""
    record = release_record(plan, version=session.catalog.version)
    if sql is not None:
        record["sql"] = sql if len(sql) <= MOST_KEPT else f"{sql[:MOST_KEPT]}…"
    return Charge(
        plan=plan_fingerprint(plan, plan_sql.contents(session.scratch, user_tables_of(plan))),
        metadata=session.metadata,
        cost=plan.cost,
        analyst=session.analyst,
        query_id=query_id,
        record=json.dumps(record),
    )


def earlier_rows(session: Session, charge: Charge, *, fresh: bool) -> bytes | None:
    """Released rows that answer the query again at no cost: those of its query id, those whose post-processing failed
    on this connection, and, unless it asks for new noise, those of any equal run. Never looks at the data."""
    if not fresh and charge.plan in session.unfinished:
        return session.unfinished[charge.plan]
    receipt = ledger_of(session).earlier(charge, any_run=session.repeats_are_free and not fresh)
    return None if receipt is None else receipt.repeats
