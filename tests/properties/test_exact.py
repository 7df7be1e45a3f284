"""Exact mode with caps that do not bite is DuckDB's own answer over the cleaned table, for queries of the whole grammar.

The cleaned table is made here, in Python, from the words of design section 4. What DuckDB cannot answer (it raises) is
left out; an expression that is NaN counts as NULL for us, so reals are finite here.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.domain.types import Kind
from dpsql.errors import Error
from dpsql.plan.stages import ReleasePlan
from dpsql.testing import Replayer, exact
from tests.properties.generator.queries import Queries, Query
from tests.properties.generator.worlds import BY_NAME, DAY, Rows, World, arrow, source, world

SHARDS = 4
WORLDS = 8
QUERIES = 25
FIRST, LAST = date(1, 1, 1).toordinal() - 719163, date(9999, 12, 31).toordinal() - 719163
EPOCH = date(1970, 1, 1).toordinal()
NAMED_BY_TEXT = re.compile(
    "IS NOT (TRUE|FALSE)"
)  # the parser keeps no place of a constant's, so NOT may stand elsewhere
FINE = Fraction(1, 10**8)
INFINITE = {"D": 2**31 - 1, "S": 2**63 - 1}


def clean(one: World) -> Rows:
    columns = one.catalog["tables"]["t"]["columns"]
    kept: list[list[Any]] = []
    for row in zip(*one.rows.values(), strict=True):
        cells = [
            cell if name == "u" else _cell(name, columns[name], cell) for name, cell in zip(one.rows, row, strict=True)
        ]
        nullable = [one.row_is_unit if name == "u" else columns[name].get("nullable", True) for name in one.rows]
        if all(cell is not None or may for cell, may in zip(cells, nullable, strict=True)):
            kept.append(cells)
    return {name: [row[at] for row in kept] for at, name in enumerate(one.rows)}


def _cell(name: str, declared: dict[str, Any], cell: Any) -> Any:
    letter = BY_NAME[name].letter
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    if letter in INFINITE:
        if abs(cell) == INFINITE[letter]:
            return None
        unit = 1 if letter == "D" else DAY
        low, high = FIRST * unit, (LAST + 1) * unit - 1
        if "lower" in declared:
            low, high = (date.fromisoformat(declared[end]).toordinal() - EPOCH for end in ("lower", "upper"))
        return min(max(cell, low), high)
    if "lower" in declared:
        return min(max(cell, type(cell)(declared["lower"])), type(cell)(declared["upper"])) + type(cell)(0)
    return cell + 0.0 if isinstance(cell, float) else cell


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
    theirs = _oracle(oracle, query, parameters)
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
    assert _alike(mine, rows), (*where, mine, rows)
    return 1


def _too_coarse(plan: ReleasePlan) -> bool:
    """Reals are exact within rows·h: nothing to compare where bounds of 10^20 give a grid of 10^8."""
    axes = [axis for stage in plan.stages for m in stage.measures for axis in (m.axis, m.second) if axis is not None]
    return any(axis.step > FINE and axis.arg.type.kind is Kind.REAL for axis in axes)


Answer = tuple[list[tuple[str, str]], list[tuple[Any, ...]]]


def _oracle(oracle: duckdb.DuckDBPyConnection, query: Query, parameters: list[object] | None) -> Answer | None:
    """DuckDB's answer; None where it has none, or where it turns on NaN, which is NULL for us: then its own answer is
    another one without IEEE arithmetic."""
    answers: list[Answer] = []
    for ieee in (True, False):
        oracle.execute(f"SET ieee_floating_point_ops = {ieee}")
        try:
            answer = oracle.execute(query.sql, parameters)
            rows = answer.fetchall()
        except duckdb.Error:
            return None
        answers.append(([(c[0], str(c[1])) for c in answer.description or ()], rows))
    return answers[0] if _alike(answers[0][1], answers[1][1]) else None


def _alike(mine: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]]) -> bool:
    """The same rows, in any order; reals to nine digits."""
    return len(mine) == len(theirs) and all(
        all(_same(a, b) for a, b in zip(one, other, strict=True))
        for one, other in zip(sorted(mine, key=_order), sorted(theirs, key=_order), strict=True)
    )


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, float) and math.isnan(theirs):
        return mine is None or (isinstance(mine, float) and math.isnan(mine))
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-6, abs_tol=1e-5)
    return bool(mine == theirs)


def _order(row: tuple[Any, ...]) -> list[str]:
    return ["None" if v != v else f"{float(v) + 0.0:.5e}" if isinstance(v, float | Decimal) else repr(v) for v in row]
