"""Tools for tests on made-up data: exact answers, and replay of a plan with each unit removed.

Nothing here adds noise, asks a ledger, or can be reached from SQL, YAML or the environment. Never point it at real data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from dpsql.catalog.model import Catalog
from dpsql.dbapi import Connection
from dpsql.errors import InternalError
from dpsql.frames import PrivateFrame
from dpsql.frames.root import from_keywords
from dpsql.plan.render.bounding import bounding
from dpsql.plan.stages import ReleasePlan, Stage
from dpsql.query import Parameters, check, exact_totals, in_text, plan_of, read, vault_run
from dpsql.release import Exact, apart_of, columns_of, release
from dpsql.scratch_sql import ScratchSql
from dpsql.session import open_session
from dpsql.vault_sql import unit_lists, vault_relations

CatalogLike = str | Path | Mapping[str, object] | Catalog
Total = int | Counter[int]  # of candidates: weights by their ordinal
Totals = Mapping[tuple[object, ...], tuple[Total, ...]]  # group → one for each measurement
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


def exact_frame(data: object, **keywords: Any) -> PrivateFrame:
    """A PrivateFrame from keywords that adds no noise, withholds nothing and charges nothing: for tests only."""
    said = {"epsilon": 1, "delta": Fraction(1, 10**9), "dataset": "exact", "analyst": None, "budget": 1, **keywords}
    account = {name: said.pop(name) for name in ("epsilon", "delta", "dataset", "analyst", "budget")}
    described = {"bounds": {}, "keys": {}, "types": {}, "not_null": (), "row_is_unit": False}
    described |= {"unit": None, "max_groups": None, "max_rows": None, **said}
    return PrivateFrame.over(from_keywords(data, described, exact=True, **account))


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
    removed. What a stage reads of an earlier one is released once, with noise, and is the same on both sides.
    """
    with Replayer(catalog, source, **options) as replayer:
        return replayer.replay(sql, parameters, salt=salt)


class Replayer:
    """Replays many statements over sources that are opened once."""

    def __init__(self, catalog: CatalogLike, source: object = None, **options: Any) -> None:
        self.session = open_session(catalog, source=source, charged=False, **options)

    def plan(self, sql: str, parameters: Parameters = None) -> ReleasePlan:
        with in_text(sql):
            return plan_of(self.session, read(sql, parameters))

    def replay(self, sql: str, parameters: Parameters = None, *, salt: int = SALT) -> list[Replayed]:
        with in_text(sql):
            plan = plan_of(self.session, read(sql, parameters))
            scratch = check(self.session, plan)
            found: list[Replayed] = []
            try:
                for stage in plan.stages:
                    found += self.replay_stage(stage, scratch, salt=salt)
                    if stage is not plan.stages[-1]:
                        self.answer(stage, scratch, salt=salt)
            finally:
                scratch.drop(self.session.scratch)
            return found

    def answer(self, stage: Stage, scratch: ScratchSql, *, salt: int = SALT) -> None:
        """Release the stage once, with noise: later stages read the same rows on every database."""
        exact = vault_run(self.session, stage, scratch, self.session.vault(), salt=salt, exact=False)
        scratch.load(self.session.scratch, stage, release(exact, stage))

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
        relations = vault_relations(self.session, vault, stage, without=without)
        query = bounding(stage, relations, salt=salt, exact=False)
        return _by_group(exact_totals(self.session, stage, scratch, vault, query), stage)

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
    groups = [tuple(values[name][row] for name in keys) for row in range(len(columns["here"]))]
    totals: list[list[Total]] = [[] for _ in groups]
    for j, measure in enumerate(stage.measures):
        column: list[Total] = [int(m) for m in values[f"m{j}"]] if measure.summed else _apart(exact, stage, j, groups)
        for found, total in zip(totals, column, strict=True):
            found.append(total)
    by_group = {group: tuple(found) for group, found in zip(groups, totals, strict=True)}
    if len(by_group) < len(groups):
        raise InternalError("the vault answered twice for one group")
    return by_group


def _apart(exact: Exact, stage: Stage, j: int, groups: list[tuple[object, ...]]) -> list[Total]:
    """The totals of a measure with a query of its own, in the order of the groups."""
    if stage.measures[j].kind == "groups":
        return [0] * len(groups)
    answer = {name: column.tolist() for name, column in apart_of(exact)[j].items()}
    places = [group[0] if stage.public_keys and stage.keys else row for row, group in enumerate(groups)]
    if "v" not in answer:
        by_place = dict(zip(answer["i"], answer["m"], strict=True))
        return [int(by_place.get(place, 0)) for place in places]
    weights: dict[object, Counter[int]] = {place: Counter() for place in places}
    for place, v, m in zip(answer["i"], answer["v"], answer["m"], strict=True):
        weights[place][v] = int(m)
    return [weights[place] for place in places]


def compare(unit: object, stage: Stage, full: Totals, without: Totals) -> Replayed:
    """What differs between the totals on two neighbouring databases."""
    nothing: tuple[Total, ...] = tuple(Counter() if m.kind == "candidates" else 0 for m in stage.measures)
    changed, largest = 0, [0] * len(stage.measures)
    for group in full.keys() | without.keys():
        before, after = full.get(group), without.get(group)
        differences = [_difference(a, b) for a, b in zip(before or nothing, after or nothing, strict=True)]
        # a key that comes or goes is a change where keys are private, even if every total is zero
        if any(differences) or (not stage.public_keys and (before is None) != (after is None)):
            changed += 1
        largest = [max(pair) for pair in zip(largest, differences, strict=True)]
    names = _names(stage)
    sensitivities = {name: noise.sensitivity for name, noise in zip(names, stage.noises, strict=True)}
    return Replayed(
        unit=unit,
        changed_groups=changed,
        changes=dict(zip(names, largest, strict=True)),
        declared=Declared(sensitivities, max_groups=_reach(stage), stage=stage.number),
    )


def _reach(stage: Stage) -> int:
    """In how many groups a unit's totals may differ. Where groups are chosen (top_k) in all of them: the choice weighs what
    one unit changes in each, and only the chosen ones are measured."""
    return stage.bounding.max_groups if stage.top is None else stage.combinations


def _difference(before: Total, after: Total) -> int:
    """For candidates in sum over all of them."""
    if isinstance(before, Counter) and isinstance(after, Counter):
        return sum(abs(before[v] - after[v]) for v in before.keys() | after.keys())
    assert isinstance(before, int) and isinstance(after, int)
    return abs(before - after)


def _names(stage: Stage) -> list[str]:
    """The measurements' names, told apart where two are called the same."""
    names: list[str] = []
    for measure in stage.measures:
        twins = sum(name.split(" #")[0] == measure.name for name in names)
        names.append(f"{measure.name} #{twins + 1}" if twins else measure.name)
    return names
