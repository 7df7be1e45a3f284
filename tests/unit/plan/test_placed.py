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
X = {"type": "real", "lower": 0.1, "upper": 0.3}
Y = {"type": "real", "lower": -1, "upper": 3}
COLUMNS = {"k": {"type": "text", "keys": ["a", "b"]}, "x": X, "y": Y}
TABLES: dict[str, dict[str, Any]] = {
    "t": {"row_is_unit": True, "columns": {**COLUMNS, "whole": "integer"}},
    "of_people": {"unit": "u", "rows_per_unit": 1, "columns": {"u": "integer", **COLUMNS}},
}


def replayer(name: str, table: dict[str, Any]) -> dpsql.testing.Replayer:
    described = {
        "dataset": "placed",
        "unit": "person",
        "budget": {"epsilon": 1000, "delta": 0.1},
        "per_query": {"epsilon": 1, "delta": 1e-6},
        "tables": {name: table},
    }
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
    with replayer(name, TABLES[name]) as own:
        plan = own.plan(sql)
        (stage,) = plan.stages
        return len(only_placed(stage, own.session.catalog)), own.totals(stage, check(own.session, plan))


@pytest.mark.slow
@pytest.mark.parametrize("sql", [*PLACED, *READ])
def test_totals_are_those_of_clamped_columns(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    count, found = totals(sql)
    assert count == PLACED.get(sql, 0)
    monkeypatch.setattr(vault_sql, "only_placed", lambda stage, catalog: frozenset())
    assert totals(sql)[1] == found


@pytest.mark.parametrize("bounds", [{"upper": 0.29}, {"lower": 0.11}])
def test_bounds_narrower_than_the_axis(bounds: dict[str, float]) -> None:
    """Were an axis wider than the declared bounds, values beyond these would count for more."""
    narrower = {**TABLES["t"], "columns": {**TABLES["t"]["columns"], "x": {**X, **bounds}}}
    with replayer("t", TABLES["t"]) as own, replayer("t", narrower) as other:
        (stage,) = own.plan("SELECT SUM(x) FROM t").stages
        assert only_placed(stage, own.session.catalog)
        assert not only_placed(stage, other.session.catalog)
