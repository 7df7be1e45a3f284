"""Where the form of a relation gives each unit one row, both radii are 1; were that wrong, weights would hold it to 1."""

from __future__ import annotations

import pyarrow as pa
import pytest

import dpsql
from dpsql import testing
from dpsql.privacy import bound
from tests.worlds import ASKED, bounded, keys, people

CATALOG = people(
    {"k": keys("a", "b"), "x": bounded("integer", 0, 10)}, rows_per_unit=9, groups_per_unit=4, per_query=ASKED
)
SOURCE = {"t": pa.table({"u": [1] * 12 + [2, 2, 3], "k": ["a", "b"] * 7 + ["b"], "x": list(range(10)) + [3] * 5})}
PER_UNIT = "(SELECT u, COUNT(*) AS n, MAX(k) AS k, MAX(x) AS x FROM t GROUP BY u)"
ONE_ROW = {
    f"SELECT COUNT(*) FROM {PER_UNIT}": 1,
    f"SELECT SUM(LEAST(n, 10)) FROM {PER_UNIT}": 10,
    f"SELECT n, COUNT(*) FROM {PER_UNIT} WHERE n BETWEEN 1 AND 12 GROUP BY n": 1,
    f"SELECT k, SUM(x) FROM {PER_UNIT} GROUP BY k": 10,
    f"SELECT COUNT(DISTINCT u) FROM {PER_UNIT} WHERE n > 1": 1,
    f"SELECT COUNT(DISTINCT k) FROM {PER_UNIT}": 1,
}
MORE_ROWS = {
    "SELECT COUNT(*) FROM t": 9,
    "SELECT COUNT(*) FROM (SELECT u, k, COUNT(*) AS n FROM t GROUP BY u, k)": 9,
    f"SELECT COUNT(*) FROM {PER_UNIT} CROSS JOIN (VALUES (1), (2)) AS two(i)": 9,
    f"SELECT COUNT(*) FROM t JOIN {PER_UNIT} AS q ON t.u = q.u": 9,
}


def declared(sql: str) -> float:
    with dpsql.connect(CATALOG, source=SOURCE) as connection:
        (measured,) = connection.explain(sql).to_dict()["stages"][0]["measurements"]
    assert measured["norm"] == 1
    return float(measured["sensitivity"])


@pytest.mark.slow
@pytest.mark.parametrize("sql", [*ONE_ROW, *MORE_ROWS])
def test_the_reach_by_the_form_of_the_relation(sql: str) -> None:
    assert declared(sql) == {**ONE_ROW, **MORE_ROWS}[sql]
    assert all(line.holds for line in testing.replay(CATALOG, sql, SOURCE))


@pytest.mark.slow
@pytest.mark.parametrize("sql", MORE_ROWS)
def test_wrongly_taken_for_one_row(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The certified relation is asked again whether rows are weighed, so noise and weights fit each other."""
    monkeypatch.setattr(bound, "is_single", lambda node, catalog: True)
    assert declared(sql) == 1
    assert all(line.holds for line in testing.replay(CATALOG, sql, SOURCE))
