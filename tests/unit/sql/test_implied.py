"""What an OR says of a public table alone filters it before it is joined: the answers are DuckDB's, NULLs and all."""

from __future__ import annotations

import itertools
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import dpsql
from dpsql import testing
from dpsql.execution.planning import plan_of, read
from dpsql.ir.nodes import Filter, walk
from dpsql.query import in_text
from tests.worlds import ASKED, bounded, dataset, private, public

CATALOG = dataset(
    {
        "t": private({"p": "integer", "x": bounded("integer", 0, 9)}, rows_per_unit=1000),
        "parts": public({"id": "integer", "a": "integer", "b": "text", "r": "real"}),
    },
    per_query=ASKED,
)
VALUES = (None, 0, 1)
ROWS = list(itertools.product(VALUES, (None, "v", "w"), (None, 0.0, 2.0)))
SOURCE = {
    "t": pa.table(
        {
            "u": [n % 7 for n in range(3 * len(ROWS))],
            "p": [n // 3 for n in range(3 * len(ROWS))],
            "x": [VALUES[n % 3] for n in range(3 * len(ROWS))],
        }
    ),
    "parts": pa.table(
        {
            "id": list(range(len(ROWS))),
            "a": pa.array([a for a, _, _ in ROWS], pa.int64()),
            "b": [b for _, b, _ in ROWS],
            "r": [r for _, _, r in ROWS],
        }
    ),
}
FILTERED = [
    "p = id AND a = 1 AND x = 0 OR p = id AND b = 'v' AND x = 1",
    "p = id AND (a = 1 AND x = 0 OR b IN ('v', 'q') AND x IS NULL)",
    "p = id AND (a = 0 OR b = 'w' OR a IS NULL AND x > 0)",
    "p = id AND (NOT (a = 1) AND x = 0 OR NOT (b = 'v' AND a = 0) AND x = 1)",
    "p = id AND (a = 1 OR a = 1 AND x = 0)",
]
NOT_FILTERED = [
    "p = id AND (a = 1 AND x = 0 OR x = 1)",
    "p = id AND (a = x AND x = 0 OR b = 'v' AND x = 1)",
    "p = id AND (a - 5 = -5 AND x = 0 OR a - 5 > -5 AND x = 1)",  # a might be the least number there is
]


def filters(connection: dpsql.Connection, sql: str) -> int:
    with in_text(sql):
        (stage,) = plan_of(connection._session, read(sql)).stages
    return sum(isinstance(node, Filter) for load in stage.loads for node in walk(load))


def from_duckdb(sql: str) -> Any:
    with duckdb.connect() as connection:
        for name, table in SOURCE.items():
            connection.register(name, table)
        return connection.execute(sql).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize(("condition", "wanted"), [*((c, 1) for c in FILTERED), *((c, 0) for c in NOT_FILTERED)])
def test_inner_joins(condition: str, wanted: int) -> None:
    for joined in (f"t, parts WHERE {condition}", f"t CROSS JOIN parts WHERE {condition}"):
        sql = f"SELECT COUNT(*), SUM(x), SUM(x) FILTER (WHERE b = 'v') FROM {joined}"
        with testing.exact(CATALOG, source=SOURCE) as connection:
            assert connection.execute(sql).fetchall() == from_duckdb(sql)
            assert filters(connection, sql) == wanted
    assert all(line.holds for line in testing.replay(CATALOG, sql, SOURCE))


@pytest.mark.parametrize("condition", FILTERED)
def test_outer_joins_are_left_alone(condition: str) -> None:
    """A row that meets nothing stays, with NULLs."""
    test = condition.replace("p = id AND ", "")
    sql = f"SELECT COUNT(*), SUM(x) FROM t LEFT JOIN parts ON p = id WHERE {test}"
    with testing.exact(CATALOG, source=SOURCE) as connection:
        assert connection.execute(sql).fetchall() == from_duckdb(sql)
        assert filters(connection, sql) == 0
