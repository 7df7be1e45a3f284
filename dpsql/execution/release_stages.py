"""Steps 10 and 11, stage by stage: private keys are selected, limits are chosen, the groups are measured; all of it
leaves through the modules of release/."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dpsql.engine.sources import Array
from dpsql.engine.vault import Asked
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.vault_sql import vault_relations, vault_run
from dpsql.mechanisms import entropy
from dpsql.plan.ready import Listed, Ready, with_public_keys
from dpsql.plan.render.limits import counting, over_limits
from dpsql.plan.render.selection import selecting
from dpsql.plan.render.stage import statements
from dpsql.plan.render.together import together
from dpsql.plan.stages import Chosen, NoisyStage, ReleasePlan
from dpsql.privacy.levels import with_errors
from dpsql.privacy.settling import settled
from dpsql.release.consistency import consistent
from dpsql.release.exact import Exact
from dpsql.release.limits import released_limits, released_over
from dpsql.release.private_keys import all_keys_of, ready_with_keys, released_round, released_together
from dpsql.release.released_rows import ReleasedRows, all_keys
from dpsql.release.totals import release
from dpsql.session import Session


def released_stages(session: Session, plan: ReleasePlan, plan_sql: PlanSql, vault: Asked) -> tuple[ReleasedRows, ...]:
    """Steps 10 and 11 for every stage in order; a later stage may read what an earlier one released."""
    released: list[ReleasedRows] = []
    stages: list[NoisyStage] = []
    chosen: dict[int, dict[Chosen, int]] = {}
    session.work.plan(len(plan.stages))
    for stage in plan.stages:
        plan_sql.check_fan_outs(session.scratch, stage, released=True)
        run, rows = _released(session, stage, plan_sql, vault, chosen, exact=plan.exact)
        stages.append(run)
        released.append(rows)
        session.work.step()
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
    vault: Asked,
    chosen: dict[int, dict[Chosen, int]],
    *,
    exact: bool,
) -> tuple[NoisyStage, ReleasedRows]:
    """Steps 10 and 11 for one stage: its private keys first, then the limits that are left to the data, then what is
    measured of the groups that are released; in one statement where one row of a unit counts. chosen: the limits of each
    stage so far."""
    if stage.is_empty:  # nothing can be released, so nothing is asked
        smallest = ask_limits(session, with_public_keys(stage), plan_sql, vault, chosen)
        return settled(stage, smallest), dataclasses.replace(all_keys(stage), chosen=smallest)
    query = None if exact else together(stage, vault_relations(session, vault, stage), kept=session.keeps_rows(stage))
    if query is not None:
        ready, totals = released_together(vault_run(session, stage, plan_sql, vault, query), stage)
        return stage, release(totals, ready)
    ready = ready_stage(session, stage, plan_sql, vault, exact=exact)
    limits = ask_limits(session, ready, plan_sql, vault, chosen)
    ready = dataclasses.replace(ready, stage=settled(stage, limits)) if stage.unsettled else ready
    totals = vault_totals(session, ready, plan_sql, vault, exact=exact)
    rows = release(totals, ready, noiseless=exact)
    return ready.stage, dataclasses.replace(rows, chosen=limits, over=_over(session, ready, plan_sql, vault))


def ask_limits(
    session: Session, ready: Ready, plan_sql: PlanSql, vault: Asked, chosen: dict[int, dict[Chosen, int]]
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


def _over(session: Session, ready: Ready, plan_sql: PlanSql, vault: Asked) -> tuple[tuple[int, int], ...]:
    """How many units are over the limits that are settled by now, where that is asked."""
    if not ready.stage.over:
        return ()
    asked = over_limits(ready, vault_relations(session, vault, ready.stage))
    return released_over(vault_run(session, ready.stage, plan_sql, vault, asked), ready.stage)


def ready_stage(session: Session, stage: NoisyStage, plan_sql: PlanSql, vault: Asked, *, exact: bool) -> Ready:
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
    session: Session, ready: Ready, plan_sql: PlanSql, vault: Asked, *, exact: bool, salt: int | None = None
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
