"""What the data choose before a query: bounds of columns first, then limits, each a release of its own (steps 8 to 12).

What was chosen is on record before the next step is planned, so it is never drawn again after a crash.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence

from dpsql.accounting.loss import ZERO, Cost
from dpsql.domain.interval import Interval
from dpsql.engine.vault import Asked
from dpsql.errors import Refused
from dpsql.execution.accuracy import chosen_limits, with_chosen
from dpsql.execution.auto_bounds import Column, chosen_of, recorded
from dpsql.execution.charged import Rows, released_once
from dpsql.execution.known import charge_of, check, earlier_rows, id_of_choice, ledger_of
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.planning import UNDECIDED, plan_of
from dpsql.execution.release_stages import ask_limits, released_stages
from dpsql.plan.ready import with_public_keys
from dpsql.plan.stages import Chosen, ReleasePlan
from dpsql.release.released_rows import ReleasedRows
from dpsql.report.from_plan import limit_reports
from dpsql.report.plan_report import LimitReport
from dpsql.report.release_record import released_record
from dpsql.session import Session
from dpsql.sql.statement import Statement


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """The query's plan with what was chosen; what the choices cost, and what is told of them."""

    plan: ReleasePlan
    spent: Cost
    limits: tuple[LimitReport, ...]
    said: tuple[str, ...]


def make_choices(session: Session, statement: Statement, asked: ReleasePlan, query_id: str | None) -> Made:
    """Only where the budget allows all of it: the choices and the query."""
    charge = charge_of(session, asked, check(session, asked), query_id)
    earlier_rows(session, charge, fresh=True)  # an id that is another query's is refused before anything is drawn
    refused = ledger_of(session).quote(asked.whole_cost, session.analyst)
    if refused is not None:
        raise refused
    plan, decided, spent = asked, UNDECIDED, ZERO
    said: list[str] = []
    limits: tuple[LimitReport, ...] = ()
    while plan.before:
        bounds = dict(decided.bounds)
        for first in plan.before:
            spent += first.plan.cost
            if first.column is None:
                done = choose_limits(session, first.plan, query_id)
                decided = dataclasses.replace(decided, limits=chosen_limits(done))
                limits = tuple(report for stage in done.stages for report in limit_reports(stage))
            else:
                bounds[first.column] = ends = choose_bounds(session, first.column, first.plan, query_id)
                low, high = (f"{float(end):,.10g}" for end in ends.ends())
                said.append(f"the data chose bounds of {'.'.join(first.column)}: {low} to {high}")
        decided = dataclasses.replace(decided, bounds=bounds)
        try:
            plan = plan_of(session, statement, decided)
        except Refused as too_much:
            raise _after_charge(too_much, spent, limits) from None
    return Made(plan, spent, limits, tuple(said))


def _after_charge(refused: Refused, spent: Cost, limits: Sequence[LimitReport]) -> Refused:
    """What was chosen is too much for the rest of ε: it stays charged, and known."""
    chosen = "; ".join(f"at most {limit.chosen:,.6g} for {limit.of}" for limit in limits if limit.chosen is not None)
    known = f" The data chose {chosen}: 'released' uses that at no cost." if chosen else ""
    why = f"{refused.why} ε = {float(spent.epsilon):.6g} was spent on the choice before it.{known}"
    return Refused(refused.what, code=int(refused.code.removeprefix("DPSQL-")), why=why, fix=refused.fix)


def choose_bounds(session: Session, column: Column, choice: ReleasePlan, query_id: str | None = None) -> Interval:
    plan_sql = check(session, choice)

    def run(vault: Asked) -> Rows:
        rows = released_stages(session, choice, plan_sql, vault)
        plan_sql.drop(session.scratch)
        return rows

    def bounds_in(rows: Rows) -> Interval:
        low, high = (int(values[0]) for values in rows[0].columns.values())
        return chosen_of(choice.stages[0], low, high)

    def record(rows: Rows) -> str:
        return json.dumps({"limits": list(recorded(*column, bounds_in(rows)))})

    charge = charge_of(session, choice, plan_sql, id_of_choice(query_id, column))
    return bounds_in(released_once(session, charge, run, record).rows)


def choose_limits(session: Session, choice: ReleasePlan, query_id: str | None = None) -> ReleasePlan:
    """The plan with what was chosen."""
    plan_sql = PlanSql.of(session, choice)

    def run(vault: Asked) -> Rows:
        by_stage: dict[int, dict[Chosen, int]] = {}
        limits = [ask_limits(session, with_public_keys(stage), plan_sql, vault, by_stage) for stage in choice.stages]
        return tuple(
            ReleasedRows(stage=stage.number, rows=0, columns={}, chosen=chosen)
            for stage, chosen in zip(choice.stages, limits, strict=True)
        )

    def done(rows: Rows) -> ReleasePlan:
        return with_chosen(choice, [each.chosen for each in rows])

    charge = charge_of(session, choice, plan_sql, id_of_choice(query_id))
    return done(released_once(session, charge, run, lambda rows: released_record(choice, done(rows))).rows)
