"""Queries that try to make one unit decide about another one's rows: through paths, self-joins and ties.

Each is asked in exact mode of the data and of the data without one unit, removed here by hand: its own rows, and rows that
only it reaches by a path. The answer may move by what the declared limits allow (one row of a unit). And it may not move
at all when the rows are shuffled, or when rows that nobody reaches any more stay behind.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import dpsql
from dpsql import testing
from tests.worlds import bounded, dataset, private, public

Row = Mapping[str, Any]
Data = Mapping[str, Sequence[Row]]
ONE = {"max_groups": 1, "max_rows": 1}
REAL = bounded("real", -100, 100)


def catalog(**tables: dict[str, Any]) -> dict[str, Any]:
    for table in tables.values():
        table |= {} if "row_is_unit" in table or "public" in table else ONE
    return dataset(tables, budget={"epsilon": 1, "delta": 0})


def through(table: str, *columns: str, **others: Any) -> dict[str, Any]:
    """A table that finds its unit by columns of the same name."""
    return private(dict.fromkeys(columns, "integer")
            | others, unit={"through": table, "on": {c: c for c in columns}})  # fmt: skip


def units_of(data: Data, described: dict[str, Any], table: str) -> list[frozenset[Any]]:
    """Whose each row is."""
    spec = described["tables"][table]
    match spec.get("unit"):
        case str() as column:
            return [frozenset([row[column]]) for row in data[table]]
        case dict() as path:
            above = list(zip(data[path["through"]], units_of(data, described, path["through"]), strict=True))
            return [
                frozenset().union(
                    *(units for other, units in above if all(row[a] == other[b] for a, b in path["on"].items()))
                )
                for row in data[table]
            ]
    return [frozenset() for _ in data[table]]


def without(data: Data, described: dict[str, Any], unit: Any, *, orphans: bool = False) -> Data:
    """The data without a unit. orphans: rows stay that only it reached by a path."""
    remaining: dict[str, list[Row]] = {}
    for table, rows in data.items():
        spec, whose = described["tables"][table].get("unit"), units_of(data, described, table)
        gone = [units == {unit} and not (orphans and isinstance(spec, dict)) for units in whose]
        remaining[table] = [row for row, left in zip(rows, gone, strict=True) if not left]
    return remaining


def shuffled(data: Data, seed: int) -> Data:
    draw = random.Random(seed)
    return {table: draw.sample(list(rows), len(rows)) for table, rows in data.items()}


def frame(described: dict[str, Any], table: str, rows: Sequence[Row]) -> pa.Table:
    types = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string()}
    columns = described["tables"][table]["columns"]
    kinds = {name: said["type"] if isinstance(said, dict) else said for name, said in columns.items()}
    return pa.table({name: pa.array([row[name] for row in rows], types[kind]) for name, kind in kinds.items()})


def asked(sql: str, described: dict[str, Any], data: Data, **options: Any) -> list[tuple[Any, ...]]:
    source = {table: frame(described, table, rows) for table, rows in data.items()}
    with testing.exact(described, source=source, **options) as connection:
        return sorted(connection.execute(sql).fetchall(), key=repr)


def holds(sql: str, described: dict[str, Any], data: Data, units: Sequence[Any]) -> None:
    """The first column of the only row moves by at most 1."""
    ((here, *_),) = asked(sql, described, data)
    for unit in units:
        ((there, *_),) = asked(sql, described, without(data, described, unit))
        assert abs(here - there) <= 1, (sql, unit, here, there)
        assert asked(sql, described, without(data, described, unit, orphans=True)) == [(there,)], (sql, unit)


# --- paths ----------------------------------------------------------------------------------------------------------

COMPOSITE = catalog(
    visits=private({"k1": "integer", "k2": "integer"}, unit="pid"),
    items=through("visits", "k1", "k2", q="integer"),
    notes=through("items", "k1", "q", text="text"),
)
COMPOSITE_DATA: Data = {  # everybody has (1, 1) and (2, 2); only 99 has (1, 2), and the only item there
    "visits": [
        *({"pid": pid, "k1": k, "k2": k} for pid in range(20) for k in (1, 2)),
        {"pid": 99, "k1": 1, "k2": 2},
    ],
    "items": [{"k1": 1, "k2": 2, "q": 5}],
    "notes": [{"k1": 1, "q": 5, "text": "x"}, {"k1": 1, "q": 6, "text": "x"}],
}
PAIR = "visits a JOIN visits b ON a.pid = b.pid"
CROSSED: tuple[str, ...] = (
    f"SELECT COUNT(DISTINCT a.pid) FROM {PAIR} WHERE EXISTS (SELECT 1 FROM items i WHERE i.k1 = a.k1 AND i.k2 = b.k2)",
    f"SELECT COUNT(DISTINCT a.pid) FROM {PAIR} WHERE NOT EXISTS"
    " (SELECT 1 FROM items i WHERE i.k1 = a.k1 AND i.k2 = b.k2)",
    f"SELECT COUNT(DISTINCT a.pid) FROM {PAIR} JOIN items i ON i.k1 = a.k1 AND i.k2 = b.k2",
    f"SELECT COUNT(DISTINCT a.pid) FROM {PAIR} LEFT JOIN items i ON i.k1 = a.k1 AND i.k2 = b.k2 WHERE i.q IS NULL",
    f"SELECT COUNT(DISTINCT a.pid) FROM items i JOIN ({PAIR}) ON i.k1 = a.k1 AND i.k2 = b.k2",
    "SELECT COUNT(DISTINCT pid) FROM (SELECT a.pid, a.k1, b.k2 FROM visits a JOIN visits b ON a.pid = b.pid) v"
    " WHERE EXISTS (SELECT 1 FROM items i WHERE i.k1 = v.k1 AND i.k2 = v.k2)",
    "SELECT COUNT(DISTINCT pid) FROM (SELECT a.pid, a.k1, b.k2 FROM visits a JOIN visits b ON a.pid = b.pid"
    " GROUP BY a.pid, a.k1, b.k2) v JOIN items i ON i.k1 = v.k1 AND i.k2 = v.k2",
    "SELECT COUNT(DISTINCT pid) FROM (SELECT pid, k1, LAG(k2) OVER (PARTITION BY pid ORDER BY k1) AS k2 FROM visits) v"
    " WHERE EXISTS (SELECT 1 FROM items i WHERE i.k1 = v.k1 AND i.k2 = v.k2)",
    "SELECT COUNT(DISTINCT pid) FROM (SELECT pid, MIN(k1) AS k1, MAX(k2) AS k2 FROM visits GROUP BY pid) v"
    " JOIN items i ON i.k1 = v.k1 AND i.k2 = v.k2",
)
NAMED_TWICE = "WITH c AS (SELECT * FROM visits), d AS (SELECT pid, k1, k2 FROM c WHERE k1 > 0) "
TWICE = "{0} a JOIN {0} b ON a.pid = b.pid"
CROSSED += tuple(
    f"{NAMED_TWICE} SELECT COUNT(DISTINCT a.pid) FROM {TWICE.format(name)} {rest}"
    for name in ("c", "d")
    for rest in (
        "WHERE EXISTS (SELECT 1 FROM items i WHERE i.k1 = a.k1 AND i.k2 = b.k2)",
        "WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.k1 = a.k1 AND i.k2 = b.k2)",
        "JOIN items i ON i.k1 = a.k1 AND i.k2 = b.k2",
    )
)
STRAIGHT = (
    "SELECT COUNT(*) FROM visits v JOIN items i ON i.k1 = v.k1 AND i.k2 = v.k2",
    "SELECT COUNT(*) FROM items i JOIN visits v ON i.k1 = v.k1 AND i.k2 = v.k2",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM items i WHERE i.k1 = v.k1 AND i.k2 = v.k2)",
    "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.k1 = v.k1 AND i.k2 = v.k2)",
    "SELECT COUNT(*) FROM items i WHERE EXISTS (SELECT 1 FROM visits v WHERE i.k1 = v.k1 AND i.k2 = v.k2)",
    "SELECT COUNT(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE i.k1 = v.k1 AND i.k2 = v.k2)",
    "SELECT COUNT(*) FROM items i JOIN items j ON i.k1 = j.k1 AND i.k2 = j.k2",
    "SELECT COUNT(*) FROM items i JOIN notes n ON i.k1 = n.k1 AND i.q = n.q",
    "SELECT COUNT(*) FROM visits v JOIN items i ON i.k1 = v.k1 AND i.k2 = v.k2 JOIN notes n ON n.k1 = i.k1 AND n.q = i.q",
    f"SELECT COUNT(*) FROM {PAIR} JOIN items i ON i.k1 = a.k1 AND i.k2 = a.k2 JOIN notes n ON n.k1 = i.k1 AND n.q = i.q",
)
NOT_ALONG = (  # two rows of one unit are no row of the path
    f"SELECT COUNT(*) FROM {PAIR} JOIN items i ON i.k1 = a.k1 AND i.k2 = a.k2"
    " JOIN notes n ON n.k1 = b.k1 AND n.q = i.q",
    f"SELECT COUNT(*) FROM {PAIR} WHERE EXISTS (SELECT 1 FROM items i WHERE i.k1 = a.k1)",
)


@pytest.mark.parametrize("sql", CROSSED)
def test_columns_of_two_rows_are_no_row_of_the_path(sql: str) -> None:
    try:
        holds(sql, COMPOSITE, COMPOSITE_DATA, [99, 3])
    except dpsql.Refused as refused:
        assert refused.code == "DPSQL-114"


@pytest.mark.parametrize("sql", STRAIGHT)
def test_joins_along_composite_paths(sql: str) -> None:
    holds(sql, COMPOSITE, COMPOSITE_DATA, [99, 3])


@pytest.mark.parametrize("sql", NOT_ALONG)
def test_part_of_a_path_is_none(sql: str) -> None:
    with pytest.raises(dpsql.Refused, match="joins rows of different people"):
        asked(sql, COMPOSITE, COMPOSITE_DATA)


HOPS = catalog(
    patients=private({"cid": "integer", "flag": "integer"}, unit="pid"),
    visits=through("patients", "cid", vid="integer", flag="integer"),
    items=through("visits", "vid", iid="integer", flag="integer"),
    parts=through("items", "iid", flag="integer"),
)
HOPS_DATA: Data = {  # the visit 7 is shared by all clinics, the item 8 by all visits; only patient 99 has flags below
    "patients": [{"pid": pid, "cid": pid, "flag": int(pid == 99)} for pid in (*range(20), 99)],
    "visits": [{"cid": cid, "vid": 7, "flag": int(cid == 99)} for cid in (*range(20), 99)],
    "items": [{"vid": 7, "iid": 8, "flag": 1}, {"vid": 7, "iid": 8, "flag": 0}],
    "parts": [{"iid": 8, "flag": 1}],
}
SHARED = (
    "SELECT COUNT(*) FROM visits v JOIN items i ON i.vid = v.vid WHERE v.flag = 1",
    "SELECT COUNT(*) FROM items i JOIN visits v ON i.vid = v.vid WHERE v.flag = 1",
    "SELECT COUNT(*) FROM items i WHERE EXISTS (SELECT 1 FROM visits v WHERE v.vid = i.vid AND v.flag = 1)",
    "SELECT COUNT(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.vid = i.vid AND v.flag = 1)",
    "SELECT COUNT(*) FROM visits v WHERE v.flag = 1 AND EXISTS (SELECT 1 FROM items i WHERE i.vid = v.vid)",
    "SELECT COUNT(*) FROM visits v WHERE v.vid IN (SELECT vid FROM items WHERE flag = 1)",
    "SELECT COUNT(*) FROM items i WHERE i.vid IN (SELECT vid FROM visits WHERE flag = 1)",
    "SELECT COUNT(*) FROM visits v JOIN items i ON i.vid = v.vid JOIN parts p ON p.iid = i.iid WHERE v.flag = 1",
    "SELECT COUNT(*) FROM parts p JOIN items i ON p.iid = i.iid JOIN visits v ON v.vid = i.vid WHERE v.flag = 1",
    "SELECT COUNT(*) FROM parts p WHERE EXISTS (SELECT 1 FROM items i JOIN visits v ON v.vid = i.vid"
    " WHERE i.iid = p.iid AND v.flag = 1)",
    "SELECT COUNT(*) FROM patients a JOIN visits v ON v.cid = a.cid JOIN items i ON i.vid = v.vid WHERE a.flag = 1",
    "SELECT COUNT(*) FROM items i JOIN visits v ON i.vid = v.vid JOIN patients a ON v.cid = a.cid WHERE a.flag = 1",
    "SELECT COUNT(*) FROM visits v LEFT JOIN items i ON i.vid = v.vid AND v.flag = 1 WHERE i.flag = 1",
    "SELECT COUNT(*) FROM items i RIGHT JOIN visits v ON i.vid = v.vid WHERE v.flag = 1",
    "SELECT COUNT(*) FROM items i FULL JOIN visits v ON i.vid = v.vid WHERE v.flag = 1",
    "SELECT COUNT(*) FROM items i JOIN items j ON i.vid = j.vid WHERE i.flag = 1 AND j.flag = 0",
)


@pytest.mark.parametrize("sql", SHARED)
def test_rows_that_many_share_tell_nothing_of_one_of_them(sql: str) -> None:
    holds(sql, HOPS, HOPS_DATA, [99, 3])


SOLD = catalog(
    sales=private({"oid": "integer", "flag": "integer"}, unit="pid"),
    lines=through("sales", "oid", flag="integer"),
    prices=public({"oid": "integer", "flag": "integer"}),
)
SOLD_DATA: Data = {
    "sales": [{"pid": pid, "oid": pid % 3, "flag": int(pid == 99)} for pid in (*range(20), 99)],
    "lines": [{"oid": oid, "flag": flag} for oid in (0, 1, 2, None) for flag in (0, 1)],
    "prices": [{"oid": oid, "flag": 1} for oid in (0, 1, 1, None)],
}
NEGATED = (
    "SELECT COUNT(*) FROM sales WHERE pid NOT IN (SELECT pid FROM sales WHERE flag = 1)",
    "SELECT COUNT(*) FROM sales s WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.pid = s.pid AND o.flag = 1)",
    "SELECT COUNT(*) FROM sales s WHERE pid IN (SELECT pid FROM sales WHERE flag = 1)",
    "SELECT COUNT(*) FROM sales s WHERE s.oid NOT IN (SELECT oid FROM prices)",
    "SELECT COUNT(*) FROM lines s WHERE s.oid NOT IN (SELECT oid FROM prices WHERE oid IS NOT NULL)",
    "SELECT COUNT(*) FROM (SELECT * FROM sales UNION ALL SELECT * FROM sales WHERE oid > 9) s"
    " WHERE NOT EXISTS (SELECT 1 FROM sales o WHERE o.pid = s.pid AND o.flag = 1)",
)


@pytest.mark.parametrize("sql", NEGATED)
def test_what_is_not_there_is_said_of_the_own_rows_only(sql: str) -> None:
    holds(sql, SOLD, SOLD_DATA, [99, 3])


def test_not_in_along_a_path_of_columns_that_may_be_null_is_no_tie_of_units() -> None:
    with pytest.raises(dpsql.Refused, match="joins rows of different people"):
        asked("SELECT COUNT(*) FROM lines WHERE oid NOT IN (SELECT oid FROM sales WHERE flag = 1)", SOLD, SOLD_DATA)


def test_rows_as_units_of_two_tables_do_not_meet_by_number() -> None:
    described = catalog(a=private({"x": "integer"}, unit=None), b=private({"x": "integer"}, unit=None))
    data: Data = {"a": [{"x": x} for x in range(9)], "b": [{"x": x} for x in range(9)]}
    for sql in (
        "SELECT COUNT(*) FROM a JOIN b ON a.x = b.x",
        "SELECT COUNT(*) FROM (SELECT * FROM a UNION ALL SELECT * FROM b)",
    ):
        with pytest.raises(dpsql.Error):
            asked(sql, described, data)


# --- ties -----------------------------------------------------------------------------------------------------------

TIES = catalog(
    t=private({"x": REAL, "z": REAL, "k": "integer"}, unit="pid"),
    p=public({"y": "real"}),
)
ROWS = "(SELECT pid, x * z AS y, k FROM t)"  # -0.0 and 0.0
NOT_A_NUMBER = "(SELECT pid, CASE WHEN x > 0 THEN SQRT(z - 1) END AS y, k FROM t)"  # NaN and NULL
MIXED = "(SELECT pid, CASE WHEN x > 0 THEN x * 1e308 * 10 - x * 1e308 * 10 ELSE z * x END AS y, k FROM t)"
WINDOWS = (
    "FIRST_VALUE(y) OVER (PARTITION BY pid ORDER BY k)",
    "FIRST_VALUE(y) OVER (PARTITION BY pid ORDER BY k, y)",
    "LAST_VALUE(y) OVER (PARTITION BY pid ORDER BY k)",
    "FIRST_VALUE(y IGNORE NULLS) OVER (PARTITION BY pid ORDER BY k)",
    "LAST_VALUE(y) OVER (PARTITION BY pid ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
    "NTH_VALUE(y, 2) OVER (PARTITION BY pid ORDER BY k)",
    "LAG(y) OVER (PARTITION BY pid ORDER BY k)",
    "LEAD(y, 2, x0) OVER (PARTITION BY pid ORDER BY k)",
    "MIN(y) OVER (PARTITION BY pid)",
    "MAX(y) OVER (PARTITION BY pid ORDER BY y)",
    "CASE WHEN ROW_NUMBER() OVER (PARTITION BY pid ORDER BY k) = 1 THEN y END",
    "CASE WHEN NTILE(3) OVER (PARTITION BY pid ORDER BY k) = 1 THEN y END",
    "MAX(k) OVER (PARTITION BY pid ORDER BY y ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) * y",
    "COUNT(*) OVER (PARTITION BY pid, y) * y",
    "RANK() OVER (PARTITION BY pid ORDER BY y) * y",
)
SUMMARIES = (
    "MIN(y)",
    "MAX(y)",
    "ANY_VALUE(y)",
    "MODE(y)",
    "MODE(y ORDER BY k)",
    "FIRST(y ORDER BY k)",
    "LAST(y ORDER BY k)",
    "FIRST(y)",
    "ARG_MIN(y, k)",
    "ARG_MAX(y, y)",
    "MEDIAN(y)",
    "QUANTILE_DISC(y, 0.5)",
    "QUANTILE_CONT(y, 0.4)",
    "MIN(y * x0)",
    "MIN(y) FILTER (WHERE k > 0)",
)
TOLD_APART = ("1 / f > 0", "CAST(f AS VARCHAR) LIKE '-%'", "f IS NULL", "COALESCE(f, -1e0) = -1e0", "isnan(f)")


def ties_data(units: int) -> Data:
    draw = random.Random(units)
    return {
        "t": [{"pid": pid, "x": draw.choice((-1.0, 1.0)), "z": 0.0, "k": 0} for pid in range(units) for _ in range(6)],
        "p": [{"y": 0.0}, {"y": -0.0}, {"y": float("nan")}],
    }


@pytest.fixture(scope="module")
def orders() -> Iterator[list[dpsql.Connection]]:
    """The same rows in several orders, with one thread and with two."""
    data = ties_data(60)
    open_ = []
    for seed in range(3):
        rows = shuffled(data, seed)
        source = {table: frame(TIES, table, order) for table, order in rows.items()}
        open_.append(testing.exact(TIES, source=source, threads=1 + seed % 2))
    for connection in open_:
        connection.execute("SET max_rows_per_group = 1000")
        connection.execute("SET max_groups_contributed = 1000")
    yield open_
    for connection in open_:
        connection.close()


def same(orders: list[dpsql.Connection], sql: str) -> None:
    first, *others = [connection.execute(sql).fetchall() for connection in orders]
    assert all(other == first for other in others), sql


@pytest.mark.parametrize("test", TOLD_APART)
@pytest.mark.parametrize("rows", [ROWS, NOT_A_NUMBER, MIXED], ids=["zeros", "nan", "mixed"])
def test_windows_over_ties_do_not_see_the_order_of_rows(orders: list[dpsql.Connection], rows: str, test: str) -> None:
    for window in WINDOWS:
        inner = f"SELECT pid, {window.replace('x0', '1e0 * y')} AS f FROM {rows}"
        same(orders, f"SELECT COUNT(*) FROM ({inner}) WHERE {test}")


@pytest.mark.parametrize("test", TOLD_APART)
@pytest.mark.parametrize("rows", [ROWS, NOT_A_NUMBER, MIXED], ids=["zeros", "nan", "mixed"])
def test_summaries_of_ties_do_not_see_the_order_of_rows(orders: list[dpsql.Connection], rows: str, test: str) -> None:
    for call in SUMMARIES:
        inner = f"SELECT pid, {call.replace('x0', '-1e0')} AS f FROM {rows} GROUP BY pid"
        same(orders, f"SELECT COUNT(*) FROM ({inner}) WHERE {test}")


@pytest.mark.parametrize("test", TOLD_APART)
@pytest.mark.parametrize("rows", [ROWS, NOT_A_NUMBER, MIXED], ids=["zeros", "nan", "mixed"])
def test_groups_and_joins_of_ties_do_not_see_the_order_of_rows(
    orders: list[dpsql.Connection], rows: str, test: str
) -> None:
    for inner in (
        f"SELECT pid, y AS f FROM {rows} GROUP BY pid, y",
        f"SELECT pid, -y AS f, COUNT(*) FROM {rows} GROUP BY pid, -y",
        f"SELECT DISTINCT pid, y AS f FROM {rows}",
        f"SELECT pid, y AS f FROM {rows} GROUP BY GROUPING SETS ((pid), (pid, y))",
        f"SELECT a.pid, b.y AS f FROM {rows} a JOIN {rows} b ON a.pid = b.pid AND a.y = b.y",
        f"SELECT a.pid, a.y AS f FROM {rows} a JOIN p ON a.y = p.y",
        f"SELECT a.pid, p.y AS f FROM {rows} a LEFT JOIN p ON -a.y = p.y",
        f"SELECT a.pid, y AS f FROM {rows} a WHERE y IN (SELECT y FROM p)",
        f"SELECT pid, y AS f FROM {rows} UNION ALL SELECT pid, CAST(k AS DOUBLE) * -1 FROM {rows}",
    ):
        same(orders, f"SELECT COUNT(*) FROM ({inner}) AS q WHERE {test}")


@pytest.mark.parametrize("call", ["MIN(y)", "FIRST_VALUE(y) OVER (PARTITION BY pid ORDER BY k)"])
def test_removing_a_unit_does_not_turn_other_units_ties(call: str) -> None:
    data = ties_data(400)
    grouped = "" if "OVER" in call else " GROUP BY pid"
    holds(f"SELECT COUNT(*) FROM (SELECT pid, {call} AS f FROM {ROWS}{grouped}) WHERE 1 / f > 0", TIES, data, [0, 7])


LENGTHS = "(SELECT pid, x, CASE WHEN x > 0 THEN INTERVAL 1 MONTH ELSE INTERVAL 30 DAY END AS v FROM t)"


@pytest.mark.parametrize(
    "inner",
    [
        f"SELECT pid, MIN(v) AS f FROM {LENGTHS} GROUP BY pid",
        f"SELECT pid, FIRST(v ORDER BY x) AS f FROM {LENGTHS} GROUP BY pid",
        f"SELECT pid, FIRST(x ORDER BY v) AS f FROM {LENGTHS} GROUP BY pid",
        f"SELECT pid, FIRST(x) AS f FROM {LENGTHS} GROUP BY pid",
        f"SELECT pid, ARG_MIN(x, v) AS f FROM {LENGTHS} GROUP BY pid",
        f"SELECT pid, COUNT(DISTINCT v) AS f FROM {LENGTHS} GROUP BY pid",
        f"SELECT pid, v AS f FROM {LENGTHS} GROUP BY pid, v",
        f"SELECT DISTINCT pid, v AS f FROM {LENGTHS}",
        f"SELECT pid, FIRST_VALUE(v) OVER (PARTITION BY pid) AS f FROM {LENGTHS}",
        f"SELECT pid, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY x) AS f FROM {LENGTHS}",
        f"SELECT pid, RANK() OVER (PARTITION BY pid ORDER BY v) AS f FROM {LENGTHS}",
        f"SELECT pid, COUNT(*) OVER (PARTITION BY pid, v) AS f FROM {LENGTHS}",
        f"SELECT a.pid, a.v AS f FROM {LENGTHS} a JOIN {LENGTHS} b ON a.pid = b.pid AND a.v = b.v",
        f"SELECT a.pid, v AS f FROM {LENGTHS} a WHERE EXISTS (SELECT 1 FROM {LENGTHS} b WHERE a.pid = b.pid AND a.v = b.v)",
    ],
)
def test_intervals_are_not_sorted_grouped_or_joined_by(inner: str) -> None:
    with pytest.raises(dpsql.Refused, match="INTERVAL"):
        asked(f"SELECT COUNT(*) FROM ({inner}) AS q WHERE f IS NOT NULL", TIES, ties_data(2))


def test_intervals_may_be_compared() -> None:
    asked(f"SELECT COUNT(*) FROM {LENGTHS} AS q WHERE v > INTERVAL 29 DAY", TIES, ties_data(2))


def test_rows_of_a_view_are_no_units(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE given AS SELECT range AS x FROM range(9)")
        made.execute("CREATE VIEW t AS SELECT x FROM given ORDER BY random()")
    rows = catalog(t=private({"x": "integer"}, unit=None))
    with testing.exact(rows, source=path) as connection, pytest.raises(dpsql.SourceError, match="its source is a view"):
        connection.execute("SELECT COUNT(*) FROM t")
    people = catalog(t=private({}, unit="x"))
    with testing.exact(people, source=path) as connection, pytest.raises(dpsql.SourceError, match="computed as it is"):
        connection.execute("SELECT COUNT(*) FROM t")
