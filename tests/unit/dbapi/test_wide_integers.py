"""Integers beyond 64 bits: what DuckDB answers, in every form of a result; never NULL and never rounded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql import testing
from tests.worlds import dataset, private, public

CATALOG = dataset(
    {"t": private({}, unit="person", rows_per_unit=1), "p": public({"big": "integer"})}, budget={"epsilon": 1}
)
BIG = 2**62
EVERY_FORM = [
    f"SELECT {2**63}",
    f"SELECT -{2**63 + 1}",
    f"SELECT {2**127 - 1}",
    "SELECT SUM(big) FROM p",
    "SELECT SUM(big) OVER () FROM p",
    "SELECT big, SUM(big) FROM p GROUP BY big",
    "SELECT s + 1 FROM (SELECT SUM(big) AS s FROM p)",
    "SELECT SUM(big) - SUM(big) FROM p",
    "SELECT SUM(big) FROM p WHERE big < 0",
]


@pytest.fixture
def connection() -> Iterator[dpsql.Connection]:
    source = {"t": {"person": np.array([1, 2])}, "p": {"big": np.array([BIG, BIG])}}
    with testing.exact(CATALOG, source=source) as connection:
        yield connection


@pytest.mark.parametrize("sql", EVERY_FORM)
def test_rows_are_what_duckdb_answers(connection: dpsql.Connection, sql: str) -> None:
    with duckdb.connect() as judge:
        judge.execute(f"CREATE TABLE p AS SELECT {BIG} AS big FROM range(2)")
        assert connection.execute(sql).fetchall() == judge.execute(sql).fetchall()


def test_sums_that_fit_are_of_64_bits(connection: dpsql.Connection) -> None:
    cursor = connection.execute("SELECT SUM(big // 4) AS s, SUM(big) AS w FROM p")
    frame = cursor.df()
    assert frame.dtypes.astype(str).to_dict() == {"s": "int64", "w": "object"}
    assert frame.iloc[0].to_list() == [2**61, 2**63]
    assert cursor.arrow().to_pylist() == [{"s": 2**61, "w": Decimal(2**63)}]


def test_own_tables_hold_them(connection: dpsql.Connection, tmp_path: Path) -> None:
    connection.execute("CREATE TABLE own AS SELECT SUM(big) AS s FROM p")
    connection.execute(f"INSERT INTO own SELECT {2**64}")
    connection.load("u64", pd.DataFrame({"u": np.array([2**64 - 1], dtype=np.uint64)}))
    sql = "SELECT SUM(s) // 2, (SELECT SUM(u) FROM u64) FROM own"
    assert connection.execute(sql).fetchall() == [((2**63 + 2**64) // 2, 2**64 - 1)]
    cursor = connection.execute("SELECT u FROM u64")
    for name in ("u.csv", "u.json", "u.parquet"):
        cursor.write(tmp_path / name)
    assert (tmp_path / "u.csv").read_text() == f"u\n{2**64 - 1}\n"
    assert json.loads((tmp_path / "u.json").read_text()) == [{"u": 2**64 - 1}]
    with duckdb.connect() as judge:
        assert judge.execute(f"FROM '{tmp_path}/u.parquet'").fetchall() == [(Decimal(2**64 - 1),)]


def test_what_does_not_fit_is_refused(connection: dpsql.Connection, tmp_path: Path) -> None:
    most, more = 10**38 - 1, 10**38
    assert connection.execute(f"SELECT {most} AS n").arrow().to_pylist() == [{"n": Decimal(most)}]
    cursor = connection.execute(f"SELECT {more} AS n")
    assert cursor.df()["n"].to_list() == [more]
    with pytest.raises(dpsql.Error, match="DPSQL-502.*39 digits"):
        cursor.arrow()
    with pytest.raises(dpsql.Error, match="DPSQL-502.*39 digits"):
        cursor.write(tmp_path / "n.parquet")
    assert not list(tmp_path.glob("*n.parquet*"))
    connection.execute(f"CREATE TABLE own AS SELECT {more} AS n")
    assert connection.execute("SELECT n FROM own").fetchall() == [(more,)]
    connection.execute("CREATE OR REPLACE TABLE own (n BIGINT)")
    with pytest.raises(dpsql.Error, match="DPSQL-502"):
        connection.execute(f"INSERT INTO own SELECT {2**63}")
    assert connection.execute("SELECT COUNT(*) FROM own").fetchall() == [(0,)]
