"""Every world of at most 3 units with at most 2 rows each, 2 keys and 3 values, against the definitions in pure Python.

All worlds lie in one table, told apart by a public key: no unit is in two of them, so no limit reaches across.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from dpsql.testing import exact
from tests.worlds import bounded, keys, people

Value = int | None
Row = tuple[str, Value]
Unit = tuple[Row, ...]
KEYS = ("a", "b")
Limits = tuple[int, int]  # rows of a unit, and groups where it counts as one
LIMITS: tuple[Limits, ...] = ((1, 1), (2, 1), (1, 2), (4, 2))
LOW, HIGH = -4, 5
VALUES: tuple[tuple[Value, Value, Value], ...] = ((None, -4, 3), (-1, 2, 7))  # 7 is clamped to 5
FULL = 2**20


def worlds(values: Sequence[Value]) -> list[tuple[Unit, ...]]:
    rows = list(itertools.product(KEYS, values))
    units: list[Unit] = [(), *((row,) for row in rows), *itertools.combinations_with_replacement(rows, 2)]
    return [tuple(chosen) for chosen in itertools.combinations_with_replacement(units, 3)]


# --- the definitions, on values as fractions --------------------------------------------------------------------------

Weighed = Sequence[tuple[Value, Fraction]]  # a group's rows that enter, with their weights


@dataclass(frozen=True, slots=True)
class Rule:
    """SQL, which rows enter, what a group answers given its rows, the grid and the least v that is expected; units: a unit
    counts once in a group."""

    sql: str
    enters: Callable[[Value], bool]
    answer: Callable[[Weighed, Fraction, int], Fraction | None]
    units: bool = False


def clamped(value: Value) -> int:
    assert value is not None
    return max(LOW, min(HIGH, value))


def nearest(value: Fraction) -> int:
    """Half away from zero."""
    return int(value + Fraction(1, 2)) if value >= 0 else -int(Fraction(1, 2) - value)


def count(rows: Weighed, grid: Fraction, low: int) -> Fraction:
    return Fraction(nearest(sum((w for _, w in rows), Fraction(0))))


def total(rows: Weighed, grid: Fraction, low: int) -> Fraction | None:
    """On the grid of the type; of reals it is as fine as you like."""
    if not rows:
        return None
    added = sum((w * clamped(v) for v, w in rows), Fraction(0))
    return grid * nearest(added / grid)


def average(rows: Weighed, grid: Fraction, low: int) -> Fraction | None:
    """The middle of the bounds, and how far the weighed rows lie from it, over their weight or 1."""
    if not rows:
        return None
    middle = Fraction(low + HIGH, 2)
    off = sum((w * (clamped(v) - middle) for v, w in rows), Fraction(0))
    mean = middle + off / max(Fraction(1), sum((w for _, w in rows), Fraction(0)))
    return max(Fraction(low), min(Fraction(HIGH), mean))


def some(value: Value) -> bool:
    return value is not None


def positive(value: Value) -> bool:
    return value is not None and value > 0


RULES = (
    Rule("COUNT(*)", lambda v: True, count),
    Rule("COUNT(v)", some, count),
    Rule("COUNT(DISTINCT u)", lambda v: True, count, units=True),
    Rule("SUM(v)", some, total),
    Rule("AVG(v)", some, average),
    Rule("COUNT(*) FILTER (WHERE v > 0)", positive, count),
    Rule("COUNT(DISTINCT u) FILTER (WHERE v > 0)", positive, count, units=True),
    Rule("SUM(v) FILTER (WHERE v > 0)", positive, total),
    Rule("AVG(v) FILTER (WHERE v > 0)", positive, average),
)
GRIDS = {"integer": Fraction(1), "decimal(9, 2)": Fraction(1, 100), "real": Fraction(1, 2**38)}


def weight(most: int, count: int) -> Fraction:
    """Of each of `count` rows (or groups) of a unit, `most` of which count."""
    return Fraction(min(FULL, most * FULL // count), FULL)


def expected(
    world: Sequence[Unit], rule: Rule, limits: Limits, grid: Fraction, keys: Sequence[str], low: int
) -> tuple[Fraction | None | str, ...]:
    """The answer for each key; "absent" where a group has no rows. Where a unit has one row it counts as that row."""
    weighed: dict[str, list[tuple[Value, Fraction]]] = {key: [] for key in keys}
    for unit in world:
        entering = [(key, value) for key, value in unit if key in keys and rule.enters(value)]
        if rule.units and limits[0] > 1:
            groups = {key for key, _ in entering}
            for key in groups:
                weighed[key].append((None, weight(limits[1], len(groups))))
        else:
            for key, value in entering:
                weighed[key].append((value, weight(limits[0], len(entering))))
    there = {key for unit in world for key, _ in unit}
    return tuple(rule.answer(weighed[key], grid, low) if key in there else "absent" for key in keys)


# --- the engine -----------------------------------------------------------------------------------------------------------


def catalog(type_: str, limits: Limits, names: Sequence[str] | None, count: int) -> dict[str, Any]:
    key: dict[str, Any] = {"type": "text"} if names is None else keys(*names)
    columns = {
        "world": bounded("integer", 0, count - 1, nullable=False),
        "u": "integer",
        "k": key,
        "v": bounded(type_, LOW, HIGH),
    }
    return people(columns, rows_per_unit=limits[0], groups_per_unit=limits[1], budget={"epsilon": 1, "delta": 0})


def table(all_worlds: Sequence[Sequence[Unit]], type_: str) -> pa.Table:
    arrow = {"integer": pa.int64(), "decimal(9, 2)": pa.decimal128(9, 2), "real": pa.float64()}[type_]
    cast = {"integer": int, "decimal(9, 2)": Decimal, "real": float}[type_]
    flat = [
        (at, 3 * at + who, key, None if value is None else cast(value))
        for at, world in enumerate(all_worlds)
        for who, unit in enumerate(world)
        for key, value in unit
    ]
    names = ("world", "u", "k", "v")
    types = (pa.int64(), pa.int64(), pa.string(), arrow)
    columns = list(zip(*flat, strict=True))
    return pa.table({n: pa.array(list(c), t) for n, c, t in zip(names, columns, types, strict=True)})


def answers(connection: Any, relation: str, count: int, rules: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """For each aggregate, for each world: key → answer."""
    answered: dict[int, list[dict[str, Any]]] = {number: [{} for _ in range(count)] for number in rules}
    select = f"SELECT world, k, {', '.join(RULES[n].sql for n in rules)} FROM {relation} GROUP BY world, k"
    for at, key, *cells in connection.execute(select).fetchall():
        for number, cell in zip(rules, cells, strict=True):
            answered[number][at][key] = cell
    return answered


PUBLIC, PRIVATE, FIRST = KEYS, None, KEYS[:1]
# every pair of limits for integers; the other types, keys and values once each
RUNS: list[tuple[str, Sequence[Value], Limits, Sequence[str] | None]] = [
    *(("integer", VALUES[0], limits, PUBLIC) for limits in LIMITS),
    *(("integer", VALUES[1], limits, PRIVATE) for limits in LIMITS[:2]),
    ("integer", VALUES[0], (1, 1), FIRST),
    ("decimal(9, 2)", VALUES[0], (1, 1), PUBLIC),
    ("real", VALUES[0], (1, 2), PUBLIC),
]


@pytest.mark.parametrize(("type_", "values", "limits", "keys"), RUNS)
def test_every_tiny_world(type_: str, values: Sequence[Value], limits: Limits, keys: Sequence[str] | None) -> None:
    """With one of two keys declared, the other's rows go before a unit's rows are counted."""
    check(type_, values, limits, keys, "")


@pytest.mark.parametrize("limits", LIMITS[:2])
def test_rows_are_weighed_after_the_filter(limits: Limits) -> None:
    check("integer", VALUES[0], limits, PUBLIC, " WHERE v > 0")


def check(type_: str, values: Sequence[Value], limits: Limits, keys: Sequence[str] | None, where: str) -> None:
    every = worlds(values)
    passed = [
        tuple(tuple(row for row in unit if not where or positive(row[1])) for unit in world) if where else world
        for world in every
    ]
    described, given = catalog(type_, limits, keys, len(every)), {"t": table(every, type_)}
    shown, low = KEYS if keys is None else tuple(keys), 1 if where else LOW
    compare(described, given, f"t{where}", passed, limits, shown, GRIDS[type_], low=low)


def compare(
    described: dict[str, Any],
    given: dict[str, pa.Table],
    relation: str,
    worlds: Sequence[Sequence[Unit]],
    limits: Limits,
    keys: Sequence[str] = KEYS,
    grid: Fraction = GRIDS["integer"],
    *,
    rules: Sequence[int] = range(len(RULES)),
    low: int = LOW,
) -> None:
    """Every aggregate of the relation is what its definition says, by world and key. worlds: the relation's rows."""
    with exact(described, source=given, threads=1) as connection:
        actual = answers(connection, relation, len(worlds), rules)
    known: dict[Any, tuple[Any, ...]] = {}
    for at, world in enumerate(worlds):
        for number in rules:
            name = (number, tuple(sorted(world, key=repr)))
            if name not in known:
                known[name] = tuple(map(_shown, expected(world, RULES[number], limits, grid, keys, low)))
            got = tuple(_shown(actual[number][at].get(key, "absent")) for key in keys)
            assert got == known[name], (RULES[number].sql, relation, world, got, known[name])


def _shown(value: Any) -> Any:
    """Averages and reals are doubles: compared to nine digits."""
    return round(float(value), 9) + 0.0 if isinstance(value, int | float | Decimal | Fraction) else value
