"""OPTIONS(intervals=…): the columns hold what the plan answers without noise as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import dpsql
import dpsql.testing

GROUPS, RUNS = 300, 4
RNG = np.random.default_rng(11)
FRAME = pd.DataFrame(
    {
        "person": np.arange(GROUPS * 40),
        "k": np.repeat(np.arange(GROUPS), 40),
        "x": RNG.uniform(0, 5, GROUPS * 40),
        "y": RNG.uniform(0, 3, GROUPS * 40),
        "i": RNG.integers(0, 8, GROUPS * 40),
    }
)
CATALOG = {
    "dataset": "intervals",
    "unit": "person",
    "budget": {"epsilon": 1_000_000, "delta": 0.5},
    "tables": {
        "t": {
            "unit": "person",
            "max_groups": 1,
            "max_rows": 2,
            "columns": {
                "person": "integer",
                "k": {"type": "integer", "lower": 0, "upper": GROUPS - 1, "nullable": False},
                "x": {"type": "real", "lower": 0, "upper": 5},
                "y": {"type": "real", "lower": 0, "upper": 3},
                "i": {"type": "integer", "lower": 0, "upper": 7},
            },
        }
    },
}
PLAIN = ["COUNT(*)", "SUM(x)", "SUM(i)", "COUNT(DISTINCT i)", "COUNT_IF(x > 2)"]
MADE = [
    "AVG(x)",
    "COUNT(*) * 2 - COUNT(x)",
    "SUM(x) / COUNT(*)",
    "VAR_POP(x)",
    "VAR_SAMP(i)",
    "STDDEV(x)",
    "COVAR_POP(x, y)",
    "COVAR_SAMP(x, i)",
    "CORR(x, y)",
    "REGR_SLOPE(x, y)",
    "REGR_INTERCEPT(x, y)",
    "ROUND(SQRT(ABS(AVG(x) - 3)), 1)",
    "GREATEST(0, SUM(x - 2.5))",
    "CASE WHEN COUNT(*) > 39 THEN AVG(x) ELSE -SUM(i) END",
]


def hits(item: str, mechanism: str, level: float, epsilon: int) -> tuple[int, int]:
    """How often the interval holds the answer without noise, of how many that there are."""
    options = f"OPTIONS(intervals={level}, mechanism='{mechanism}', epsilon={epsilon}, delta=1e-6, fresh=true)"
    query = f"{item} AS v FROM t GROUP BY k ORDER BY k"
    with dpsql.testing.exact(CATALOG, source={"t": FRAME}) as exact:
        truth = [row[0] for row in exact.execute(f"SELECT {query}").fetchall()]
    inside = seen = 0
    with dpsql.connect(CATALOG, source={"t": FRAME}) as conn:
        for _ in range(RUNS):
            cursor = conn.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {query}")
            assert [column[0] for column in cursor.description or ()] == ["v", "v_low", "v_high"]
            for exact_value, (value, low, high) in zip(truth, cursor.fetchall(), strict=True):
                assert low is None or high is None or low <= high
                assert value is None or ((low is None or low <= value) and (high is None or value <= high))
                if value is not None:
                    seen += 1
                    slack = 1e-6 * (1 + abs(exact_value))
                    inside += (low is None or low - slack <= exact_value) and (
                        high is None or exact_value <= high + slack
                    )
    return inside, seen


def least(level: float, count: int) -> float:
    return count * level - 5.2 * math.sqrt(count * level * (1 - level))


@pytest.mark.parametrize("item", PLAIN)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_a_plain_measurements_interval_is_its_noises(item: str, mechanism: str) -> None:
    """As often as it says, and not much more often: half a unit of rounding, at most."""
    inside, seen = hits(item, mechanism, 0.8, 1)
    assert seen == GROUPS * RUNS
    assert least(0.8, seen) <= inside <= seen * 0.8 + 5.2 * math.sqrt(seen * 0.16) + 0.06 * seen


@pytest.mark.parametrize("item", MADE)
@pytest.mark.parametrize("epsilon", [1, 20])
def test_an_expressions_interval_holds(item: str, epsilon: int) -> None:
    inside, seen = hits(item, "laplace", 0.8, epsilon)
    assert inside >= least(0.8, seen)


def test_refused_where_nothing_has_an_interval() -> None:
    with dpsql.connect(CATALOG, source={"t": FRAME}, epsilon=1) as conn, pytest.raises(dpsql.Error, match="DPSQL-135"):
        conn.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(intervals=0.95) MEDIAN(x) FROM t")


def test_shapes_and_settings() -> None:
    with dpsql.connect(CATALOG, source={"t": FRAME}, epsilon=1) as conn:
        conn.execute("SET intervals = 0.9")
        cursor = conn.execute(
            "SELECT k, COUNT(*) AS n, MEDIAN(x) AS m FROM t GROUP BY k HAVING n > 0 ORDER BY m LIMIT 3"
        )
        assert [column[0] for column in cursor.description or ()] == ["k", "n", "n_low", "n_high", "m"]
        rows = cursor.fetchall()
        assert len(rows) == 3 and [row[4] for row in rows] == sorted(row[4] for row in rows)
