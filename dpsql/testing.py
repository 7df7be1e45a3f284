"""Tools for tests on made-up data: exact answers, and replay of a plan with each unit removed.

Nothing here adds noise, asks a ledger, or can be reached from SQL, YAML or the environment. Never point it at real data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dpsql.catalog.model import Catalog
from dpsql.dbapi import Connection
from dpsql.engine.vault import Vault
from dpsql.plan.render.bounding import VaultQuery, bounding
from dpsql.plan.render.stage_tables import key_table_columns
from dpsql.plan.stages import Stage
from dpsql.query import Parameters, check, in_text, plan_of, read
from dpsql.release import Exact, columns_of
from dpsql.scratch_sql import ScratchSql
from dpsql.session import Session, open_session
from dpsql.vault_sql import vault_relations

CatalogLike = str | Path | Mapping[str, object] | Catalog


def exact(catalog: CatalogLike, *, source: object = None, **options: Any) -> Connection:
    """A connection that adds no noise, withholds nothing and charges nothing: for tests on made-up data only."""
    return Connection(open_session(catalog, source=source, exact=True, **options))


class Replayed(NamedTuple):
    """What removing one unit changed: in how many groups, and by how much each measurement at most.

    changes and declared are in the plan's noise-grid integers, by measurement name.
    """

    unit: object
    changed_groups: int
    changes: Mapping[str, int]
    declared: Mapping[str, int]
    max_groups: int
    stage: int = 0

    @property
    def holds(self) -> bool:
        """Whether the run kept what the plan declares."""
        return self.changed_groups <= self.max_groups and all(
            self.changes[name] <= self.declared[name] for name in self.declared
        )


@dataclass(frozen=True, slots=True)
class _Totals:
    """The totals of one run: group → integers."""

    groups: Mapping[tuple[object, ...], tuple[int, ...]]


def replay(
    catalog: CatalogLike,
    sql: str,
    source: object = None,
    *,
    parameters: Parameters = None,
    salt: int = 20_261_118,
    **options: Any,
) -> list[Replayed]:
    """Run the noiseless plan with one salt on the data and on the data without each unit.

    Returns one line per unit and stage, in the order of the units. Rows of row_is_unit tables are numbered before one is
    removed.
    """
    session = open_session(catalog, source=source, ledger=None, **{"budget": None, **options})
    try:
        with in_text(sql):
            plan = plan_of(session, read(sql, parameters))
            vault = session.vault()
            scratch = check(session, plan)
            lines: list[Replayed] = []
            for stage in plan.stages:
                lines += _replay_stage(session, stage, scratch, vault, salt)
            return lines
    finally:
        session.close()


def _replay_stage(session: Session, stage: Stage, scratch: ScratchSql, vault: Vault, salt: int) -> list[Replayed]:
    whole = bounding(stage, vault_relations(session, vault), salt=salt, exact=False)
    units = _units(session, stage, scratch, vault)
    full = _run(session, stage, scratch, vault, whole)
    lines: list[Replayed] = []
    for unit in units:
        without = bounding(stage, vault_relations(session, vault, without=unit), salt=salt, exact=False)
        lines.append(_compare(unit, stage, full, _run(session, stage, scratch, vault, without)))
    return lines


def _units(session: Session, stage: Stage, scratch: ScratchSql, vault: Vault) -> list[object]:
    """Every unit of every private table the stage reads."""
    from dpsql.vault_sql import unit_lists

    found: dict[object, None] = {}
    for query in unit_lists(session, vault, stage.input):
        columns = vault.run(query)
        found.update(dict.fromkeys(columns["u"].tolist()))
    return sorted(found, key=lambda unit: (isinstance(unit, str), unit))


def _run(session: Session, stage: Stage, scratch: ScratchSql, vault: Vault, query: VaultQuery) -> _Totals:
    loads: dict[str, Any] = {n: key_table_columns(values, t) for n, (values, t) in query.key_tables.items()}
    results = [session.scratch.query(scratch.relation(node)) for node in stage.loads]
    try:
        loads |= {f"load_{i}": result for i, result in enumerate(results)}
        columns = columns_of(Exact(vault.run(query.sql, loads=loads)))
    finally:
        for result in results:
            result.close()
    keys = [name for name in columns if name == "g" or name.startswith("k")]
    totals = [f"m{j}" for j in range(len(stage.measures))]
    rows = len(columns["here"])
    by_group: dict[tuple[object, ...], tuple[int, ...]] = {}
    values = {name: np.ma.asarray(columns[name]).tolist() for name in (*keys, *totals)}
    for row in range(rows):
        group = tuple(values[name][row] for name in keys)
        by_group[group] = tuple(int(values[name][row]) for name in totals)
    return _Totals(by_group)


def _compare(unit: object, stage: Stage, full: _Totals, without: _Totals) -> Replayed:
    nothing = (0,) * len(stage.measures)
    changed, largest = 0, [0] * len(stage.measures)
    for group in full.groups.keys() | without.groups.keys():
        before, after = full.groups.get(group), without.groups.get(group)
        # a key that comes or goes is a change where keys are private, even if every total is zero
        if before != after and not (stage.public_keys and (before or nothing) == (after or nothing)):
            changed += 1
        for j, (a, b) in enumerate(zip(before or nothing, after or nothing, strict=True)):
            largest[j] = max(largest[j], abs(a - b))
    names = [m.name for m in stage.measures]
    return Replayed(
        unit=unit,
        changed_groups=changed,
        changes=dict(zip(names, largest, strict=True)),
        declared={m.name: n.sensitivity for m, n in zip(stage.measures, stage.noises, strict=True)},
        max_groups=stage.bounding.max_groups,
        stage=stage.number,
    )
