"""Reals that are only put on axes are read as they are stored: totals are those of clamped ones, whatever is stored."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

import dpsql.testing
from dpsql.execution import vault_sql
from dpsql.execution.known import check
from dpsql.plan.render.placed import only_placed
from tests.worlds import ASKED, bounded, dataset, keys, private

STORED = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    5e-324,
    1e308,
    -1e308,
    0.1,
    0.3,
    0.30000000000000004,
    0.2,
    -0.1,
    7.0,
]
ROWS = [(k, a, b) for k in ("a", "b") for a in STORED for b in (0.1, 2.5, math.nan, -math.inf)]
SOURCE = {
    "t": pd.DataFrame(ROWS, columns=["k", "x", "y"]).assign(whole=range(len(ROWS))),
    "of_people": pd.DataFrame(ROWS, columns=["k", "x", "y"]).assign(u=range(len(ROWS))),
}
X = bounded("real", 0.1, 0.3)
Y = bounded("real", -1, 3)
COLUMNS = {"k": keys("a", "b"), "x": X, "y": Y}
TABLES: dict[str, dict[str, Any]] = {
    "t": private({**COLUMNS, "whole": "integer"}, unit=None),
    "of_people": private(COLUMNS, rows_per_unit=1),
}


def replayer(name: str, table: dict[str, Any]) -> dpsql.testing.Replayer:
    described = dataset({name: table}, per_query=ASKED)
    return dpsql.testing.Replayer(described, {name: SOURCE[name]})


PLACED = {
    "SELECT SUM(x) FROM t": 1,
    "SELECT k, COUNT(*), SUM(x), SUM(y) FROM t GROUP BY k": 2,
    "SELECT AVG(x), VAR_POP(x), SUM(y) FILTER (WHERE k = 'a') FROM t": 2,
    "SELECT MEDIAN(x), SUM(x) FROM t": 1,
    "SELECT z, SUM(x) FROM (SELECT x, k AS z FROM t WHERE whole > 3) GROUP BY z": 1,
    "SELECT whole % 2, SUM(x) FROM t GROUP BY whole % 2": 1,
}
READ = (
    "SELECT COUNT(x) FROM t",
    "SELECT SUM(x) FROM t WHERE x > 0.2",
    "SELECT SUM(x) FILTER (WHERE x > 0.2) FROM t",
    "SELECT SUM(x + 0) FROM t",
    "SELECT SUM(x), COUNT(DISTINCT x) FROM t",
    "SELECT FLOOR(x), SUM(x) FROM t GROUP BY FLOOR(x)",
    "SELECT SUM(z), SUM(w) FROM (SELECT x AS z, x * 2 AS w FROM t)",
    "SELECT SUM(x) FROM (SELECT x, ROW_NUMBER() OVER (PARTITION BY u ORDER BY x) AS n FROM of_people)",
    "SELECT SUM(x) FROM of_people",
)


def totals(sql: str) -> tuple[int, Any]:
    """How many columns are read as they are stored, and what is measured."""
    name = "of_people" if "of_people" in sql else "t"
    with replayer(name, TABLES[name]) as opened:
        plan = opened.plan(sql)
        (stage,) = plan.stages
        return len(only_placed(stage, opened.session.catalog)), opened.totals(stage, check(opened.session, plan))


@pytest.mark.slow
@pytest.mark.parametrize("sql", [*PLACED, *READ])
def test_totals_are_those_of_clamped_columns(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, placed = totals(sql)
    assert count == PLACED.get(sql, 0)
    monkeypatch.setattr(vault_sql, "only_placed", lambda stage, catalog: frozenset())
    assert totals(sql)[1] == placed


@pytest.mark.parametrize("bounds", [{"upper": 0.29}, {"lower": 0.11}])
def test_bounds_narrower_than_the_axis(bounds: dict[str, float]) -> None:
    """Were an axis wider than the declared bounds, values beyond these would count for more."""
    narrower = {**TABLES["t"], "columns": {**TABLES["t"]["columns"], "x": {**X, **bounds}}}
    with replayer("t", TABLES["t"]) as opened, replayer("t", narrower) as other:
        (stage,) = opened.plan("SELECT SUM(x) FROM t").stages
        assert only_placed(stage, opened.session.catalog)
        assert not only_placed(stage, other.session.catalog)
