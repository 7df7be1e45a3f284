"""A decimal on its axis is its integer of the last place, clamped, whatever its width: against Python's integers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Context, Decimal
from fractions import Fraction

import duckdb
import pytest

from dpsql.domain.types import decimal
from dpsql.ir.expr import Column
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.dialects.duckdb.places import scaled
from dpsql.plan.measurements import Axis

WIDE = Context(prec=60)


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def values(draw: random.Random, precision: int, low: int, high: int) -> list[int | None]:
    most = 10**precision - 1
    near = [end + d for end in (low, high, 0, most, -most) for d in (-1, 0, 1)]
    inside = [draw.randint(low, high) for _ in range(50)]
    far = [draw.randint(-most, most) for _ in range(20)]
    return [None, *(v for v in (*near, *inside, *far) if abs(v) <= most)]


def text(value: int | None, scale: int) -> str:
    return "NULL" if value is None else f"'{Decimal(value).scaleb(-scale, WIDE):f}'"


@pytest.mark.parametrize("scale", [0, 1, 2, 4, 6, 9, 12, 17, 18, 19, 22, 25, 38])
@pytest.mark.parametrize("digits", [1, 3, 8, 12, 14, 15, 16, 17, 18])
def test_units(engine: duckdb.DuckDBPyConnection, scale: int, digits: int) -> None:
    draw = random.Random(100 * scale + digits)
    for precision in {max(digits, min(scale + 1, 38)), max(18, min(scale + 1, 38)), 38}:
        if precision < scale:
            continue
        high = draw.randint(10 ** (digits - 1), 10**digits - 1)
        low = draw.choice([0, -high, high // 3])
        axis = Axis(arg=Column(1, decimal(precision, scale)), step=Fraction(1, 10**scale), low=low, high=high)
        given = values(draw, precision, low, high)
        cells = ", ".join(f"({text(v, scale)})" for v in given)
        rows = f"(SELECT CAST(v AS DECIMAL({precision},{scale})) AS x FROM (VALUES {cells}) AS t(v))"
        places = f"SELECT {DUCKDB.placed('x', 'z', axis)} FROM (SELECT x, {scaled('x', axis)} AS z FROM {rows})"
        answered = [row[0] for row in engine.execute(places).fetchall()]
        assert answered == [None if v is None else min(max(v, low), high) for v in given]
