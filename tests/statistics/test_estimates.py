"""Estimates of averages, variances and ratios: never below the true error at an end of the bounds, and not far above it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.mechanisms import entropy
from tests.worlds import bounded, people

GROUPS, ROWS, RUNS = 400, 200, 3  # each group is a sample of its own: 1,200 of them
TOP = 10.0
VALUES = {"at an end": TOP, "near it": 0.9 * TOP}


def connected(name: str, value: float) -> dpsql.Connection:
    columns = {"k": {"type": "integer", "keys": list(range(GROUPS))}, "x": bounded("real", 0, TOP)}
    catalog = people(columns, rows_per_unit=1)
    units = np.arange(GROUPS * ROWS)
    data = pd.DataFrame({"u": units, "k": units % GROUPS, "x": value})
    return dpsql.connect(catalog, source={"t": data}, epsilon=1, delta=1e-6)


def nothing(value: float) -> float:
    return 0.0


def itself(value: float) -> float:
    return value


COLUMNS: dict[str, tuple[Callable[[float], float], float]] = {  # the truth, and how far above it the estimate may be
    "AVG(x)": (itself, 1.45),
    "SUM(x) / COUNT(*)": (itself, 1.45),
    "100.0 * COUNT_IF(x > 5) / COUNT(*)": (lambda value: 100.0, 1.45),
    "VAR_POP(x)": (nothing, 1.6),
    "STDDEV_POP(x)": (nothing, 1.6),
}


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("column", COLUMNS)
def test_an_estimate_is_above_the_true_error_and_near_it(
    column: str, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entropy, "os", SimpleNamespace(urandom=np.random.default_rng(1311).bytes))
    truth, far = COLUMNS[column]
    options = f"assumed_rows = {ROWS}, mechanism = '{mechanism}', fresh = true"
    sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) k, {column} AS v FROM t GROUP BY k"
    worst = 0.0
    for value in VALUES.values():
        with connected(f"{column} {mechanism}", value) as connection:
            estimate = connection.explain(sql).estimates["v"].half_width
            rows = [row[1] for _ in range(RUNS) for row in connection.execute(sql).fetchall()]
        worst = max(worst, float(np.quantile(np.abs(np.array(rows) - truth(value)), 0.95)))
    assert worst <= estimate <= far * worst
