"""Which statements share released rows: those whose vault queries and noise are the same text, and no others.

The oracle is the SQL that the vault would run, with column ids numbered by their first occurrence.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.engine.vault import Vault
from dpsql.execution.known import check
from dpsql.execution.planning import plan_of, read
from dpsql.execution.vault_sql import vault_relations
from dpsql.plan.answers import answers
from dpsql.plan.fingerprint import plan_fingerprint
from dpsql.plan.ready import Listed, Ready, with_public_keys
from dpsql.plan.render.selection import selecting
from dpsql.plan.render.stage import statements
from dpsql.plan.render.together import together
from dpsql.plan.stages import ReleasePlan
from dpsql.plan.vault_query import with_steps
from dpsql.query import in_text
from dpsql.session import Session
from tests.profile import drawn
from tests.properties.generator.queries import Queries
from tests.properties.generator.worlds import source, world
from tests.worlds import bounded, keys, people

ID = re.compile(r"\bc\d+\b")


def planned(session: Session, sql: str, parameters: Sequence[object] = ()) -> ReleasePlan:
    with in_text(sql):
        return plan_of(session, read(sql, list(parameters)))


def seen_by_vault(session: Session, vault: Vault, plan: ReleasePlan) -> str:
    """All that decides what is released, as text: the queries, the keys they are handed, noise, thresholds, cost."""
    numbers: dict[str, str] = {}

    def renamed(text: str) -> str:
        return ID.sub(lambda given: numbers.setdefault(given[0], f"id{len(numbers)}"), text)

    told: list[object] = [plan.cost]
    for stage in plan.stages:
        relations, ready = vault_relations(session, vault, stage), with_public_keys(stage)
        queries = []
        if not stage.public_keys:
            queries.append(selecting(stage, relations))
            ready = Ready(stage=stage, groups=Listed({f"k{i}": np.zeros(0) for i in range(len(stage.keys))}, 0))
        queries.append(statements(ready, relations, salt=7, kept=session.keeps_rows(stage)))
        at_once = together(stage, relations, kept=session.keeps_rows(stage))
        queries += [] if at_once is None else [at_once]
        told += [
            [renamed(with_steps(question.steps, question.select)) for query in queries for question in query.questions]
        ]
        told += [[(name, repr(columns)) for query in queries for name, columns in query.tables.items()]]
        told += [[key.values for key in stage.keys], stage.selection, stage.combinations]
        told += [[(n.form, n.draws, [answer.terms for answer in answers(n)]) for n in stage.noised]]
    return repr(told)


@pytest.mark.parametrize("seed", range(drawn(4, deep=40)))
def test_equal_fingerprints_are_equal_questions(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    one = world(draw)
    queries = Queries(draw)
    by_print: dict[str, set[str]] = {}
    by_sight: dict[str, set[str]] = {}
    with dpsql.connect(one.catalog, source=source(one.rows, one.form, tmp_path)) as conn:
        session = conn._session
        vault = session.vault()
        for _ in range(drawn(250, deep=4000)):
            query = queries.query(unit=None if one.row_is_unit else "u")
            try:
                plan = planned(session, query.sql, query.parameters)
            except dpsql.Error:
                continue
            fingerprint, sight = plan_fingerprint(plan), seen_by_vault(session, vault, plan)
            by_print.setdefault(fingerprint, set()).add(sight)
            by_sight.setdefault(sight, set()).add(fingerprint)
    assert len(by_print) > 80
    assert all(len(sights) == 1 for sights in by_print.values())  # never rows of another question
    assert all(len(prints) == 1 for prints in by_sight.values())  # never a charge for the same one


CATALOG: dict[str, Any] = people(
    {"k": keys("a", "b"), "w": "text", "x": bounded("integer", 0, 9), "y": bounded("integer", 0, 9)},
    unit="id",
    max_groups=3,
    max_rows=2,
    per_query={"epsilon": 1, "delta": 1e-9},
)
SPELLINGS = [
    ("SELECT k, SUM(x) FROM t GROUP BY k", "select b.K as q, sum(b.X) as total from T b group by 1 order by 2 limit 1"),
    ("SELECT COUNT(*) FROM t WHERE x > 3", "SELECT 100 * COUNT(*) + 1 FROM t AS s WHERE s.x > 3"),
    (
        "SELECT w, COUNT(*) FROM t GROUP BY w",
        "WITH q AS (SELECT w AS v, COUNT(*) AS n FROM t GROUP BY w) SELECT MAX(n) FROM q",
    ),
    ("SELECT AVG(x) FROM t", "SELECT AVG(x), SUM(x), COUNT(x) FROM t"),
    ("SELECT VAR_POP(x) FROM t", "SELECT VAR_SAMP(x), STDDEV_POP(x) FROM t"),
    (
        "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(y) FROM t)",
        "SELECT COUNT(*) AS n FROM t AS o WHERE o.x > (SELECT AVG(i.y) AS mean FROM t AS i)",
    ),
]
DIFFERENT = [
    ("SELECT k, SUM(x) FROM t GROUP BY k", "SELECT k, SUM(y) FROM t GROUP BY k"),
    ("SELECT COUNT(*) FROM t WHERE x > y", "SELECT COUNT(*) FROM t WHERE y > x"),
    ("SELECT COUNT(*) FROM t WHERE x = 1", "SELECT COUNT(*) FROM t WHERE x = 2"),
    ("SELECT COUNT(*) FROM t WHERE w = '1'", "SELECT COUNT(*) FROM t WHERE w = '1 '"),
    ("SELECT COUNT(DISTINCT id) FROM t", "SELECT COUNT(DISTINCT x) FROM t"),
    ("SELECT MEDIAN(x) FROM t", "SELECT MEDIAN(y) FROM t"),
    ("SELECT MIN(x) FROM t", "SELECT MAX(x) FROM t"),
    (
        "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(y) FROM t)",
        "SELECT COUNT(*) FROM t WHERE x > (SELECT COUNT(y) FROM t)",
    ),
    (
        "SELECT COUNT(*) FROM t WHERE x > (SELECT AVG(y) FROM t)",
        "SELECT COUNT(*) FROM t WHERE x > (SELECT 2 * AVG(y) FROM t)",
    ),
    (  # one stage's measurements, finished in two ways, of which the next stage reads the result
        "SELECT COUNT(*) FROM t WHERE x > (SELECT VAR_POP(y) FROM t)",
        "SELECT COUNT(*) FROM t WHERE x > (SELECT VAR_SAMP(y) FROM t)",
    ),
    ("SELECT COUNT(*) FROM t", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=1e-8) w, COUNT(*) FROM t GROUP BY w"),
]


def prints(one: str, other: str) -> tuple[str, str]:
    with dpsql.connect(CATALOG, source={"t": {"id": [1], "k": ["a"], "w": ["a"], "x": [1], "y": [1]}}) as conn:
        first, second = (planned(conn._session, sql) for sql in (one, other))
        check(conn._session, second)
        return plan_fingerprint(first), plan_fingerprint(second)


@pytest.mark.parametrize(("one", "other"), SPELLINGS)
def test_names_and_last_queries_do_not_count(one: str, other: str) -> None:
    first, second = prints(one, other)
    assert first == second


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_everything_else_does(one: str, other: str) -> None:
    first, second = prints(one, other)
    assert first != second
