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
from typing import Any

from dpsql.engine.sealed import Closing
from dpsql.errors import Refused
from dpsql.execution.known import check
from dpsql.execution.passing import read_for
from dpsql.execution.plan_sql import PlanSql
from dpsql.execution.planning import Parameters, plan_of
from dpsql.plan.ready import Ready
from dpsql.plan.stages import NoisyStage, ReleasePlan
from dpsql.planner import settled_plan
from dpsql.query import in_text
from dpsql.release.released_rows import ReleasedRows
from dpsql.release.totals import release
from dpsql.session import Session, open_session
from dpsql.sql.statement import Statement
from dpsql.testing.changes import SALT, Replayed, compare, failure_of, first_difference
from dpsql.testing.measurements import Totals, run, tried
from dpsql.testing.removal import CatalogLike, Copies, Unit

OPEN = 100  # sides that stay open between statements
SEED = 1


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
            return plan_of(self.session, read_for(self.session, sql, parameters))

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
            statement = read_for(self.session, sql, parameters)
            plan = plan_of(self.session, statement)
            if not plan.stages:
                return []
            everybody = self.units(plan)
            chosen = everybody if units is None else list(units(everybody) if callable(units) else units)
            cases = [*(Case(None, first.plan, salt) for first in plan.before), Case(statement, plan, salt)]
            return [line for case in cases for line in self._replayed(case, chosen)]

    def elsewhere(self, sql: str, other: Session, parameters: Parameters = None, *, salt: int = SALT) -> list[Replayed]:
        """The statement on the same data behind another session, planned there again: a line for each stage whose totals are
        others, or cannot be had. Raises what refuses the statement there."""
        with in_text(sql):
            statement = read_for(self.session, sql, parameters)
            plan = plan_of(self.session, statement)
            other_plan = plan_of(other, statement)
        cases = [Case(None, first.plan, salt) for first in plan.before] + [Case(statement, plan, salt)]
        side, lines = Side(other), list[Replayed]()
        for case in cases if plan.stages else ():
            failed = self._run_whole(case)
            if failed is None and other_plan != plan:
                failed = Failed("another plan than for the same data elsewhere")
            if failed is not None:
                lines.append(failure_of(None, case.plan.stages[0], f"whole: {failed}"))
                continue
            lines += self._equal(case, None, side, case.totals, "another engine")
        return lines

    def _replayed(self, case: Case, chosen: list[Unit]) -> list[Replayed]:
        failed = self._run_whole(case)
        if failed is not None:
            nobody: list[Unit | None] = [None]
            return [failure_of(unit, case.plan.stages[0], f"whole: {failed}") for unit in chosen or nobody]
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
            return [failure_of(unit, case.plan.stages[0], str(failed))]
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
            return [failure_of(unit, case.plan.stages[0], f"{how}: {failed}")]
        return [
            failure_of(unit, stage, f"{how}: {first_difference(one, other)}")
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
        if self._copies is not None:
            self._copies.close()


def _with_limits(plan: ReleasePlan, salt: int) -> ReleasePlan:
    return settled_plan(plan, [tried(stage, salt) for stage in plan.stages])
