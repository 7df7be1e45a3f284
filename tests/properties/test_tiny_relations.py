"""Every tiny world against the definitions, as test_tiny_worlds.py, for relations over several rows and tables of a unit.

Each shape says in Python which rows (key, value) a world's units have in the relation; what is measured of them is
test_tiny_worlds' business. Rows are weighed last, by how many a unit has in the relation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pytest

from tests.properties import test_tiny_worlds as tiny
from tests.properties.test_tiny_worlds import HIGH, KEYS, LOW, RULES, Row, Unit, Value
from tests.worlds import bounded, public

VALUES: tuple[Value, Value, Value] = (None, -4, 3)
PUBLIC = (("a", 1), ("a", -4), ("b", 5), (None, 2), ("c", 3), ("a", 1), ("b", None))
LIMITS = ((1, 1), (3, 2))


@dataclass(frozen=True, slots=True)
class Shape:
    """A relation with the columns world, u, k, v; what rows a unit has in it; how many times a table's its limits are;
    unit: u is known to be the unit; low: the least v that is expected."""

    sql: str
    rows: Callable[[Unit], list[Row]]
    times: int = 1
    unit: bool = True
    low: int = LOW


def joined(unit: Unit) -> list[Row]:
    return [(k, r) for k, _ in unit for name, r in PUBLIC if name == k]


def kept_left(unit: Unit) -> list[Row]:
    """Joined on the key and r > v; a row that meets none stays, with NULL."""
    rows: list[Row] = []
    for k, v in unit:
        met = [r for name, r in PUBLIC if name == k and r is not None and v is not None and r > v]
        rows += [(k, r) for r in met] or [(k, None)]
    return rows


def pairs(unit: Unit) -> list[Row]:
    return [(one[0], other[1]) for one in unit for other in unit]


def rising_pairs(unit: Unit) -> list[Row]:
    """x LEFT JOIN y on the unit and x.v < y.v."""
    pairs: list[Row] = []
    for k, v in unit:
        met = [w for _, w in unit if v is not None and w is not None and v < w]
        pairs += [(k, w) for w in met] or [(k, None)]
    return pairs


def full(unit: Unit) -> list[Row]:
    """x FULL JOIN y on the unit and x.v < y.v: rows of y that meet none are left, too."""
    known = [v for _, v in unit if v is not None]
    return rising_pairs(unit) + [(k, v) for k, v in unit if v is None or not any(w < v for w in known)]


def twice(unit: Unit) -> list[Row]:
    return [*unit, *(row for row in unit if row[1] is not None and row[1] > 0)]


def histogram(unit: Unit) -> list[Row]:
    """One row per unit: the key says how many rows it has, the value is their sum."""
    known = [v for _, v in unit if v is not None]
    total = max(LOW, min(HIGH, sum(known))) if known else LOW  # LEAST and GREATEST pass over NULL
    return [("b" if len(unit) > 1 else "a", total)] if unit else []


def by_key(unit: Unit) -> list[Row]:
    """One row per unit and key: its number of rows."""
    return [(key, sum(k == key for k, _ in unit)) for key in sorted({k for k, _ in unit})]


def _in_order(unit: Unit) -> list[Row]:
    """ORDER BY v; ties by the other columns: k. NULLs last."""
    return sorted(unit, key=lambda row: (row[1] is None, row[1] or 0, row[0]))


def lagged(unit: Unit) -> list[Row]:
    rows = _in_order(unit)
    return [(k, rows[at - 1][1] if at else None) for at, (k, _) in enumerate(rows)]


def ranked(unit: Unit) -> list[Row]:
    rows = _in_order(unit)
    return [(k, 1 + sum((w is None, w or 0) < (v is None, v or 0) for _, w in rows)) for k, v in rows]


def first(unit: Unit) -> list[Row]:
    return _in_order(unit)[:1]


def with_a_public_key(unit: Unit) -> list[Row]:
    return [row for row in unit if any(name == row[0] and r == row[1] is not None for name, r in PUBLIC)]


def with_a_later_row(unit: Unit) -> list[Row]:
    return [(k, v) for k, v in unit if v is not None and any(w is not None and w > v for _, w in unit)]


def without_a_later_row(unit: Unit) -> list[Row]:
    later = with_a_later_row(unit)
    return [row for row in unit if row not in later]


def worlds() -> list[tuple[Unit, ...]]:
    """At most two units with at most two rows each."""
    rows = list(itertools.product(KEYS, VALUES))
    units: list[Unit] = [(), *((row,) for row in rows), *itertools.combinations_with_replacement(rows, 2)]
    return list(itertools.combinations_with_replacement(units, 2))


BETWEEN = f"LEAST(GREATEST({{}}, {LOW}), {HIGH})"
SHAPES = {
    "join that multiplies": Shape("SELECT t.world, u, t.k, r AS v FROM t JOIN b ON t.k = b.k", joined),
    "comma join": Shape("SELECT t.world, u, t.k, r AS v FROM b, t WHERE t.k = b.k", joined),
    "left join": Shape("SELECT t.world, u, t.k, r AS v FROM t LEFT JOIN b ON t.k = b.k AND r > t.v", kept_left),
    "right join": Shape("SELECT t.world, u, t.k, r AS v FROM b RIGHT JOIN t ON t.k = b.k AND r > t.v", kept_left),
    "self-join": Shape("SELECT x.world, x.u, x.k, y.v FROM t x JOIN t y ON x.u = y.u", pairs),
    "left self-join": Shape(
        "SELECT x.world, x.u, x.k, y.v FROM t x LEFT JOIN t y ON x.u = y.u AND x.v < y.v", rising_pairs
    ),
    "full self-join": Shape(
        "SELECT COALESCE(x.world, y.world) AS world, COALESCE(x.k, y.k) AS k, y.v"
        " FROM t x FULL JOIN t y ON x.u = y.u AND x.v < y.v",
        full,
        unit=False,
    ),
    "union": Shape("SELECT world, u, k, v FROM t UNION ALL SELECT world, u, k, v FROM t WHERE v > 0", twice, 2),
    "histogram": Shape(
        f"SELECT world, u, CASE WHEN COUNT(*) > 1 THEN 'b' ELSE 'a' END AS k, {BETWEEN.format('SUM(v)')} AS v"
        " FROM t GROUP BY world, u",
        histogram,
    ),
    "summary by key": Shape(
        f"SELECT world, u, k, {BETWEEN.format('COUNT(*)')} AS v FROM t GROUP BY u, k, world", by_key, low=1
    ),
    "summary by equal sets": Shape(
        f"SELECT world, u, k, {BETWEEN.format('COUNT(*)')} AS v FROM t"
        " GROUP BY GROUPING SETS ((u, k, world), (u, k, world))",
        lambda unit: 2 * by_key(unit),
        low=1,
    ),
    "lag": Shape("SELECT world, u, k, LAG(v) OVER (PARTITION BY u ORDER BY v) AS v FROM t", lagged),
    "rank": Shape(
        f"SELECT world, u, k, {BETWEEN.format('RANK() OVER (PARTITION BY u ORDER BY v)')} AS v FROM t", ranked, low=1
    ),
    "first row": Shape(
        "SELECT world, u, k, v FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY u ORDER BY v NULLS LAST) = 1", first
    ),
    "in": Shape("SELECT * FROM t WHERE v IN (SELECT r FROM b WHERE b.k = t.k)", with_a_public_key),
    "exists": Shape("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM t y WHERE y.u = t.u AND y.v > t.v)", with_a_later_row),
    "not exists": Shape(
        "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM t y WHERE y.u = t.u AND y.v > t.v)", without_a_later_row
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_tiny_world_of_a_relation(name: str) -> None:
    every = worlds()
    shape = SHAPES[name]
    derived = [[tuple(shape.rows(unit)) for unit in world] for world in every]
    given = {"t": tiny.table(every, "integer"), "b": rates()}
    rules = of_units(shape.unit)
    for rows, groups in LIMITS:
        described = tiny.catalog("integer", (rows, groups), KEYS, len(every))
        described["tables"]["b"] = public({"k": "text", "r": bounded("integer", LOW, HIGH)})
        limits = (rows * shape.times, groups * shape.times)
        tiny.compare(described, given, f"({shape.sql}) AS q", derived, limits, rules=rules, low=shape.low)


def of_units(unit: bool) -> list[int]:
    return [n for n, rule in enumerate(RULES) if unit or not rule.units]


def rates() -> pa.Table:
    return pa.table({"k": pa.array([k for k, _ in PUBLIC]), "r": pa.array([r for _, r in PUBLIC], pa.int64())})
