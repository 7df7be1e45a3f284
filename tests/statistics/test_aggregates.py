"""Every aggregate's error against its formula, and order statistics on a million rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import dpsql
from benchmarks.accuracy import Line, connect, lines, orders, rmse
from tests.worlds import bounded, people

RUNS = 60  # an RMSE of 60 Laplace errors is within 0.55 and 1.6 of its expectation, but for one time in a million
FRAME = orders()


@pytest.fixture(scope="module")
def conn() -> dpsql.Connection:
    return connect(FRAME)


@pytest.mark.parametrize("line", lines(FRAME), ids=lambda line: line.sql)
def test_the_error_is_the_formulas(line: Line, conn: dpsql.Connection) -> None:
    assert 0.45 < rmse(conn, line.sql, line.truth, RUNS) / line.predicted < 1.7


def test_the_formulas_are_the_papers() -> None:
    predicted = {line.sql: line.predicted for line in lines(FRAME)}
    assert predicted["COUNT(amount)"] == pytest.approx(63, rel=0.05)
    assert predicted["SUM(amount)"] == pytest.approx(7700, rel=0.05)
    assert predicted["AVG(amount)"] == pytest.approx(0.256, rel=0.05)
    assert predicted["VAR_POP(amount)"] == pytest.approx(114, rel=0.05)
    assert predicted["SUM(amount, contribution_bounds_per_group => (0, 900))"] < 1500


def test_quantiles_of_a_million_rows() -> None:
    """ε = 1, one row a person: within a few of the 65,536 grid steps."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"person": np.arange(1_000_000), "x": rng.uniform(0, 100, 1_000_000)})
    catalog = people(
        {"x": bounded("real", 0, 100)}, unit="person", max_groups=1, max_rows=1, budget={"epsilon": 100, "delta": 0}
    )
    step = 100 / 65_535
    with dpsql.connect(catalog, source={"t": frame}, epsilon=1) as conn:
        median, p95 = conn.execute("SELECT MEDIAN(x), QUANTILE_CONT(x, 0.95) FROM t").fetchall()[0]
    assert abs(median - frame["x"].median()) < 8 * step
    assert abs(p95 - frame["x"].quantile(0.95)) < 8 * step
