"""OPTIONS(top_k = true): k groups are chosen, and only they are paid for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpsql
import dpsql.testing
from dpsql.mechanisms import order_statistics
from dpsql.mechanisms.choice import Chooser
from dpsql.plan.balls import FULL
from dpsql.plan.measurements import RowTotal, TopGroups
from tests.worlds import again, bounded, people

CATALOG = people(
    {"k": bounded("integer", 0, 39, nullable=False), "x": bounded("real", 0, 1), "s": "text"}, max_groups=2, max_rows=2
)
RNG = np.random.default_rng(4)
PEOPLE = 5_000
FRAME = pd.DataFrame(
    {
        "u": np.arange(PEOPLE * 3) % PEOPLE,
        "k": np.minimum(RNG.geometric(0.3, PEOPLE * 3) - 1, 39),
        "x": RNG.uniform(size=PEOPLE * 3),
        "s": "a",
    }
)
QUERY = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(top_k=true, epsilon=1) {} FROM t GROUP BY k ORDER BY {} DESC LIMIT 3"


def test_the_heaviest_groups_and_only_those() -> None:
    with dpsql.connect(CATALOG, source={"t": FRAME}) as conn:
        cursor = conn.execute(QUERY.format("k, COUNT(*) AS n, AVG(x) AS m", "n"))
        rows = cursor.fetchall()
        assert {row[0] for row in rows} == {0, 1, 2}
        assert [row[1] for row in rows] == sorted((row[1] for row in rows), reverse=True)
        truth = FRAME["k"].value_counts()
        assert all(abs(row[1] - truth[row[0]]) < 300 for row in rows)
        assert conn.budget.spent.epsilon == 1


def test_the_plan() -> None:
    with dpsql.testing.Replayer(CATALOG, {"t": FRAME}) as replayer:
        (stage,) = replayer.plan(QUERY.format("k, COUNT(*) AS n", "COUNT(*)")).stages
    assert [type(m) for m in stage.measurements] == [RowTotal, TopGroups]
    count, choice = (noised.draw for noised in stage.noised)
    assert [count.epsilon, choice.epsilon] == [Fraction(1, 4), Fraction(3, 4)]  # three choices, one after the other
    assert choice.rho == 3 * Fraction(1, 4) ** 2 / 2
    assert choice.reach == 2 * 2 * FULL  # a unit's rows over all groups
    assert count.scale * count.grid >= 2 * 2 * FULL * 4


@pytest.mark.parametrize(("accounting", "mechanism"), [("approx", "permute-and-flip"), ("zcdp", "exponential")])
def test_the_groups_are_chosen_by_what_is_charged(
    accounting: str, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three rounds, each at a quarter of ε, doubled as scores move in one direction, for all rows of a unit."""
    seen: list[tuple[str, Fraction, int]] = []

    def choose(scores: np.ndarray, *, by: Chooser, epsilon: Fraction, sensitivity: int) -> np.ndarray:
        seen.append((by, epsilon, sensitivity))
        return CHOOSE(scores, by=by, epsilon=epsilon, sensitivity=sensitivity)

    monkeypatch.setattr(order_statistics, "choose", choose)
    described = again(CATALOG, accounting=accounting)
    with dpsql.connect(described, source={"t": FRAME}) as conn:
        sql = QUERY.format("k, COUNT(*) AS n", "n")
        assert {row[0] for row in conn.execute(sql)} == {0, 1, 2}
        assert f"chosen by {'the ' * (mechanism == 'exponential')}{mechanism}" in str(conn.explain(sql))
    assert seen == [(mechanism, Fraction(1, 2), 2 * 2 * FULL)] * 3


CHOOSE = order_statistics.choose


def test_replay_and_exact_mode() -> None:
    few = FRAME[FRAME["u"] < 6]
    lines = dpsql.testing.replay(CATALOG, QUERY.format("k, COUNT(*) AS n, SUM(x)", "COUNT(*)"), {"t": few})
    assert lines and all(line.holds for line in lines)
    with dpsql.testing.exact(CATALOG, source={"t": FRAME}) as exact:
        rows = exact.execute(QUERY.format("k, COUNT(*) AS n", "n")).fetchall()
    assert [row[0] for row in rows] == [0, 1, 2]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, COUNT(*) FROM t GROUP BY k",
        "SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n LIMIT 3",
        "SELECT k, COUNT(*) AS n FROM t GROUP BY k ORDER BY n DESC LIMIT 3 OFFSET 1",
        "SELECT k, COUNT(*) AS n FROM t GROUP BY k HAVING n > 3 ORDER BY n DESC LIMIT 3",
        "SELECT k, AVG(x) AS m FROM t GROUP BY k ORDER BY m DESC LIMIT 3",
        "SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY n LIMIT 3",
        "SELECT COUNT(*) AS n FROM t ORDER BY n DESC LIMIT 3",
    ],
)
def test_refused(query: str) -> None:
    asked = query.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(top_k=true, epsilon=1, delta=1e-6)", 1)
    with dpsql.connect(CATALOG, source={"t": FRAME}) as conn, pytest.raises(dpsql.Error, match="DPSQL-136"):
        conn.execute(asked)


def test_unknown_keys_are_selected_and_their_greatest_shown() -> None:
    """Nothing is chosen beside them: the plan is that of the query without the option."""
    query = "SELECT s, COUNT(*) AS n FROM t GROUP BY s ORDER BY n DESC LIMIT 1"
    asked = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}epsilon=100, delta=0.001)"
    with dpsql.connect(CATALOG, source={"t": FRAME}) as conn:
        with_, without = (conn.explain(query.replace("SELECT", asked.format(o), 1)) for o in ("top_k=true, ", ""))
        assert with_.plan.stages == without.plan.stages
        ((_, count),) = conn.execute(query.replace("SELECT", asked.format("top_k=true, "), 1)).fetchall()
    assert count > 0


def test_all_groups_need_no_choice() -> None:
    with dpsql.testing.Replayer(CATALOG, {"t": FRAME}) as replayer:
        (stage,) = replayer.plan(QUERY.format("k, COUNT(*) AS n", "n").replace("LIMIT 3", "LIMIT 40")).stages
    assert [type(m) for m in stage.measurements] == [RowTotal]
