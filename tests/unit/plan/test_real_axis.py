"""A real on its axis is its nearest integer there, clamped, whatever is stored: against Python's numbers. What cleaning
keeps of a stored value is by the same means, and is the same on every engine's path."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from dpsql.catalog.model import ColumnSpec
from dpsql.domain.interval import Interval
from dpsql.domain.types import BIGINT, DATE, REAL
from dpsql.ir.expr import Column
from dpsql.plan.dialects.duckdb.places import placed_real
from dpsql.plan.measurements import Axis
from dpsql.plan.render.clean import kept
from dpsql.privacy.sensitivity import value_grid

SPECIAL = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-300,
    1e308,
    -1e308,
    2.0**53 + 2,
    0.5,
    1.5,
    -0.5,
]
BOUNDS = [(0, 240), (-1, 1), (0, 0), (-0.1, 0.3), (1e-300, 1e-299), (-1e150, 1e140), (7, 7), (-3, -2), (0, 2.0**70)]


def stored(low: float, high: float) -> list[float | None]:
    draw = random.Random(repr((low, high)))
    near = [math.nextafter(end, to) for end in (low, high) for to in (-math.inf, math.inf)]
    inside = [draw.uniform(low, high) for _ in range(200)]
    return [None, *SPECIAL, low, high, *near, *inside, *(value * 3 for value in inside)]


def answers(values: list[float | None], type_: str, expression: str) -> list[object]:
    """As a column of a stored table, of which the engine knows statistics, NULLs and NaNs in blocks of their own."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t (i BIGINT, x {type_})")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
        return [row[0] for row in connection.execute(f"SELECT {expression} FROM t ORDER BY i").fetchall()]


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_places(low: float, high: float) -> None:
    grid = value_grid(REAL, Interval(Fraction(low), Fraction(high)))
    axis = Axis(arg=Column(1, REAL), step=grid.step, low=grid.low, high=grid.high)
    values = stored(low, high)
    expected: list[int | None] = []
    for value in values:
        if value is None or math.isnan(value):
            expected.append(None)
        elif math.isinf(value):
            expected.append(axis.high if value > 0 else axis.low)
        else:  # round() of a Fraction is to the even one, as the engine's cast is
            expected.append(min(max(round(Fraction(value) / axis.step), axis.low), axis.high))
    assert answers(values, "DOUBLE", placed_real("x", axis)) == expected


@pytest.mark.parametrize(
    "axis",
    [
        Axis(arg=Column(1, REAL), step=Fraction(1, 3), low=0, high=9),
        Axis(arg=Column(1, REAL), step=Fraction(3, 4), low=0, high=8),
        Axis(arg=Column(1, REAL), step=Fraction(1), low=0, high=2**62 - 1),
        Axis(arg=Column(1, REAL), step=Fraction(1), low=-(2**62) + 1, high=2**53 + 1),
    ],
)
def test_ends_that_are_no_doubles(axis: Axis) -> None:
    """Whatever is stored, no place is beyond them."""
    values = [*stored(float(axis.low * axis.step), float(axis.high * axis.step)), 2.0**62, -(2.0**62), 2.0**63]
    placed = answers(values, "DOUBLE", placed_real("x", axis))
    for value, place in zip(values, placed, strict=True):
        assert (place is None) == (value is None or math.isnan(value))
        assert place is None or (isinstance(place, int) and axis.low <= place <= axis.high)
    assert {axis.low, axis.high} <= set(placed)


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_reals_are_kept_canonical_and_between_bounds(low: float, high: float) -> None:
    column = ColumnSpec(name="x", type=REAL, interval=Interval(Fraction(low), Fraction(high)))
    values = stored(low, high)
    actual = answers(values, "DOUBLE", kept("x", column))
    expected = [None if v is None or math.isnan(v) else min(max(v, float(low)), float(high)) + 0.0 for v in values]
    assert actual == expected
    assert not any(isinstance(v, float) and math.copysign(1.0, v) < 0 for v in actual if v == 0)


@pytest.mark.parametrize(("low", "high"), [(0, 10), (None, 5), (-4, None), (3, 3)])
def test_whole_numbers_are_kept_between_bounds(low: int | None, high: int | None) -> None:
    ends = [None if end is None else Fraction(end) for end in (low, high)]
    column = ColumnSpec(name="x", type=BIGINT, interval=Interval(*ends))
    values = [None, -(2**63), -5, -4, 0, 3, 5, 6, 10, 11, 2**63 - 1]
    least, most = -(2**63) if low is None else low, 2**63 - 1 if high is None else high
    expected = [None if v is None else min(max(v, least), most) for v in values]
    assert answers(values, "BIGINT", kept("x", column)) == expected


def test_dates_are_kept_between_bounds() -> None:
    first, last = (int(np.datetime64(day, "D").astype(int)) for day in ("2000-01-01", "2001-01-01"))
    column = ColumnSpec(name="x", type=DATE, interval=Interval(Fraction(first), Fraction(last)))
    days = [
        "infinity",
        "-infinity",
        "1999-12-31",
        "2000-01-01",
        "2000-06-01",
        "2001-01-02",
        "5000000-01-01",
        "0044-03-15 (BC)",
    ]
    with duckdb.connect() as connection:
        cells = ", ".join(f"(DATE '{day}')" for day in days)
        sql = f"SELECT CAST({kept('x', column)} AS VARCHAR) FROM (VALUES (CAST(NULL AS DATE)), {cells}) AS t(x)"
        rows = [row[0] for row in connection.execute(sql).fetchall()]
    assert rows == [
        None,
        None,
        None,
        "2000-01-01",
        "2000-01-01",
        "2000-06-01",
        "2001-01-01",
        "2001-01-01",
        "2000-01-01",
    ]
