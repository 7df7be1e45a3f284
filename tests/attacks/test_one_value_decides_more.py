"""More of each class in test_one_value_decides.py: what is believed of reals, of NULLs that appear, of counts, of WHERE, of
the digits and letters of stored cells. Accepted queries answer, whatever is stored; refusals do not depend on the data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.testing import exact
from tests.attacks.test_one_value_decides import ODD, PUBLIC, TABLES, outcome, table
from tests.worlds import dataset, private

# Reals: rounding, underflow, infinities and NaN leave every interval that was inferred.
OF_REALS = [
    f"SELECT COUNT(*) FROM t WHERE CAST({odd} AS {type_}) > 0"
    for type_ in ("TINYINT", "HUGEINT", "DECIMAL(3, 1)", "DECIMAL(38, 37)")
    for odd in (
        "(CASE WHEN name = 'bob' THEN 1e2 ELSE 0e0 END + 1e18) - 1e18",
        "FLOOR(LEAST(GREATEST((y + 1e18) - 1e18, 0), 1) * 1e300 * v)",
        "POWER(LEAST(GREATEST(y, 0.5), 1), 1e300) / POWER(LEAST(GREATEST(y, 0), 0.5), 1e300)",
        "ROUND(TAN(y) * 1e-320 * 1e300, 2)",
        "EXP(y) / EXP(y * 1e308)",
        "LOG(y, y) + ATAN2(y * 0e0, -(y * 0e0))",
        "EPOCH(d) * y",
        "CASE WHEN y BETWEEN 0 AND 1 THEN y * 1e18 - y * 1e18 + v END",
    )
]
OF_REALS += [
    "SELECT COUNT(*) FROM t WHERE d + CAST((y + 1e18) - 1e18 AS INTEGER) > d",
    "SELECT COUNT(*) FROM t WHERE d + CAST(FLOOR(y * 1e9) AS INTEGER) > d OR d - CAST(y * 1e9 AS INTEGER) > d",
    "SELECT COUNT(*) FROM (SELECT pid, AVG(y) AS m FROM t GROUP BY pid) WHERE CAST(m AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, STDDEV(y) * 1e300 AS m FROM t GROUP BY pid) WHERE CAST(m AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(y) AS m FROM t GROUP BY pid) WHERE CAST(m AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, MEDIAN(v) AS m FROM t GROUP BY pid) WHERE CAST(m AS BIGINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, QUANTILE_CONT(c, 0.3) AS m FROM t GROUP BY pid) WHERE CAST(m AS DECIMAL(2, 1)) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, PERCENT_RANK() OVER (PARTITION BY pid ORDER BY v) AS m FROM t)"
    " WHERE CAST(m * 1e30 AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(CAST(v AS HUGEINT)) AS m FROM t GROUP BY pid) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, VAR_POP(LEAST(GREATEST(v, -1e9), 1e9)) AS m FROM t GROUP BY pid) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, VAR_POP(n) AS m FROM t WHERE n BETWEEN 0 AND 9 GROUP BY pid) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, STDDEV(LEAST(GREATEST(n, -1000000), 1000000)) AS m FROM t GROUP BY pid) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, VAR_SAMP(c) AS m FROM t WHERE c BETWEEN 0 AND 9 GROUP BY pid) WHERE m > 0",
]
# NULL and NaN where a value was sure to be: COALESCE then takes what was believed never to be taken.
OF_NULLS = [
    f"SELECT COUNT(*) FROM t WHERE CAST(COALESCE({nan}, 1000) AS TINYINT) > 0"
    for nan in (
        "SQRT(v)",
        "LN(y - 2)",
        "ASIN(y + 1)",
        "0e0 / (y * 0e0)",
        "v - v",
        "NULLIF(x, 60)",
        "v % 0e0",
        "x // (x - 60)",
    )
]
OF_NULLS += [
    f"SELECT COUNT(*) FROM (SELECT pid, {window} AS m FROM t WHERE x < 50) WHERE CAST(COALESCE(m, 1000) AS TINYINT) > 0"
    for window in (
        "LAG(x) OVER (PARTITION BY pid ORDER BY d)",
        "LEAD(x, 2, 30000) OVER (PARTITION BY pid ORDER BY d)",
        "LAG(x, -3, n) OVER (PARTITION BY pid ORDER BY d)",
        "NTH_VALUE(x, 3) OVER (PARTITION BY pid ORDER BY d)",
        "FIRST_VALUE(x) OVER (PARTITION BY pid ORDER BY d ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)",
        "MAX(x) OVER (PARTITION BY pid ORDER BY d ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING)",
        "MIN(x) FILTER (WHERE x > 60) OVER (PARTITION BY pid)",
        "MAX(x * x) OVER (PARTITION BY pid)",
    )
]
OF_NULLS += [
    "SELECT COUNT(*) FROM t a FULL JOIN (SELECT pid, x FROM t WHERE x < 50) b ON a.pid = b.pid AND a.d < DATE '1990-01-01'"
    " WHERE CAST(COALESCE(b.x, 1000) AS TINYINT) > 0",
    "SELECT COUNT(*) FROM t a LEFT JOIN (SELECT id FROM p WHERE id BETWEEN 0 AND 9) q ON a.x = q.id"
    " WHERE CAST(COALESCE(q.id, 1000) AS TINYINT) > 0",
    "SELECT COUNT(*) FROM (SELECT pid, x, COUNT(*) AS m FROM t WHERE x < 50 GROUP BY pid, ROLLUP (x))"
    " WHERE CAST(COALESCE(x, 1000) AS TINYINT) > 0",
    "SELECT COUNT(*) FROM (SELECT pid, MAX(x) FILTER (WHERE x > 3) AS m FROM t WHERE x < 50 GROUP BY pid)"
    " WHERE CAST(COALESCE(m, 1000) AS TINYINT) > 0",
    "SELECT COUNT(*) FROM (SELECT pid, FIRST(CASE WHEN x < 9 THEN x END ORDER BY d) AS m FROM t GROUP BY pid)"
    " WHERE CAST(COALESCE(m, 1000) AS TINYINT) > 0",
    "SELECT COUNT(*) FROM t WHERE x < 9 AND CAST(x * 100 AS TINYINT) > 0",
    "SELECT COUNT(*) FROM t WHERE CASE WHEN n BETWEEN 0 AND 9 THEN CAST(n AS TINYINT) ELSE 1 END > 0",
    "SELECT COUNT(*) FROM t WHERE n BETWEEN 0 AND 9 AND n * 9223372036854775807 > 0",
    "SELECT COUNT(*) FROM t WHERE n > 0 AND 5 // n > 0 AND 5 % n > 0",
    "SELECT COUNT(*) FROM (SELECT pid, n FROM t WHERE n IN (1, 2)) WHERE CAST(n AS TINYINT) + n > 0",
    "SELECT COUNT(*) FROM (SELECT pid, x AS n FROM t WHERE x < 9 UNION ALL SELECT pid, n FROM t)"
    " WHERE CAST(n AS TINYINT) > 0",
    "SELECT COUNT(*) FROM t WHERE k IN ('1', '2') AND CAST(k AS TINYINT) > 0",
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM t b WHERE b.pid = t.pid AND b.n < 9 AND CAST(b.n AS TINYINT) > 0)",
]
# How many there are, however few were declared or kept.
OF_COUNTS = [
    f"SELECT COUNT(*) FROM (SELECT pid, {count} AS m FROM t GROUP BY pid) WHERE CAST(m * 9223372036854775807 AS TINYINT) > 0"
    for count in (
        "COUNT(DISTINCT k)",
        "COUNT(DISTINCT k = 'a')",
        "COUNT(DISTINCT SIGN(v))",
        "COUNT_IF(x > 0)",
        "COUNT(*)",
    )
]
OF_COUNTS += [
    "SELECT COUNT(*) FROM (SELECT pid, DENSE_RANK() OVER (PARTITION BY pid ORDER BY k) AS m FROM t)"
    " WHERE CAST(m AS TINYINT) > 0",
    "SELECT COUNT(*) FROM (SELECT pid, NTILE(1000000000) OVER (PARTITION BY pid ORDER BY k) AS m FROM t)"
    " WHERE CAST(m AS TINYINT) > 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(LENGTH(name)) AS m FROM t GROUP BY pid) WHERE CAST(m AS TINYINT) > 0",
    "SELECT COUNT(*) FROM t WHERE CAST(LENGTH(name) AS TINYINT) > 0 OR CAST(STRPOS(name, '9') AS TINYINT) > 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid ORDER BY x * n RANGE BETWEEN 5 PRECEDING AND CURRENT"
    " ROW) AS m FROM t) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid ORDER BY x * 3 RANGE BETWEEN 5 PRECEDING AND CURRENT"
    " ROW) AS m FROM t) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(CAST(n AS HUGEINT) * n) AS m FROM t GROUP BY pid) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(l) AS m, SUM(CAST(l AS DECIMAL(38, 0))) AS q FROM t GROUP BY pid)"
    " WHERE m + q > 0",
]
# The ends of an axis and of a key.
OF_ENDS = [
    f"SELECT {measure}(LEAST(GREATEST({odd}, {low}), {high})) FROM t"
    for measure in ("MEDIAN", "MIN", "MAX", "MODE")
    for odd in ("v * 1e300", "FLOOR(v)", "CAST(v AS HUGEINT)", "n * 2")
    for low, high in (("0", "9223372036854775807"), ("-4611686018427387904", "4611686018427387903"), ("0", "1e300"))
]
OF_ENDS += [
    "SELECT QUANTILE_DISC(LEAST(GREATEST(l, -1), 999999999), [0.1, 0.9]) FROM t",
    "SELECT APPROX_QUANTILE(LEAST(GREATEST(v, -1e308), 1e308), 0.5) FROM t",
    "SELECT HISTOGRAM(LEAST(GREATEST(n, 0), 9223372036854775807), [9223372036854775806]) FROM t",
    "SELECT CAST(LEAST(GREATEST(v, 0), 3) AS INTEGER) AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CAST(LEAST(GREATEST(n, 0), 3) AS TINYINT) AS g, x // 50, COUNT(*) FROM t GROUP BY 1, 2",
    "SELECT date_trunc('millennium', d) AS g, COUNT(*) FROM t WHERE d < DATE '2000-01-01' GROUP BY 1",
    "SELECT CASE WHEN v > 0 THEN 9007199254740993e0 ELSE 0e0 END AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CAST(x AS HUGEINT) * 18446744073709551616 AS g, COUNT(*) FROM t WHERE x < 3 GROUP BY 1",
]
STATEMENTS = OF_REALS + OF_NULLS + OF_COUNTS + OF_ENDS


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    chosen = [{}, ODD, *({column: ODD[column]} for column in ("v", "n", "y", "x"))]
    opened = [exact(TABLES, source={"t": table(odd), "p": PUBLIC}) for odd in chosen]
    file = tmp_path_factory.mktemp("odd") / "t.parquet"
    pq.write_table(table(ODD), file)
    opened.append(exact(TABLES, source={"t": file, "p": PUBLIC}))
    yield opened
    for connection in opened:
        connection.close()


@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_stored_value_decides(worlds: list[Any], sql: str) -> None:
    outcomes = {outcome(connection, sql) for connection in worlds}
    assert len(outcomes) == 1
    assert outcomes <= {"answered", "107", "117", "129", "131", "132"}, outcomes


def test_most_are_answered(worlds: list[Any]) -> None:
    refused = [sql for sql in STATEMENTS if outcome(worlds[0], sql) != "answered"]
    assert len(refused) < 0.4 * len(STATEMENTS)
    assert len([sql for sql in refused if sql not in OF_ENDS]) < 5, refused


# --- cells that are not of their type --------------------------------------------------------------------------------

DECIMALS = [pa.decimal128(2, 0), pa.decimal128(4, 1), pa.decimal128(9, 2), pa.decimal128(18, 0), pa.decimal128(38, 0)]
OF_DIGITS = [
    "SELECT COUNT(*) FROM t WHERE CAST(x AS TINYINT) > 0",
    "SELECT COUNT(*) FROM t WHERE x + x > 0 OR x * x > 0 OR -x > 0 OR abs(x) > 1",
    "SELECT COUNT(*) FROM t WHERE CAST(x AS DECIMAL(38, 20)) > 0 OR x % 3 > 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(x) AS m, MAX(x) AS q FROM t GROUP BY pid) WHERE m + q > 0",
    "SELECT SUM(LEAST(GREATEST(x, 0), 5)), MEDIAN(LEAST(GREATEST(x, 0), 5)) FROM t",
    "SELECT SIGN(x), COUNT(*) FROM t GROUP BY 1",
    "SELECT COUNT(*) FROM t WHERE CAST(x AS VARCHAR) <> '' AND ROUND(x, -1) > 0",
]


def digits(type_: pa.DataType, units: list[int]) -> pa.Array:
    """Cells of 128 bits, as some other program may have written them."""
    cells = b"".join(unit.to_bytes(16, "little", signed=True) for unit in units)
    return pa.Array.from_buffers(type_, len(units), [None, pa.py_buffer(cells)])


FAR = [1, 2**127 - 1, 5000 - 2**62, 10**9, 10**38, -(2**127), -(2**63), -(2**31), -(2**15), 2**63 - 1, 5000]


def answers(
    columns: dict[str, Any], x: pa.Array, pid: pa.Array, folder: Path, statements: list[str]
) -> list[list[str]]:
    """Of a frame, and of a file with statistics."""
    tables = {"t": private(columns, unit="pid", max_groups=2, max_rows=2, source="t.parquet")}
    catalog = dataset(tables)
    frame = pa.table({"pid": pid, "x": x})
    pq.write_table(frame, folder / "t.parquet")
    outcomes = []
    for source in (frame, folder / "t.parquet"):
        with exact(catalog, source={"t": source}) as connection:
            outcomes.append([outcome(connection, sql) for sql in statements])
    return outcomes


@pytest.mark.parametrize(
    "declared", ["decimal(2, 0)", "decimal(9, 2)", "decimal(38, 20)", "decimal(38, 0)", "integer", "real", "text"]
)
@pytest.mark.parametrize("type_", DECIMALS, ids=str)
def test_no_decimal_of_more_digits_than_its_type_decides(type_: pa.DataType, declared: str, tmp_path: Path) -> None:
    statements = ["SELECT COUNT(*) FROM t WHERE x <> 'a'"] if declared == "text" else OF_DIGITS
    columns, pids = {"pid": "integer", "x": declared}, pa.array(range(len(FAR)))
    calm = answers(columns, digits(type_, [1] * len(FAR)), pids, tmp_path, statements)
    assert answers(columns, digits(type_, FAR), pids, tmp_path, statements) == calm
    assert calm[0] == calm[1] and "answered" in calm[0]


def test_no_whole_number_of_any_length_decides(tmp_path: Path) -> None:
    """DuckDB's BIGNUM, whose casts to integers fail beyond their ends."""
    columns = {"pid": "integer", "whole": "integer", "real": "real", "written": "text", "fixed": "decimal(9, 2)"}
    with duckdb.connect(str(tmp_path / "n.duckdb")) as connection:
        names = ", ".join(f"{name} BIGNUM" for name in columns)
        connection.execute(f"CREATE TABLE t ({names})")
        connection.execute(f"CREATE TABLE calm ({names})")
        for n, cell in enumerate(("5", "9" * 61, "-" + "9" * 402, str(2**63), str(-(2**63)), str(2**127))):
            for name, pid, x in (("t", cell, cell), ("t", str(n), cell), ("calm", str(n), "5")):
                connection.execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?)", [pid, *[x] * 4])
    tables = {
        name: private(columns, unit="pid", source={"database": str(tmp_path / "n.duckdb"), "table": name})
        for name in ("t", "calm")
    }
    with exact(dataset(tables)) as connection:
        for expr in (
            "COUNT(whole)",
            "COUNT(DISTINCT written)",
            "COUNT(DISTINCT pid)",
            "COUNT(fixed)",
            "COUNT(real + 1)",
        ):
            assert [outcome(connection, f"SELECT {expr} FROM {name}") for name in tables] == ["answered"] * 2
        assert connection.execute("SELECT COUNT(*), COUNT(whole), COUNT(fixed) FROM calm").fetchall() == [(6, 6, 6)]
        # units that fit: 5 and -2^63, and the six numbers of the rows; of the other cells 5 and -2^63 do, twice
        assert connection.execute("SELECT COUNT(*), COUNT(whole) FROM t").fetchall() == [(8, 4)]


@pytest.mark.parametrize("declared", ["integer", "text"])
@pytest.mark.parametrize("type_", DECIMALS, ids=str)
def test_no_unit_of_more_digits_than_its_type_decides(type_: pa.DataType, declared: str, tmp_path: Path) -> None:
    statements = [
        "SELECT COUNT(*), COUNT(DISTINCT pid) FROM t",
        "SELECT COUNT(*) FROM (SELECT pid FROM t GROUP BY pid)",
    ]
    columns, x = {"pid": declared, "x": "integer"}, pa.array(range(len(FAR)))
    for units in ([*range(len(FAR))], FAR):
        outcomes = answers(columns, x, digits(type_, units), tmp_path, statements)
        # as text 1 and 1.0 would be two people: refused whatever is stored
        assert outcomes == [["307" if declared == "text" and type_.scale else "answered"] * 2] * 2


OF_LETTERS = [
    "SELECT COUNT(*) FROM t WHERE upper(s) <> '' OR length(s) > 2 OR reverse(s) = 'a' OR left(s, 2) = 'a'",
    "SELECT COUNT(*) FROM t WHERE s LIKE '%a%' OR s ILIKE 'b_' OR regexp_matches(s, 'a.c') OR s || 'x' = 'y'",
    "SELECT COUNT(*) FROM t WHERE TRY_CAST(s AS INTEGER) > 0 OR substring(s, 2, 1) = 'a' OR split_part(s, 'a', 1) = ''",
    "SELECT COUNT(DISTINCT s) FROM t",
]


def test_no_text_that_is_not_utf8_decides() -> None:
    columns = {"pid": "integer", "s": "text"}
    tables = {"t": private(columns, unit="pid", max_groups=2, max_rows=2, source="t.parquet")}
    catalog = dataset(tables)
    outcomes = []
    for cells in ([b"abc", b"de"], [b"abc", b"\xff\xfe"], [b"\xc3", b"a\xed\xa0\x80"]):
        ends = np.cumsum([0, *map(len, cells)]).astype(np.int32)
        texts = pa.Array.from_buffers(
            pa.string(), 2, [None, pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(cells))]
        )
        with exact(catalog, source={"t": pa.table({"pid": [1, 2], "s": texts})}) as connection:
            outcomes.append([outcome(connection, sql) for sql in OF_LETTERS])
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert set(outcomes[0]) == {"answered"}
