"""The steps from text to result, called in order and nothing else. See README.md for what each may touch.

1 parse   2 allow   3–7 plan   8 vault.open, scratch.check   9 reserve   10 vault.run   11 release   12 store
13 scratch.finish
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dpsql.accounting.account import Charge
from dpsql.accounting.loss import ZERO, Cost
from dpsql.accounting.releases import Release
from dpsql.engine.scratch_result import ScratchResult
from dpsql.errors import BudgetError, Error
from dpsql.execution.charged import Rows, released_once
from dpsql.execution.choices_first import Made, make_choices
from dpsql.execution.known import charge_of, check, earlier_rows, ledger_of, plan_now
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.query_settings import wants_fresh
from dpsql.execution.release_stages import released_stages
from dpsql.execution.row_intervals import interval_report
from dpsql.plan.stages import ReleasePlan
from dpsql.planner import settled_plan
from dpsql.release.codec import decode
from dpsql.release.released_rows import ReleasedRows, all_keys
from dpsql.report.from_plan import plan_report
from dpsql.report.privacy import Privacy, cost_report, over_reports, privacy_report
from dpsql.report.release_record import released_record
from dpsql.session import Session
from dpsql.sql.parse import deep_stack
from dpsql.sql.statement import Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """rows: None for statements without a result. plan and privacy: None where no release was involved."""

    kind: str
    rows: ScratchResult | None
    plan: ReleasePlan | None = None
    privacy: Privacy | None = None
    changed: int = -1


@contextmanager
def in_text(text: str) -> Iterator[None]:
    """Errors that point into the statement learn its text."""
    try:
        with deep_stack():
            yield
    except Error as error:
        raise error.in_text(text)  # noqa: B904 - the same error, one fact richer


def run_query(session: Session, statement: Statement, *, query_id: str | None = None) -> Answer:
    """Steps 3 to 13 for one query. What was answered before is given again before any source is opened."""
    plan = plan_now(session, statement, query_id)
    if not plan.before:
        return _run_planned(session, statement, plan, query_id)
    made = make_choices(session, statement, plan, query_id)
    return _with_choices(_run_planned(session, statement, made.plan, query_id), made)


def _with_choices(answer: Answer, made: Made) -> Answer:
    """What is told of a query is told of its choices, too."""
    if answer.privacy is None:
        return answer
    spent = made.spent + (ZERO if answer.privacy.repeated else made.plan.cost)
    privacy = dataclasses.replace(
        answer.privacy,
        cost=cost_report(spent, made.plan.accounting),
        limits=(*made.limits, *answer.privacy.limits),
        notes=(*made.said, *answer.privacy.notes),
        repeated=False,
    )
    return dataclasses.replace(answer, privacy=privacy)


def _run_planned(session: Session, statement: Statement, plan: ReleasePlan, query_id: str | None) -> Answer:
    plan_sql = check(session, plan)
    if plan.exact:
        return _finish(session, plan, plan_sql, _released_exactly(session, plan, plan_sql))
    if not needs_charge(plan):
        return _finish(session, plan, plan_sql, tuple(all_keys(stage) for stage in plan.stages))
    charge = charge_of(session, plan, plan_sql, query_id, sql=statement.text)
    earlier = earlier_rows(session, charge, fresh=wants_fresh(session, statement))
    if earlier is not None:
        answer = _finish_settled(session, plan, plan_sql, decode(earlier), repeated=True)
        session.unfinished.pop(charge.plan, None)
        return answer
    return _run_charged(session, plan, plan_sql, charge)


def _released_exactly(session: Session, plan: ReleasePlan, plan_sql: PlanSql) -> Rows:
    if not plan.stages:
        return ()
    with session.vault().snapshot() as snapshot:
        return released_stages(session, plan, plan_sql, snapshot)


def _run_charged(session: Session, plan: ReleasePlan, plan_sql: PlanSql, charge: Charge) -> Answer:
    """Steps 9 to 13. The released rows are kept until post-processing succeeds: corrected SQL runs on them for free."""

    def record(rows: Rows) -> str:
        return released_record(plan, settled_plan(plan, [each.chosen for each in rows]))

    done = released_once(session, charge, lambda vault: released_stages(session, plan, plan_sql, vault), record)
    if done.repeated:
        return _finish_settled(session, plan, plan_sql, done.rows, repeated=True)
    session.unfinished[charge.plan] = done.data
    answer = _finish_settled(session, plan, plan_sql, done.rows)
    session.unfinished.pop(charge.plan, None)
    return answer


def answer_on_record(session: Session, statement: Statement, released: Release, rows: bytes) -> Answer | None:
    """The answer that rows on record give, if the statement's plan is the one that released them; None where it is not.

    Lemma: it costs nothing. Proof: no step of it charges or opens a source; it finishes rows that are released, with SQL
    over them in scratch.
    """
    plan = plan_now(session, statement)
    if plan.before or plan.exact or not needs_charge(plan):
        return None
    plan_sql = check(session, plan)
    charge = charge_of(session, plan, plan_sql, None)
    if (charge.plan, charge.metadata) != (released.plan, released.metadata):
        return None
    return _finish_settled(session, plan, plan_sql, decode(rows), repeated=True)


def would_charge(session: Session, statement: Statement) -> Cost:
    """What running the query now would charge: nothing where released rows answer it. Reads nothing private; raises what
    running it would refuse before the charge, but for the budget."""
    plan = plan_now(session, statement)
    if plan.exact or not needs_charge(plan):
        return ZERO
    charge = charge_of(session, plan, check(session, plan), None)
    return plan.whole_cost if earlier_rows(session, charge, fresh=wants_fresh(session, statement)) is None else ZERO


def refusal_now(session: Session, plan: ReleasePlan, plan_sql: PlanSql, *, fresh: bool) -> BudgetError | None:
    """Why the budget would not allow the plan now; None where it would, and for a free repeat."""
    if plan.exact or not needs_charge(plan):
        return None
    refused = ledger_of(session).quote(plan.whole_cost, session.analyst)
    if refused is None or refused.code == "DPSQL-403":  # who may not ask may not ask again either
        return refused
    charge = charge_of(session, plan, plan_sql, None)
    return refused if earlier_rows(session, charge, fresh=fresh) is None else None


def needs_charge(plan: ReleasePlan) -> bool:
    return plan.cost.epsilon > 0 or plan.cost.delta > 0


def _finish_settled(
    session: Session, plan: ReleasePlan, plan_sql: PlanSql, released: Sequence[ReleasedRows], *, repeated: bool = False
) -> Answer:
    """Released rows may say which limits were chosen: what is told of them is told of that plan."""
    run = settled_plan(plan, [rows.chosen for rows in released])
    if run is not plan:
        plan_sql = dataclasses.replace(plan_sql, plan=run)
    return _finish(session, run, plan_sql, released, repeated=repeated)


def _finish(
    session: Session, plan: ReleasePlan, plan_sql: PlanSql, released: Sequence[ReleasedRows], *, repeated: bool = False
) -> Answer:
    """Step 13: the rest of the statement, over the released rows."""
    try:
        plan_sql.load(session.scratch, plan.stages, released)
        rows = plan_sql.rows(session.scratch)
    finally:
        plan_sql.drop(session.scratch)
    if not plan.stages:
        return Answer(kind="query", rows=rows, plan=plan)
    counted = not plan.exact and not session.catalog.budget.capped
    notes = ("this dataset has no budget: spending is counted, not limited",) if counted else ()
    half_widths = interval_report(plan, released)
    over = tuple(report for rows_ in released for report in over_reports(plan.stages[rows_.stage], rows_.over))
    report, cost = plan_report(plan), ZERO if repeated else plan.cost
    privacy = privacy_report(report, cost, repeated=repeated, notes=notes, half_widths=half_widths, over=over)
    return Answer(kind="query", rows=rows, plan=plan, privacy=privacy)
