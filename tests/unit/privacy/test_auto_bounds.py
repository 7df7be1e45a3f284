"""Bounds that are left to the data: what they cost, what they are, and that one unit is one vote."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql import testing
from dpsql.execution.known import check
from dpsql.execution.planning import plan_of, read
from dpsql.plan.balls import FULL
from dpsql.plan.measurements import Choice
from dpsql.session import open_session
from dpsql.testing.measurements import reaches, run
from tests.worlds import people


def catalog(**columns: Any) -> dict[str, Any]:
    left_to_data = {
        "x": {"type": "real", "bounds": "auto", "like": 10},
        "d": {"type": "decimal(10, 2)", "bounds": "auto", "like": 1},
        "i": {"type": "integer", "bounds": "auto"},
    }
    return people({**left_to_data, **columns}, unit="person", rows_per_unit=4, version="1", budget={"epsilon": 1000})


def rows(people: int = 4000) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    person = np.repeat(np.arange(people), draw.integers(1, 5, people))
    count = len(person)
    return pd.DataFrame(
        {
            "person": person,
            "x": draw.uniform(0, 300, count),
            "d": draw.uniform(-7, 0, count).round(2),
            "i": draw.integers(-900, 900, count),
        }
    )


def connected(**more: Any) -> dpsql.Connection[Any]:
    return dpsql.connect(catalog(), source={"t": rows()}, epsilon=1, **more)


def test_bounds_are_chosen_first_and_the_query_costs_what_was_asked() -> None:
    with connected() as connection:
        cursor = connection.execute("SELECT AVG(x), AVG(d), AVG(i) FROM t")
        x, d, i = cursor.fetchone()
        data = rows()
        assert x == pytest.approx(data["x"].mean(), rel=0.1)
        assert d == pytest.approx(data["d"].mean(), rel=0.1)
        assert i == pytest.approx(data["i"].mean(), abs=60)
        assert cursor.privacy.cost.epsilon == connection.budget.spent.epsilon == 1
        said = [note for note in cursor.privacy.notes if note.startswith("the data chose bounds")]
        assert [note.split(":")[0][-3:] for note in said] == ["t.x", "t.d", "t.i"]


def test_chosen_bounds_are_free_from_then_on() -> None:
    with connected() as connection:
        connection.execute("SELECT AVG(x) FROM t")
        cursor = connection.execute("SELECT VAR_POP(x) FROM t")
        assert not any("bounds" in note for note in cursor.privacy.notes)
        assert sum(m.epsilon for m in cursor.privacy.measurements) == 1
        chosen = connection.execute(
            "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(fresh = true) AVG(x) FROM t"
        ).privacy.notes
        assert any("bounds of t.x" in note for note in chosen)  # new noise is new bounds


def test_the_query_that_chose_bounds_repeats_for_nothing(tmp_path: Path) -> None:
    described = catalog()
    described["tables"]["t"]["source"] = "t.parquet"
    rows().to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.yaml").write_text(json.dumps(described))
    sql = "SELECT AVG(x) FROM t"
    with dpsql.connect(tmp_path / "t.yaml", epsilon=1) as connection:
        first = connection.execute(sql).fetchall()
        assert connection.would_charge(sql).epsilon == 0
        again = connection.execute(sql)
        assert again.privacy.repeated and again.fetchall() == first
        assert connection.budget.spent.epsilon == 1
        other = connection.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(fresh = true) AVG(x) FROM t").fetchall()
        assert other != first and connection.budget.spent.epsilon == 2


def test_a_retry_under_the_same_id_is_the_same_query() -> None:
    """By hand, where repeats are not free: the bounds that its first run chose are known by then, its ε was the rest."""
    with connected() as connection:
        first = connection.execute("SELECT AVG(x) FROM t", query_id="one").fetchall()
        again = connection.execute("SELECT AVG(x) FROM t", query_id="one")
        assert again.privacy.repeated and again.fetchall() == first
        assert connection.budget.spent.epsilon == 1
        with pytest.raises(dpsql.InterfaceError, match="belongs to another query"):
            connection.execute("SELECT AVG(i) FROM t", query_id="one")
        assert connection.budget.spent.epsilon == 1


def test_a_query_that_needs_no_bounds_chooses_none() -> None:
    with connected() as connection:
        for sql in ("COUNT(x)", "SUM(x)", "AVG(LEAST(GREATEST(x, 0), 5))", "COUNT(*)"):
            assert connection.explain(f"SELECT {sql} FROM t").plan.before == ()
        before = connection.explain("SELECT AVG(x), SUM(i) FROM t WHERE d BETWEEN 0 AND 1").plan.before
        assert [first.column for first in before] == [("t", "x")]


def test_the_budget_is_asked_for_both_before_either() -> None:
    small = catalog()
    small["budget"] = {"epsilon": 0.95}
    with dpsql.connect(small, source={"t": rows()}, epsilon=1) as connection:
        with pytest.raises(dpsql.BudgetError):
            connection.execute("SELECT AVG(x) FROM t")
        assert connection.budget.spent.epsilon == 0
        assert connection.would_charge("SELECT AVG(x) FROM t").epsilon == 1


def test_a_choice_is_charged_before_the_vault_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise dpsql.ExecutionError("the vault fails", code=500)

    with connected() as connection:
        monkeypatch.setattr("dpsql.execution.release_stages.vault_run", fails)
        with pytest.raises(dpsql.ExecutionError):
            connection.execute("SELECT AVG(x) FROM t")
        assert connection.budget.spent.epsilon == pytest.approx(0.1)  # of the choice alone: the query never began


def test_explain_says_what_comes_first() -> None:
    with connected() as connection:
        told = str(connection.explain("SELECT AVG(x) FROM t"))
        assert "The data choose the bounds of t.x first: 0, 10, twice that" in told
        assert "Costs ε = 1," in told
        assert connection.budget.spent.epsilon == 0


def test_what_else_is_wrong_is_said() -> None:
    with connected() as connection:
        with pytest.raises(dpsql.Error, match="nope"):
            connection.execute("SELECT AVG(x), AVG(nope) FROM t")
        with pytest.raises(dpsql.Error):
            connection.execute("SELECT AVG(person) FROM t")
        assert connection.budget.spent.epsilon == 0


def test_exact_mode_has_no_bounds() -> None:
    data = rows()
    with testing.exact(catalog(), source={"t": data}) as connection:
        row = connection.execute("SELECT AVG(x), MAX(i) FROM t").fetchone()
    assert row == (pytest.approx(data["x"].mean(), rel=1e-6), pytest.approx(data["i"].max(), abs=64))


HOSTILE = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    10.0,
    10.000001,
    -10.0,
    1e300,
    -1e300,
    float("inf"),
    float("-inf"),
    float("nan"),
    None,
    5e-324,
]


def votes(frame: pd.DataFrame) -> Counter[int]:
    """How many units vote for each place, in full weights."""
    with closing(open_session(catalog(), source={"t": frame}, charged=False, epsilon=1, rows=4)) as session:
        (first,) = plan_of(session, read("SELECT AVG(x) FROM t")).before
        (stage,) = first.plan.stages
        assert isinstance(stage.measurements[0], Choice)
        assert reaches(stage)["bounds of x"].most == FULL
        histogram = run(session, stage, check(session, first.plan), salt=0).totals.named["bounds of x"]
    return Counter({at: weight for (_, at), weight in histogram.items()})


def of_people(values: list[list[float | None]]) -> pd.DataFrame:
    rows_ = [(person, x) for person, cells in enumerate(values) for x in cells]
    frame = pd.DataFrame(rows_, columns=["person", "x"]).assign(d=None, i=None)
    return frame.astype({"x": "float64", "d": "float64", "i": "Int64"})


def test_a_unit_is_one_vote() -> None:
    """Whatever a unit's values are, its removal takes one vote from one place of all."""
    draw = np.random.default_rng(11)
    data = of_people([[HOSTILE[k] for k in draw.integers(0, len(HOSTILE), 4)] for _ in range(30)])
    whole = votes(data)
    assert whole.total() == FULL * data.dropna(subset="x")["person"].nunique()
    for person in range(0, 30, 5):
        left = votes(data[data["person"] != person])
        changed = {at: whole[at] - left[at] for at in whole.keys() | left.keys() if whole[at] != left[at]}
        assert sorted(changed.values()) in ([FULL], [])


@pytest.mark.slow
def test_replay_has_the_choice_and_the_query() -> None:
    draw = np.random.default_rng(12)
    data = of_people([[HOSTILE[k] for k in draw.integers(0, len(HOSTILE), 3)] for _ in range(12)])
    lines = testing.replay(catalog(), "SELECT AVG(x) FROM t WHERE x > -5", {"t": data}, epsilon=1)
    assert {name for line in lines for name in line.changes} == {"bounds of x", "mean of x"}
    assert len(lines) == 24 and all(line.holds for line in lines), lines
    assert max(line.changes.get("bounds of x", 0) for line in lines) == FULL


def test_a_unit_votes_on_the_side_of_its_farthest_value() -> None:
    """Limits are 0, 10, 20, …, 2^20 times 10, and one place for what is beyond: so 23 places on either side."""
    places = 23
    counted = votes(of_people([[3.0, -5.0], [-30.0, 15.0, 30.0], [-11.0], [0.0], [None, -1e300]]))
    assert counted == Counter({places + 1: FULL, 3: FULL, places + 2: FULL, 0: FULL, 2 * places - 1: FULL})


@pytest.mark.parametrize("wrong", [{"bounds": 3}, {"bounds": "auto", "lower": 1}, {"type": "text", "bounds": "auto"}])
def test_bad_catalogs(wrong: dict[str, Any]) -> None:
    with pytest.raises(dpsql.Error, match="bounds"):
        dpsql.connect(catalog(z={"type": "real", **wrong}), source={"t": rows()})


def test_it_works_from_a_file(tmp_path: Path) -> None:
    described = catalog()
    described["tables"]["t"]["source"] = "t.parquet"
    rows().to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.yaml").write_text(json.dumps(described))
    with dpsql.connect(tmp_path / "t.yaml", epsilon=1) as connection:
        assert connection.execute("SELECT AVG(x) FROM t").fetchone() is not None
        assert connection.budget.spent.epsilon == 1
    with dpsql.connect(tmp_path / "t.yaml", epsilon=0.5) as connection:
        connection.execute("SELECT AVG(x) FROM t")
        assert connection.budget.spent.epsilon == pytest.approx(1.5)
