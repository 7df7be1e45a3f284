"""Exact mode with caps that do not bite is DuckDB's own answer over the cleaned table, for queries of the whole grammar.

The cleaned table is made here, in Python, from the words of design section 4. What DuckDB cannot answer (it raises) is
left out; an expression that is NaN counts as NULL for us, so reals are finite here.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.domain.types import Kind
from dpsql.errors import Error
from dpsql.plan.measurements import axes
from dpsql.plan.stages import ReleasePlan
from dpsql.testing import Replayer, exact
from tests.profile import drawn
from tests.properties.generator.oracle import alike, cleaned_cell, duckdb_answer
from tests.properties.generator.queries import Queries, Query
from tests.properties.generator.worlds import BY_NAME, DAY, Rows, World, arrow, source, world

SHARDS = drawn(2, deep=4)
WORLDS = 8
QUERIES = 25
NAMED_BY_TEXT = re.compile(
    "IS NOT (TRUE|FALSE)"
)  # the parser keeps no place of a constant's, so NOT may stand elsewhere
FINE = Fraction(1, 10**8)


def clean(one: World) -> Rows:
    columns = one.catalog["tables"]["t"]["columns"]
    kept: list[list[Any]] = []
    for row in zip(*one.rows.values(), strict=True):
        cells = [
            cell if name == "u" else cleaned_cell(BY_NAME[name].letter, columns[name], cell)
            for name, cell in zip(one.rows, row, strict=True)
        ]
        nullable = [one.row_is_unit if name == "u" else columns[name].get("nullable", True) for name in one.rows]
        if all(cell is not None or may for cell, may in zip(cells, nullable, strict=True)):
            kept.append(cells)
    return {name: [row[at] for row in kept] for at, name in enumerate(one.rows)}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_exact_mode_is_duckdb(shard: int, tmp_path: Path) -> None:
    draw = random.Random(9000 + shard)
    used: Counter[str] = Counter()
    compared = 0
    for _ in range(WORLDS):
        one = _finite(world(draw, caps=(10_000,)), draw)
        cleaned = clean(one)
        oracle = duckdb.connect()
        oracle.execute("SET integer_division = false; SET TimeZone = 'UTC'")
        oracle.register("given", arrow(cleaned))
        oracle.execute("CREATE TABLE t AS SELECT * FROM given")
        queries = Queries(draw, used=used, exact=True)
        given = source(one.rows, one.form, tmp_path)
        with exact(one.catalog, source=given) as connection, Replayer(one.catalog, given) as planner:
            for _ in range(QUERIES):
                query = queries.query(unit=None if one.row_is_unit else "u")
                compared += _compared(connection, planner, oracle, query, one)
    assert compared >= WORLDS * QUERIES // 3


def _finite(one: World, draw: random.Random) -> World:
    """Keys inside their declared sets, reals that stay finite, moments from 1900 on: decades of the first years begin
    before year 1, which is NULL for us."""
    keys = one.catalog["tables"]["t"]["columns"]["k"]["keys"]
    one.rows["k"] = [draw.choice(keys) for _ in one.rows["k"]]
    one.rows["y"] = [1.5 if cell is not None and abs(cell) > 1e9 else cell for cell in one.rows["y"]]
    one.catalog["tables"]["t"]["columns"]["w"] |= {"lower": -9, "upper": 9}  # a grid for products of it
    one.rows["e"] = [0 if cell is not None and abs(cell) > 25_000 else cell for cell in one.rows["e"]]
    one.rows["s"] = [0 if cell is not None and abs(cell) > 25_000 * DAY else cell for cell in one.rows["s"]]
    return one


def _compared(connection: Any, planner: Replayer, oracle: duckdb.DuckDBPyConnection, query: Query, one: World) -> int:
    parameters = list(query.parameters) or None
    try:
        if _too_coarse(planner.plan(query.sql, parameters)):
            return 0
        cursor = connection.execute(query.sql, parameters)
    except Error as refused:
        assert refused.code < "DPSQL-2", (query, refused)
        return 0
    theirs = duckdb_answer(oracle, query.sql, parameters)
    if theirs is None or "**" in query.sql:  # (-2) ** 0.5 is NaN to DuckDB in any mode
        return 0
    columns, rows = theirs
    where = (query.sql, one.catalog, one.rows)
    mine = cursor.fetchall()
    if not NAMED_BY_TEXT.search(query.sql):
        assert [c[0] for c in cursor.description] == [name for name, _ in columns], where
    for at, ((_, type_, *_), (_, wanted)) in enumerate(zip(cursor.description, columns, strict=True)):
        constant = wanted == "DOUBLE" and all(row[at] is None for row in rows)  # DuckDB's type of EXTRACT from a NULL
        assert constant or str(type_) == wanted.replace("HUGEINT", "BIGINT"), (*where, at, type_, wanted)
    assert alike(mine, rows), (*where, mine, rows)
    return 1


def _too_coarse(plan: ReleasePlan) -> bool:
    """Reals are exact within rows·h: nothing to compare where bounds of 10^20 give a grid of 10^8."""
    measured = [axis for stage in plan.stages for one in stage.measurements for axis in axes(one)]
    return any(axis.step > FINE and axis.arg.type.kind is Kind.REAL for axis in measured)
