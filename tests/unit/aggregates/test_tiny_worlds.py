"""Every tiny world in one table, told apart by a public key: each total by its definition, each change by hand.

All tables of at most three people with at most three rows each and two keys, x NULL or 3; and all of one person with three
rows and more values. The worlds are closed under removing a person, so how far each person moves a measurement is the
distance of two worlds: computed here from the engine's totals, against reaches that are worked out here as well.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, Literal

import pandas as pd
import pytest

import dpsql.testing
from dpsql.execution.known import check
from dpsql.testing.measurements import _vectors as vectors
from tests.worlds import bounded, dataset, keys, private

FULL = 2**20
KEYS = ("a", "b")
Row = tuple[str, int | None, int | None]  # k, x, y
Person = tuple[Row, ...]
World = tuple[Person, ...]
Cell = tuple[str, int]  # a key and a total, or a candidate
Totals = Counter[Cell]
Norm = Literal[1, 2]


def people(values: Sequence[tuple[int | None, int | None]]) -> list[Person]:
    rows: list[Row] = [(k, x, y) for k in KEYS for x, y in values]
    return [person for count in (1, 2, 3) for person in combinations_with_replacement(rows, count)]


@cache
def worlds() -> tuple[World, ...]:
    few, many = people([(None, 2), (3, None)]), people([(0, 1), (3, 1), (3, 0), (2, 2), (None, 2), (1, None)])
    distinct = {world: None for count in range(4) for world in combinations_with_replacement(few, count)}
    return tuple(distinct | {(person,): None for person in many})


def frame() -> pd.DataFrame:
    rows = [
        (at * 4 + n, at, *row, row[0])
        for at, world in enumerate(worlds())
        for n, person in enumerate(world)
        for row in person
    ]
    made = pd.DataFrame(rows, columns=["u", "world", "k", "x", "y", "private"])
    return made.astype({"x": "Int64", "y": "Int64"})


@dataclass(frozen=True, slots=True)
class Limits:
    """most rows of a person, squared: of the radius in norm 2, groups; said: in the metadata."""

    most: int
    squared: int
    groups: int
    said: dict[str, int] = field(hash=False)


TOTAL = Limits(2, 4, 1, {"rows_per_unit": 2, "groups_per_unit": 1})
PAIR = Limits(2, 2, 2, {"max_groups": 2, "max_rows": 1})
ALONE = Limits(1, 1, 1, {})  # rows that are units
FIRST = Limits(1, 1, 1, {"rows_per_unit": 1, "groups_per_unit": 1})  # and some have more than the one that counts


@cache
def replayer(limits: Limits) -> dpsql.testing.Replayer:
    columns = {
        "u": "integer",
        "world": bounded("integer", 0, len(worlds()) - 1, nullable=False),
        "k": keys(*KEYS),
        "private": "text",
        "x": bounded("integer", 0, 3),
        "y": bounded("integer", 0, 2),
    }
    described = dataset({"t": private(columns, **({"unit": None} if limits is ALONE else limits.said))})
    return dpsql.testing.Replayer(described, {"t": frame()}, epsilon=10**5, delta=Fraction(1, 1000))


# --- definitions ------------------------------------------------------------------------------------------------------


def share(norm: Norm, most: int, squared: int, spread: Sequence[int]) -> tuple[int, int]:
    """The least and greatest weight of somebody with so many rows in each group, in norm 2 by at most 2 apart."""
    if norm == 1:
        w = min(FULL, most * FULL // sum(spread))
        return w, w
    q = sum(n * n for n in spread)
    w = min(FULL, math.isqrt(squared * FULL * FULL // q))
    return (w, w) if w == FULL else (w - 2, w)


Enters = Callable[[Row], bool]
Bounds = tuple[Totals, Totals]  # the least and the greatest of each total


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured of the rows that enter: by row, or by group of a person. pieces: cell → integer."""

    pieces: Callable[[Row], dict[int, int]]
    enters: Enters
    largest: int  # the most that a row's pieces add up to
    clamp: tuple[int, int] | None = None
    ends: bool = False  # bounded together, in norm 1

    def totals(self, world: World, limits: Limits, norm: Norm) -> Bounds:
        low, high = Totals(), Totals()
        for person in world:
            entering = [row for row in person if self.enters(row)]
            if self.clamp is None:
                spread = list(Counter(k for k, *_ in entering).values())
                given = [(k, self.pieces((k, x, y))) for k, x, y in entering]
                w = share(norm, limits.most, limits.squared, spread) if entering else (0, 0)
            else:
                summed = {
                    k: sum(self.pieces(row)[0] for row in entering if row[0] == k) for k in {row[0] for row in entering}
                }
                given = [(k, {0: min(max(m, self.clamp[0]), self.clamp[1])}) for k, m in summed.items()]
                w = share(norm, limits.groups, limits.groups, [1] * len(given)) if given else (0, 0)
            for k, pieces in given:
                for cell, piece in pieces.items():
                    low[k, cell] += min(piece * w[0], piece * w[1])
                    high[k, cell] += max(piece * w[0], piece * w[1])
        return low, high

    def reach(self, limits: Limits, norm: Norm) -> int:
        if self.clamp is None:
            most, squared = limits.most, limits.squared
        else:
            most, squared = limits.groups, limits.groups
        exact = ((most if norm == 1 else 1) * self.largest * FULL) ** 2 * (1 if norm == 1 else squared)
        root = math.isqrt(exact)
        return root + (root * root < exact)


def always(row: Row) -> bool:
    return True


def has_x(row: Row) -> bool:
    return row[1] is not None


def has_both(row: Row) -> bool:
    return row[1] is not None and row[2] is not None


def one(row: Row) -> dict[int, int]:
    return {0: 1}


def x_of(row: Row) -> int:
    assert row[1] is not None
    return row[1]


def z_of(row: Row) -> int:
    return 2 * x_of(row) - 3


def other_z(row: Row) -> int:
    assert row[2] is not None
    return 2 * row[2] - 2


def powers(z: Callable[[Row], int], half: int, degree: int, enters: Enters) -> dict[str, Measure]:
    """Each total a vector of its own, named by its number."""
    pieces = [lambda row: {0: 1}, lambda row: {1: z(row)}, lambda row: {2: 2 * z(row) ** 2 - half**2}]
    return {f", total {k + 1}": Measure(pieces[k], enters, half**k) for k in range(degree + 1)}


def ends(z: Callable[[Row], int], half: int, degree: int, enters: Enters) -> dict[str, Measure]:
    def pieces(row: Row) -> dict[int, int]:
        if degree == 1:
            return {0: half - z(row), 1: half + z(row)}
        return {0: (half - z(row)) ** 2, 1: 2 * (half**2 - z(row) ** 2), 2: (half + z(row)) ** 2}

    return {"": Measure(pieces, enters, (2 * half) ** degree, ends=True)}


def moments(
    name: str, z: Callable[[Row], int], half: int, degree: int, enters: Enters, norm: Norm
) -> dict[str, Measure]:
    terms = (ends if norm == 1 else powers)(z, half, degree, enters)
    return {name + suffix: measure for suffix, measure in terms.items()}


def definitions(items: str, norm: Norm) -> dict[str, Measure]:
    """By the names of what is measured."""
    cells = Measure(lambda row: {x_of(row): 1}, has_x, 1)
    known: dict[str, dict[str, Measure]] = {
        "COUNT(*)": {"count(*)": Measure(one, always, 1)},
        "COUNT(x)": {"count(x)": Measure(one, has_x, 1)},
        "COUNT_IF(x > 1)": {"count(*) where (x > 1)": Measure(one, lambda row: has_x(row) and x_of(row) > 1, 1)},
        "COUNT(DISTINCT u)": {"units": Measure(one, always, 1, clamp=(0, 1))},
        "COUNT(DISTINCT u) FILTER (WHERE x > 1)": {
            "units where (x > 1)": Measure(one, lambda row: has_x(row) and x_of(row) > 1, 1, clamp=(0, 1))
        },
        "COUNT(x, contribution_bounds_per_group => (0, 1))": {"count(x)": Measure(one, has_x, 1, clamp=(0, 1))},
        "SUM(x)": {"sum(x)": Measure(lambda row: {0: x_of(row)}, has_x, 3)},
        "SUM(x) FILTER (WHERE y > 0)": {
            "sum(x) where (y > 0)": Measure(lambda row: {0: x_of(row)}, lambda row: has_x(row) and bool(row[2]), 3)
        },
        "SUM(x, contribution_bounds_per_group => (0, 4))": {
            "sum(x)": Measure(lambda row: {0: x_of(row)}, has_x, 4, clamp=(0, 4))
        },
        "AVG(x)": moments("mean of x", z_of, 3, 1, has_x, norm),
        "VAR_POP(x)": moments("moments of x", z_of, 3, 2, has_x, norm),
        "COVAR_POP(x, y)": {
            **moments("mean of x beside y", z_of, 3, 1, has_both, norm),
            **moments("mean of y beside x", other_z, 2, 1, has_both, norm),
            "centred product(x, y)": Measure(lambda row: {0: z_of(row) * other_z(row)}, has_both, 6),
        },
        "MEDIAN(x)": {"quantile 0.5 of x": cells},
        "MIN(x)": {"min(x)": cells},
        "MODE(x)": {"mode(x)": cells},
        "HISTOGRAM(x)": {"histogram(x)": cells},
    }
    return known[items]


ITEMS = (
    "COUNT(*)",
    "COUNT(x)",
    "COUNT_IF(x > 1)",
    "COUNT(DISTINCT u)",
    "COUNT(DISTINCT u) FILTER (WHERE x > 1)",
    "COUNT(x, contribution_bounds_per_group => (0, 1))",
    "SUM(x)",
    "SUM(x) FILTER (WHERE y > 0)",
    "SUM(x, contribution_bounds_per_group => (0, 4))",
    "AVG(x)",
    "VAR_POP(x)",
    "COVAR_POP(x, y)",
    "MEDIAN(x)",
    "MIN(x)",
    "MODE(x)",
    "HISTOGRAM(x)",
)
CHOSEN = ("MEDIAN(x)", "MIN(x)", "MODE(x)")  # by norm 1, whatever the noise of numbers is
OF_UNITS = ("DISTINCT u", "per_group")
MECHANISMS: dict[Norm, str] = {1: "laplace", 2: "gaussian"}


# --- the engine -------------------------------------------------------------------------------------------------------


def stage_and_totals(limits: Limits, items: str, norm: Norm, keys: str = "world, k") -> tuple[Any, Any]:
    options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='{MECHANISMS[norm]}')"
    opened = replayer(limits)
    plan = opened.plan(f"SELECT {options} {keys}, {items} FROM t GROUP BY {keys}")
    (stage,) = plan.stages
    assert all(draw.shift == (20 if draw.parts > 1 else 0) for noised in stage.noised for draw in noised.draws)
    totals = opened.totals(stage, check(opened.session, plan))
    weighed = {name: {at: m * grid(stage, name) for at, m in cells.items()} for name, cells in totals.named.items()}
    return stage, dataclasses.replace(totals, named=weighed)


def grid(stage: Any, name: str) -> int:
    """2^20 of what has whole noise: its totals are whole pieces."""
    return next((draw.grid for _, named, draw, _ in vectors(stage) if named == name), 1)


def reach_of(stage: Any, name: str) -> int:
    """What is declared, in weighed integers."""
    return dpsql.testing.measurements.reaches(stage)[name].most * grid(stage, name)


def whole(stage: Any, name: str, reach: int) -> int:
    """A reach that is rounded up to what the vector is rounded to."""
    return -(-reach // grid(stage, name)) * grid(stage, name)


def by_world(cells: Any) -> list[Totals]:
    """A measurement's totals; groups are counted off, k varies fastest."""
    per_world = [Totals() for _ in worlds()]
    for ((group,), cell), m in cells.items():
        if m:
            per_world[group // 2][KEYS[group % 2], cell] += m
    return per_world


def distance(one: Totals, other: Totals, norm: Norm) -> int:
    moved = [abs(one[cell] - other[cell]) for cell in one.keys() | other.keys()]
    if norm == 1:
        return sum(moved)
    square = sum(m * m for m in moved)
    return math.isqrt(square) + (math.isqrt(square) ** 2 < square)


def neighbours() -> Iterator[tuple[int, int]]:
    """Places of a world, and of it without somebody."""
    at = {world: n for n, world in enumerate(worlds())}
    for world, n in at.items():
        yield from ((n, at[world[:i] + world[i + 1 :]]) for i in range(len(world)))


@pytest.mark.slow
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", [TOTAL, PAIR, FIRST], ids=["total", "pair", "first"])
@pytest.mark.parametrize("items", ITEMS)
def test_every_total_is_its_definition(items: str, limits: Limits, norm: Norm) -> None:
    """Also what a person moves, and what the plan draws noise for; somewhere it is all of that."""
    if limits is not TOTAL and any(word in items for word in ("per_group", *CHOSEN)):
        limits = TOTAL  # elsewhere bounds of groups are no better than of rows
    if limits is FIRST and "DISTINCT u" in items:
        limits = TOTAL  # one row each: rows are counted
    stage, actual = stage_and_totals(limits, items, norm)
    expected = definitions(items, norm)
    assert list(actual.named) == list(expected)
    norm_used: Norm = 1 if items in CHOSEN else norm
    for name, measure in expected.items():
        here = by_world(actual.named[name])
        for world, totals in zip(worlds(), here, strict=True):
            low, high = measure.totals(world, limits, norm_used)
            cells = low.keys() | high.keys() | totals.keys()
            assert all(low[cell] <= totals[cell] <= high[cell] for cell in cells), (world, totals, low, high)
        reach = measure.reach(limits, norm_used)
        largest = max(distance(here[n], here[m], norm_used) for n, m in neighbours())
        assert largest <= reach == reach_of(stage, name)
        assert largest >= reach * 0.999


@pytest.mark.slow
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("items", [items for items in ITEMS if not any(word in items for word in OF_UNITS)])
def test_rows_that_are_units(items: str, norm: Norm) -> None:
    """Nothing is weighed: every row counts in full, by the form of the relation."""
    stage, seen = stage_and_totals(ALONE, items, norm)
    assert stage.source.single
    norm_used: Norm = 1 if items in CHOSEN else norm
    for name, measure in definitions(items, norm).items():
        for world, totals in zip(worlds(), by_world(seen.named[name]), strict=True):
            rows: World = tuple((row,) for person in world for row in person)
            low, high = measure.totals(rows, ALONE, norm_used)
            assert low == high
            assert {cell: m for cell, m in low.items() if m} == dict(totals), world
        assert reach_of(stage, name) == whole(stage, name, measure.reach(ALONE, norm_used))


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", [TOTAL, PAIR], ids=["total", "pair"])
def test_distinct_values(limits: Limits, norm: Norm) -> None:
    """Which of a person's values are kept is the hash's affair: between what is certain and what anybody has. Two groups'
    values are different ones."""
    stage, seen = stage_and_totals(limits, "COUNT(DISTINCT x)", norm)
    in_group = 2 if limits is TOTAL else 1
    assert (stage.noised[0].measurement.most, stage.noised[0].measurement.in_group) == (2, in_group)
    reach = 2 * FULL if norm == 1 else math.isqrt(2 * in_group * FULL * FULL - 1) + 1
    assert reach_of(stage, "count(distinct x)") == whole(stage, "count(distinct x)", reach)
    for world, totals in zip(worlds(), by_world(seen.named["count(distinct x)"]), strict=True):
        assert all(m % FULL == 0 for m in totals.values())
        distinct = [{(k, x) for k, x, _ in person if x is not None} for person in world]
        kept = [min(2, sum(min(in_group, n) for n in Counter(k for k, _ in values).values())) for values in distinct]
        certain = set().union(*(values for values, n in zip(distinct, kept, strict=True) if len(values) == n))
        every = set().union(*distinct)
        count = totals.total() // FULL
        assert max([len(certain), *kept]) <= count <= min(len(every), sum(kept))
        for k in KEYS:
            assert totals[k, 0] // FULL <= sum(key == k for key, _ in every)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize(("limits", "limit"), [(TOTAL, 1), (PAIR, 2)], ids=["total", "pair"])
def test_votes_for_private_keys(limits: Limits, limit: int, norm: Norm) -> None:
    """⌊2^b/g⌋ or ⌊2^b/√g⌋ for each of somebody's g groups; whoever has too many does not vote; nobody's key is not there."""
    stage, actual = stage_and_totals(limits, "COUNT(*)", norm, keys="world, private")
    bits = stage.selection.bits
    assert len(stage.selection.votes) == (limit if norm == 1 else 1024)
    expected: Counter[tuple[int, str]] = Counter()
    for at, world in enumerate(worlds()):
        for person in world:
            groups = {k for k, *_ in person}
            if norm == 2 or len(groups) <= limit:
                vote = 2**bits // len(groups) if norm == 1 else math.isqrt(4**bits // len(groups))
                expected.update({(at, k): vote for k in groups})
    assert {group: m for (group, _), m in actual.named["keys"].items()} == dict(expected)
    assert actual.groups == set(expected)


@pytest.mark.slow
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("limits", [FIRST, ALONE], ids=["first", "alone"])
@pytest.mark.parametrize("items", [i for i in ITEMS if not any(w in i for w in (*OF_UNITS, *CHOSEN, "HISTOGRAM"))])
def test_totals_beside_votes(items: str, limits: Limits, norm: Norm) -> None:
    """Private keys where one row of a person counts: each key that is voted for has its votes, and the totals that it would
    have if every key were public; a person moves them no further over all keys of both sides."""
    stage, seen = stage_and_totals(limits, items, norm, keys="world, private")
    assert seen.by_key
    full, voters = 2**stage.selection.bits, Counter[tuple[int, str]]()
    for at, world in enumerate(worlds()):
        people_ = world if limits is FIRST else tuple((row,) for person in world for row in person)
        for groups in ({k for k, *_ in person} for person in people_):
            vote = full // len(groups) if norm == 1 else math.isqrt(full**2 // len(groups))
            voters.update({(at, k): vote for k in groups if norm == 2 or len(groups) == 1})
    assert {key: votes for (key, _), votes in seen.named["keys"].items()} == dict(voters)
    for name, measure in definitions(items, norm).items():
        here: list[Totals] = [Totals() for _ in worlds()]
        for ((at, k), cell), m in seen.named[name].items():
            assert (at, k) in voters
            here[at][k, cell] = m
        for at, (world, totals) in enumerate(zip(worlds(), here, strict=True)):
            rows = world if limits is FIRST else tuple((row,) for person in world for row in person)
            low, high = measure.totals(rows, limits, norm)
            cells = {cell for cell in low.keys() | high.keys() | totals.keys() if (at, cell[0]) in voters}
            assert all(low[cell] <= totals[cell] <= high[cell] for cell in cells), (world, totals, low, high)
        if limits is FIRST:
            moved = []
            for n, m in neighbours():
                both = [k for k in KEYS if (n, k) in voters and (m, k) in voters]
                one_, other = (Totals({c: t[c] for c in t if c[0] in both}) for t in (here[n], here[m]))
                moved.append(distance(one_, other, norm))
            assert max(moved) <= measure.reach(limits, norm) == dpsql.testing.measurements.reaches(stage)[name].most


def test_worlds_are_all_there_are() -> None:
    """34 people of at most three of four rows, of whom three are met; and no world is without its neighbours."""
    assert len({world for world in worlds() if all(x in (None, 3) for p in world for _, x, _ in p)}) >= math.comb(37, 3)
    assert {n for n, _ in neighbours()} == {n for n, world in enumerate(worlds()) if world}
