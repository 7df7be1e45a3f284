"""What one run of a stage measured, as plain numbers, and how much of it one unit may change.

The only place of the judge that knows the shapes of stages and of exact totals.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Literal

import numpy as np

from dpsql.errors import InternalError
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.release_stages import vault_totals
from dpsql.execution.vault_sql import vault_relations, vault_run
from dpsql.plan.measurements import Choice, Histogram, Measurement, RowMoments, RowTotal, Slice, TopGroups
from dpsql.plan.ready import Listed, Ready, with_public_keys
from dpsql.plan.render.limits import counting, over_limits
from dpsql.plan.render.selection import selecting
from dpsql.plan.render.together import together
from dpsql.plan.stages import Draw, LimitChoice, NoisyStage
from dpsql.plan.vault_query import CANDIDATE, GROUP, VOTES, WEIGHT, Array, Question, total
from dpsql.privacy.noise_grid import SELECTED_LIMIT
from dpsql.privacy.parts import KEYS
from dpsql.privacy.settling import settled
from dpsql.release.exact import Exact, answers_of, cells
from dpsql.release.private_keys import all_keys_of
from dpsql.session import Session
from dpsql.testing.cumulative import along

Group = tuple[object, ...]
Cell = tuple[Group, int]  # a group and a total or candidate in it


@dataclass(frozen=True, slots=True)
class Totals:
    """groups: the private keys that occur. named: each vector's integers on the noise grid, by group and total (or
    candidate); what is not there is 0. by_key: totals were asked for beside the votes, of the keys that are voted for, and
    are named by them, not by their ordinals."""

    groups: frozenset[Group]
    named: Mapping[str, Mapping[Cell, int]]
    by_key: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one unit may change: over all groups and candidates together, in norm 1 or 2 (squared: of that), and in one
    group, where that has a limit of its own."""

    norm: Literal[1, 2]
    squared: int
    each: int | None = None

    @property
    def most(self) -> int:
        """Over all groups, rounded up: norms of integers are compared with it after rounding up as well, which keeps the
        order."""
        return _root(self.squared)


@dataclass(frozen=True, slots=True)
class Run:
    """One stage on one copy of the data. ready: with every private key that occurs there, or those it was given."""

    totals: Totals
    ready: Ready
    exact: Exact


LIMIT = "limit on "
OVER = "over the limit on "


def tried(stage: NoisyStage, salt: int) -> tuple[int, ...]:
    """The limits that a run takes where the data would choose: small ones, which bite, and larger ones in other runs."""
    return tuple(choice.candidates[min(salt % 6, len(choice.candidates) - 1)] for choice in stage.choices)


def measured(stage: NoisyStage, salt: int) -> NoisyStage:
    """The stage as it is measured: with the limits that are tried."""
    return settled(stage, tried(stage, salt)) if stage.unsettled else stage


def run(session: Session, stage: NoisyStage, plan_sql: PlanSql, *, salt: int, ready: Ready | None = None) -> Run:
    """The whole way of a stage through the vault; nothing is drawn. Which limit is chosen depends on how many units are
    above each; those numbers are compared, and any limit will do for what is measured."""
    if stage.is_empty:  # the engine asks the vault nothing
        stage = measured(stage, salt)
        nothing = {name: dict[Cell, int]() for name in reaches(stage)}
        return Run(Totals(frozenset(), nothing), with_public_keys(stage), Exact(()))
    with session.vault().snapshot() as vault:  # one for all, as a query has it
        named: dict[str, Mapping[Cell, int]] = {}
        groups: frozenset[Group] = frozenset()
        selected = with_public_keys(stage)
        at_once = together(stage, vault_relations(session, vault, stage))
        if not stage.public_keys:
            votes = vault_run(
                session, stage, plan_sql, vault, at_once or selecting(stage, vault_relations(session, vault, stage))
            )
            named[_round(0)] = _votes(votes)
            groups, selected = frozenset(group for group, _ in named[KEYS]), all_keys_of(votes, stage)
            if at_once is not None:
                return _beside_votes(votes, stage, named, selected)
        ready = selected if ready is None else ready
        for round_ in range(1, len(stage.selections)):
            asked = selecting(stage, vault_relations(session, vault, stage), round_=round_, before=_half(ready))
            named[_round(round_)] = _votes(vault_run(session, stage, plan_sql, vault, asked))
        if stage.unsettled:
            asked = counting(dataclasses.replace(ready, stage=stage), vault_relations(session, vault, stage))
            for question, columns in answers_of(vault_run(session, stage, plan_sql, vault, asked)):
                named[f"{LIMIT}{question.limit}"] = _by_candidate(columns)
            stage = measured(stage, salt)
            ready = dataclasses.replace(ready, stage=stage)
        if stage.over:
            asked = over_limits(ready, vault_relations(session, vault, stage))
            for question, columns in answers_of(vault_run(session, stage, plan_sql, vault, asked)):
                named[f"{OVER}{question.limit}"] = _by_candidate(columns)
        exact = vault_totals(session, ready, plan_sql, vault, exact=False, salt=salt)
        for j, name, _, parts in _vectors(stage):
            named[name] = _measured(exact, stage, j, parts)
        return Run(Totals(groups, named), ready, exact)


def _by_candidate(columns: Mapping[str, Array]) -> dict[Cell, int]:
    at, units = (columns[column.name].tolist() for column in (CANDIDATE, WEIGHT))
    return {((0,), int(v)): int(w) for v, w in zip(at, units, strict=True)}


def _round(n: int) -> str:
    return KEYS if n == 0 else f"{KEYS}, round {n + 1}"


def _half(ready: Ready) -> Listed:
    """Every second key, as if a first round had released these."""
    assert isinstance(ready.groups, Listed)
    return Listed({name: column[::2] for name, column in ready.groups.columns.items()}, (ready.groups.count + 1) // 2)


def _own_choices(stage: NoisyStage) -> tuple[LimitChoice, ...]:
    return tuple(choice for choice in stage.choices if choice.as_in is None)


def _beside_votes(exact: Exact, stage: NoisyStage, named: dict[str, Mapping[Cell, int]], selected: Ready) -> Run:
    """Totals that were answered beside the votes."""
    ((question, columns),) = answers_of(exact)
    totals = {c.name: columns[c.name] for c in question.columns if c.of == "total"}
    own_places = {GROUP.name: np.arange(selected.count, dtype=np.int64)}
    totals_only = Exact(((question, {**own_places, **totals}),))
    keys = _keys(columns, question)
    for j, name, _, parts in _vectors(stage):
        named[name] = {(keys[g], i): m for ((g,), i), m in _by_place(_measured(totals_only, stage, j, parts))}
    return Run(Totals(frozenset(keys), named, by_key=True), selected, totals_only)


def _by_place(cells_: Mapping[Cell, int]) -> Iterator[tuple[tuple[tuple[int], int], int]]:
    for (group, i), m in cells_.items():
        (g,) = group
        assert isinstance(g, int)
        yield ((g,), i), m


def _keys(columns: Mapping[str, Array], question: Question) -> list[Group]:
    names = [c.name for c in question.columns if c.of not in ("votes", "total")]
    return list(zip(*(np.ma.asarray(columns[name]).tolist() for name in names), strict=True))


def _votes(exact: Exact) -> dict[Cell, int]:
    ((question, columns),) = answers_of(exact)
    groups = _keys(columns, question)
    if len(set(groups)) < len(groups):
        raise InternalError("the vault answered twice for one group")
    return {(group, 0): int(n) for group, n in zip(groups, columns[VOTES.name].tolist(), strict=True)}


def _vectors(stage: NoisyStage) -> Iterator[tuple[int, str, Draw, tuple[int, ...]]]:
    """Every vector that noise is added to, or choices are made by: the measurement's position, a name, its draw, and which
    of the measurement's totals it is made of. Ends are one vector; other totals are vectors of their own."""
    names: list[str] = []
    for j, noised in enumerate(stage.noised):
        if noised.draw.mechanism in ("none", "summed") or _slices(stage, j)[:1] != [j]:
            continue  # slices of one number are one vector, by the first of them
        twins = sum(name.split(" #")[0] == noised.measurement.name for name in names)
        name = f"{noised.measurement.name} #{twins + 1}" if twins else noised.measurement.name
        names.append(name)
        if noised.form == "ends" or len(noised.draws) == 1:
            yield j, name, noised.draw, tuple(range(len(noised.draws)))
        else:
            yield from ((j, f"{name}, total {i + 1}", draw, (i,)) for i, draw in enumerate(noised.draws))


def _slices(stage: NoisyStage, j: int) -> list[int]:
    """The measurements that make one vector with it: those of the same thing in the slices of one number."""
    what = _without_slice(stage.measurements[j]) or j
    return [j] if what == j else [i for i, one in enumerate(stage.measurements) if _without_slice(one) == what]


def _without_slice(one: Measurement) -> object:
    match one:
        case RowTotal(slice=Slice() as mine):
            return mine.number, mine.of, one.piece, one.needs
        case RowMoments(slice=Slice() as mine):
            return mine.number, mine.of, one.axis, one.degree, one.needs
    return None


def _measured(exact: Exact, stage: NoisyStage, j: int, parts: tuple[int, ...]) -> dict[Cell, int]:
    return {
        (group, 10 * n + i): m  # totals of one are fewer
        for n, slice_ in enumerate(_slices(stage, j))
        for (group, i), m in _of_slice(exact, stage, slice_, parts).items()
    }


def _of_slice(exact: Exact, stage: NoisyStage, j: int, parts: tuple[int, ...]) -> dict[Cell, int]:
    for question, answer in answers_of(exact):
        if j not in question.answers:
            continue
        if isinstance(stage.noised[j].measurement, Choice | Histogram):
            triples = zip(*(column.tolist() for column in cells(answer)), strict=True)
            return {((g,), v): int(w) for g, v, w in triples}
        groups = answer[GROUP.name].tolist()
        if len(set(groups)) < len(groups):
            raise InternalError("the vault answered twice for one group")
        columns = [(i, answer[total(j, i, exact=False).name].tolist()) for i in parts]
        if stage.noised[j].running is not None:
            return along(dict(zip(groups, columns[0][1], strict=True)), stage.noised[j])
        return {((g,), i): int(m) for i, column in columns for g, m in zip(groups, column, strict=True)}
    return {}


def reaches(stage: NoisyStage) -> dict[str, Reach]:
    reach_of: dict[str, Reach] = {}
    for n, selection in enumerate(stage.selections):
        reach_of[_round(n)] = Reach(norm=selection.draw.norm, squared=4**selection.bits)
    for choice in _own_choices(stage):  # a unit is above the first few limits: in one place of all
        if not stage.is_empty:
            reach_of[f"{LIMIT}{choice.of}"] = Reach(norm=1, squared=1)
    for over in stage.over:  # a unit is over a limit, or it is not
        reach_of[f"{OVER}{over.of}"] = Reach(norm=1, squared=1)
    for j, name, draw, _ in _vectors(stage):
        reach_of[name] = _reach(stage, stage.noised[j].measurement, draw)
    return reach_of


def _reach(stage: NoisyStage, one: Measurement, draw: Draw) -> Reach:
    if isinstance(one, TopGroups):  # any one score by the reach; all of them by their ball
        limit = stage.limit.groups if one.per == "groups" else stage.limit.rows
        return Reach(norm=1, squared=limit.ball(1).reach(1) ** 2, each=draw.reach)
    return Reach(norm=draw.norm, squared=draw.reach**2)


def cumulative(stage: NoisyStage) -> frozenset[str]:
    """The vectors that are no totals of groups: what is measured for cumulative sums."""
    return frozenset(name for j, name, _, _ in _vectors(stage) if stage.noised[j].running is not None)


def max_groups(stage: NoisyStage) -> int:
    """In how many groups one unit's totals may differ: in any number of them."""
    return stage.combinations if stage.public_keys else SELECTED_LIMIT


def wrong_own_keys(stage: NoisyStage, full: Totals, without: Totals, keys: frozenset[Group]) -> str:
    """What is wrong with keys that are on one side alone, if anything is: with t of them, each has at most W_t votes (of
    min_units units the last one is theirs), and there are no more than a unit may vote for."""
    if not stage.selections or len(keys) > len(stage.selections[0].votes):
        return f"{len(keys)} keys come and go with the unit"
    for n, selection in enumerate(stage.selections):
        votes = {**without.named[_round(n)], **full.named[_round(n)]}
        alone = [key for key in keys if (key, 0) in votes]  # the others had been released before
        most = selection.votes[len(alone) - 1] + max(0, selection.min_units - 1) * 2**selection.bits if alone else 0
        above = [votes[key, 0] for key in alone if votes[key, 0] > most]
        if above:
            return f"a key of the unit alone has {max(above)} votes, with {len(alone)} such keys {most} may be"
    return ""


def size(before: Mapping[Cell, int], after: Mapping[Cell, int], norm: Literal[1, 2]) -> int:
    """The norm of the difference, rounded up."""
    differences = [abs(before.get(cell, 0) - after.get(cell, 0)) for cell in before.keys() | after.keys()]
    return sum(differences) if norm == 1 else _root(sum(d * d for d in differences))


def by_group(before: Mapping[Cell, int], after: Mapping[Cell, int]) -> dict[Group, int]:
    """What differs in each group, in sum over its candidates; groups without a difference are left out."""
    differences: dict[Group, int] = {}
    for cell in before.keys() | after.keys():
        difference = abs(before.get(cell, 0) - after.get(cell, 0))
        if difference:
            differences[cell[0]] = differences.get(cell[0], 0) + difference
    return differences


def _root(square: int) -> int:
    root = isqrt(square)
    return root + (root * root < square)
