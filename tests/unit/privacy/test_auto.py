"""Limits that the data choose: their privacy exactly, what they cost, and what is made of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql import testing
from dpsql.execution.planning import plan_of, read
from dpsql.mechanisms.order_statistics import choose_most
from dpsql.plan.stages import LimitChoice
from dpsql.privacy.auto import doublings, scores
from tests.profile import drawn
from tests.worlds import bounded, people

HALF = Fraction(1, 2)


def chosen_with(gaps: Sequence[int], coin: Fraction) -> list[Fraction]:
    """Permute-and-flip by definition: candidates in random order, each taken with probability coin^gap."""
    chances = [Fraction(0)] * len(gaps)
    orders = list(itertools.permutations(range(len(gaps))))
    for order in orders:
        left = Fraction(1, len(orders))
        for i in order:
            taken = left * coin ** gaps[i]
            chances[i] += taken
            left -= taken
    return chances


def gaps_of(choice: LimitChoice, above: Sequence[int], groups: int = 1) -> list[int]:
    scored = scores(choice, above, groups)
    return [max(scored) - score for score in scored]


def test_permute_and_flip_by_definition() -> None:
    assert chosen_with((0, 1, 3), HALF) == [Fraction(17, 24), Fraction(23, 96), Fraction(5, 96)]
    assert chosen_with((0, 0, 2), Fraction(1, 3)) == [Fraction(13, 27), Fraction(13, 27), Fraction(1, 27)]


def test_scores() -> None:
    choice = LimitChoice(of="rows", candidates=doublings(1)[:8], step=10, tolerated=Fraction(1))
    above = (900, 400, 120, 30, 5, 1, 0, 0)
    assert scores(choice, above, 1) == [-899, -409, -139, -59, -44, -50, -60, -70]
    assert scores(choice, above, 100) == [-800, -310, -40, -30, -40, -50, -60, -70]


def profiles(many: int) -> Iterator[tuple[LimitChoice, list[int], int, int]]:
    """Numbers of units above each candidate, ties among them, and a unit that is above the first `more` candidates."""
    draw = random.Random(13)
    for _ in range(many):
        count = draw.randint(2, 5)
        above = sorted((draw.choice((0, 0, 1, 1, 2, 3, 4, 6)) for _ in range(count)), reverse=True)
        choice = LimitChoice(
            of="rows",
            candidates=doublings(1)[:count],
            step=draw.randint(0, 3),
            tolerated=Fraction(draw.choice((0, 1, 2, 5)), draw.choice((1, 2))),
        )
        yield choice, above, draw.randint(0, count), draw.choice((1, 1, 3))


@pytest.mark.slow
def test_the_choice_is_private_exactly() -> None:
    """No outcome's probability changes by more than e^ε, here 2, for any of 10,000 pairs of neighbours; and 2 is reached."""
    largest = Fraction(0)
    seen: dict[tuple[int, ...], list[Fraction]] = {}

    def outcome(choice: LimitChoice, above: Sequence[int], groups: int) -> list[Fraction]:
        gaps = tuple(gaps_of(choice, above, groups))
        if gaps not in seen:
            seen[gaps] = chosen_with(gaps, HALF)
        return seen[gaps]

    for choice, above, more, groups in profiles(10_000):
        added = [n + (i < more) for i, n in enumerate(above)]
        for before, after in zip(outcome(choice, above, groups), outcome(choice, added, groups), strict=True):
            assert before <= 2 * after
            assert after <= 2 * before
            largest = max(largest, before / after, after / before)
    assert largest == 2


def test_a_score_that_is_not_monotone_would_not_be() -> None:
    """What the test above would show: with |N − k| in the score, one unit changes a probability more than twofold."""

    def two_sided(above: Sequence[int]) -> list[Fraction]:
        scored = [-abs(n - 2) for n in above]
        return chosen_with([max(scored) - score for score in scored], HALF)

    pairs = zip(two_sided((3, 1)), two_sided((4, 2)), strict=True)
    assert any(max(p / q, q / p) > 2 for p, q in pairs)


def test_the_sampler_chooses_with_these_probabilities() -> None:
    """The acceptance case: ε₁ = 0.2, N = (900, 400, 120, 30, 5, 1, 0, 0)."""
    choice = LimitChoice(of="rows", candidates=doublings(1)[:8], step=10, tolerated=Fraction(1))
    scored = np.array([scores(choice, (900, 400, 120, 30, 5, 1, 0, 0), 1)] * 40_000, dtype=np.int64)
    at = choose_most(scored, 1, by="permute-and-flip", epsilon=Fraction(1, 5), sensitivity=1)[:, 0]
    expected = {3: 0.0220688531, 4: 0.811665231, 5: 0.145838, 6: 0.0180165085, 7: 0.00241140460}
    for i, p in expected.items():
        assert abs(np.mean(at == i) - p) <= 5.2 * (p * (1 - p) / len(at)) ** 0.5
    assert not (at < 3).any()


def catalog(**limits: Any) -> dict[str, Any]:
    columns = {
        "person": "integer",
        "k": bounded("integer", 1, 4, nullable=False),
        "x": bounded("integer", -100, 100),
        "y": {"type": "real", "like": 10},
    }
    return people(columns, unit="person", **limits, version="1")


def rows(people: int = 3000, seed: int = 5) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), draw.integers(1, 8, people))
    count = len(person)
    return pd.DataFrame(
        {
            "person": person,
            "k": draw.integers(1, 5, count),
            "x": draw.integers(-20, 60, count),
            "y": draw.exponential(10, count),
        }
    )


def connected(**limits: Any) -> dpsql.Connection[Any]:
    return dpsql.connect(catalog(**limits), source={"t": rows()}, epsilon=1, delta=1e-6)


def test_a_limit_is_chosen_printed_and_kept() -> None:
    with connected() as connection:
        cursor = connection.execute("SELECT COUNT(*) FROM t")
        (limit,) = cursor.privacy.limits
        assert (limit.of, limit.epsilon) == ("rows", 0.25)
        assert limit.chosen in (8.0, 16.0, 32.0, 64.0)  # a person has at most 7
        assert f"{limit.chosen:g}, chosen by the data" in str(cursor.privacy)
        assert cursor.privacy.measurements[0].rows == limit.chosen
        assert cursor.privacy.measurements[0].scale == pytest.approx(limit.chosen / 0.75)
        assert cursor.privacy.cost.epsilon == 1


def test_released_limits_are_free() -> None:
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = '{}') {} FROM t"
    with connected() as connection:
        with pytest.raises(dpsql.Error, match="no contribution limit on rows was released"):
            connection.execute(sql.format("released", "COUNT(*)"))
        first = connection.execute(sql.format("auto", "COUNT(*), SUM(x)")).privacy
        again = connection.execute(sql.format("released", "COUNT(*), SUM(x), AVG(x)")).privacy
        assert again.limits == ()
        assert again.measurements[0].rows == first.limits[0].chosen
        total = connection.execute(sql.format("released", "SUM(x)")).privacy.measurements[0]
        assert total.sensitivity == first.limits[1].chosen
        assert total.epsilon == 1


def test_a_declared_limit_is_not_chosen_unless_it_is_asked_for() -> None:
    with connected(rows_per_unit=7) as connection:
        assert connection.execute("SELECT COUNT(*) FROM t").privacy.limits == ()
        connection.execute("SET max_rows_contributed = 'auto'")
        assert [limit.of for limit in connection.execute("SELECT COUNT(*) FROM t").privacy.limits] == ["rows"]


def test_groups_are_chosen_where_units_are_counted() -> None:
    with connected(rows_per_unit=7, groups_per_unit="auto") as connection:
        privacy = connection.execute("SELECT k, COUNT(DISTINCT person) FROM t GROUP BY k").privacy
        assert [limit.of for limit in privacy.limits] == ["groups"]
        assert privacy.limits[0].chosen in (1, 2, 4)
        assert connection.execute("SELECT COUNT(DISTINCT person) FROM t").privacy.limits == ()


def test_a_sum_without_bounds_begins_at_a_typical_size() -> None:
    with connected() as connection:
        plan = str(connection.explain("SELECT SUM(y) FROM t"))
        assert "how much a person may add to sum(y), all its values together: 10, twice that" in plan
        (value,) = connection.execute("SELECT SUM(y) FROM t").fetchone()
        assert value == pytest.approx(rows()["y"].sum(), rel=0.05)


def test_grouping_sets_have_one_limit() -> None:
    with connected() as connection:
        limits = connection.execute("SELECT k, COUNT(*) FROM t GROUP BY ROLLUP(k)").privacy.limits
        assert len({limit.chosen for limit in limits}) == 1
        assert [limit.epsilon > 0 for limit in limits] == [True, False]


@pytest.mark.parametrize(
    ("asked", "priced"),
    [
        ("COUNT(DISTINCT person) FROM t GROUP BY GROUPING SETS ((), (k))", {1}),  # all rows are in one group
        ("SUM(y), COUNT(DISTINCT person) FROM t GROUP BY GROUPING SETS ((), (k), (x % 2))", {0, 1}),
        ("COUNT(DISTINCT person) FROM t WHERE k = 1 GROUP BY GROUPING SETS ((k), (k, x % 2))", {1}),
        ("SUM(b), SUM(y) FROM t WHERE b = 0 GROUP BY GROUPING SETS ((b), ())", {0}),  # always 0
        ("SUM(x) FROM t WHERE k = 1 AND k = 2 GROUP BY GROUPING SETS ((k), ())", {1}),  # no key
    ],
)
def test_the_first_grouping_set_that_needs_a_limit_chooses_it(asked: str, priced: set[int]) -> None:
    described = catalog()
    described["tables"]["t"]["columns"]["b"] = bounded("integer", 0, 4)
    frame = rows(300)
    with dpsql.connect(described, source={"t": frame.assign(b=frame["x"] % 2)}, epsilon=10, delta=1e-6) as connection:
        plan = plan_of(connection._session, read(f"SELECT {asked}"))
        choices = [(i, choice) for i, stage in enumerate(plan.stages) for choice in stage.choices]
        assert {i for i, choice in choices if choice.as_in is None} == priced
        spent = [choice.draw.epsilon for _, choice in choices if choice.as_in is None]
        spent += [noised.draw.epsilon for stage in plan.stages for noised in stage.noised]
        assert sum(spent, Fraction(0)) == 10 == plan.cost.epsilon
        answer = connection.execute(f"SELECT {asked}")
        assert answer.fetchall()
        assert all(limit.chosen for limit in answer.privacy.limits)


def test_a_repeat_tells_the_limit_of_the_first_run(tmp_path: Any) -> None:
    path = tmp_path / "t.yaml"
    rows().to_parquet(tmp_path / "t.parquet")
    made = catalog()
    made["tables"]["t"]["source"] = "t.parquet"
    path.write_text(__import__("json").dumps(made))
    sql = "SELECT COUNT(*) AS n, SUM(x), AVG(x) FROM t"
    with dpsql.connect(path, epsilon=1) as connection:
        first = connection.execute(sql)
        again = connection.execute(sql)
        assert again.privacy.repeated
        assert again.fetchall() == first.fetchall()
        assert again.privacy.limits == first.privacy.limits
        assert again.privacy.measurements == first.privacy.measurements


def test_no_limit_in_exact_mode() -> None:
    with testing.exact(catalog(), source={"t": rows()}) as connection:
        row = connection.execute("SELECT COUNT(*), SUM(x), COUNT(DISTINCT x) FROM t").fetchone()
    data = rows()
    assert row == (len(data), data["x"].sum(), data["x"].nunique())


QUESTIONS = (
    "COUNT(*), SUM(x), AVG(x) FROM t",
    "SUM(y), SUM(x) FILTER (WHERE k = 2) FROM t",
    "k, COUNT(*), SUM(x), COUNT(DISTINCT person) FROM t GROUP BY k",
    "k, COUNT(DISTINCT x), MEDIAN(x) FROM t GROUP BY k",
    "'k' || k AS name, COUNT(*), SUM(y) FROM t GROUP BY 1",
    "k, x % 2 AS odd, COUNT(*), SUM(x) FROM t WHERE x >= 0 GROUP BY ROLLUP(k, 2)",
)


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUESTIONS)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_replay(sql: str, mechanism: str) -> None:
    """Whatever limit is tried, no unit moves more than its reach; and one place only of those that limits are chosen by."""
    data = rows(people=drawn(12, deep=25))
    data.loc[0, "x"] = None
    asked = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism = '{mechanism}') {sql}"
    for salt in (0, 1, 3):
        replayed = testing.replay(catalog(), asked, {"t": data}, epsilon=1, delta=1e-6, salt=salt)
        assert replayed
        for line in replayed:
            assert line.holds, line
        limits = [name for name in replayed[0].changes if name.startswith("limit on ")]
        assert all(max(line.changes[name] for line in replayed if name in line.changes) == 1 for name in limits)


def test_the_price_of_a_choice_comes_out_of_what_depends_on_it() -> None:
    with connected() as connection:
        plan = connection.explain("SELECT COUNT(*), SUM(x), COUNT(DISTINCT k) FROM t").to_dict()
        privacy = connection.explain("SELECT COUNT(*), SUM(x), COUNT(DISTINCT k) FROM t").privacy
        spent = sum(limit.epsilon for limit in privacy.limits) + sum(m.epsilon for m in privacy.measurements)
        assert spent == pytest.approx(1)
        assert plan["cost"]["epsilon"] == 1
