"""Which questions are measured for their cumulative sums, what is said of them, and that the judge sees a unit's part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.errors import Refused
from dpsql.mechanisms.prefix_sums import Toeplitz, Tree
from dpsql.plan.fingerprint import plan_fingerprint
from dpsql.plan.stages import Noised, ReleasePlan
from dpsql.privacy import along_order
from dpsql.report.explanation import explanation
from dpsql.report.release_record import release_record
from dpsql.testing import Replayer, exact
from tests.worlds import ASKED, bounded, keys, people

DAYS = 40
CATALOG: dict[str, Any] = people(
    {
        "day": bounded("integer", 0, DAYS - 1, nullable=False),
        "k": keys("b", "a", "ä"),
        "n": bounded("integer", 0, 3),
        "x": bounded("integer", -2, 9),
        "r": bounded("real", 0, 1),
        "s": "text",
    },
    rows_per_unit=4,
    per_query=ASKED,
)
DRAW = np.random.default_rng(6)
COUNT = 600
ROWS: dict[str, list[Any]] = {  # 99 has a row on each of 30 days, 98 all four of its rows on the first
    "u": [*DRAW.integers(0, 60, COUNT - 34).tolist(), *[98] * 4, *[99] * 30],
    "day": [*DRAW.integers(0, DAYS, COUNT - 34).tolist(), *[0] * 4, *range(30)],
    "k": DRAW.choice(["a", "b", "ä"], COUNT).tolist(),
    "n": [None if v == 4 else v for v in DRAW.integers(0, 5, COUNT).tolist()],
    "x": DRAW.integers(-4, 12, COUNT).tolist(),
    "r": DRAW.uniform(0, 1, COUNT).tolist(),
    "s": ["s"] * COUNT,
}
BY_DAY = "SELECT {} day, SUM({}) OVER (ORDER BY day) AS c FROM t GROUP BY day"
GAUSSIAN = "WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian')"
LAPLACE = "WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='laplace')"
MANY = "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=40)"
MEASURED = {
    "a count": "day, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "backwards": "day, SUM(COUNT(*)) OVER (ORDER BY day DESC ROWS UNBOUNDED PRECEDING) AS c FROM t GROUP BY day",
    "a sum": "day, SUM(SUM(x)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "of reals": "day, SUM(SUM(r)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "units": "day, SUM(COUNT(DISTINCT u)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "some rows": "day, SUM(COUNT(*) FILTER (WHERE x > 2)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "divided": "k, day, SUM(COUNT(*)) OVER (PARTITION BY k ORDER BY day) AS c FROM t GROUP BY k, day",
    "divided by the last key": "day, k, SUM(COUNT(*)) OVER (PARTITION BY k ORDER BY day) AS c FROM t GROUP BY day, k",
    "along two keys": "k, day, SUM(COUNT(*)) OVER (ORDER BY k DESC, day) AS c FROM t GROUP BY day, k",
    "through a subquery": "d AS day, SUM(m) OVER (ORDER BY d) AS c FROM "
    "(SELECT day AS d, COUNT(*) AS m FROM t GROUP BY day) ORDER BY d",
    "a named window": "day, SUM(m) OVER w AS c FROM (SELECT day, COUNT(*) AS m FROM t GROUP BY day) "
    "WINDOW w AS (ORDER BY day RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
}
PLAIN = {
    "a frame of a week": "day, SUM(COUNT(*)) OVER (ORDER BY day ROWS 6 PRECEDING) AS c FROM t GROUP BY day",
    "the whole": "day, SUM(COUNT(*)) OVER () AS c FROM t GROUP BY day",
    "peers": "k, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t GROUP BY day, k",
    "not the release's rows": "day, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t GROUP BY day HAVING COUNT(*) > 3",
    "an expression": "day, SUM(COUNT(*) + 1) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "an order by expression": "day, SUM(COUNT(*)) OVER (ORDER BY -day) AS c FROM t GROUP BY day",
    "a mean": "day, SUM(AVG(x)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "another aggregate": "day, AVG(COUNT(*)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "different values": "day, SUM(COUNT(DISTINCT x)) OVER (ORDER BY day) AS c FROM t GROUP BY day",
    "private keys": "s, SUM(COUNT(*)) OVER (ORDER BY s) AS c FROM t GROUP BY s",
    "levels": "day, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t GROUP BY ROLLUP (day)",
    "a filtered window": "day, SUM(COUNT(*)) FILTER (WHERE day > 2) OVER (ORDER BY day) AS c FROM t GROUP BY day",
}


def connect(tmp_path: Path, **changes: Any) -> dpsql.Connection:
    return dpsql.connect(CATALOG | changes, source={"t": ROWS}, ledger=tmp_path / "l.ledger")


@pytest.fixture(scope="module")
def replayer() -> Any:
    with Replayer(CATALOG, {"t": ROWS}) as opened:
        yield opened


def noised(plan: ReleasePlan) -> Noised:
    ((one,),) = (stage.noised for stage in plan.stages)
    return one


@pytest.mark.parametrize("title", MEASURED)
def test_what_is_measured(title: str, replayer: Replayer) -> None:
    gaussian, laplace = (replayer.plan(f"SELECT {way} {MEASURED[title]}") for way in (GAUSSIAN, LAPLACE))
    for plan, strategy in ((gaussian, Toeplitz), (laplace, Tree)):
        running = noised(plan).running
        assert running is not None and isinstance(running.strategy, strategy) and noised(plan).ball == 1
        assert running.strategy.count == (120 if "two" in title else DAYS)


@pytest.mark.parametrize("title", PLAIN)
def test_what_is_not(title: str, replayer: Replayer) -> None:
    for way in (GAUSSIAN, LAPLACE):
        plan = replayer.plan(f"SELECT {way} {PLAIN[title]}")
        assert all(one.running is None for stage in plan.stages for one in stage.noised)


@pytest.mark.slow
@pytest.mark.parametrize("way", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
@pytest.mark.parametrize("title", MEASURED)
def test_the_judge(title: str, way: str, replayer: Replayer) -> None:
    """A removal moves what is measured by at most the claimed reach; it works A·x out by itself."""
    lines = replayer.replay(f"SELECT {way} {MEASURED[title]}", units=lambda units_: [*units_[:3], units_[-1]])
    assert lines and all(line.holds for line in lines), [line for line in lines if not line.holds]
    assert max(change for line in lines for change in line.changes.values()) > 0


@pytest.mark.slow
def test_the_judge_of_cumulative_sums_beside_totals(replayer: Replayer) -> None:
    """What is measured along an order is no group: 99 has rows in all five."""
    sql = f"SELECT {GAUSSIAN} n, SUM(COUNT(*)) OVER (ORDER BY n) AS c, SUM(x) AS s FROM t GROUP BY n"
    assert {one.running is None for one in replayer.plan(sql).stages[0].noised} == {True, False}
    lines = replayer.replay(sql, units=lambda units_: units_[-1:])
    assert all(line.holds for line in lines) and lines[-1].changed_groups == 5


@pytest.mark.parametrize("bug", ["a ball in norm 2", "the reach of the totals", "a rounded-off reach"])
def test_planted_bugs(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = f"SELECT {GAUSSIAN} {MEASURED['a count']}"
    match bug:
        case "a ball in norm 2":
            monkeypatch.setattr(Noised, "ball", property(lambda self: self.draw.norm))
        case "the reach of the totals":
            monkeypatch.setattr(along_order, "running_reach", lambda reach, strategy: reach * strategy.one)
        case _:
            monkeypatch.setattr(along_order, "running_reach", lambda reach, strategy: reach * strategy.one * 4 // 3)
    with Replayer(CATALOG, {"t": ROWS}) as replayer:
        lines = replayer.replay(asked, units=lambda units_: units_[-4:])
    assert any(not line.holds and not line.failure for line in lines)


def test_without_noise_it_is_the_exact_answer(tmp_path: Path) -> None:
    """What is released without noise, from the sums measured, by the noiseless engine's numbers."""
    with exact(CATALOG, source={"t": ROWS}) as connection:
        truth = [row[:2] for row in connection.execute(BY_DAY.format(MANY, "COUNT(*)") + " ORDER BY day").fetchall()]
    with connect(tmp_path) as connection:
        for way in ("laplace", "gaussian"):
            head = MANY.replace("(", f"(mechanism='{way}', epsilon=10000, delta=1e-3, ")
            rows = connection.execute(BY_DAY.format(head, "COUNT(*)") + " ORDER BY day").fetchall()
            assert max(abs(c - true) for (_, c), (_, true) in zip(rows, truth, strict=True)) <= 6


@pytest.mark.slow
@pytest.mark.parametrize("way", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
def test_every_key_is_in_its_place(way: str, tmp_path: Path) -> None:
    """Against exact answers, with hardly any noise: NULL among the keys, text, descending, divided."""
    questions = [
        "n, day, SUM(COUNT(*)) OVER (PARTITION BY n ORDER BY day DESC) AS c FROM t GROUP BY n, day",
        "k, n, day, SUM(SUM(x)) OVER (PARTITION BY n ORDER BY k, day) AS c FROM t GROUP BY day, n, k",
        "k, n, day, SUM(SUM(x)) OVER (PARTITION BY day ORDER BY n DESC NULLS FIRST, k DESC) AS c FROM t GROUP BY day, n, k",
        "n, day, SUM(COUNT(*)) OVER (ORDER BY n NULLS FIRST, day) AS c FROM t GROUP BY n, day",
    ]
    head = way.replace(")", ", epsilon=1000000, delta=1e-3, max_rows_contributed=40)")
    for asked in questions:
        with exact(CATALOG, source={"t": ROWS}) as connection:
            truth = {row[:-1]: row[-1] for row in connection.execute(f"SELECT {MANY} {asked}").fetchall()}
        with connect(tmp_path) as connection:
            assert "Measured for its cumulative" in str(connection.explain(f"SELECT {head} {asked}"))
            rows = {row[:-1]: row[-1] for row in connection.execute(f"SELECT {head} {asked}").fetchall()}
        for key, value in truth.items():
            assert abs(rows[key] - (value or 0)) <= 3, (asked, key)


def test_single_counts_add_up_to_the_sums(tmp_path: Path) -> None:
    with connect(tmp_path) as connection:
        asked = f"SELECT {GAUSSIAN} {MEASURED['a count'].replace('day,', 'day, COUNT(*) AS n,', 1)} ORDER BY day"
        cursor = connection.execute(asked)
        rows = cursor.fetchall()
        assert np.cumsum([n for _, n, _ in rows]).tolist() == [c for _, _, c in rows]
        assert cursor.privacy is not None and set(cursor.privacy.intervals) == {"n", "c"}
        assert cursor.privacy.intervals["n"] < cursor.privacy.intervals["c"]


def test_what_is_shown_decides(replayer: Replayer) -> None:
    """A week: too short to gain. Single counts beside the sums: they count as much."""
    week = "day, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t WHERE day < 7 GROUP BY day"
    assert noised(replayer.plan(f"SELECT {LAPLACE} {week}")).running is None
    assert noised(replayer.plan(f"SELECT {GAUSSIAN} {week}")).running is not None
    both = "day, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t WHERE day < 14 GROUP BY day"
    alone = both.replace("COUNT(*) AS n, ", "")
    assert noised(replayer.plan(f"SELECT {LAPLACE} {both}")).running is None
    assert noised(replayer.plan(f"SELECT {GAUSSIAN} {alone}")).running is not None


def test_a_pair_of_limits_may_be_better_off_plain() -> None:
    """Four groups with a row each are within 2 in norm 2, but 4 in norm 1."""
    table = CATALOG["tables"]["t"] | {"max_groups": 4, "max_rows": 1}
    del table["rows_per_unit"]
    asked = f"SELECT {GAUSSIAN} day, SUM(COUNT(*)) OVER (ORDER BY day) AS c FROM t WHERE day < 9 GROUP BY day"
    with Replayer(CATALOG | {"tables": {"t": table}}, {"t": ROWS}) as replayer:
        assert noised(replayer.plan(asked)).running is None
    with Replayer(CATALOG, {"t": ROWS}) as replayer:
        assert noised(replayer.plan(asked)).running is not None


def test_it_is_another_release(replayer: Replayer) -> None:
    plain = replayer.plan(f"SELECT {GAUSSIAN} day, COUNT(*) AS c FROM t GROUP BY day")
    along = replayer.plan(f"SELECT {GAUSSIAN} {MEASURED['a count']}")
    same = replayer.plan(f"SELECT {GAUSSIAN} {MEASURED['through a subquery']}")
    assert plan_fingerprint(plain) != plan_fingerprint(along) == plan_fingerprint(same)
    (recorded,) = release_record(along, version=None)["measurements"]  # type: ignore[misc]  # a list of dicts
    (told,) = explanation(along, None).to_dict()["stages"][0]["measurements"]
    for said in (recorded, told):
        assert said["cumulative_along"] == ["day"]
        assert said["cumulative_strategy"] == "by the square root of the matrix of all sums"
    (other,) = explanation(plain, None).to_dict()["stages"][0]["measurements"]
    assert (other["cumulative_along"], other["cumulative_strategy"]) == ([], None)


def test_intervals_as_columns(tmp_path: Path) -> None:
    asked = f"SELECT {GAUSSIAN} {MEASURED['a count']} ORDER BY day"
    with connect(tmp_path) as connection:
        cursor = connection.execute(asked.replace("gaussian'", "gaussian', intervals=0.95"))
        assert cursor.privacy is not None
        half = cursor.privacy.intervals["c"]
        for _, c, low, high in cursor.fetchall():
            assert c - low == pytest.approx(half) == pytest.approx(high - c)
        told = str(connection.explain(asked))
        assert f"95 % confidence interval of each ±{half:.6g}" in told
        assert connection.explain(asked).privacy.intervals["c"] == half
        explained = connection.explain(asked.replace("gaussian'", "gaussian', accuracy=(c => 60), epsilon=5"))
        assert explained.privacy.intervals["c"] <= 60 and explained.privacy.cost.epsilon < 5
        with pytest.raises(Refused, match="interval"):  # windows of which nothing is measured have none
            connection.execute(
                f"SELECT {GAUSSIAN.replace(')', ', intervals=0.9)')} {PLAIN['the whole'].replace('day, ', '')}"
            )


@pytest.mark.slow
def test_limits_that_the_data_choose(tmp_path: Path) -> None:
    table = {name: value for name, value in CATALOG["tables"]["t"].items() if name != "rows_per_unit"}
    with connect(tmp_path, tables={"t": table}) as connection:
        for way in (GAUSSIAN, LAPLACE):
            cursor = connection.execute(f"SELECT {way} {MEASURED['a count']} ORDER BY day")
            assert cursor.privacy is not None and cursor.privacy.limits[0].chosen is not None
            assert cursor.privacy.intervals["c"] > 0 and len(cursor.fetchall()) == DAYS
    with Replayer(CATALOG | {"tables": {"t": table}}, {"t": ROWS}) as replayer:
        for salt in range(4):
            lines = replayer.replay(
                f"SELECT {GAUSSIAN} {MEASURED['a count']}", salt=salt, units=lambda units_: units_[-2:]
            )
            assert lines and all(line.holds for line in lines)
