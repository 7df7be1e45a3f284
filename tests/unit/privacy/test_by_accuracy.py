"""Asking by accuracy: the least ε from the plan alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql

DATASETS = itertools.count()


def connected(**limits: Any) -> dpsql.Connection[Any]:
    columns = {
        "u": "integer",
        "k": {"type": "text", "keys": ["a", "b"]},
        "n": "text",
        "x": {"type": "real", "lower": 0, "upper": 10},
    }
    table = {"unit": "u", **(limits or {"rows_per_unit": 2}), "columns": columns}
    catalog = {
        "dataset": f"accuracy {next(DATASETS)}",
        "budget": {"epsilon": 1000, "delta": 1e-4},
        "tables": {"t": table},
    }
    count = 3000
    data = pd.DataFrame({"u": np.arange(count), "k": "a", "n": "b", "x": 1.0})
    return dpsql.connect(catalog, source={"t": data}, epsilon=5, delta=1e-6)


def asked(connection: dpsql.Connection[Any], options: str, columns: str) -> Any:
    return connection.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {columns}")


@pytest.mark.parametrize(
    ("options", "columns", "near"),
    [
        ("accuracy = 20", "COUNT(*) AS n FROM t", {"n": 20}),
        ("accuracy = (n => 20, s => 300)", "k, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY k", {"n": 20, "s": 300}),
        ("accuracy = (N => 20)", "COUNT(*) AS n, AVG(x) FROM t", {"n": 20}),
        ("accuracy = 30, mechanism = 'gaussian'", "k, COUNT(*) AS n FROM t GROUP BY k", {"n": 30}),
        ("accuracy = 40", "n, COUNT(*) AS c FROM t GROUP BY n", {"c": 40}),
    ],
)
def test_the_least_epsilon_that_is_enough(options: str, columns: str, near: dict[str, float]) -> None:
    with connected() as connection:
        privacy = asked(connection, options, columns).privacy
        assert all(privacy.intervals[name] <= most for name, most in near.items())
        less = privacy.cost.epsilon * 0.98
        fewer = asked(
            connection, f"epsilon = {less!r}" + (options[12:] if "mechanism" in options else ""), columns
        ).privacy
        assert any(fewer.intervals[name] > most for name, most in near.items())
        assert connection.budget.spent.epsilon == pytest.approx(privacy.cost.epsilon + less)


def test_confidence() -> None:
    with connected() as connection:
        sure = asked(connection, "accuracy = 20, confidence = 0.99", "COUNT(*) AS n FROM t").privacy.cost.epsilon
        less = asked(connection, "accuracy = 20, confidence = 0.8", "COUNT(*) AS n FROM t").privacy.cost.epsilon
        assert sure == pytest.approx(np.log(100) / 20 * 2, rel=0.03)
        assert less == pytest.approx(np.log(5) / 20 * 2, rel=0.03)


def test_explain_and_repeats_find_the_same() -> None:
    with connected() as connection:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = 20) COUNT(*) AS n FROM t"
        told = connection.explain(sql).to_dict()["cost"]["epsilon"]
        assert connection.budget.spent.epsilon == 0
        assert connection.execute(sql).privacy.cost.epsilon == told == connection.execute(sql).privacy.cost.epsilon


@pytest.mark.parametrize(
    ("options", "columns", "told"),
    [
        ("accuracy = 0.5", "COUNT(*) AS n FROM t", "n is within ±"),
        ("accuracy = (m => 1)", "COUNT(*) AS n FROM t", "how near m is cannot be told"),
        ("accuracy = (a => 1)", "AVG(x) AS a FROM t", "how near a is cannot be told"),
        (
            "accuracy = 20, max_rows_contributed = 'auto'",
            "COUNT(*) AS n FROM t",
            "limits or bounds that the data choose",
        ),
        ("accuracy = 0", "COUNT(*) AS n FROM t", "accuracy takes"),
        ("accuracy = 'near'", "COUNT(*) AS n FROM t", "accuracy takes"),
        ("accuracy = 20, confidence = 1", "COUNT(*) AS n FROM t", "confidence takes"),
    ],
)
def test_what_cannot_be_is_refused_and_free(options: str, columns: str, told: str) -> None:
    with connected() as connection:
        with pytest.raises(dpsql.Error, match=told):
            asked(connection, options, columns)
        assert connection.budget.spent.epsilon == 0
