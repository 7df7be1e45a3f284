"""Asking by accuracy: the least ε from the plan alone."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import dpsql
from dpsql import query
from dpsql.execution import choices_first
from dpsql.execution.planning import Decided, plan_of, read
from dpsql.session import open_session
from dpsql.testing.physical import Replayer
from tests.worlds import bounded, keys, people


def connected(**limits: Any) -> dpsql.Connection[Any]:
    columns = {"k": keys("a", "b"), "n": "text", "x": bounded("real", 0, 10)}
    catalog = people(columns, **limits or {"rows_per_unit": 2})
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
        ("accuracy = (m => 1)", "COUNT(*) AS n FROM t", "the accuracy of m is not known"),
        ("accuracy = (a => 1)", "AVG(x) AS a FROM t", "the accuracy of a is not known"),
        (
            "accuracy = 200, max_groups_contributed = 'auto'",
            "n, COUNT(DISTINCT u) AS c FROM t GROUP BY n",
            "once the private keys are known",
        ),
        ("accuracy = 0.5, epsilon = 1, max_rows_contributed = 'auto'", "COUNT(*) AS n FROM t", "n is within ±"),
        ("accuracy = 20, if_not_enough = 'more'", "COUNT(*) AS n FROM t", "if_not_enough takes"),
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


def owned(folder: Path, rows: int, *, accounting: str = "approx", **column: Any) -> Path:
    """A catalog file with a source of its own, so that repeats are free; people have 1 to `rows` rows, in equal parts."""
    sizes = np.arange(2000) % rows + 1
    who = np.repeat(np.arange(2000), sizes)
    pd.DataFrame({"u": who, "k": np.where(who % 2, "a", "b"), "x": 1.0}).to_csv(folder / "t.csv", index=False)
    catalog = people(
        {"k": keys("a", "b"), "x": {"type": "real", **column}}, source="t.csv", version="1", accounting=accounting
    )
    path = folder / "catalog.yaml"
    path.write_text(yaml.safe_dump(catalog))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("accounting", ["approx", "zcdp"])
@pytest.mark.parametrize(
    ("accuracy", "columns", "near"),
    [
        ("60", "COUNT(*) AS n FROM t", {"n": 60}),
        ("60", "k, COUNT(*) AS n FROM t GROUP BY k", {"n": 60}),
        ("(s => 300)", "SUM(x) AS s FROM t", {"s": 300}),
        ("60", "k, COUNT(*) AS n FROM t GROUP BY ROLLUP(k)", {"n": 60}),
    ],
)
def test_limits_that_the_data_choose_come_first(
    tmp_path: Path, accuracy: str, columns: str, near: dict[str, float], accounting: str
) -> None:
    with dpsql.connect(owned(tmp_path, 4, accounting=accounting), epsilon=4) as connection:
        sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = {accuracy}) {columns}"
        most = connection.explain(sql).privacy.cost.epsilon
        answer = connection.execute(sql)
        spent = connection.budget.spent
        assert all(answer.privacy.intervals[name] <= h for name, h in near.items())
        assert answer.privacy.limits[0].chosen in {2.0**i for i in range(7)}
        if accounting == "approx":
            assert spent.epsilon == pytest.approx(answer.privacy.cost.epsilon) and spent.epsilon <= most
        else:
            assert spent.rho == pytest.approx(answer.privacy.cost.rho)
        rows = answer.fetchall()
        again = connection.execute(sql)
        assert again.fetchall() == rows and connection.budget.spent == spent
        assert connection.explain(sql).privacy.cost.epsilon < most  # what was chosen is known by now


def test_what_was_chosen_is_never_drawn_again_after_a_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = owned(tmp_path, 4)
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = 60) COUNT(*) AS n FROM t"
    with dpsql.connect(path, epsilon=4) as connection:
        with monkeypatch.context() as broken:
            broken.setattr(query, "_run_planned", lambda *_, **__: 1 / 0)
            with pytest.raises(dpsql.Error):
                connection.execute(sql)
        chosen = connection.budget.spent.epsilon
        assert chosen > 0
    with dpsql.connect(path, epsilon=4) as connection:
        with monkeypatch.context() as broken:
            broken.setattr(choices_first, "choose_limits", lambda *_: 1 / 0)
            cost = connection.execute(sql).privacy.cost.epsilon
        assert connection.budget.spent.epsilon == pytest.approx(chosen + cost)


@pytest.mark.parametrize("fresh", ["", ", fresh = true"])
def test_a_retry_under_the_same_id_draws_nothing_again(fresh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor its limits, where repeats are not free; after a crash between the two, only what is missing."""
    sql = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = 60{fresh}) COUNT(*) AS n FROM t"
    with connected(rows_per_unit="auto") as connection:
        with monkeypatch.context() as broken:
            broken.setattr(query, "_run_planned", lambda *_, **__: 1 / 0)
            with pytest.raises(dpsql.Error):
                connection.execute(sql, query_id="one")
        chosen = connection.budget.spent.epsilon
        first = connection.execute(sql, query_id="one")
        spent = connection.budget.spent.epsilon
        assert spent == pytest.approx(chosen + first.privacy.cost.epsilon)
        rows = first.fetchall()
        for _ in range(3):
            again = connection.execute(sql, query_id="one")
            assert again.privacy.repeated and again.fetchall() == rows
        assert connection.budget.spent.epsilon == spent
        assert connection.execute(sql, query_id="two").privacy.cost.epsilon > 0


def test_where_the_chosen_limit_needs_too_much(tmp_path: Path) -> None:
    with dpsql.connect(owned(tmp_path, 64), epsilon=1) as connection:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = 20{}) COUNT(*) AS n FROM t"
        with pytest.raises(dpsql.Error, match="was spent on the choice before it. The data chose at most"):
            connection.execute(sql.format(""))
        spent = connection.budget.spent.epsilon
        with pytest.raises(dpsql.Error, match="n is within"):
            connection.execute(sql.format(""))
        assert connection.budget.spent.epsilon == spent
        best = connection.execute(sql.format(", if_not_enough = 'best'"))
        assert best.privacy.intervals["n"] > 20 and connection.budget.spent.epsilon <= 1


def test_bounds_and_limits_and_then_the_least_epsilon(tmp_path: Path) -> None:
    with dpsql.connect(owned(tmp_path, 4, bounds="auto", like=1), epsilon=5) as connection:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = (n => 100)) COUNT(*) AS n, AVG(x) AS a FROM t"
        answer = connection.execute(sql)
        assert answer.privacy.intervals["n"] <= 100 and any("bounds" in note for note in answer.privacy.notes)
        spent = connection.budget.spent.epsilon
        assert spent == pytest.approx(answer.privacy.cost.epsilon) and spent < 5
        rows = answer.fetchall()
        assert connection.execute(sql).fetchall() == rows and connection.budget.spent.epsilon == spent


@pytest.mark.slow
def test_replayed(tmp_path: Path) -> None:
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = 60, epsilon = 4) k, COUNT(*) AS n FROM t GROUP BY k"
    with Replayer(str(owned(tmp_path, 4))) as replayer:
        lines = replayer.replay(sql, units=lambda everybody: everybody[:6])
        assert not [line for line in lines if not line.holds]
        assert {name for line in lines for name in line.declared} >= {"limit on rows", "count(*)"}


@pytest.mark.parametrize("accounting", ["approx", "zcdp"])
@pytest.mark.parametrize("columns", ["COUNT(*) AS n FROM t", "k, COUNT(*) AS n FROM t GROUP BY ROLLUP(k)"])
def test_choice_and_query_are_charged_what_they_draw(tmp_path: Path, columns: str, accounting: str) -> None:
    """Of the choice every draw of a limit, of the query every measurement: added up here, from the draws alone."""
    with closing(open_session(owned(tmp_path, 4, accounting=accounting), charged=False)) as session:
        statement = read(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = 60, epsilon = 4) {columns}")
        (first,) = plan_of(session, statement).before
        choices = [c for stage in first.plan.stages for c in stage.choices if c.as_in is None]
        assert choices and first.plan.cost.epsilon == sum(c.draw.epsilon for c in choices)
        assert first.plan.cost.rho == sum(c.draw.rho for c in choices)
        limits = [tuple(4 for _ in stage.choices) for stage in first.plan.stages]
        plan = plan_of(session, statement, Decided(limits=limits))
        assert not any(stage.choices for stage in plan.stages)
        drawn = [noised.draw for stage in plan.stages for noised in stage.noised if noised.draw.mechanism == "laplace"]
        assert drawn and plan.cost.epsilon >= sum(Fraction(draw.reach) / draw.steps for draw in drawn)
        assert first.plan.cost.epsilon + plan.cost.epsilon <= 4
