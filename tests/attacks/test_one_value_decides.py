"""One person's value must not decide whether a query is answered: whatever is stored, an accepted query answers.

Each statement is planned once for a world without odd rows; then one person's row holds the ends of every type, NaN,
infinities, the smallest number, both zeros, far dates. Refusals are fine, if nothing stored had a part in them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql.testing import exact
from tests.worlds import bounded, dataset, keys, private, public

NAN, INF = float("nan"), float("inf")
REALS = (0.0, -0.0, NAN, INF, -INF, 1e308, -1e308, 5e-324, 2.0**53, 2.0**62, 2.0**63, -(2.0**63), 1e18, -7.5, 1e-300)
WHOLES = (0, 1, -1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, 1 - 2**63, -(2**63), 32768, -129)
DAYS = (dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1), dt.date(1582, 10, 15))
TABLES: dict[str, Any] = dataset(
    {
        "t": private(
            {
                "x": bounded("integer", 0, 100, nullable=False),
                "n": "integer",
                "y": bounded("real", 0, 1),
                "v": "real",
                "w": "real",
                "d": "date",
                "name": "text",
                "k": keys("a", "b"),
                "c": "decimal(12, 2)",
                "l": "decimal(38, 29)",
            },
            unit="pid",
            source="t.parquet",
            max_groups=4,
            max_rows=4,
        ),
        "p": public({"id": {"type": "integer"}, "far": {"type": "integer"}}, source="p.parquet"),
    }
)
KINDS = {"pid": pa.int64(), "x": pa.int64(), "n": pa.int64(), "y": pa.float64(), "v": pa.float64(), "w": pa.float64()}
KINDS |= {
    "d": pa.date32(),
    "name": pa.string(),
    "k": pa.string(),
    "c": pa.decimal128(12, 2),
    "l": pa.decimal128(38, 29),
}
CALM = {
    "x": 60,
    "n": 7,
    "y": 0.5,
    "v": 4.0,
    "w": 2.0,
    "d": dt.date(2020, 5, 5),
    "name": "ann",
    "k": "a",
    "c": 1,
    "l": 0,
}


def table(odd: dict[str, tuple[Any, ...]]) -> pa.Table:
    """Forty calm rows, and rows of one person with each odd value in its column."""
    rows = [{"pid": i % 20, **CALM} for i in range(40)]
    rows += [{"pid": 20, **CALM, "name": "bob", column: value} for column, values in odd.items() for value in values]
    return pa.table({name: pa.array([row[name] for row in rows], type_) for name, type_ in KINDS.items()})


ODD = {
    "v": (None, *REALS),
    "w": (None, *REALS),
    "y": (None, *REALS),
    "n": (None, *WHOLES),
    "x": (None, *WHOLES),
    "d": (None, *DAYS),
    "k": tuple(f"other {i}" for i in range(300)),
    "name": (None, "", "9" * 60, "nan", "-1e400", "é" * 40),
    "c": (None, -1, 9_999_999_999),
    "l": (None, -999_999_999, 999_999_999),
}
PUBLIC = pa.table({"id": [0, 1, 50, None], "far": [5, 2**63 - 1, -(2**63), None]})

COUNTS = [
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(DISTINCT k) AS m FROM t GROUP BY pid) WHERE CAST(m AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(DISTINCT k) * 9223372036854775807 AS m FROM t GROUP BY pid) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT_IF(DISTINCT x > 3) AS m FROM t GROUP BY pid) WHERE CAST(m AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) AS m FROM t GROUP BY pid) WHERE CAST(m AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(n) AS m FROM t GROUP BY pid) WHERE CAST(m AS INTEGER) + m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, SUM(x) AS m FROM t WHERE x < 2 GROUP BY pid) WHERE CAST(m AS TINYINT) >= 0",
    "SELECT COUNT(*) FROM (SELECT pid, x, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY d) AS m FROM t)"
    " WHERE CAST(m AS TINYINT) > 0",
]
AXES = [
    "SELECT MEDIAN(LEAST(GREATEST(FLOOR(v * 1e300), 0), 9223372036854775807)) FROM t",
    "SELECT MAX(LEAST(GREATEST(FLOOR(v * 1e300), -9223372036854775807), 9223372036854775807)) FROM t",
    "SELECT MEDIAN(LEAST(GREATEST(FLOOR(v * 1e300), 0), 4611686018427387904)) FROM t",
    "SELECT MEDIAN(LEAST(GREATEST(FLOOR(v * 1e300), 0), 4611686018427387903)) FROM t",
    "SELECT MEDIAN(LEAST(GREATEST(FLOOR(v), -4611686018427387000), 4611686018427387000)) FROM t",
    "SELECT MEDIAN(LEAST(GREATEST(n, 0), 9223372036854775807)) FROM t",
    "SELECT MIN(LEAST(GREATEST(n, -4611686018427387903), 4611686018427387903)) FROM t",
    "SELECT SUM(LEAST(GREATEST(v, -1e30), 1e30)) FROM t",
    "SELECT SUM(LEAST(GREATEST(FLOOR(v * w), -2e18), 2e18)), AVG(LEAST(GREATEST(v / w, 0), 1)) FROM t",
    "SELECT QUANTILE_CONT(LEAST(GREATEST(l, 0), 99), 0.5), SUM(LEAST(GREATEST(c, -5), 5)) FROM t",
    "SELECT HISTOGRAM(LEAST(GREATEST(v * 1e18, 0), 1e18), [10, 20]) FROM t",
]
KEYS = [
    "SELECT FLOOR(LEAST(GREATEST(v, 0), 3)) AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CASE WHEN v < 3 OR v IS NULL THEN FLOOR(SQRT(v)) ELSE 7e0 END AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CASE WHEN v > 0 THEN 1e300 ELSE 0e0 END AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CASE WHEN v > 0 THEN 0.5e0 ELSE 0e0 END AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT FLOOR(LEAST(GREATEST(v * 1e300, 0), 1e16)) AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT -(-9223372036854775807 - 1) AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT abs(-9223372036854775807 - 1) AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CASE WHEN n > 0 THEN -9223372036854775807 - 1 ELSE 0 END AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT -(CASE WHEN n > 0 THEN -9223372036854775807 - 1 ELSE 0 END) AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CASE WHEN n > 0 THEN 9223372036854775807 ELSE 0 END * 2 AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CASE WHEN n > 0 THEN 18446744073709551616 ELSE 0 END AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT n AS g, COUNT(*) FROM t WHERE n IN (0, 9223372036854775807) GROUP BY 1",
    "SELECT CASE WHEN n > 0 THEN DATE '9999-12-31' ELSE d END + 1 AS g, COUNT(*) FROM t GROUP BY 1",
    "SELECT CASE WHEN n > 0 THEN DATE '9999-12-31' ELSE DATE '0001-01-01' END + 1 AS g, COUNT(*) FROM t GROUP BY 1",
]
MIXED_TYPES = [
    "SELECT COUNT(*) FROM t WHERE n = l OR n < l OR n IN (l, 1.5) OR n BETWEEN l AND 2.5",
    "SELECT COUNT(*) FROM t a JOIN t b ON a.pid = b.pid AND a.n = b.l",
    "SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t b WHERE b.pid = a.pid AND b.l = a.n)",
    "SELECT COUNT(*) FROM t a JOIN p ON a.l = p.far",
    "SELECT COUNT(*) FROM t WHERE l IN (SELECT far FROM p)",
    "SELECT COUNT(*) FROM (SELECT pid, n FROM t UNION ALL SELECT pid, l FROM t) WHERE n > 0",
    "SELECT COUNT(*) FROM (SELECT pid, l FROM t UNION ALL SELECT pid, n FROM t) WHERE l > 0",
    "SELECT COUNT(*) FROM (SELECT pid, CAST(n AS HUGEINT) * 10000000000 AS h FROM t) WHERE h < 12.5 OR h IN (1.5)",
    "SELECT COUNT(*) FROM t WHERE COALESCE(l, n) > 0 OR NULLIF(n, l) > 0 OR LEAST(l, n) > 1"
    " OR CASE WHEN x > 1 THEN l ELSE n END > 0",
    "SELECT COUNT(*) FROM (SELECT pid, LAG(l, 1, 1000000000.5) OVER (PARTITION BY pid ORDER BY d) AS m FROM t) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, LAG(c, 1, 5) OVER (PARTITION BY pid ORDER BY d) AS m FROM t) WHERE m > 0",
]
BY_MINUS_ONE = [
    "SELECT COUNT(*) FROM t WHERE n % -1 = 0 OR n // -1 = 0",
    "SELECT COUNT(*) FROM t WHERE x % (x - 50) >= 0 OR n // (x - 101) > 0 OR n % (x - 101) > 0",
    "SELECT COUNT(*) FROM t WHERE l % 3 > 0 OR l % (c + 1) > 0 OR n % l > 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
    " AS m FROM t) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid ORDER BY n RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)"
    " AS m FROM t WHERE n BETWEEN 0 AND 9) WHERE m > 0",
    "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid ORDER BY d RANGE BETWEEN INTERVAL 999 YEAR"
    " PRECEDING AND CURRENT ROW) AS m FROM t) WHERE m > 0",
    "SELECT COUNT(*) FROM t WHERE d + 2000000000 > d OR d - 2000000000 > d OR d + INTERVAL 9999 YEAR > d",
    "SELECT COUNT(*) FROM t WHERE date_trunc('century', d) < d OR last_day(d) > d OR d + x > d",
]
STATEMENTS = COUNTS + AXES + KEYS + MIXED_TYPES + BY_MINUS_ONE


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """A calm one, one with every odd value, also as a file with statistics, and some in which one column's odd values come
    alone."""
    chosen = [{}, ODD, *({column: ODD[column]} for column in ("v", "n", "name"))]
    opened = [exact(TABLES, source={"t": table(odd), "p": PUBLIC}) for odd in chosen]
    file = tmp_path_factory.mktemp("odd") / "t.parquet"
    pq.write_table(table(ODD), file)
    opened.append(exact(TABLES, source={"t": file, "p": PUBLIC}))
    yield opened
    for connection in opened:
        connection.close()


def outcome(connection: Any, sql: str) -> str:
    """Answered, or the code of the refusal; what a stored value stops is an error of the engine (500) or none of ours."""
    try:
        connection.execute(sql).fetchall()
    except dpsql.Error as error:
        return str(error.code)[-3:]
    return "answered"


@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_stored_value_decides(worlds: list[Any], sql: str) -> None:
    outcomes = {outcome(connection, sql) for connection in worlds}
    assert len(outcomes) == 1
    assert outcomes <= {"answered", "107", "117", "129", "131", "105"}, outcomes


def test_most_are_answered(worlds: list[Any]) -> None:
    """Or the test above would hold of an engine that refuses everything."""
    answered = [sql for sql in STATEMENTS if outcome(worlds[0], sql) == "answered"]
    assert len(answered) > 0.7 * len(STATEMENTS), [sql for sql in STATEMENTS if sql not in answered]


# --- frames ---------------------------------------------------------------------------------------------------------

FAR = (2**62, -(2**63), 1 - 2**63, 2 - 2**63, 2**63 - 2, 5)
UNITS = ("s", "ms", "us", "ns")
TEMPORAL = [pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "Asia/Tokyo")]
TEMPORAL += [*map(pa.duration, UNITS), pa.time64("us"), pa.time64("ns"), pa.date64()]


def raw(type_: pa.DataType, values: tuple[int, ...]) -> pa.Array:
    """Cells of 64 bits, as some other program may have written them."""
    return pa.Array.from_buffers(type_, len(values), [None, pa.py_buffer(np.array(values, np.int64).tobytes())])


def frames(type_: pa.DataType, values: tuple[int, ...]) -> Iterator[Any]:
    when = raw(type_, values)
    whole = pa.table({"pid": range(len(values)), "at": when})
    nested = pa.ListArray.from_arrays(pa.array(range(len(values) + 1), pa.int32()), when)
    yield from (whole, whole.to_reader(), whole.to_batches()[0], pa.table({"pid": range(len(values)), "at": nested}))
    yield pd.DataFrame({"pid": range(len(values)), "at": pd.Series(pd.arrays.ArrowExtensionArray(when))})


def asked(data: Any, declared: str) -> str:
    columns = {"pid": "integer", "at": declared}
    tables = {"t": private(columns, unit="pid", max_groups=1, max_rows=1, source="t.parquet")}
    try:
        described = dataset(tables, budget={"epsilon": 1})
        with exact(described, source={"t": data}) as connection:
            return outcome(connection, "SELECT COUNT(at) FROM t")
    except dpsql.Error as error:
        return str(error.code)[-3:]


@pytest.mark.parametrize("declared", ["timestamp", "text"])
@pytest.mark.parametrize("type_", TEMPORAL, ids=str)
def test_no_far_moment_decides(type_: pa.DataType, declared: str) -> None:
    """A frame is read whatever its moments are, or refused by its schema."""
    for calm, *odd in zip(
        frames(type_, (5,)), frames(type_, FAR), *(frames(type_, FAR[i : i + 1]) for i in (1, 3)), strict=True
    ):
        assert {asked(data, declared) for data in odd} == {asked(calm, declared)} <= {"answered", "306"}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_no_far_moment_of_numpy_and_pandas_decides(unit: str) -> None:
    for far in FAR:
        when = pd.Series(np.array([5, far], np.int64).view(f"M8[{unit}]"))
        for at in (when, when.dt.tz_localize("UTC"), pd.Series(pd.Categorical(when))):
            assert asked(pd.DataFrame({"pid": [1, 2], "at": at}), "timestamp") == "answered"


def test_polars_and_relations() -> None:
    for dtype in (pl.Datetime("us", "UTC"), pl.Datetime("ms"), pl.Duration("us"), pl.Time):
        at = pl.Series([5, 2**62], dtype=pl.Int64).cast(dtype, strict=False)
        assert asked(pl.DataFrame({"pid": [1, 2], "at": at}), "timestamp") == "answered"
    for dtype in (pl.Datetime("ms", "UTC"), pl.Duration("ms")):
        for far in (5, 2**62):
            at = pl.Series([5, far], dtype=pl.Int64).cast(dtype)
            assert asked(pl.DataFrame({"pid": [1, 2], "at": at}), "timestamp") == "306"
    with duckdb.connect() as connection_:
        relation = connection_.sql("SELECT 1::BIGINT AS pid, TIMESTAMPTZ '290000-01-01' AS at UNION ALL SELECT 2, NULL")
        assert asked(relation, "timestamp") == "answered"
