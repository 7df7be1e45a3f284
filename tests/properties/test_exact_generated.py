"""Promise 2: without noise and with caps too large to bite, the answer is DuckDB's own over the cleaned table."""

from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import pytest

import dpsql
from tests.properties.generated import World, plain, queries, worlds

LARGE = "max_groups_contributed=1000000, max_rows_per_group=1000"


def cleaned(world: World) -> duckdb.DuckDBPyConnection:
    """The cleaned table, written down independently: types, clamps, NaN and dropped rows, in plain SQL."""
    connection = duckdb.connect()
    connection.execute("SET ieee_floating_point_ops=true; SET integer_division=false; SET pandas_analyze_sample=0")
    frame = world.frame
    connection.register("frame", frame)
    table = world.catalog["tables"]["t"]
    columns = table["columns"]
    low, high = columns["x"]["lower"], columns["x"]["upper"]
    unit = "VARCHAR" if columns["id"] == "text" else "BIGINT"
    connection.execute(
        f"""CREATE TABLE t AS SELECT
            CAST(id AS {unit}) AS id, CAST(k AS VARCHAR) AS k, CAST(w AS VARCHAR) AS w,
            CASE WHEN x IS NULL OR isnan(x) THEN NULL ELSE least(greatest(x, {low}), {high}) + 0.0::DOUBLE END AS x,
            CASE WHEN n IS NULL THEN NULL ELSE least(greatest(CAST(n AS BIGINT), {low}), {high}) END::BIGINT AS n,
            CASE WHEN m IS NULL THEN NULL
                 ELSE least(greatest(CAST(m AS DECIMAL(9,2)), {low}), {high}) END::DECIMAL(9,2) AS m,
            CAST(b AS BOOLEAN) AS b,
            CASE WHEN d IS NULL THEN NULL
                 ELSE least(greatest(CAST(d AS DATE), DATE '2020-01-01'), DATE '2020-03-31') END AS d
        FROM frame"""
    )
    if not table.get("row_is_unit"):
        connection.execute("DELETE FROM t WHERE id IS NULL")
    if not columns["x"]["nullable"]:
        connection.execute("DELETE FROM t WHERE x IS NULL")
    return connection


def same(mine: Any, theirs: Any, scale: float) -> bool:
    if isinstance(theirs, float) and math.isnan(theirs):
        return mine is None
    if isinstance(mine, float) and isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=scale)
    return bool(mine == theirs)


def order(row: tuple[Any, ...]) -> list[str]:
    return [f"{float(v):.3f}" if isinstance(v, float) else repr(v) for v in row]


@pytest.mark.parametrize("shard", range(4))
def test_exact_mode_is_duckdb_on_the_cleaned_table(shard: int) -> None:
    rng = np.random.default_rng(50 + shard)
    compared = 0
    for world in worlds(10, seed=100 + shard):
        keys = set(world.catalog["tables"]["t"]["columns"]["k"]["keys"])
        oracle = cleaned(world)
        with dpsql.testing.exact(world.catalog, source={"t": world.frame}) as connection:
            for sql in queries(25, rng):
                if "row_is_unit" in world.catalog["tables"]["t"] and "id" in sql:
                    continue  # the row's number is the unit, not id
                text = plain(sql)
                asked = text.replace("SELECT", f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({LARGE})", 1)
                try:
                    cursor = connection.execute(asked)
                except dpsql.Refused as refused:
                    assert refused.code in ("DPSQL-117", "DPSQL-132"), f"{sql}\n{refused}"
                    continue
                stages = connection.explain(asked).to_dict()["stages"]
                public = bool(stages and stages[0]["keys"] and stages[0]["keys"][0]["public"])
                theirs = _oracle(oracle, text, keys, public)
                names = [column[0] for column in cursor.description or ()]
                assert names == [c[0] for c in oracle.description or ()], text
                types = [str(column[1]) for column in cursor.description or ()]
                wanted = [str(c[1]).replace("HUGEINT", "BIGINT") for c in oracle.description or ()]
                assert types == wanted, text
                mine = sorted(cursor.fetchall(), key=order)
                assert len(mine) == len(theirs), f"{world.name}\n{text}\n{mine}\n{theirs}"
                for one, other in zip(mine, sorted(theirs, key=order), strict=True):
                    assert all(same(a, b, 1e-6) for a, b in zip(one, other, strict=True)), (
                        f"{world.name}\n{text}\n{one}\n{other}"
                    )
                compared += 1
    assert compared > 100


def _oracle(connection: duckdb.DuckDBPyConnection, text: str, keys: set[str], public: bool) -> list[tuple[Any, ...]]:
    """Rows whose key is outside the public set are removed on both sides; an inferred set has NULL, a declared one not."""
    rows = connection.execute(text).fetchall()
    for key, shown in (("k", lambda k: k), ("LEFT(k, 1)", lambda k: k[:1]), ("UPPER(k)", lambda k: k.upper())):
        if f"SELECT {key} AS g0" in text and public:
            allowed = {shown(k) for k in keys} | (set() if key == "k" else {None})
            return [row for row in rows if row[0] in allowed]
    return rows
