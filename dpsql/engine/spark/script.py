"""A statement as plan/dialects/spark/steps.py writes it, run line by line.

A step that is STORED or KEPT is evaluated as it is read here, and cut off from what it came from (a local checkpoint): it is
in the executors' stores, and what is lost there is not evaluated again, but fails. So whatever a source answers the second
time, two readers of a step see the same rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsql.engine.sources import ArrowStream, Columns
from dpsql.engine.spark import settings
from dpsql.engine.spark.connecting import is_remote
from dpsql.engine.spark.loads import load
from dpsql.errors import InternalError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STEP = re.compile(r"(STORED|KEPT) ([a-z_][a-z0-9_]*) AS (SELECT .*)")


@dataclass(frozen=True, slots=True)
class Stored:
    name: str
    select: str
    kept: bool = False


def steps_of(script: str, loads: Iterable[str] = ()) -> tuple[list[Stored], str] | None:
    """The steps that are stored, and the last SELECT. None for what is no such statement. loads: what tables it has of its
    own; a step that names one, or another step, means another thing in the next statement, and is not kept."""
    *lines, select = script.split("\n")
    read = [step for line in lines if (step := STEP.fullmatch(line)) is not None]
    if not select.startswith("SELECT ") or len(read) < len(lines):
        return None
    passing = {*loads, *(step[2] for step in read)}
    return [
        Stored(step[2], step[3], kept=step[1] == "KEPT" and passing.isdisjoint(re.findall(r"\w+", step[3])))
        for step in read
    ], select


class Views:
    """The views of a session that were made for a statement, and those of them that the next one finds.

    Lemma: what a statement finds is what it would have stored. Proof: its line is the same, and reads the sources alone
    (`steps_of`); and these are the same throughout a run (backend.SparkRun.check)."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._made: dict[str, tuple[Stored, DataFrame] | None] = {}

    def begin(self, steps: Iterable[Stored]) -> None:
        """Forget what the statement does not find."""
        same = {step.name: step for step in steps if step.kept}
        for name, made in [*self._made.items()]:
            if made is None or same.get(name) != made[0]:
                self._drop(name)

    def load(self, name: str, data: Columns | ArrowStream) -> None:
        load(self._session, name, data)
        self._made[name] = None

    def store(self, step: Stored) -> None:
        if step.name in self._made:
            return
        frame = stored(self._session, self._session.sql(step.select), in_place=step.kept)
        frame.createOrReplaceTempView(step.name)
        self._made[step.name] = step, frame

    def drop(self) -> None:
        for name in [*self._made]:
            self._drop(name)

    def _drop(self, name: str) -> None:
        made = self._made.pop(name)
        self._session.catalog.dropTempView(name)
        if made is not None:
            given_back(made[1])


def stored(session: SparkSession, frame: DataFrame, *, in_place: bool = False) -> DataFrame:
    """Evaluated now, and cut off from what it came from. in_place: by a plan of which later ones know which rows lie
    together, in which order, where few tasks run at a time."""
    if not in_place:
        return _checkpoint(session, frame)
    with settings.fixed_plan(session):
        return _checkpoint(session, frame)


def given_back(frame: DataFrame) -> None:
    """The memory and the disk of what was stored, now. Java gives them back by itself, later, and so does a server over
    Spark Connect."""
    if not is_remote(frame.sparkSession):
        of_java: Any = frame
        with suppress(Exception):
            of_java._jdf.queryExecution().analyzed().rdd().unpersist(True)


def _checkpoint(session: SparkSession, frame: DataFrame) -> DataFrame:
    if not is_remote(session):
        return frame.localCheckpoint(eager=True)
    from pyspark.sql.connect.session import SparkSession as Remote

    # PySpark 4.3 takes the result for one of the thread's active session, whichever session it was asked of
    threads: Any = Remote._active_session
    before = getattr(threads, "session", None)
    threads.session = session
    try:
        made = frame.localCheckpoint(eager=True)
    finally:
        threads.session = before
    if made.sparkSession is not session:
        raise InternalError("a checkpoint belongs to another session")
    return made
