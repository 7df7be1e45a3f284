"""A statement as plan/dialects/spark/steps.py writes it, run line by line.

A step that is STORED is evaluated as it is read here, and cut off from what it came from (a local checkpoint): it is in
the executors' stores, and what is lost there is not evaluated again, but fails. So whatever a source answers the second
time, two readers of a step see the same rows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dpsql.engine.spark.connecting import is_remote
from dpsql.errors import InternalError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STEP = re.compile(r"STORED ([a-z_][a-z0-9_]*) AS ((?:SELECT|WITH) .*)")


def steps_of(script: str) -> tuple[list[tuple[str, str]], str] | None:
    """(name, SELECT) of each step that is stored, and the last SELECT. None for what is no such statement."""
    *lines, select = script.split("\n")
    read = [STEP.fullmatch(line) for line in lines]
    if not select.startswith(("SELECT ", "WITH ")) or None in read:
        return None
    return [(step[1], step[2]) for step in read if step is not None], select


def last_frame(session: SparkSession, script: str, check: Callable[[], None]) -> tuple[DataFrame, list[str]] | None:
    """The last SELECT, not evaluated yet, and the names of the views that were made for it. check: asked before each step,
    raises what stops it."""
    parsed = steps_of(script)
    if parsed is None:
        return None
    steps, select = parsed
    for name, text in steps:
        check()
        stored(session, session.sql(text)).createOrReplaceTempView(name)
    check()
    return session.sql(select), [name for name, _ in steps]


def stored(session: SparkSession, frame: DataFrame) -> DataFrame:
    """Evaluated now, and cut off from what it came from."""
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
