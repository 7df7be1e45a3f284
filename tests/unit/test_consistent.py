"""Levels of grouping sets: the formula, the promise that totals equal the sum of their parts, and what stays apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpsql
from dpsql.release.consistency import NoisySums, least_squares
from tests.worlds import ASKED, bounded, keys, people

CATALOG = people(
    {
        "a": keys("p", "q"),
        "b": bounded("integer", 0, 2, nullable=False),
        "c": "text",
        "x": bounded("real", -1, 3),
        "n": bounded("decimal(9, 2)", 0, 5),
    },
    unit="who",
    max_groups=4,
    max_rows=3,
    per_query=ASKED,
)


def rows() -> dict[str, list[object]]:
    draw = np.random.default_rng(7)
    count = 400
    return {
        "who": draw.integers(0, 150, count).tolist(),
        "a": draw.choice(["p", "q"], count).tolist(),
        "b": draw.integers(0, 3, count).tolist(),
        "c": draw.choice(["u", "v"], count).tolist(),
        "x": draw.uniform(-1, 3, count).tolist(),
        "n": [round(v, 2) for v in draw.uniform(0, 5, count).tolist()],
    }


def run(sql: str, tmp_path: Path) -> list[tuple[object, ...]]:
    with dpsql.connect(CATALOG, source={"t": rows()}, ledger=tmp_path / "l.ledger") as connection:
        return connection.execute(sql).fetchall()


def test_the_published_example() -> None:
    """privacy-rules, number 20: parent 100, children 30, 40, 50 with equal σ become 105 and 25, 35, 45."""
    parent = NoisySums(np.array([100.0]), frozenset(), 1.0)
    children = NoisySums(np.array([30.0, 40.0, 50.0]), frozenset({0}), 1.0)
    fitted = least_squares([parent, children], (3,))
    assert fitted == pytest.approx([25, 35, 45])
    assert fitted.sum() == pytest.approx(105)


@pytest.mark.parametrize("weights", [[1.0, 2.0, 0.5, 3.0], [1e-3, 5.0, 5.0, 1e3]])
def test_least_squares_against_a_solver(weights: list[float]) -> None:
    draw = np.random.default_rng(11)
    shape, kept = (3, 4), [frozenset({0, 1}), frozenset({0}), frozenset({1}), frozenset[int]()]
    levels = [
        NoisySums(draw.normal(size=tuple(n if a in axes else 1 for a, n in enumerate(shape))), axes, weight)
        for axes, weight in zip(kept, weights, strict=True)
    ]
    blocks, right = [], []
    for one in levels:
        over = tuple(1 + a for a in (0, 1) if a not in one.axes)
        sums = np.eye(12).reshape(12, *shape).sum(axis=over).reshape(12, -1)
        blocks.append(sums.T * one.weight**0.5)
        right.append(one.sums.reshape(-1) * one.weight**0.5)
    expected = np.linalg.lstsq(np.vstack(blocks), np.concatenate(right), rcond=None)[0]
    assert least_squares(levels, shape).reshape(-1) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("epsilon", ["0.01", "1", "8"])
@pytest.mark.parametrize("sets", ["ROLLUP (a, b)", "CUBE (b, a)", "GROUPING SETS ((), (b), (b, a))"])
def test_totals_are_the_sums_of_their_parts(sets: str, epsilon: str, mechanism: str, tmp_path: Path) -> None:
    options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon={epsilon}, delta=1e-7, mechanism='{mechanism}')"
    sql = f"SELECT {options} a, b, COUNT(*), SUM(n), SUM(x), COUNT(x) FROM t GROUP BY {sets}"
    by_key = {(row[0], row[1]): [float(v) for v in row[2:]] for row in run(sql, tmp_path)}  # type: ignore[arg-type]
    leaves = [(a, b) for a in "pq" for b in (0, 1, 2)]
    for (a, b), values in by_key.items():
        below = [by_key[leaf] for leaf in leaves if a in (None, leaf[0]) and b in (None, leaf[1])]
        assert values == pytest.approx([sum(column) for column in zip(*below, strict=True)], rel=1e-12, abs=1e-6)
        assert values[0].is_integer()


def test_people_are_not_added_up(tmp_path: Path) -> None:
    """One person may be in several groups: their number in all is not the sum over the groups."""
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1000, delta=1e-7)"
    answered = run(f"SELECT {options} a, COUNT(DISTINCT who) FROM t GROUP BY ROLLUP (a)", tmp_path)
    counts = {row[0]: int(row[1]) for row in answered}  # type: ignore[call-overload]
    people = {(w, a) for w, a in zip(rows()["who"], rows()["a"], strict=True)}
    assert counts[None] == len({w for w, _ in people})
    assert counts["p"] == sum(a == "p" for _, a in people)


def test_levels_with_private_keys_stay_as_they_are(tmp_path: Path) -> None:
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=50, delta=1e-4)"
    rows = run(f"SELECT {options} a, c, COUNT(*) FROM t GROUP BY ROLLUP (a, c)", tmp_path)
    by_key = {(row[0], row[1]): int(row[2]) for row in rows}  # type: ignore[call-overload]
    assert by_key[None, None] == by_key["p", None] + by_key["q", None]
    assert {key for key in by_key if key[1] is not None} == {(a, c) for a in "pq" for c in "uv"}


def test_the_cost_of_a_rollup_is_what_was_asked(tmp_path: Path) -> None:
    with dpsql.connect(CATALOG, source={"t": rows()}, ledger=tmp_path / "l.ledger") as connection:
        cost = connection.cost("SELECT a, b, COUNT(*), AVG(x) FROM t GROUP BY CUBE (a, b)")
        assert (cost.epsilon, cost.delta) in ((1.0, 0.0), (1.0, 1e-6))


def test_grouping_tells_the_levels_apart(tmp_path: Path) -> None:
    sql = "SELECT GROUPING(a, b) AS level, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b) ORDER BY level"
    assert [row[0] for row in run(sql, tmp_path)] == [0] * 6 + [1] * 2 + [3]
    plain = "SELECT GROUPING(a) AS level, a, COUNT(*) FROM t GROUP BY a"
    assert [row[0] for row in run(plain, tmp_path)] == [0, 0]
