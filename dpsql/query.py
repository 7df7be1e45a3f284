"""The steps from text to result, called in order and nothing else. See README.md for what each may touch.

1 parse   2 allow   3–7 plan   8 vault.open, scratch.check   9 reserve   10 vault.run   11 release   12 store
13 scratch.finish
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dpsql.accounting.account import Charge, Receipt
from dpsql.engine.scratch_result import ScratchResult
from dpsql.engine.sources import Array, ArrowStream, Columns
from dpsql.engine.vault import Vault
from dpsql.errors import Error, InternalError, NotSupportedError
from dpsql.mechanisms import entropy
from dpsql.plan.fingerprint import plan_fingerprint
from dpsql.plan.render.bounding import VaultQuery, bounding
from dpsql.plan.render.stage_tables import key_table_columns
from dpsql.plan.stages import ReleasePlan, Stage
from dpsql.planner import World, plan
from dpsql.release import Exact, Noisy, all_keys, release
from dpsql.result import Privacy, privacy_report
from dpsql.scratch_sql import ScratchSql
from dpsql.session import Session
from dpsql.sql.allow import allow
from dpsql.sql.parse import deep_stack, parse
from dpsql.sql.statement import Statement
from dpsql.stored import decode, encode
from dpsql.vault_sql import vault_relations

Parameters = Sequence[object] | Mapping[str, object] | None


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


def read(text: str, parameters: Parameters = None) -> Statement:
    """Steps 1 and 2."""
    statement = parse(text, parameters)
    allow(statement)
    return statement


def plan_of(session: Session, statement: Statement) -> ReleasePlan:
    """Steps 3 to 7."""
    world = World(catalog=session.catalog, user_tables=session.user_tables, keys_of=session.keys_of())
    return plan(statement, world, session.settings(statement))


def check(session: Session, found: ReleasePlan) -> ScratchSql:
    """Step 8's scratch half: the SQL over the noisy tables describes itself over empty ones."""
    sql = ScratchSql.of(session, found)
    sql.describe(session.scratch)
    return sql


def run_query(session: Session, statement: Statement, *, query_id: str | None = None) -> Answer:
    """Steps 3 to 13 for one query."""
    found = plan_of(session, statement)
    vault = session.vault() if found.stages and (found.exact or needs_charge(found)) else None
    scratch = check(session, found)
    if vault is None:
        noisies = tuple(all_keys(stage) for stage in found.stages)
        return _finish(session, found, scratch, noisies, repeated=False)
    if found.exact:
        return _finish(session, found, scratch, _releases(session, found, scratch, vault), repeated=False)
    receipt = _reserve(session, found, query_id)
    if receipt.repeats is not None:
        return _finish(session, found, scratch, decode(receipt.repeats), repeated=True)
    ledger = session.ledger
    if ledger is None:
        raise InternalError("a charge without a ledger")
    ledger.running(receipt)
    noisies = _releases(session, found, scratch, vault)
    ledger.store(receipt, encode(noisies))
    return _finish(session, found, scratch, noisies, repeated=False)


def needs_charge(found: ReleasePlan) -> bool:
    return found.cost.epsilon > 0 or found.cost.delta > 0


def _reserve(session: Session, found: ReleasePlan, query_id: str | None) -> Receipt:
    if session.ledger is None:
        raise InternalError("a charge without a ledger")
    charge = Charge(
        plan=plan_fingerprint(found),
        metadata=session.metadata,
        cost=found.cost,
        analyst=session.analyst,
        query_id=query_id,
        record=json.dumps(_record(found)),
    )
    return session.ledger.reserve(charge)


def _record(found: ReleasePlan) -> dict[str, object]:
    """The release record: what a sceptical reader asks of every answer."""
    report = privacy_report(found)
    return {
        "dataset": found.dataset,
        "unit": found.unit,
        "neighbours": "one unit added or removed, with all its rows in every table",
        "measurements": [
            {
                "name": m.name,
                "mechanism": m.mechanism,
                "sensitivity": m.sensitivity,
                "scale": m.scale,
                "half_width_95": m.half_width,
                "max_groups": m.max_groups,
                "max_rows": m.max_rows,
                "bounds": m.because,
            }
            for m in report.measurements
        ],
        "threshold_units": report.threshold,
    }


def _releases(session: Session, found: ReleasePlan, scratch: ScratchSql, vault: Vault) -> tuple[Noisy, ...]:
    """Steps 10 and 11 for every stage in order; a later stage may read what an earlier one released."""
    noisies: list[Noisy] = []
    for stage in found.stages:
        exact = vault_run(session, stage, scratch, vault, salt=entropy.salt(), exact=found.exact)
        noisies.append(release(exact, stage))
        scratch.load(session.scratch, stage, noisies[-1])
    return tuple(noisies)


def vault_run(session: Session, stage: Stage, scratch: ScratchSql, vault: Vault, *, salt: int, exact: bool) -> Exact:
    """Step 10: the one place where private data is read."""
    relations = vault_relations(session, vault)
    query = bounding(stage, relations, salt=salt, exact=exact)
    return exact_totals(session, stage, scratch, vault, query)


def exact_totals(session: Session, stage: Stage, scratch: ScratchSql, vault: Vault, query: VaultQuery) -> Exact:
    """The stage's own query, then those of its measures apart."""
    totals = _run_one(session, stage, scratch, vault, query, query.sql)
    apart = {j: _run_one(session, stage, scratch, vault, query, sql) for j, sql in query.apart.items()}
    return Exact(totals, apart)


def _run_one(
    session: Session, stage: Stage, scratch: ScratchSql, vault: Vault, query: VaultQuery, sql: str
) -> dict[str, Array]:
    loads: dict[str, Columns | ArrowStream] = {
        name: key_table_columns(values, type_) for name, (values, type_) in query.key_tables.items()
    }
    results = [session.scratch.query(scratch.relation(node)) for node in stage.loads]
    try:
        for index, result in enumerate(results):
            loads[f"load_{index}"] = result
        return vault.run(sql, loads=loads)
    finally:
        for result in results:
            result.close()


def _finish(
    session: Session, found: ReleasePlan, scratch: ScratchSql, noisies: tuple[Noisy, ...], *, repeated: bool
) -> Answer:
    """Step 13: the rest of the statement, over the released rows."""
    try:
        for stage, noisy in zip(found.stages, noisies, strict=True):
            scratch.load(session.scratch, stage, noisy)
        rows = session.scratch.query(scratch.final())
    finally:
        scratch.drop(session.scratch)
    notes: tuple[str, ...] = ()
    if found.stages and not found.exact and not session.catalog.budget.capped:
        notes = ("this dataset has no budget: spending is counted, not limited",)
    privacy = privacy_report(found, repeated=repeated, notes=notes) if found.stages else None
    return Answer(kind="query", rows=rows, plan=found, privacy=privacy)


def unsupported(statement: Statement) -> NotSupportedError:
    return NotSupportedError(f"{statement.kind} is not answered here", code=122)
