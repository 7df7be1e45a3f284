"""Every world of at most 3 units with at most 2 rows each, 2 keys and 3 values, against the definitions in pure Python.

All worlds lie in one table, told apart by a public key: no unit is in two of them, so no cap reaches across.
Where a cap on groups leaves a choice, the answer must be one of the allowed ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from dpsql.testing import exact

Value = int | None
Row = tuple[str, Value]
Unit = tuple[Row, ...]
KEYS = ("a", "b")
CAPS = ((1, 1), (1, 2), (2, 1), (2, 2))  # (max_groups, max_rows)
LOW, HIGH = -4, 5
VALUES: tuple[tuple[Value, Value, Value], ...] = ((None, -4, 3), (-1, 2, 7))  # 7 is clamped to 5


def worlds(values: Sequence[Value]) -> list[tuple[Unit, ...]]:
    rows = list(itertools.product(KEYS, values))
    units: list[Unit] = [(), *((row,) for row in rows), *itertools.combinations_with_replacement(rows, 2)]
    return [tuple(chosen) for chosen in itertools.combinations_with_replacement(units, 3)]


# --- the definitions (design sections 7 and 8), on values as fractions ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rule:
    """SQL, which rows enter, and what a group answers given the entering values of each unit in it."""

    sql: str
    enters: Callable[[Value], bool]
    answer: Callable[[Sequence[Sequence[Value]], int, Fraction], Fraction | None]


def clamped(value: Value) -> int:
    assert value is not None
    return max(LOW, min(HIGH, value))


def toward_zero(value: Fraction) -> int:
    return int(value)  # int() truncates


def count(units: Sequence[Sequence[Value]], max_rows: int, grid: Fraction) -> Fraction:
    return Fraction(sum(min(len(rows), max_rows) for rows in units))


def people(units: Sequence[Sequence[Value]], max_rows: int, grid: Fraction) -> Fraction:
    return Fraction(sum(bool(rows) for rows in units))


def share(pieces: Sequence[Fraction], max_rows: int) -> int:
    """A unit's share: its pieces' sum, scaled when more than max_rows enter, truncated towards zero."""
    total = sum(pieces, Fraction(0))
    assert total.denominator == 1
    return int(total) if len(pieces) <= max_rows else toward_zero(total * max_rows / len(pieces))


def total(units: Sequence[Sequence[Value]], max_rows: int, grid: Fraction) -> Fraction | None:
    if not any(units):
        return None
    return grid * sum(share([clamped(v) / grid for v in rows], max_rows) for rows in units)


def average(units: Sequence[Sequence[Value]], max_rows: int, grid: Fraction) -> Fraction | None:
    if not any(units):
        return None
    pieces = [[(2 * clamped(v) - LOW - HIGH) / grid for v in rows] for rows in units]
    centred = grid / 2 * sum(share(p, max_rows) for p in pieces)
    mean = Fraction(LOW + HIGH, 2) + centred / max(1, int(count(units, max_rows, grid)))
    return max(Fraction(LOW), min(Fraction(HIGH), mean))


def some(value: Value) -> bool:
    return value is not None


def positive(value: Value) -> bool:
    return value is not None and value > 0


RULES = (
    Rule("COUNT(*)", lambda v: True, count),
    Rule("COUNT(v)", some, count),
    Rule("COUNT(DISTINCT u)", lambda v: True, people),
    Rule("SUM(v)", some, total),
    Rule("AVG(v)", some, average),
    Rule("COUNT(*) FILTER (WHERE v > 0)", positive, count),
    Rule("COUNT(DISTINCT u) FILTER (WHERE v > 0)", positive, people),
    Rule("SUM(v) FILTER (WHERE v > 0)", positive, total),
    Rule("AVG(v) FILTER (WHERE v > 0)", positive, average),
)
GRIDS = {"integer": Fraction(1), "decimal(9, 2)": Fraction(1, 100), "real": Fraction(1, 2**38)}


def choices(unit: Unit, max_groups: int, keys: Sequence[str]) -> Iterator[Unit]:
    """What may be left of a unit: rows in at most max_groups of its groups, never fewer groups than that allows."""
    inside = [row for row in unit if row[0] in keys]
    groups = sorted({key for key, _ in inside})
    for kept in itertools.combinations(groups, min(max_groups, len(groups))):
        yield tuple(row for row in inside if row[0] in kept)


def allowed(
    world: Sequence[Unit], rule: Rule, caps: tuple[int, int], grid: Fraction, keys: Sequence[str]
) -> set[tuple[Fraction | None | str, ...]]:
    """The possible answers, for each key; "absent" where a group has no rows."""
    found = set()
    for kept in itertools.product(*(list(choices(unit, caps[0], keys)) for unit in world)):
        answers: list[Fraction | None | str] = []
        for key in keys:
            rows = [[v for k, v in unit if k == key] for unit in kept]
            entering = [[v for v in of_unit if rule.enters(v)] for of_unit in rows]
            answers.append(rule.answer(entering, caps[1], grid) if any(rows) else "absent")
        found.add(tuple(answers))
    return found


# --- the engine -----------------------------------------------------------------------------------------------------------


def catalog(type_: str, caps: tuple[int, int], keys: Sequence[str] | None, count: int) -> dict[str, Any]:
    key: dict[str, Any] = {"type": "text"} if keys is None else {"type": "text", "keys": list(keys)}
    columns = {
        "world": {"type": "integer", "lower": 0, "upper": count - 1, "nullable": False},
        "u": "integer",
        "k": key,
        "v": {"type": type_, "lower": LOW, "upper": HIGH},
    }
    table = {"unit": "u", "max_groups": caps[0], "max_rows": caps[1], "columns": columns}
    return {"dataset": "tiny", "unit": "person", "budget": {"epsilon": 1, "delta": 0}, "tables": {"t": table}}


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


def answers(connection: Any, rest: str, count: int) -> list[list[dict[str, Any]]]:
    """For each aggregate, for each world: key → answer. Averages apart: a sum beside one is measured another way."""
    found: list[list[dict[str, Any]]] = [[{} for _ in range(count)] for _ in RULES]
    averages = [n for n, rule in enumerate(RULES) if rule.answer is average]
    for numbers in (averages, [n for n in range(len(RULES)) if n not in averages]):
        select = f"SELECT world, k, {', '.join(RULES[n].sql for n in numbers)} FROM t{rest} GROUP BY world, k"
        for at, key, *cells in connection.execute(select).fetchall():
            for number, cell in zip(numbers, cells, strict=True):
                found[number][at][key] = cell
    return found


PUBLIC, PRIVATE, FIRST = KEYS, None, KEYS[:1]
# every pair of caps for integers; the other types, keys and values once each
RUNS = [
    *(("integer", VALUES[0], caps, PUBLIC) for caps in CAPS),
    *(("integer", VALUES[1], caps, PRIVATE) for caps in ((1, 1), (1, 2))),
    *(("integer", VALUES[0], caps, FIRST) for caps in ((1, 1),)),
    ("decimal(9, 2)", VALUES[0], (1, 1), PUBLIC),
    ("real", VALUES[0], (2, 1), PUBLIC),
]


@pytest.mark.parametrize(("type_", "values", "caps", "keys"), RUNS)
def test_every_tiny_world(
    type_: str, values: Sequence[Value], caps: tuple[int, int], keys: Sequence[str] | None
) -> None:
    """With one of two keys declared, the other's rows go before groups are chosen: nothing is left to choose."""
    check(type_, values, caps, keys, "")


@pytest.mark.parametrize("caps", CAPS[:2])
def test_truncation_comes_after_the_filter(caps: tuple[int, int]) -> None:
    check("integer", VALUES[0], caps, PUBLIC, " WHERE v > 0")


def check(type_: str, values: Sequence[Value], caps: tuple[int, int], keys: Sequence[str] | None, where: str) -> None:
    every = worlds(values)
    shown = KEYS if keys is None else tuple(keys)
    with exact(catalog(type_, caps, keys, len(every)), source={"t": table(every, type_)}) as connection:
        found = answers(connection, where, len(every))
    known: dict[Any, set[Any]] = {}
    for at, world in enumerate(every):
        passed = tuple(tuple(row for row in unit if not where or positive(row[1])) for unit in world)
        for number, rule in enumerate(RULES):
            name = (number, tuple(sorted(passed, key=repr)))
            if name not in known:
                known[name] = {
                    tuple(_shown(a) for a in one) for one in allowed(passed, rule, caps, GRIDS[type_], shown)
                }
            got = tuple(_shown(found[number][at].get(key, "absent")) for key in shown)
            assert got in known[name], (rule.sql, world, got, known[name])


def _shown(value: Any) -> Any:
    """Averages and reals are doubles: compared to nine digits."""
    return round(float(value), 9) + 0.0 if isinstance(value, int | float | Decimal | Fraction) else value
