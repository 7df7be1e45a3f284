"""Mutated queries of the SQL cases through parser, binder and planner: a plan or one of dpsql's own errors, never a bug.

Of the accepted ones some run on the dirty world: no data may make one fail. Of some the replay is compared with what the
plan declares.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import dpsql
from dpsql import testing
from dpsql.errors import Error
from dpsql.query import in_text
from tests.profile import drawn
from tests.properties.mutating import mutate
from tests.worlds import clinic


@contextmanager
def shown(sql: str) -> Iterator[None]:
    """Whatever escapes says by which query."""
    try:
        yield
    except BaseException as error:  # also pytest's own failures and time limits
        error.add_note(sql)
        raise


def replay(replayer: testing.Replayer, sql: str, unit: int) -> int:
    """How many (stage, unit) pairs were compared: the unit-th unit of those whose rows are read."""
    lines = replayer.replay(sql, units=lambda units: [units[unit % len(units)]])
    assert all(line.holds for line in lines), lines
    return len(lines)


def scratch_may_refuse(act: Callable[[], int]) -> int:
    """Types that scratch alone knows, fan-out and post-processing are found after the plan; the vault never fails."""
    try:
        return act()
    except (dpsql.ExecutionError, dpsql.InternalError):
        raise
    except Error:
        return 0


def fuzz(seed: int, count: int, run_every: int) -> Counter[str]:
    """How often what happened: a code, planned, ran, replayed."""
    source = random.Random(seed)
    dirty = clinic.source(clinic.dirty())
    happened: Counter[str] = Counter()
    with testing.Replayer(clinic.CATALOG, dirty) as replayer, testing.exact(clinic.CATALOG, source=dirty) as exact:

        def ran(sql: str) -> int:
            exact.execute(sql).fetchall()
            return 1

        def tried(sql: str) -> None:
            try:
                with in_text(sql):
                    plan = replayer.plan(sql)
            except dpsql.InternalError:
                raise
            except Error as error:
                happened[error.code] += 1
                assert error.line is not None, f"no place: {error}"
                return
            happened["planned"] += 1
            number = happened["planned"]
            if plan.stages and number % run_every == 0:
                happened["ran"] += scratch_may_refuse(lambda: ran(sql))
            if plan.stages and number % (2 * run_every) == 0:
                happened["replayed"] += scratch_may_refuse(lambda: replay(replayer, sql, number))

        for _ in range(count):
            sql = mutate(source)
            with shown(sql):
                tried(sql)
    return happened


@pytest.mark.parametrize("seed", range(drawn(2, deep=4)))
def test_mutated_queries(seed: int) -> None:
    happened = fuzz(seed, 4_000, 16)
    assert happened["planned"] > 500 and happened["ran"] > 30 and happened["replayed"] > 10, happened


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 120))  # 200,000 statements
def test_many_mutated_queries(seed: int) -> None:
    fuzz(seed, int(os.environ.get("DPSQL_FUZZ", "10000")), 2)
