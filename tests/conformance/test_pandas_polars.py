"""pandas.read_sql, polars.read_database and the frames a cursor gives: values, and types that do not depend on them."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.testing import exact
from tests.worlds import bounded, dataset, keys, people, public

TYPES = {
    "i": "INTEGER",
    "n": "BIGINT",
    "r": "DOUBLE",
    "m": "DECIMAL(9, 2)",
    "b": "BOOLEAN",
    "d": "DATE",
    "t": "TIMESTAMP",
    "s": "VARCHAR",
}
ROW = (1, 2**40, 1.5, decimal.Decimal("1.25"), True, datetime.date(2020, 2, 29), datetime.datetime(2020, 1, 1, 3), "é")
NULLS = ", ".join(f"CAST(NULL AS {t}) AS {n}" for n, t in TYPES.items())
FULL = ", ".join(f"CAST(? AS {t}) AS {n}" for n, t in TYPES.items())


@pytest.fixture(scope="module")
def connection() -> Iterator[dpsql.Connection]:
    catalog = dataset({"p": public({"x": "integer"})})
    with dpsql.connect(catalog) as opened:
        yield opened


def test_df_has_the_types_of_its_columns(connection: dpsql.Connection) -> None:
    full = connection.execute(f"SELECT {FULL}", ROW).df()
    empty = connection.execute(f"SELECT {NULLS} WHERE FALSE").df()
    text = pd.Series(["x"]).dtype
    expected = ["int32", "int64", "float64", "float64", "bool", "datetime64[us]", "datetime64[us]", str(text)]
    assert [str(dtype) for dtype in full.dtypes] == [str(dtype) for dtype in empty.dtypes] == expected
    nulls = connection.execute(f"SELECT {NULLS}").df()
    assert nulls.isna().all(axis=None)
    nullable = ["Int32", "Int64", "float64", "float64", "boolean", "datetime64[us]", "datetime64[us]", str(text)]
    assert [str(dtype) for dtype in nulls.dtypes] == nullable


def test_arrow_has_the_types_of_its_columns(connection: dpsql.Connection) -> None:
    import pyarrow as pa

    schemas = [
        connection.execute(f"SELECT {FULL}", ROW).arrow().schema,
        connection.execute(f"SELECT {NULLS}").arrow().schema,
        pa.table(connection.execute(f"SELECT {NULLS} WHERE FALSE")).schema,
    ]
    assert schemas[0] == schemas[1] == schemas[2]
    assert schemas[0].field("m").type == pa.decimal128(9, 2) and schemas[0].field("d").type == pa.date32()


def test_polars_has_the_types_of_its_columns(connection: dpsql.Connection) -> None:
    pl = pytest.importorskip("polars")
    types = [pl.Decimal(9, 2), pl.Boolean, pl.Date, pl.Datetime("us"), pl.String]
    for sql, given in ((f"SELECT {FULL}", ROW), (f"SELECT {NULLS}", ()), (f"SELECT {NULLS} WHERE FALSE", ())):
        read = pl.read_database(sql, connection, execute_options={"parameters": given})
        assert read.schema.dtypes() == [pl.Int64, pl.Int64, pl.Float64, *types]
        plain = connection.execute(sql, given).pl()
        assert plain.schema.dtypes() == [pl.Int32, pl.Int64, pl.Float64, *types]


def test_description(connection: dpsql.Connection) -> None:
    cursor = connection.execute(f"SELECT {NULLS}")
    codes = [column[1] for column in cursor.description or ()]
    families = [dpsql.NUMBER] * 5 + [dpsql.DATETIME] * 2 + [dpsql.STRING]
    for code, family in zip(codes, families, strict=True):
        others = [dpsql.NUMBER, dpsql.DATETIME, dpsql.STRING, dpsql.BINARY, dpsql.ROWID]
        assert [other == code for other in others] == [other is family for other in others]
    assert (cursor.description or [])[3][1:6] == ("DECIMAL(9,2)", None, None, 9, 2)


def test_pandas_reads_a_plain_connection() -> None:
    data = pd.DataFrame({"id": np.arange(90), "k": ["a", "b", "c"] * 30, "x": np.arange(90.0)})
    catalog: dict[str, Any] = people(
        {}, unit="id", max_groups=1, max_rows=1, budget={"epsilon": 1}, per_query={"epsilon": 1}
    )
    catalog["tables"]["t"]["columns"] = {
        "id": "integer",
        "k": keys("a", "b", "c"),
        "x": bounded("real", 0, 100),
    }
    with exact(catalog, source=data) as opened, pytest.warns(UserWarning, match="SQLAlchemy"):
        read = pd.read_sql("SELECT k, SUM(x) AS s FROM t WHERE x < ? GROUP BY k", opened, params=[60])  # type: ignore[call-overload]
    expected = data[data["x"] < 60].groupby("k", as_index=False).agg(s=("x", "sum"))
    pd.testing.assert_frame_equal(read, expected, atol=1e-6)


def test_files(connection: dpsql.Connection, tmp_path: Path) -> None:
    cursor = connection.execute("SELECT 1 AS a, 'x' AS b UNION ALL SELECT NULL, 'y;\"z' ORDER BY b")
    for name in ("out.csv", "out.parquet", "out.json"):
        cursor.write(tmp_path / name)
    frames = [
        pd.read_csv(tmp_path / "out.csv"),
        pd.read_parquet(tmp_path / "out.parquet"),
        pd.read_json(tmp_path / "out.json"),
    ]
    for frame in frames:
        pd.testing.assert_frame_equal(frame, cursor.df(), check_dtype=False)
    cursor.write(str(tmp_path / "other"), format="csv")
    with pytest.raises(dpsql.InterfaceError):
        cursor.write(tmp_path / "out.xlsx")


def test_load(connection: dpsql.Connection) -> None:
    """A table of one's own from a frame, in dpsql's types."""
    pa = pytest.importorskip("pyarrow")
    small = pa.table({"u": pa.array([1, None], pa.uint8()), "f": pa.array([0.5, 1], pa.float32()), "s": ["a", None]})
    connection.load("Mine", small)
    assert connection.execute("SELECT * FROM mine").fetchall() == [(1, 0.5, "a"), (None, 1.0, None)]
    connection.load("mine", pd.DataFrame({"x": [3]}))
    assert connection.execute("SELECT x + 1 FROM Mine").fetchone() == (4,)
    with pytest.raises(dpsql.InterfaceError):
        connection.load("p", small)
    with pytest.raises(dpsql.SourceError):
        connection.load("other", 3)
