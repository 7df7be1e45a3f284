"""Replay by removal: the engine runs whole on the data, and again on a copy without a unit.

Nothing of a statement is changed for it. Every side is a session of its own over sources of its own, plans for itself, and
runs each stage with the same salt; what a stage reads of an earlier one was released once, from the whole data, and is the
same on all sides. The sides:

    whole       the sources as they were given, one thread
    again       a copy of them, its rows in another order, two threads: the same totals
    without u   a copy without the unit, one thread; in the sources' own format if a folder is given: within the reach
    orphans u   that, the rows kept that only u reached by a path, in another order, two threads: the same as without u;
                left out where it has the same rows as without u, but for the first unit

Where each row is a unit, u's row is cut out in place: nothing depends on which number the others have.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from dpsql.engine.sealed import Closing
from dpsql.errors import Refused
from dpsql.execution.known import check
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.planning import Parameters, plan_of, read
from dpsql.plan.ready import Ready
from dpsql.plan.stages import NoisyStage, ReleasePlan
from dpsql.planner import settled_plan
from dpsql.privacy.calibrate import KEYS
from dpsql.query import in_text
from dpsql.release.noise import ReleasedRows, release
from dpsql.session import Session, open_session
from dpsql.sql.statement import Statement
from dpsql.testing.measurements import (
    Reach,
    Totals,
    by_group,
    cumulative,
    max_groups,
    measured,
    reaches,
    run,
    size,
    tried,
    wrong_own_keys,
)
from dpsql.testing.removal import CatalogLike, Copies, Unit

SALT = 20_261_118
OPEN = 100  # sides that stay open between statements
SEED = 1


class Declared(dict[str, int]):
    """What the plan declares: by measurement the most that one unit changes over all groups, in its norm; in how many
    groups at most."""

    def __init__(self, reaches: Mapping[str, Reach], *, max_groups: int, stage: int) -> None:
        super().__init__({name: reach.most for name, reach in reaches.items()})
        self.max_groups = max_groups
        self.stage = stage


class Replayed(NamedTuple):
    """What removing one unit changed: in how many groups, and each measurement over all of them, in its norm.

    changes and declared are in the plan's noise-grid integers, by measurement name. failure: what went wrong besides: an
    error on one side, another plan, totals that show an order or an orphan. unit is None where it concerns nobody alone.
    """

    unit: object
    changed_groups: int
    changes: Mapping[str, int]
    declared: Declared
    failure: str = ""

    @property
    def holds(self) -> bool:
        """Whether the run kept what the plan declares."""
        return (
            not self.failure
            and self.changed_groups <= self.declared.max_groups
            and all(self.changes[name] <= most for name, most in self.declared.items())
        )


def compare(unit: object, stage: NoisyStage, full: Totals, without: Totals, salt: int = SALT) -> Replayed:
    """What differs between the totals on two neighbouring databases."""
    declared, along = reaches(measured(stage, salt)), cumulative(stage)
    changes: dict[str, int] = {}
    groups = full.groups ^ without.groups
    failure = wrong_own_keys(stage, full, without, groups) if groups else ""
    for name, reach in declared.items():
        before, after = full.named[name], without.named[name]
        if (
            name.startswith(KEYS) or full.by_key
        ):  # keys of one side alone are withheld by the threshold, not hidden by the noise
            alone = full.groups ^ without.groups
            before, after = ({cell: n for cell, n in side.items() if cell[0] not in alone} for side in (before, after))
        changes[name] = size(before, after, reach.norm)
        moved = by_group(before, after)
        groups |= moved.keys() if name not in along else set()
        if reach.each is not None and max(moved.values(), default=0) > reach.each:
            failure = f"{name} changes by {max(moved.values())} in one group, declared are {reach.each}"
    return Replayed(
        unit=unit,
        changed_groups=len(groups),
        changes=changes,
        declared=Declared(declared, max_groups=max_groups(stage), stage=stage.number),
        failure=failure,
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

    Returns one line per unit and stage, in the order of the stages and units.
    """
    with Replayer(catalog, source, **options) as replayer:
        return replayer.replay(sql, parameters, salt=salt)


class Failed(Exception):
    """A side that did not answer; its text is for the report."""


@dataclass(slots=True)
class Side:
    """One session over one copy of the sources."""

    session: Session

    def stages(
        self,
        plan: ReleasePlan,
        salt: int,
        ready: Sequence[Ready],
        released: Sequence[ReleasedRows],
        statement: Statement | None,
    ) -> list[Totals]:
        """The totals of every stage. ready: its groups, those of the whole data. released: the rows of earlier stages.
        statement: to be planned again."""
        plan_sql = None
        try:
            if statement is not None and plan_of(self.session, statement) != plan:
                raise Failed("another plan than for the whole data")
            plan_sql = PlanSql.of(self.session, _with_limits(plan, salt))
            totals: list[Totals] = []
            for stage in plan.stages:
                groups = ready[stage.number]
                totals.append(run(self.session, stage, plan_sql, salt=salt, ready=groups).totals)
                if stage.number < len(released):
                    plan_sql.load(self.session.scratch, (stage,), (released[stage.number],))
            return totals
        except Failed:
            raise
        except Exception as error:  # whatever one side raises, the other does not
            raise Failed(f"an error: {error!r}") from error
        finally:
            if plan_sql is not None:
                plan_sql.drop(self.session.scratch)


@dataclass(slots=True)
class Case:
    """One plan on the whole data. statement: to be planned again on the other sides; None for a choice of bounds, which
    comes before its query."""

    statement: Statement | None
    plan: ReleasePlan
    salt: int
    totals: list[Totals] = field(default_factory=list)
    ready: list[Ready] = field(default_factory=list)
    released: list[ReleasedRows] = field(default_factory=list)


class Replayer(Closing):
    """Replays many statements over sources that are opened once.

    prepare: what else a session needs (tables of the user's). folder: where copies are written in the sources' own format.
    session: the whole data, as it was given; it is opened when it is first asked.
    """

    def __init__(
        self,
        catalog: CatalogLike,
        source: object = None,
        *,
        prepare: Callable[[Session], None] | None = None,
        folder: Path | None = None,
        **options: Any,
    ) -> None:
        options = {"threads": 1, **options}
        self.session = open_session(catalog, source=source, charged=False, **options)
        self._source = source
        self._options = options
        self._prepare = prepare
        self._folder = folder
        self._copies: Copies | None = None
        self._sides: OrderedDict[object, Side] = OrderedDict()
        if prepare is not None:
            prepare(self.session)

    @property
    def copies(self) -> Copies:
        if self._copies is None:
            self._copies = Copies.read(self.session.catalog, self._source)
        return self._copies

    def plan(self, sql: str, parameters: Parameters = None) -> ReleasePlan:
        with in_text(sql):
            return plan_of(self.session, read(sql, parameters))

    def totals(self, stage: NoisyStage, plan_sql: PlanSql, *, salt: int = SALT) -> Totals:
        """The stage's exact totals of the whole data, on the noise grid."""
        return run(self.session, stage, plan_sql, salt=salt).totals

    def units(self, plan: ReleasePlan) -> list[Unit]:
        """Everybody who reaches a row of a table that the plan reads."""
        return self.copies.units([table for stage in plan.stages for table in stage.tables])

    def replay(
        self,
        sql: str,
        parameters: Parameters = None,
        *,
        salt: int = SALT,
        units: Iterable[Unit] | Callable[[list[Unit]], Iterable[Unit]] | None = None,
    ) -> list[Replayed]:
        """One line per stage and unit, the choices of bounds first. units: these only, or a choice among all."""
        with in_text(sql):
            statement = read(sql, parameters)
            plan = plan_of(self.session, statement)
            if not plan.stages:
                return []
            everybody = self.units(plan)
            chosen = everybody if units is None else list(units(everybody) if callable(units) else units)
            cases = [*(Case(None, first.plan, salt) for first in plan.before), Case(statement, plan, salt)]
            return [line for case in cases for line in self._replayed(case, chosen)]

    def _replayed(self, case: Case, chosen: list[Unit]) -> list[Replayed]:
        failed = self._run_whole(case)
        if failed is not None:
            nobody: list[Unit | None] = [None]
            return [_failure(unit, case.plan.stages[0], f"whole: {failed}") for unit in chosen or nobody]
        lines = self._same_again(case)
        for unit in chosen:
            lines += self._without(case, unit, first=unit == chosen[0])
        return sorted(lines, key=lambda line: line.declared.stage)

    def _run_whole(self, case: Case) -> Failed | None:
        """Totals of the whole data, and each stage but the last released with noise. Raises what refuses the statement."""
        settled = _with_limits(case.plan, case.salt)
        plan_sql = PlanSql.of(self.session, settled) if case.statement is None else check(self.session, settled)
        try:
            for stage in case.plan.stages:
                run_whole = run(self.session, stage, plan_sql, salt=case.salt)
                case.totals.append(run_whole.totals)
                case.ready.append(run_whole.ready)
                if stage is not case.plan.stages[-1]:
                    case.released.append(release(run_whole.exact, run_whole.ready))
                    plan_sql.load(self.session.scratch, (stage,), (case.released[-1],))
        except Refused:
            raise  # rows that noise made: too many for a join
        except Exception as error:  # nothing that is stored may raise
            return Failed(f"an error: {error!r}")
        finally:
            plan_sql.drop(self.session.scratch)
        return None

    def _same_again(self, case: Case) -> list[Replayed]:
        """The rows in another order, two threads: lines where totals are others. Renumbered rows are other units."""
        side = self._side("again", lambda: self.copies.frames(self.copies.everything(), seed=SEED), threads=2)
        return self._equal(case, None, side, case.totals, "another order of rows and two threads")

    def _without(self, case: Case, unit: Unit, *, first: bool) -> list[Replayed]:
        try:
            totals = self._neighbour(case, unit)
        except Failed as failed:
            return [_failure(unit, case.plan.stages[0], str(failed))]
        lines = [
            compare(unit, stage, before, after, case.salt)
            for stage, before, after in zip(case.plan.stages, case.totals, totals, strict=True)
        ]
        places = self.copies.places(unit, orphans=True)
        if places == self.copies.places(unit) and not first:
            return lines
        side = self._side(("orphans", unit), lambda: self.copies.frames(places, seed=SEED + 1), threads=2)
        return lines + self._equal(case, unit, side, totals, "rows that nobody reaches, another order and two threads")

    def _neighbour(self, case: Case, unit: Unit) -> list[Totals]:
        side = self._side(("without", unit), lambda: self._given(unit))
        return side.stages(case.plan, case.salt, case.ready, case.released, case.statement)

    def _given(self, unit: Unit) -> Mapping[str, object]:
        places = self.copies.places(unit)
        if self._folder is None:
            return self.copies.frames(places)
        return self.copies.written(places, Path(mkdtemp(dir=self._folder)))

    def _equal(self, case: Case, unit: Unit | None, side: Side, expected: Sequence[Totals], how: str) -> list[Replayed]:
        try:
            totals = side.stages(case.plan, case.salt, case.ready, case.released, None)
        except Failed as failed:
            return [_failure(unit, case.plan.stages[0], f"{how}: {failed}")]
        return [
            _failure(unit, stage, f"{how}: {_what(one, other)}")
            for stage, one, other in zip(case.plan.stages, expected, totals, strict=True)
            if one != other
        ]

    def _side(self, key: object, source: Callable[[], Mapping[str, object]], *, threads: int | None = None) -> Side:
        if key not in self._sides:
            options = {**self._options, **({} if threads is None else {"threads": threads})}
            session = open_session(self.session.catalog, source=source(), charged=False, **options)
            if self._prepare is not None:
                self._prepare(session)
            self._sides[key] = Side(session)
        self._sides.move_to_end(key)
        while len(self._sides) > OPEN:
            _, oldest = self._sides.popitem(last=False)
            oldest.session.close()
        return self._sides[key]

    def close(self) -> None:
        for side in self._sides.values():
            side.session.close()
        self._sides.clear()
        self.session.close()


def _with_limits(plan: ReleasePlan, salt: int) -> ReleasePlan:
    return settled_plan(plan, [tried(stage, salt) for stage in plan.stages])


def _failure(unit: object, stage: NoisyStage, what: str) -> Replayed:
    declared = Declared(reaches(stage), max_groups=max_groups(stage), stage=stage.number)
    return Replayed(unit, 0, dict.fromkeys(declared, 0), declared, what)


def _what(one: Totals, other: Totals) -> str:
    """The first thing in which two runs differ that should not."""
    if one.groups != other.groups:
        return "other groups"
    for name, totals in one.named.items():
        cells = totals.keys() | other.named[name].keys()
        moved = {cell: (totals.get(cell), other.named[name].get(cell)) for cell in cells}
        different = {cell: pair for cell, pair in moved.items() if pair[0] != pair[1]}
        if different:
            return f"{name} differs: {dict(list(different.items())[:3])}"
    return "nothing"
