"""The hostile expressions of test_hostile_expressions.py on Spark: no value stops a query, and every answer is DuckDB's, to
the bit.

A statement takes Spark a second or more, whatever it asks: each asks for many expressions, by a key that is one itself."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.testing import exact
from tests.engines.spark_data import stored
from tests.properties.test_hostile_expressions import CATALOG, PORTABLE, Expressions, as_bits, asked, source

ASKED, AT_ONCE = 4, 14
WHOLE = 6
ENDS = (("-5", "10"), ("0", "99"), ("-4611686018427387904", "4611686018427387904"), ("-0.5", "1.5"))


@pytest.mark.parametrize("seed", [int(os.environ.get("DPSQL_SEED", 1611))])
def test_no_value_stops_a_query_on_spark(seed: int, spark: Any, tmp_path: Path) -> None:
    compared(seed, int(os.environ.get("DPSQL_STATEMENTS", ASKED)), spark, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1620, 1624))
def test_many_expressions_on_spark(seed: int, spark: Any, tmp_path: Path) -> None:
    compared(seed, 150, spark, tmp_path)


def compared(seed: int, statements: int, spark: Any, folder: Path) -> None:
    draw = random.Random(seed)
    frames = source(draw)
    files = stored(spark, folder, CATALOG, frames)
    expressions = Expressions(draw, PORTABLE)
    with exact(CATALOG, source=files) as there, exact(CATALOG, source=frames) as here:
        for _ in range(statements):
            sql = together(expressions, there.explain)
            assert as_bits(there.execute(sql).fetchall()) == as_bits(here.execute(sql).fetchall()), sql


def together(expressions: Expressions, explain: Callable[[str], object]) -> str:
    """A statement of expressions that are each answered on Spark."""
    items = (item for item in measured(expressions) if _answered(f"SELECT {item} FROM t", explain))
    keys = (key for key in grouped(expressions) if _answered(f"SELECT {key} AS q, COUNT(*) FROM t GROUP BY 1", explain))
    return f"SELECT {next(keys)} AS q, {', '.join(next(items) for _ in range(AT_ONCE))} FROM t GROUP BY 1"


def measured(expressions: Expressions) -> Iterator[str]:
    draw = expressions.draw
    while True:
        depth = draw.randrange(1, 5)
        low, high = draw.choice(ENDS)
        yield draw.choice(
            [
                f"COUNT_IF({expressions.condition(depth)})",
                f"COUNT(DISTINCT {expressions.number(depth)})",
                f"COUNT({expressions.number(depth)})",
                f"SUM(LEAST(GREATEST({expressions.number(depth)}, {low}), {high}))",
                f"COUNT_IF({expressions.text(depth)} = {expressions.text(depth)})",
                f"COUNT({expressions.moment(depth)})",
            ]
        )


def grouped(expressions: Expressions) -> Iterator[str]:
    while True:
        of = expressions.draw.choice([expressions.number, expressions.condition, expressions.moment, expressions.text])
        yield of(expressions.draw.randrange(1, 5))


def _answered(sql: str, explain: Callable[[str], object]) -> bool:
    try:
        explain(sql)
    except dpsql.Error as refused:
        assert "DPSQL-1" < refused.code < "DPSQL-2", f"{sql}\n{refused}"
        return False
    return True


def test_whole_statements_on_spark(spark: Any, tmp_path: Path) -> None:
    """Summaries and windows of a unit's rows, joins and UNION ALL over such expressions."""
    draw = random.Random(int(os.environ.get("DPSQL_SEED", 1612)))
    frames = source(draw)
    many = int(os.environ.get("DPSQL_STATEMENTS", WHOLE))
    outcomes: Counter[str] = asked(draw, stored(spark, tmp_path, CATALOG, frames), many, PORTABLE, beside=frames)
    assert outcomes["answered"] * 3 > many, outcomes
