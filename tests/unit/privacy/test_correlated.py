"""A correlated scalar aggregate on a public table's column is grouped by that column's values, all of which are released."""

from __future__ import annotations

import pytest

import dpsql
from dpsql import testing
from dpsql.ir.nodes import SemiJoin, walk
from dpsql.plan.stages import ReleasePlan
from tests.worlds import clinic


@pytest.fixture
def replayer() -> testing.Replayer:
    return clinic.replayer()


def keys(plan: ReleasePlan) -> list[tuple[object, ...] | None]:
    return [key.values for stage in plan.stages for key in stage.keys]


HEADS = "SELECT name, (SELECT COUNT(*) FROM visits v WHERE v.referrer = s.head) AS n FROM specialties s"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (HEADS, ("Ada", "Bo")),
        (f"{HEADS} WHERE s.head = 'Ada'", ("Ada",)),
        (HEADS.replace("s.head", "LOWER(s.head)"), ("ada", "bo")),
        (HEADS.replace("v.referrer", "UPPER(v.referrer)"), ("Ada", "Bo")),
        (HEADS.replace("v.referrer", "v.specialty"), tuple(clinic.SPECIALTIES)),  # it has keys of its own
    ],
)
def test_the_outer_values_are_the_keys(replayer: testing.Replayer, sql: str, expected: tuple[str, ...]) -> None:
    with replayer:
        assert keys(replayer.plan(sql)) == [expected]


def test_too_many_values_are_thresholded() -> None:
    many = {**clinic.PUBLIC, "numbers": clinic.PUBLIC["numbers"]}
    sql = (
        "SELECT COUNT(*) FROM (SELECT (SELECT COUNT(*) FROM visits v WHERE v.score = a.n AND v.visit_id = b.n) AS c "
        "FROM numbers a JOIN numbers b ON a.n = b.n)"
    )
    with testing.Replayer(clinic.CATALOG, {**clinic.clean(), **many}) as replayer:
        (one, other) = keys(replayer.plan(sql))
    assert one is not None and len(one) == 20_000 and other is None


def test_every_value_is_released_with_noise() -> None:
    source = clinic.source(clinic.empty())
    with dpsql.connect(clinic.CATALOG, source=source, epsilon=0.01) as connection:
        rows = connection.execute(HEADS).fetchall()
        zeros = sum(connection.execute(f"{HEADS} LIMIT 1").fetchall()[0][1] == 0 for _ in range(3))
    assert {name for name, _ in rows} == set(clinic.SPECIALTIES)
    assert all(n is not None for _, n in rows)
    assert zeros < 3


def test_along_a_path_it_is_a_summary_of_one_person(replayer: testing.Replayer) -> None:
    """No stage of its own: nothing but the outer count is measured."""
    sql = "SELECT COUNT(*) FROM visits v WHERE (SELECT SUM(quantity) FROM items i WHERE i.visit_id = v.visit_id) > 4"
    with replayer:
        (stage,) = replayer.plan(sql).stages
    assert stage.keys == () and len(stage.measurements) == 1


@pytest.mark.parametrize(
    ("sql", "loads"),
    [
        (f"{HEADS} WHERE floor = 2", 1),
        (f"{HEADS} WHERE name IN (SELECT name FROM specialties WHERE floor > 1)", 1),
        (HEADS, 0),  # all of a table: its values are the keys
        (
            "SELECT COUNT(*) FROM items i, prices p WHERE i.code = p.code AND p.price > 2 "
            "AND i.quantity > (SELECT AVG(quantity) FROM items j WHERE j.code = p.code)",
            1,
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE v.cost > (SELECT AVG(cost) FROM visits w WHERE w.specialty = v.specialty)",
            0,
        ),
    ],
)
def test_rows_that_no_outer_row_asks_for_are_left_out(replayer: testing.Replayer, sql: str, loads: int) -> None:
    """They would use up the groups that a person may reach."""
    with replayer:
        first = replayer.plan(sql).stages[0]
    assert len(first.loads) == loads
    assert any(isinstance(node, SemiJoin) for node in walk(first.source.node)) == bool(loads)


def test_a_person_with_many_groups_reaches_those_asked_for() -> None:
    """max_groups is 2; without the semi-join most of the groups that count would have been dropped."""
    clean = clinic.clean()
    clean["visits"] = clean["visits"].assign(patient_id=1, score=range(60))
    sql = (
        "SELECT n, (SELECT COUNT(*) FROM visits v WHERE v.score = m.n) AS c FROM numbers m WHERE n % 30 = 10 AND n < 60"
    )
    with testing.exact(clinic.CATALOG, source=clinic.source(clean)) as connection:
        assert connection.execute(sql).fetchall() == [(10, 1), (40, 1)]
