"""Bounds and keys at the ends of what numbers can be: answered or refused with a code, never an accident."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import dpsql
from dpsql.testing import exact, replay
from tests.worlds import ASKED, bounded, people

LARGEST = 1.7976931348623157e308
BOUNDS = [(5e-324, 1e-300), (0, 5e-324), (-1e140, 1e140), (-1e160, 1e160), (-1e308, 1e308), (-LARGEST, LARGEST), (0, 0)]
QUERIES = [
    "SELECT SUM(x) FROM t",
    "SELECT AVG(x), SUM(x), COUNT(x) FROM t",
    "SELECT VAR_POP(x) FROM t",
    "SELECT MEDIAN(x) FROM t",
    "SELECT MAX(x) FROM t",
    "SELECT SUM(s) FROM (SELECT u, LEAST(GREATEST(SUM(x), -1), 1) AS s FROM t GROUP BY u) AS q",
    "SELECT SUM(EXP(x)) FROM t",
]


def catalog(**columns: Any) -> dict[str, Any]:
    return people(columns, max_groups=3, max_rows=2, per_query=ASKED)


@pytest.mark.slow
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_bounds_of_any_size_are_answered_or_refused(lower: float, upper: float) -> None:
    cells = [-LARGEST, LARGEST, 5e-324, -0.0, float("inf"), 1.0, 0.5e-300]
    source = {"t": pa.table({"u": [1, 1, 1, 2, 3, 4, 5], "x": cells})}
    described = catalog(x=bounded("real", lower, upper))
    with dpsql.connect(described, source=source) as noisy, exact(described, source=source) as quiet:
        for sql in QUERIES:
            spent = noisy.budget.spent.epsilon
            try:
                noisy.execute(sql).fetchall()
                quiet.execute(sql).fetchall()
                assert all(line.holds for line in replay(described, sql, source))
            except dpsql.Refused as refused:
                assert refused.code in ("DPSQL-131", "DPSQL-129", "DPSQL-103"), refused
                assert noisy.budget.spent.epsilon == spent


@pytest.mark.parametrize("key", ["FLOOR(x)", "CEIL(x)", "CAST(i AS HUGEINT) * 10", "ROUND(x)"])
def test_keys_beyond_64_bits_are_refused(key: str) -> None:
    """They would come out as NULL, several groups under one name."""
    described = catalog(x=bounded("real", 0, 1e300), i="integer")
    source = {"t": pa.table({"u": [1, 2], "x": [1e250, 1e251], "i": [2**62, 2**63 - 1]})}
    with exact(described, source=source) as connection, pytest.raises(dpsql.Refused) as refused:
        connection.execute(f"SELECT {key}, COUNT(*) FROM t GROUP BY 1")
    assert refused.value.code == "DPSQL-117"


def test_negative_zero_is_no_key_of_its_own() -> None:
    described = catalog(x=bounded("real", -3e6, 7e6))
    source = {"t": pa.table({"u": [1, 2, 3], "x": [-0.5, 0.0, -0.0]})}
    with exact(described, source=source) as connection:
        assert connection.execute("SELECT CEIL(x), COUNT(*) FROM t GROUP BY 1").fetchall() == [(0.0, 3)]
