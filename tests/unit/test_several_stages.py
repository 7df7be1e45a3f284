"""Several releases in one statement, users' tables, and the limit on public fan-out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import dpsql
from tests.worlds import clinic


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[dpsql.Connection]:
    source = clinic.source(clinic.clean())
    with dpsql.connect(clinic.CATALOG, source=source, ledger=tmp_path / "l.ledger") as connection:
        yield connection


def stages(sql: str) -> int:
    with clinic.replayer() as replayer:
        return len(replayer.plan(sql).stages)


@pytest.mark.parametrize(
    "relation", ["visits", "items", "(SELECT i.code FROM items i JOIN visits v ON v.visit_id = i.visit_id) AS x"]
)
def test_a_cte_used_twice_is_one_release(relation: str) -> None:
    once = f"WITH t AS (SELECT COUNT(*) AS n FROM {relation}) SELECT n FROM t"
    twice = f"WITH t AS (SELECT COUNT(*) AS n FROM {relation}) SELECT a.n, b.n, (SELECT n FROM t LIMIT 1) FROM t a, t b"
    assert stages(once) == stages(twice) == 1


@pytest.mark.parametrize(
    ("sql", "releases"),
    [
        ("SELECT COUNT(*) FROM visits WHERE duration > (SELECT AVG(duration) FROM visits)", 2),
        ("SELECT specialty, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) FROM visits GROUP BY specialty", 2),
        ("SELECT specialty, referrer, COUNT(*), SUM(cost) FROM visits GROUP BY CUBE (specialty, referrer)", 4),
        ("SELECT (SELECT COUNT(*) FROM visits), (SELECT AVG(age) FROM patients), (SELECT SUM(quantity) FROM items)", 3),
    ],
)
def test_a_statement_costs_what_was_asked(sql: str, releases: int) -> None:
    with clinic.replayer() as replayer:
        plan = replayer.plan(sql)
        assert len(plan.stages) == releases
        assert plan.cost.epsilon == 1
        draws = [one.draw for stage in plan.stages for one in stage.noised]
        laplace = [draw.epsilon for draw in draws if draw.mechanism == "laplace"]
        assert not laplace or sum(laplace, Fraction(0)) == 1


def test_a_table_of_results_is_public_and_joins_private_rows(connection: dpsql.Connection) -> None:
    connection.execute("CREATE TABLE means AS SELECT specialty, AVG(duration) AS m FROM visits GROUP BY specialty")
    connection.execute("CREATE TABLE wards (s VARCHAR, ward INTEGER)")
    connection.execute("INSERT INTO wards VALUES ('surgery', 1), ('oncology', 2), ('cardiology', 2)")
    assert connection.budget.spent.epsilon == 1
    answer = connection.execute(
        "SELECT ward, COUNT(*) FROM visits v JOIN wards w ON v.specialty = w.s JOIN means t ON t.specialty = w.s"
        " WHERE v.duration > t.m AND ward IN (1, 2) GROUP BY ward"
    )
    assert [row[0] for row in answer.fetchall()] == [1, 2]
    assert connection.budget.spent.epsilon == 2
    assert len(connection.execute("SELECT * FROM means JOIN wards ON specialty = s").fetchall()) == 3
    assert connection.budget.spent.epsilon == 2


def test_a_users_table_may_not_multiply_rows_without_end(connection: dpsql.Connection) -> None:
    connection.execute("CREATE TABLE many AS SELECT n % 1 AS k FROM numbers")
    with pytest.raises(dpsql.Error, match="20,000 rows") as refusal:
        connection.execute("SELECT COUNT(*) FROM visits JOIN many ON score = k")
    assert refusal.value.code == "DPSQL-136"
    assert connection.budget.spent.epsilon == 0


def test_noisy_rows_are_counted_when_they_are_there(connection: dpsql.Connection) -> None:
    """Before the release nobody knows how often a noisy number occurs."""
    sql = (
        "WITH t AS (SELECT COUNT(*) AS c FROM visits), big AS (SELECT n FROM numbers, t WHERE n + c > -100000)"
        " SELECT COUNT(*) FROM visits, big"
    )
    with pytest.raises(dpsql.Error, match="20,000 rows") as refusal:
        connection.execute(sql)
    assert refusal.value.code == "DPSQL-136"
    assert connection.budget.spent.epsilon == 1


def test_keys_of_public_tables_are_public() -> None:
    with clinic.replayer() as replayer:
        on = "visits v {} specialties s ON v.specialty = s.name GROUP BY s.head"
        inner = replayer.plan(f"SELECT s.head, COUNT(*) FROM {on.format('JOIN')}").stages[0]
        outer = replayer.plan(f"SELECT s.head, COUNT(*) FROM {on.format('LEFT JOIN')}").stages[0]
    assert [key.values for key in inner.keys] == [("Ada", "Bo")]
    assert [key.values for key in outer.keys] == [None]
