"""Where every value is 0 nobody moves a sum; it has noise all the same, of the smallest scale there is."""

from __future__ import annotations

import pyarrow as pa
import pytest

import dpsql
from tests.worlds import ASKED, bounded, keys, people

CATALOG = people({"k": keys("a", "b"), "x": bounded("real", -9, 9), "o": bounded("integer", 0, 0)}, per_query=ASKED)
SOURCE = {"t": pa.table({"u": [1, 1, 2], "k": ["a", "b", "a"], "x": [1.0, 2.0, 3.0], "o": [0, 0, 7]})}


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("zero", ["o", "0", "0.0", "o * 0", "LEAST(GREATEST(x, 0), 0)"])
@pytest.mark.parametrize("asked", ["SUM({})", "AVG({})", "SUM(DISTINCT {})", "AVG(DISTINCT {})"])
def test_sums_of_zeros(asked: str, zero: str, mechanism: str) -> None:
    options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 1e-6, mechanism = '{mechanism}')"
    with dpsql.connect(CATALOG, source=SOURCE) as connection:
        rows = connection.execute(f"SELECT {options} k, {asked.format(zero)} FROM t GROUP BY k").fetchall()
    assert [row[0] for row in rows] == ["a", "b"]
