"""OPTIONS(over_limit = true): how many units are over a limit, for a twentieth of ε."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql import testing
from dpsql.execution import release_stages
from dpsql.plan.render import limits
from dpsql.testing import measurements
from tests.worlds import bounded, keys, people

FEW, MANY = 400, 60  # units with one row, and with twenty: in group a, or over all four
GROUPS = ["a", "b", "c", "d"]
AT_ONCE = "epsilon = 200, over_limit = true"  # a twentieth: noise of scale 1/10


def data() -> pd.DataFrame:
    light = pd.DataFrame({"u": np.arange(FEW), "k": "a", "x": 1.0, "z": 1})
    units = np.repeat(np.arange(MANY), 20)
    keys = np.where(units % 2, np.array(GROUPS * (len(units) // 4)), "a")
    heavy = pd.DataFrame({"u": FEW + units, "k": keys, "x": 1.0, "z": 100})
    return pd.concat([light, heavy], ignore_index=True)


def catalog(**limits_: Any) -> dict[str, Any]:
    columns = {"k": keys(*GROUPS), "x": bounded("real", 0, 10), "z": "integer"}
    return people(columns, **limits_, version="1")


def connected(**limits_: Any) -> dpsql.Connection[Any]:
    return dpsql.connect(catalog(**limits_), source={"t": data()}, epsilon=1, delta=1e-6)


def asked(connection: dpsql.Connection[Any], columns: str, options: str = AT_ONCE) -> Any:
    return connection.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {columns}")


CASES = [
    ({"rows_per_unit": 8}, "COUNT(*) FROM t", "", "rows", MANY),
    ({"rows_per_unit": 20}, "COUNT(*) FROM t", "", "rows", 0),
    ({"rows_per_unit": 8}, "COUNT(*) FROM t WHERE u >= 400 AND k = 'b'", "", "rows", 0),
    ({"rows_per_unit": 8}, "COUNT_IF(k = 'b'), SUM(x) FROM t", "", "rows", MANY),
    ({"rows_per_unit": 8}, "COUNT(*) FILTER (WHERE k = 'b') FROM t", "", "rows", 0),
    ({"rows_per_unit": 8}, "k, COUNT(*) FROM t GROUP BY k", "", "rows", MANY),
    # 20 rows in one group are 400 squared, five in each of four groups are 100: the limit is 12 · 12
    ({"rows_per_unit": 12}, "k, COUNT(*) FROM t GROUP BY k", ", mechanism = 'gaussian'", "rows", MANY // 2),
    ({"rows_per_unit": 12}, "COUNT(*) FROM t", ", mechanism = 'gaussian'", "rows", MANY),
    ({"rows_per_unit": 8}, "k, COUNT(*) FROM t GROUP BY ROLLUP (k)", "", "rows", MANY),
    (
        {"rows_per_unit": 8, "groups_per_unit": 3},
        "k, COUNT(DISTINCT u) FROM t GROUP BY k",
        "",
        "groups",
        MANY // 2,
    ),
    ({"rows_per_unit": "auto"}, "AVG(x) FROM t", ", max_rows_contributed = 8", "rows", MANY),
]


@pytest.mark.parametrize(("limits_", "columns", "more", "of", "units"), CASES)
def test_it_is_how_many_units_count_less(limits_: dict[str, Any], columns: str, more: str, of: str, units: int) -> None:
    with connected(**limits_) as connection:
        privacy = asked(connection, columns, AT_ONCE + more).privacy
        (over,) = privacy.over_limits
        assert (over.of, over.half_width) == (of, 0.0)
        assert abs(over.units - units) <= 3  # P[|noise| > 3] is below 1e-17
        everybody = 30 if "WHERE u" in columns else FEW + MANY
        assert abs(over.among - everybody) <= 6
        assert over.text("person") in privacy.notes


@pytest.mark.parametrize("limits_", [{"rows_per_unit": 1}, {"rows_per_unit": 8}])
@pytest.mark.parametrize("columns", ["k2, COUNT(*) AS n FROM t GROUP BY k2", "k2, k, SUM(x) FROM t GROUP BY k2, k"])
def test_beside_private_keys(limits_: dict[str, Any], columns: str) -> None:
    """Where one row of a unit counts, keys and totals are one question of the vault, which says nothing of limits."""
    described = catalog(**limits_)
    described["tables"]["t"]["columns"]["k2"] = "text"
    with dpsql.connect(described, source={"t": data().assign(k2="a")}, epsilon=1, delta=1e-6) as connection:
        (over,) = asked(connection, columns).privacy.over_limits
        assert (over.of, over.limit) == ("rows", limits_["rows_per_unit"])
        assert abs(over.units - MANY) <= 3


@pytest.mark.parametrize(("mechanism", "units"), [("laplace", MANY), ("gaussian", MANY)])
def test_it_is_asked_in_the_norm_that_limits(mechanism: str, units: int) -> None:
    """Cumulative sums limit units in norm 1 whatever their noise is: 20 rows over ten days are over 8, their squares are
    40, which is not over 64."""
    described = catalog(rows_per_unit=8)
    described["tables"]["t"]["columns"]["day"] = bounded("integer", 0, 39)
    table = data().assign(day=lambda over: np.arange(len(over)) % 10)
    with dpsql.connect(described, source={"t": table}, epsilon=1, delta=1e-6) as connection:
        options = f"{AT_ONCE}, mechanism = '{mechanism}'"
        columns = "day, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t GROUP BY day"
        (over,) = asked(connection, columns, options).privacy.over_limits
        assert abs(over.units - units) <= 3


def test_limits_that_the_data_choose() -> None:
    """Whatever was chosen, it is who is over that."""
    with connected(rows_per_unit="auto") as connection:
        for _ in range(3):
            privacy = asked(connection, "COUNT(*) FROM t", f"{AT_ONCE}, fresh = true").privacy
            (limit,), (over,) = privacy.limits, privacy.over_limits
            assert over.limit == limit.chosen
            assert abs(over.units - (0 if limit.chosen >= 20 else MANY)) <= 6
        privacy = asked(connection, "SUM(z) FROM t").privacy
        (over,) = privacy.over_limits
        assert over.of == "sum(z)"
        assert abs(over.units - (0 if over.limit >= 2000 else MANY)) <= 6


def test_its_share_and_its_record() -> None:
    with connected(rows_per_unit=8) as connection:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(over_limit = true) COUNT(*) AS n FROM t"
        told = connection.explain(sql).to_dict()
        over, count = told["stages"][0]["measurements"]
        assert told["cost"]["epsilon"] == 1
        assert (over["name"], over["epsilon"], over["sensitivity"]) == ("units over the limit on rows", 0.05, 1)
        assert count["epsilon"] == pytest.approx(0.95)
        assert "units over the limit on rows: one person changes it by at most 1; laplace noise of scale 20" in str(
            connection.explain(sql)
        )
        first = connection.execute(sql)
        assert connection.budget.spent.epsilon == 1
        (over_limit,) = first.privacy.over_limits
        assert over_limit.half_width == 60
        record = [json.loads(e.detail) for e in connection._session.ledger.rows() if e.kind == "charge"]
        assert {"mechanism": "pure", "epsilon": "1/20"} in record[-1]["noise"]
        assert "units over the limit on rows" in [m["name"] for m in record[-1]["measurements"]]


def test_a_repeat_shows_the_same_numbers() -> None:
    described = {**catalog(rows_per_unit=8)}
    with dpsql.connect(described, source={"t": data()}, epsilon=1) as connection:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(over_limit = true) COUNT(*) AS n FROM t"
        first = connection.execute(sql, query_id="one")
        again = connection.execute(sql, query_id="one")
        assert again.privacy.repeated
        assert again.privacy.over_limits == first.privacy.over_limits
        assert connection.budget.spent.epsilon == 1


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_under_zcdp_it_costs_what_was_asked(mechanism: str) -> None:
    described = {**catalog(rows_per_unit=8), "accounting": "zcdp"}
    with dpsql.connect(described, source={"t": data()}, epsilon=1, delta=1e-6) as connection:
        rho = []
        for over in ("true", "false"):
            options = f"over_limit = {over}, mechanism = '{mechanism}'"
            rho.append(asked(connection, "COUNT(*) FROM t", options).privacy.cost.rho)
        assert 0 < rho[0] < rho[1]


@pytest.mark.parametrize("columns", ["COUNT(DISTINCT u) FROM t", "COUNT(*) FROM (SELECT u FROM t GROUP BY u)"])
def test_where_nobody_can_be_over_a_limit_it_is_refused(columns: str) -> None:
    with connected(rows_per_unit=8) as connection:
        with pytest.raises(dpsql.Error, match="no limit applies here"):
            asked(connection, columns)
        assert connection.budget.spent.epsilon == 0


def test_with_an_accuracy() -> None:
    with connected(rows_per_unit=8) as connection:
        privacy = asked(connection, "COUNT(*) AS n FROM t", "epsilon = 50, accuracy = 40, over_limit = true").privacy
        assert privacy.intervals["n"] <= 40
        assert len(privacy.over_limits) == 1
    with connected(rows_per_unit="auto") as connection:
        privacy = asked(connection, "COUNT(*) AS n FROM t", "epsilon = 50, accuracy = 40, over_limit = true").privacy
        assert privacy.intervals["n"] <= 40
        assert len(privacy.over_limits) == 1


REPLAYED = [
    ({"rows_per_unit": 2}, "COUNT(*), SUM(x) FROM t"),
    ({"rows_per_unit": 2}, "k, COUNT(*) FROM t GROUP BY k"),
    ({}, "COUNT(*), SUM(z) FROM t"),
    ({"rows_per_unit": 3, "groups_per_unit": 2}, "k, COUNT(DISTINCT u), AVG(x) FROM t GROUP BY ROLLUP (k)"),
]


def replayed(limits_: dict[str, Any], columns: str, mechanism: str) -> list[testing.Replayed]:
    options = f"over_limit = true, mechanism = '{mechanism}', epsilon = 1, delta = 1e-6"
    sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {columns}"
    few = data().query("u < 3 or u in (400, 401)")
    return testing.replay(catalog(**limits_), sql, {"t": few})


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize(("limits_", "columns"), REPLAYED)
def test_one_unit_changes_it_by_one(limits_: dict[str, Any], columns: str, mechanism: str) -> None:
    lines = replayed(limits_, columns, mechanism)
    assert lines and all(line.holds for line in lines)
    over = [name for line in lines for name in line.changes if name.startswith("over the limit")]
    assert over and all(line.declared[name] == 1 for line in lines for name in line.changes if name in over)
    assert any(line.changes[name] == 1 for line in lines for name in line.changes if name in over)


def test_counting_rows_instead_of_units_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    right: Callable[..., Any] = limits.over_limits

    def wrong(*args: Any) -> Any:
        asked_ = right(*args)
        questions = tuple(
            dataclasses.replace(q, select=q.select.replace("count(*) AS w", "CAST(sum(size) AS BIGINT) AS w"))
            for q in asked_.questions
        )
        return dataclasses.replace(asked_, questions=questions)

    monkeypatch.setattr(measurements, "over_limits", wrong)
    monkeypatch.setattr(release_stages, "over_limits", wrong)
    assert not all(line.holds for line in replayed({"rows_per_unit": 2}, "COUNT(*) FROM t", "laplace"))
