"""The steps from text to result, called in order and nothing else. See README.md for what each may touch.

1 parse   2 allow   3–7 plan   8 vault.open, scratch.check   9 reserve   10 vault.run   11 release   12 store
13 scratch.finish
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dpsql.accounting.account import Charge, Receipt
from dpsql.accounting.loss import ZERO, Cost
from dpsql.domain.interval import Interval
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sources import Array, ArrowStream, Columns
from dpsql.engine.vault import Vault
from dpsql.errors import BudgetError, Error, Refused
from dpsql.execution.accuracy import chosen_limits, with_chosen
from dpsql.execution.auto_bounds import chosen_of, recorded
from dpsql.execution.known import charge_of, check, earlier_rows, id_of_choice, ledger_of, plan_now
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.planning import UNDECIDED, plan_of
from dpsql.execution.row_intervals import interval_report
from dpsql.execution.vault_sql import vault_relations
from dpsql.mechanisms import entropy
from dpsql.plan.ready import Listed, Ready, with_public_keys
from dpsql.plan.render.limits import counting, over_limits
from dpsql.plan.render.selection import selecting
from dpsql.plan.render.stage import statements, together
from dpsql.plan.stages import Chosen, NoisyStage, ReleasePlan
from dpsql.plan.vault_query import Question, VaultQuery
from dpsql.planner import settled_plan
from dpsql.privacy.levels import with_errors
from dpsql.privacy.settling import settled
from dpsql.release.codec import decode, encode
from dpsql.release.consistency import consistent
from dpsql.release.noise import (
    Exact,
    ReleasedRows,
    all_keys,
    all_keys_of,
    ready_with_keys,
    release,
    released_limits,
    released_over,
    released_round,
    released_together,
)
from dpsql.report.privacy import LimitReport, Privacy, cost_report, limit_reports, over_reports, privacy_report
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
    if plan.before:
        return _after_choices(session, statement, plan, query_id)
    return _run_planned(session, statement, plan, query_id)


def _after_choices(session: Session, statement: Statement, asked: ReleasePlan, query_id: str | None) -> Answer:
    """Bounds first, then limits, each a release of its own; then the query with them: only where the budget allows all.

    What was chosen is on record before the next step is planned, so it is never drawn again after a crash.
    """
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
                bounds[first.column] = ends = choose_bounds(session, *first.column, first.plan, query_id)
                low, high = (f"{float(end):,.10g}" for end in ends.ends())
                said.append(f"the data chose bounds of {'.'.join(first.column)}: {low} to {high}")
        decided = dataclasses.replace(decided, bounds=bounds)
        try:
            plan = plan_of(session, statement, decided)
        except Refused as too_much:
            raise _after_charge(too_much, spent, limits) from None
    answer = _run_planned(session, statement, plan, query_id)
    if answer.privacy is None:
        return answer
    cost = cost_report(spent + (ZERO if answer.privacy.repeated else plan.cost), plan.accounting)
    privacy = dataclasses.replace(
        answer.privacy,
        cost=cost,
        limits=(*limits, *answer.privacy.limits),
        notes=(*said, *answer.privacy.notes),
        repeated=False,
    )
    return dataclasses.replace(answer, privacy=privacy)


def _after_charge(refused: Refused, spent: Cost, limits: Sequence[LimitReport]) -> Refused:
    """What was chosen is too much for the rest of ε: it stays charged, and known."""
    chosen = "; ".join(f"at most {limit.chosen:,.6g} for {limit.of}" for limit in limits if limit.chosen is not None)
    known = f" The data chose {chosen}: 'released' uses that at no cost." if chosen else ""
    why = f"{refused.why} ε = {float(spent.epsilon):.6g} was spent on the choice before it.{known}"
    return Refused(refused.what, code=int(refused.code.removeprefix("DPSQL-")), why=why, fix=refused.fix)


def choose_bounds(
    session: Session, table: str, column: str, choice: ReleasePlan, query_id: str | None = None
) -> Interval:
    """Steps 8 to 12 of a choice of bounds."""
    plan_sql, vault, ledger = check(session, choice), session.vault(), ledger_of(session)
    receipt = ledger.reserve(charge_of(session, choice, plan_sql, id_of_choice(query_id, (table, column))))
    if receipt.repeats is not None:
        (rows,) = decode(receipt.repeats)
        return chosen_of(choice.stages[0], *_ends(rows))
    ledger.running(receipt)
    (rows,) = _releases(session, choice, plan_sql, vault)
    plan_sql.drop(session.scratch)
    bounds = chosen_of(choice.stages[0], *_ends(rows))
    ledger.store(receipt, encode((rows,)), json.dumps({"limits": list(recorded(table, column, bounds))}))
    return bounds


def choose_limits(session: Session, choice: ReleasePlan, query_id: str | None = None) -> ReleasePlan:
    """Steps 8 to 12 of a choice of limits that comes before its query: the plan with what was chosen."""
    plan_sql, vault, ledger = PlanSql.of(session, choice), session.vault(), ledger_of(session)
    receipt = ledger.reserve(charge_of(session, choice, plan_sql, id_of_choice(query_id)))
    if receipt.repeats is not None:
        return with_chosen(choice, [rows.chosen for rows in decode(receipt.repeats)])
    ledger.running(receipt)
    by_stage: dict[int, dict[Chosen, int]] = {}
    rows = [
        ReleasedRows(
            stage=stage.number,
            rows=0,
            columns={},
            chosen=_limits(session, with_public_keys(stage), plan_sql, vault, by_stage),
        )
        for stage in choice.stages
    ]
    done = with_chosen(choice, [each.chosen for each in rows])
    ledger.store(receipt, encode(tuple(rows)), released_record(choice, done))
    return done


def _ends(rows: ReleasedRows) -> tuple[int, int]:
    low, high = (int(column[0]) for column in rows.columns.values())
    return low, high


def _run_planned(session: Session, statement: Statement, plan: ReleasePlan, query_id: str | None) -> Answer:
    plan_sql = check(session, plan)
    if plan.exact:
        released = _releases(session, plan, plan_sql, session.vault()) if plan.stages else ()
        return _finish(session, plan, plan_sql, released)
    if not needs_charge(plan):
        return _finish(session, plan, plan_sql, tuple(all_keys(stage) for stage in plan.stages))
    charge = charge_of(session, plan, plan_sql, query_id)
    earlier = earlier_rows(session, charge, fresh=session.fresh(statement))
    if earlier is not None:
        answer = _finish_settled(session, plan, plan_sql, decode(earlier), repeated=True)
        session.unfinished.pop(charge.plan, None)
        return answer
    vault = session.vault()
    receipt = ledger_of(session).reserve(charge)
    if receipt.repeats is not None:
        return _finish_settled(session, plan, plan_sql, decode(receipt.repeats), repeated=True)
    return _run_charged(session, plan, plan_sql, vault, charge, receipt)


def _run_charged(
    session: Session, plan: ReleasePlan, plan_sql: PlanSql, vault: Vault, charge: Charge, receipt: Receipt
) -> Answer:
    """Steps 10 to 13. The released rows are kept until post-processing succeeds: corrected SQL runs on them for free."""
    ledger = ledger_of(session)
    ledger.running(receipt)
    released = _releases(session, plan, plan_sql, vault)
    rows = encode(released)
    ledger.store(receipt, rows, released_record(plan, settled_plan(plan, [each.chosen for each in released])))
    session.unfinished[charge.plan] = rows
    answer = _finish_settled(session, plan, plan_sql, released)
    session.unfinished.pop(charge.plan, None)
    return answer


def would_charge(session: Session, statement: Statement) -> Cost:
    """What running the query now would charge: nothing where released rows answer it. Reads nothing private; raises what
    running it would refuse before the charge, but for the budget."""
    plan = plan_now(session, statement)
    if plan.exact or not needs_charge(plan):
        return ZERO
    charge = charge_of(session, plan, check(session, plan), None)
    return plan.whole_cost if earlier_rows(session, charge, fresh=session.fresh(statement)) is None else ZERO


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


def _releases(session: Session, plan: ReleasePlan, plan_sql: PlanSql, vault: Vault) -> tuple[ReleasedRows, ...]:
    """Steps 10 and 11 for every stage in order; a later stage may read what an earlier one released."""
    released: list[ReleasedRows] = []
    stages: list[NoisyStage] = []
    chosen: dict[int, dict[Chosen, int]] = {}
    for stage in plan.stages:
        plan_sql.check_fan_outs(session.scratch, stage, released=True)
        run, rows = _released(session, stage, plan_sql, vault, chosen, exact=plan.exact)
        stages.append(run)
        released.append(rows)
        plan_sql.plan = dataclasses.replace(plan_sql.plan, stages=(*stages, *plan.stages[len(stages) :]))
        if plan.exact or not _family_goes_on(plan, stage):
            first = stage.number if stage.level is None or plan.exact else stage.level.family
            stages[first:] = with_errors(stages[first:])
            plan_sql.plan = dataclasses.replace(plan_sql.plan, stages=(*stages, *plan.stages[len(stages) :]))
            released[first:] = consistent(tuple(stages[first:]), released[first:])
            plan_sql.load(session.scratch, stages[first:], released[first:])
    return tuple(released)


def _family_goes_on(plan: ReleasePlan, stage: NoisyStage) -> bool:
    """Whether the next stage is a grouping set of the same family."""
    after = plan.stages[stage.number + 1 : stage.number + 2]
    return stage.level is not None and any(s.level is not None and s.level.family == stage.level.family for s in after)


def _released(
    session: Session,
    stage: NoisyStage,
    plan_sql: PlanSql,
    vault: Vault,
    chosen: dict[int, dict[Chosen, int]],
    *,
    exact: bool,
) -> tuple[NoisyStage, ReleasedRows]:
    """Steps 10 and 11 for one stage: its private keys first, then the limits that are left to the data, then what is
    measured of the groups that are released; in one statement where one row of a unit counts. chosen: the limits of each
    stage so far."""
    if stage.is_empty:  # nothing can be released, so nothing is asked
        smallest = _limits(session, with_public_keys(stage), plan_sql, vault, chosen)
        return settled(stage, smallest), dataclasses.replace(all_keys(stage), chosen=smallest)
    query = None if exact else together(stage, vault_relations(session, vault, stage), kept=session.keeps_rows(stage))
    if query is not None:
        ready, totals = released_together(vault_run(session, stage, plan_sql, vault, query), stage)
        return stage, release(totals, ready)
    ready = ready_stage(session, stage, plan_sql, vault, exact=exact)
    limits = _limits(session, ready, plan_sql, vault, chosen)
    ready = dataclasses.replace(ready, stage=settled(stage, limits)) if stage.unsettled else ready
    totals = vault_totals(session, ready, plan_sql, vault, exact=exact)
    rows = release(totals, ready, noiseless=exact)
    return ready.stage, dataclasses.replace(rows, chosen=limits, over=_over(session, ready, plan_sql, vault))


def _limits(
    session: Session, ready: Ready, plan_sql: PlanSql, vault: Vault, chosen: dict[int, dict[Chosen, int]]
) -> tuple[int, ...]:
    """Of each choice of the stage the limit that is chosen, and noted for the stages that take it over."""
    stage, earlier = ready.stage, dict[Chosen, int]()
    for choice in stage.choices:
        earlier |= {} if choice.as_in is None else chosen[choice.as_in]
    if not stage.unsettled:
        limits: tuple[int, ...] = ()
    elif stage.is_empty:
        limits = tuple(choice.candidates[0] for choice in stage.choices)
    else:
        asked = counting(ready, vault_relations(session, vault, stage))
        limits = released_limits(vault_run(session, stage, plan_sql, vault, asked), ready, earlier)
    chosen[stage.number] = {choice.of: n for choice, n in zip(stage.choices, limits, strict=True)}
    return limits


def _over(session: Session, ready: Ready, plan_sql: PlanSql, vault: Vault) -> tuple[tuple[int, int], ...]:
    """How many units are over the limits that are settled by now, where that is asked."""
    if not ready.stage.over:
        return ()
    asked = over_limits(ready, vault_relations(session, vault, ready.stage))
    return released_over(vault_run(session, ready.stage, plan_sql, vault, asked), ready.stage)


def ready_stage(session: Session, stage: NoisyStage, plan_sql: PlanSql, vault: Vault, *, exact: bool) -> Ready:
    """Its private keys are selected, in one or two rounds."""
    if stage.public_keys:
        return with_public_keys(stage)
    relations, kept = vault_relations(session, vault, stage), session.keeps_rows(stage)
    if exact:
        every = selecting(stage, relations, exact=True, kept=kept)
        return all_keys_of(vault_run(session, stage, plan_sql, vault, every), stage)
    rounds: list[Mapping[str, Array]] = []
    before: Listed | None = None
    for round_ in range(len(stage.selections)):
        query = selecting(stage, relations, round_=round_, before=before, kept=kept)
        rounds.append(released_round(vault_run(session, stage, plan_sql, vault, query), stage, round_))
        ready = ready_with_keys(rounds, stage)
        assert isinstance(ready.groups, Listed)
        before = ready.groups
    return ready


def vault_totals(
    session: Session, ready: Ready, plan_sql: PlanSql, vault: Vault, *, exact: bool, salt: int | None = None
) -> Exact:
    if isinstance(ready.groups, Listed) and not ready.count and not exact:
        return Exact(())  # no group, nothing to ask
    salt = entropy.salt() if salt is None else salt
    query = statements(
        ready,
        vault_relations(session, vault, ready.stage),
        salt=salt,
        exact=exact,
        kept=session.keeps_rows(ready.stage),
    )
    return vault_run(session, ready.stage, plan_sql, vault, query)


def vault_run(session: Session, stage: NoisyStage, plan_sql: PlanSql, vault: Vault, query: VaultQuery) -> Exact:
    """Step 10: the one place where private data is read."""
    return Exact([(each, _run_one(session, stage, plan_sql, vault, query, each)) for each in query.questions])


def _run_one(
    session: Session, stage: NoisyStage, plan_sql: PlanSql, vault: Vault, query: VaultQuery, question: Question
) -> dict[str, Array]:
    loads: dict[str, Columns | ArrowStream] = dict(query.tables)
    results = [session.scratch.query(plan_sql.relation(node)) for node in stage.loads]
    try:
        for index, result in enumerate(results):
            loads[f"load_{index}"] = result
        expected = [(column.name, column.type, column.nullable) for column in question.columns]
        return vault.run(question.sql, loads=loads, columns=expected)
    finally:
        for result in results:
            result.close()


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
        rows = session.scratch.query(plan_sql.final(), shown=True)
    finally:
        plan_sql.drop(session.scratch)
    notes: tuple[str, ...] = ()
    if plan.stages and not plan.exact and not session.catalog.budget.capped:
        notes = ("this dataset has no budget: spending is counted, not limited",)
    half_widths = interval_report(plan, released) if plan.stages else None
    over = tuple(
        report for stage, rows_ in zip(plan.stages, released, strict=True) for report in over_reports(stage, rows_.over)
    )
    privacy = (
        privacy_report(plan, repeated=repeated, notes=notes, half_widths=half_widths, over=over)
        if plan.stages
        else None
    )
    return Answer(kind="query", rows=rows, plan=plan, privacy=privacy)
