"""Accuracy as a percentage of what was released before, and of averages where the number of rows is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.mechanisms import entropy
from tests.worlds import bounded, keys, people


@pytest.fixture(autouse=True)
def _the_same_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty group stands out of its noise in one run of twenty."""
    monkeypatch.setattr(entropy, "os", SimpleNamespace(urandom=np.random.default_rng(132).bytes))


ROWS = {"a": 3000, "b": 1200, "c": 0}


def data() -> pd.DataFrame:
    keys = [key for key, count in ROWS.items() for _ in range(count)]
    return pd.DataFrame({"u": np.arange(len(keys)), "k": keys, "x": 6.0, "y": 1.0})


def connected(analyst: str | None = None, **more: Any) -> dpsql.Connection[Any]:
    columns = {"k": keys(*ROWS), "x": bounded("real", 0, 10), "y": bounded("real", 0, 1)}
    catalog = people(columns, **{"rows_per_unit": 2, **more})
    return dpsql.connect(catalog, source={"t": data()}, epsilon=5, analyst=analyst)


def asked(connection: dpsql.Connection[Any], options: str, columns: str) -> Any:
    return connection.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {columns}")


def epsilon_for(connection: dpsql.Connection[Any], options: str, columns: str) -> float:
    told = connection.explain(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {columns}")
    return float(told.to_dict()["cost"]["epsilon"])


COUNT = "COUNT(*) AS n FROM t"
EMPTY = "k, COUNT(*) AS n FROM t WHERE k = 'c' GROUP BY k"


def test_a_percentage_of_what_was_released() -> None:
    with connected() as connection:
        ((first,),) = asked(connection, "epsilon = 0.05", COUNT).fetchall()
        answer = asked(connection, "accuracy = '2%'", COUNT)
        assert answer.privacy.intervals["n"] <= 0.02 * first
        assert answer.privacy.intervals["n"] >= 0.0195 * first - 1
        assert asked(connection, "accuracy = (N => '2%')", COUNT).privacy.cost.epsilon == answer.privacy.cost.epsilon


def test_it_stays_what_it_was_after_other_releases() -> None:
    """The oldest release counts, so the query that ran finds its own ε again."""
    with connected() as connection:
        asked(connection, "epsilon = 0.05", COUNT)
        before = epsilon_for(connection, "accuracy = '2%'", COUNT)
        for _ in range(3):
            asked(connection, "accuracy = '2%', fresh = true", COUNT)
        asked(connection, "epsilon = 4", COUNT)
        assert epsilon_for(connection, "accuracy = '2%'", COUNT) == before


@pytest.mark.parametrize(
    ("first", "options", "then"),
    [
        ("", "accuracy = '5%'", COUNT),
        (COUNT, "accuracy = '5%'", "COUNT(*) AS n FROM t WHERE y > 0.5"),
        (COUNT, "accuracy = '5%'", "k, COUNT(*) AS n FROM t GROUP BY k"),
        (COUNT, "accuracy = '5%', max_rows_contributed = 1", COUNT),
        (COUNT, "accuracy = (s => '5%')", "SUM(x) AS s FROM t"),
        (
            "k, COUNT(*) AS n FROM t WHERE k = 'c' GROUP BY k",
            "accuracy = '5%'",
            "k, COUNT(*) AS n FROM t WHERE k = 'c' GROUP BY k",
        ),
    ],
)
def test_without_a_release_above_its_noise_it_is_refused_for_nothing(first: str, options: str, then: str) -> None:
    with connected() as connection:
        if first:
            asked(connection, "epsilon = 0.05", first)
        spent = connection.budget.spent.epsilon
        with pytest.raises(dpsql.Error, match="no earlier query released how large") as caught:
            asked(connection, options, then)
        assert caught.value.code == "DPSQL-119"
        assert "Ask for it once with a small epsilon" in str(caught.value)
        assert connection.budget.spent.epsilon == spent


def test_by_keys_it_is_the_smallest_number_that_stands_out() -> None:
    with connected() as connection:
        counts = dict(asked(connection, "epsilon = 0.2", "k, COUNT(*) AS n FROM t GROUP BY k").fetchall())
        wide = asked(connection, "accuracy = '10%'", "k, COUNT(*) AS n FROM t GROUP BY k").privacy.intervals["n"]
        assert 0.095 * counts["b"] < wide <= 0.1 * counts["b"]


def test_what_another_analyst_was_told_does_not_count() -> None:
    with connected("ann", dataset="relative, shared") as ann, connected("bob", dataset="relative, shared") as bob:
        asked(ann, "epsilon = 0.05", COUNT)
        with pytest.raises(dpsql.Error, match="no earlier query released how large"):
            asked(bob, "accuracy = '5%'", COUNT)
        asked(ann, "accuracy = '5%'", COUNT)


def test_an_average_with_assumed_rows() -> None:
    with connected() as connection:
        average = "AVG(x) AS a FROM t"
        with pytest.raises(dpsql.Error, match=r"the accuracy of a is not known.*(?s:.)*assumed_rows"):
            asked(connection, "accuracy = (a => 0.1)", average)
        epsilon = epsilon_for(connection, "accuracy = (a => 0.1), assumed_rows = 4000", average)
        assert epsilon == pytest.approx(5.991 * 5 * 2 / (0.1 * 4000), rel=0.03)
        near = asked(connection, "accuracy = (a => 0.1), assumed_rows = 4000", average)
        assert near.privacy.intervals["a"] < 0.2
        assert abs(near.fetchall()[0][0] - 6) < 0.3
        assert epsilon_for(connection, "accuracy = 0.1, assumed_rows = 4000", average) == epsilon


def test_an_average_after_a_count_and_its_repeat_is_free() -> None:
    with connected() as connection:
        asked(connection, "epsilon = 0.5", COUNT)
        once = asked(connection, "accuracy = (a => 0.1)", "COUNT(*) AS n, AVG(x) AS a FROM t").privacy.cost.epsilon
        assert once == pytest.approx(2 * 5.991 * 5 * 2 / (0.1 * 4200), rel=0.05)  # half is the count's
        again = epsilon_for(connection, "accuracy = (a => 0.1)", "COUNT(*) AS n, AVG(x) AS a FROM t")
        assert again == once


def test_a_percentage_of_an_average_and_of_a_ratio() -> None:
    with connected() as connection:
        columns = "AVG(x) AS a, 100.0 * COUNT_IF(y > 0.5) / COUNT(*) AS r FROM t"
        asked(connection, "epsilon = 0.5", COUNT)
        first = asked(connection, "epsilon = 1", columns).fetchall()[0]
        answer = asked(connection, "accuracy = (a => '1%', r => '3%')", columns)
        assert answer.privacy.intervals["a"] <= 0.012 * first[0]
        answer = connection.explain(
            f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = {answer.privacy.cost.epsilon!r}) {columns}"
        ).estimates
        assert answer["a"].half_width <= 0.01 * first[0] or answer["r"].half_width <= 0.03 * first[1]


def test_where_the_data_choose_limits() -> None:
    with connected(rows_per_unit="auto") as connection:
        ((first,),) = asked(connection, "epsilon = 1", COUNT).fetchall()
        answer = asked(connection, "accuracy = '2%'", COUNT)
        assert answer.privacy.intervals["n"] <= 0.02 * first
        asked(connection, "epsilon = 1", "COUNT(*) AS n, AVG(x) AS a FROM t")
        near = asked(connection, "accuracy = (a => 0.5)", "AVG(x) AS a FROM t")
        assert near.privacy.intervals["a"] < 0.75
