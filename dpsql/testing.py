"""Tools for tests on made-up data: exact answers, and replay of a plan with each unit removed.

Nothing here adds noise, asks a ledger, or can be reached from SQL, YAML or the environment. Never point it at real data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from dpsql.catalog.model import Catalog
from dpsql.dbapi import Connection
from dpsql.errors import InternalError
from dpsql.plan.render.bounding import bounding
from dpsql.plan.render.stage_tables import key_table_columns
from dpsql.plan.stages import ReleasePlan, Stage
from dpsql.query import Parameters, check, in_text, plan_of, read
from dpsql.release import Exact, columns_of
from dpsql.scratch_sql import ScratchSql
from dpsql.session import open_session
from dpsql.vault_sql import unit_lists, vault_relations

CatalogLike = str | Path | Mapping[str, object] | Catalog
Totals = Mapping[tuple[object, ...], tuple[int, ...]]  # group → one integer for each measurement
SALT = 20_261_118


def exact(catalog: CatalogLike, *, source: object = None, **options: Any) -> Connection:
    """A connection that adds no noise, withholds nothing and charges nothing: for tests on made-up data only."""
    return Connection(open_session(catalog, source=source, exact=True, **options))


class Declared(dict[str, int]):
    """What the plan declares: by measurement the most one unit changes in a group, and in how many groups at most."""

    def __init__(self, sensitivities: Mapping[str, int], *, max_groups: int, stage: int) -> None:
        super().__init__(sensitivities)
        self.max_groups = max_groups
        self.stage = stage


class Replayed(NamedTuple):
    """What removing one unit changed: in how many groups, and by how much each measurement at most.

    changes and declared are in the plan's noise-grid integers, by measurement name.
    """

    unit: object
    changed_groups: int
    changes: Mapping[str, int]
    declared: Declared

    @property
    def holds(self) -> bool:
        """Whether the run kept what the plan declares."""
        return self.changed_groups <= self.declared.max_groups and all(
            self.changes[name] <= most for name, most in self.declared.items()
        )


def replay(
    catalog: CatalogLike,
    sql: str,
    source: object = None,
    *,
    parameters: Parameters = None,
    salt: int = SALT,
    **options: Any,
) -> list[Replayed]:
    """Run the noiseless plan with one salt on the data and on the data without each unit.

    Returns one line per unit and stage, in the order of the units. Rows of row_is_unit tables are numbered before one is
    removed.
    """
    with Replayer(catalog, source, **options) as replayer:
        return replayer.replay(sql, parameters, salt=salt)


class Replayer:
    """Replays many statements over sources that are opened once."""

    def __init__(self, catalog: CatalogLike, source: object = None, **options: Any) -> None:
        self.session = open_session(catalog, source=source, ledger=None, **options)

    def plan(self, sql: str, parameters: Parameters = None) -> ReleasePlan:
        with in_text(sql):
            return plan_of(self.session, read(sql, parameters))

    def replay(self, sql: str, parameters: Parameters = None, *, salt: int = SALT) -> list[Replayed]:
        with in_text(sql):
            plan = plan_of(self.session, read(sql, parameters))
            scratch = check(self.session, plan)
            return [line for stage in plan.stages for line in self.replay_stage(stage, scratch, salt=salt)]

    def replay_stage(self, stage: Stage, scratch: ScratchSql, *, salt: int = SALT) -> list[Replayed]:
        full = self.totals(stage, scratch, salt=salt)
        return [
            compare(unit, stage, full, self.totals(stage, scratch, salt=salt, without=unit))
            for unit in self.units(stage)
        ]

    def units(self, stage: Stage) -> list[object]:
        """Every unit of every private table the stage reads."""
        vault = self.session.vault()
        found: dict[object, None] = {}
        for query in unit_lists(self.session, vault, stage.input):
            found.update(dict.fromkeys(vault.run(query)["u"].tolist()))
        return sorted(found, key=lambda unit: (isinstance(unit, str), unit))

    def totals(self, stage: Stage, scratch: ScratchSql, *, salt: int = SALT, without: object = None) -> Totals:
        """The stage's exact totals on the noise grid; `without` a unit, if one is given."""
        vault = self.session.vault()
        relations = vault_relations(self.session, vault, without=without)
        query = bounding(stage, relations, salt=salt, exact=False)
        loads: dict[str, Any] = {n: key_table_columns(values, t) for n, (values, t) in query.key_tables.items()}
        results = [self.session.scratch.query(scratch.relation(node)) for node in stage.loads]
        try:
            loads |= {f"load_{i}": result for i, result in enumerate(results)}
            return _by_group(Exact(vault.run(query.sql, loads=loads)), stage)
        finally:
            for result in results:
                result.close()

    def close(self) -> None:
        self.session.close()

    def __enter__(self) -> Replayer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _by_group(exact: Exact, stage: Stage) -> Totals:
    columns = columns_of(exact)
    keys = [name for name in columns if name == "g" or name.startswith("k")]
    values = {name: np.ma.asarray(column).tolist() for name, column in columns.items()}
    found: dict[tuple[object, ...], tuple[int, ...]] = {}
    for row in range(len(columns["here"])):
        found[tuple(values[name][row] for name in keys)] = tuple(
            int(values[f"m{j}"][row]) for j in range(len(stage.measures))
        )
    if len(found) < len(columns["here"]):
        raise InternalError("the vault answered twice for one group")
    return found


def compare(unit: object, stage: Stage, full: Totals, without: Totals) -> Replayed:
    """What differs between the totals on two neighbouring databases."""
    nothing = (0,) * len(stage.measures)
    changed, largest = 0, [0] * len(stage.measures)
    for group in full.keys() | without.keys():
        before, after = full.get(group), without.get(group)
        # a key that comes or goes is a change where keys are private, even if every total is zero
        if before != after and not (stage.public_keys and (before or nothing) == (after or nothing)):
            changed += 1
        for j, (a, b) in enumerate(zip(before or nothing, after or nothing, strict=True)):
            largest[j] = max(largest[j], abs(a - b))
    names = _names(stage)
    sensitivities = {name: noise.sensitivity for name, noise in zip(names, stage.noises, strict=True)}
    return Replayed(
        unit=unit,
        changed_groups=changed,
        changes=dict(zip(names, largest, strict=True)),
        declared=Declared(sensitivities, max_groups=stage.bounding.max_groups, stage=stage.number),
    )


def _names(stage: Stage) -> list[str]:
    """The measurements' names, told apart where two are called the same."""
    names: list[str] = []
    for measure in stage.measures:
        twins = sum(name.split(" #")[0] == measure.name for name in names)
        names.append(f"{measure.name} #{twins + 1}" if twins else measure.name)
    return names
