"""Thousands of tiny worlds in one table, a public key each: every measurement's exact total against its definition.

A world has up to three people with up to three rows, x in NULL, 0 … 3 and y in NULL, 0, 2; max_rows is 2, so it bites.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpsql.testing
from dpsql.plan.candidates import WEIGHT
from dpsql.query import check

WORLDS, CAP = 4_000, 2
Row = tuple[int | None, int | None]
Total = int | Counter[int]  # of candidates: weights by their ordinal
People = list[list[Row]]


def worlds() -> list[People]:
    rng = np.random.default_rng(5)
    xs, ys = [None, 0, 1, 2, 3], [None, 0, 2]
    return [
        [
            [(xs[rng.integers(5)], ys[rng.integers(3)]) for _ in range(rng.integers(1, 4))]
            for _ in range(rng.integers(1, 4))
        ]
        for _ in range(WORLDS)
    ]


ALL = worlds()


def frame() -> pd.DataFrame:
    rows = [
        (world * 10 + person, world, x, y)
        for world, people in enumerate(ALL)
        for person, own in enumerate(people)
        for x, y in own
    ]
    found = pd.DataFrame(rows, columns=["u", "world", "x", "y"])
    return found.astype({"x": "Int64", "y": "Int64"})


CATALOG = {
    "dataset": "tiny",
    "unit": "person",
    "budget": {"epsilon": 10**6},
    "tables": {
        "t": {
            "unit": "u",
            "max_groups": 1,
            "max_rows": CAP,
            "columns": {
                "u": "integer",
                "world": {"type": "integer", "lower": 0, "upper": WORLDS - 1, "nullable": False},
                "x": {"type": "integer", "lower": 0, "upper": 3},
                "y": {"type": "integer", "lower": 0, "upper": 2},
            },
        }
    },
}


def scaled(piece: int, count: int) -> int:
    """piece·cap ÷ count towards zero, where more than cap rows enter."""
    return piece if count <= CAP else math.trunc(Fraction(piece * CAP, count))


def summed(pieces: Callable[[Row], int | None]) -> Callable[[People], Total]:
    def total(people: People) -> Total:
        own = [[p for row in rows if (p := pieces(row)) is not None] for rows in people]
        return sum(scaled(sum(found), len(found)) for found in own)

    return total


def clamped(people: People) -> Total:
    own = [[x for x, _ in rows if x is not None] for rows in people]
    return sum(min(max(sum(found), 0), 4) for found in own if found)


def weights(people: People) -> Total:
    found: Counter[int] = Counter()
    for rows in people:
        values = Counter(x for x, _ in rows if x is not None)
        count = values.total()
        for x, n in values.items():
            found[x] += n * WEIGHT if count <= CAP else n * CAP * WEIGHT // count
    return found


def both(row: Row) -> tuple[int, int] | None:
    return None if row[0] is None or row[1] is None else (2 * row[0] - 3, 2 * row[1] - 2)


DEFINITIONS: dict[str, list[Callable[[People], Total]]] = {
    "COUNT(*)": [summed(lambda row: 1)],
    "COUNT(x)": [summed(lambda row: None if row[0] is None else 1)],
    "COUNT_IF(x > 1)": [summed(lambda row: 1 if row[0] is not None and row[0] > 1 else None)],
    "COUNT(DISTINCT u)": [lambda people: len(people)],
    "SUM(x)": [summed(lambda row: row[0])],
    "SUM(x) FILTER (WHERE y > 0)": [summed(lambda row: row[0] if row[1] else None)],
    "SUM(x, contribution_bounds_per_group => (0, 4))": [clamped],
    "VAR_POP(x)": [
        summed(lambda row: None if row[0] is None else 1),
        summed(lambda row: None if row[0] is None else 2 * row[0] - 3),
        summed(lambda row: None if row[0] is None else 2 * (2 * row[0] - 3) ** 2 - 9),
    ],
    "COVAR_POP(x, y)": [
        summed(lambda row: None if both(row) is None else 1),
        summed(lambda row: None if (z := both(row)) is None else z[0]),
        summed(lambda row: None if (z := both(row)) is None else z[1]),
        summed(lambda row: None if (z := both(row)) is None else z[0] * z[1]),
    ],
    "MEDIAN(x)": [weights],
    "MIN(x)": [weights],
    "MODE(x)": [weights],
    "HISTOGRAM(x)": [weights],
}


@pytest.fixture(scope="module")
def replayer() -> dpsql.testing.Replayer:
    return dpsql.testing.Replayer(CATALOG, {"t": frame()}, epsilon=10**5)


def totals(replayer: dpsql.testing.Replayer, items: str) -> list[tuple[Total, ...]]:
    """The exact totals of each world, on the value grid."""
    sql = f"SELECT world, {items} FROM t GROUP BY world"
    (stage,) = replayer.plan(sql).stages
    scratch = check(replayer.session, replayer.plan(sql))
    named = replayer.totals(stage, scratch).named
    assert all(noise.shift <= 0 for noise in stage.noises)
    found: list[list[Total]] = [[] for _ in range(WORLDS)]
    for measure, noise, cells in zip(stage.measures, stage.noises, named.values(), strict=True):
        weights: list[Counter[int]] = [Counter() for _ in range(WORLDS)]
        for (group, candidate), m in cells.items():
            weights[group[0]][candidate] += m  # type: ignore[index]
        for world, own in enumerate(weights):
            found[world].append(own if measure.candidates else Fraction(own[0]) * noise.grid)  # type: ignore[arg-type]
    return [tuple(totals) for totals in found]


@pytest.mark.parametrize("items", DEFINITIONS)
def test_every_total_is_its_definition(items: str, replayer: dpsql.testing.Replayer) -> None:
    expected = [tuple(define(people) for define in DEFINITIONS[items]) for people in ALL]
    found = totals(replayer, items)
    assert [tuple(sorted(map(repr_of, row))) for row in found] == [tuple(sorted(map(repr_of, row))) for row in expected]


def repr_of(total: object) -> str:
    """Totals in any order: what is measured first is the plan's affair."""
    return str(sorted(total.items())) if isinstance(total, Counter) else str(int(total))  # type: ignore[call-overload]


def test_distinct_values(replayer: dpsql.testing.Replayer) -> None:
    """Which of a person's values are kept is the hash's affair: between what the others have and what anybody has."""
    for people, (found,) in zip(ALL, totals(replayer, "COUNT(DISTINCT x)"), strict=True):
        sets = [{x for x, _ in rows if x is not None} for rows in people]
        certain = set().union(*(own for own in sets if len(own) <= CAP))
        assert isinstance(found, Fraction)
        assert max([len(certain), *(min(len(own), CAP) for own in sets)]) <= found <= len(set().union(*sets))
        assert found <= sum(min(len(own), CAP) for own in sets)
