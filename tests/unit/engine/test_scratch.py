"""Scratch: released rows in, finished results out, as often as asked."""

from __future__ import annotations

import csv
import datetime
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql.engine.hardening import Limits
from dpsql.engine.public import PublicReader
from dpsql.engine.reader import relation
from dpsql.engine.scratch import Scratch
from dpsql.engine.sources import Column, Files
from dpsql.errors import InterfaceError, InternalError, PostProcessingError, SqlError

LONG = "SELECT count(*) AS n FROM range(100000000) a, range(40) b WHERE (a.range * b.range) % 7 = 3"


@pytest.fixture
def scratch() -> Iterator[Scratch]:
    with Scratch() as scratch:
        scratch.load(
            "r",
            {
                "k": np.array(["b", None, "a"], dtype=object),
                "n": np.ma.MaskedArray(np.array([2, 3, 1]), [False, True, False]),
                "d": np.array([1, 2, 3]),
            },
            {"n": "HUGEINT", "k": "VARCHAR"},
        )
        yield scratch


def test_loaded_types_and_nulls(scratch: Scratch) -> None:
    result = scratch.query("SELECT * FROM r ORDER BY d")
    assert [column.type for column in result.columns] == ["VARCHAR", "HUGEINT", "BIGINT"]
    assert result.fetchall() == [("b", 2, 1), (None, None, 2), ("a", 1, 3)]


def test_loading_again_replaces_and_zero_rows_keep_types(scratch: Scratch) -> None:
    columns = {"k": np.array([], dtype=np.int64), 'od"d': np.array([], dtype=object)}
    scratch.load("r", columns, {"k": "DECIMAL(9,2)", 'od"d': "DATE"})
    result = scratch.query("SELECT * FROM r")
    assert [(c.name, c.type) for c in result.columns] == [("k", "DECIMAL(9,2)"), ('od"d', "DATE")]
    assert result.fetchall() == []


def test_a_describe_does_not_run(scratch: Scratch) -> None:
    assert scratch.describe("WITH x AS (SELECT error('no') AS e, 1 AS a FROM r) SELECT e, a, a FROM x ORDER BY 1") == (
        Column(name="e", type='"NULL"'),
        Column(name="a", type="INTEGER"),
        Column(name="a", type="INTEGER"),
    )


@pytest.mark.parametrize(
    "sql", ["SELECT nope FROM r", "SELECT k + 1 FROM r GROUP BY n", "SELECT", "SELECT * FROM nowhere"]
)
def test_what_cannot_be_bound_says_why(scratch: Scratch, sql: str) -> None:
    with pytest.raises(SqlError) as caught:
        scratch.describe(sql)
    assert caught.value.number == 105
    assert "Error: " in str(caught.value) and "LINE 1" not in str(caught.value)


@pytest.mark.parametrize("sql", ["SELECT 1; SELECT 2", "DROP TABLE r", "SELECT 1; DROP TABLE r", "PRAGMA version"])
def test_one_select_only(scratch: Scratch, sql: str) -> None:
    for ask in (scratch.describe, scratch.query):
        with pytest.raises(InternalError):
            ask(sql)
    assert len(scratch.query("SELECT * FROM r")) == 3


def test_errors_at_run(scratch: Scratch) -> None:
    with pytest.raises(PostProcessingError) as caught:
        scratch.query("SELECT CAST(k AS INTEGER) FROM r")
    assert caught.value.number == 502
    with pytest.raises(PostProcessingError):
        scratch.load("z", {"a": np.array(["x"], dtype=object)}, {"a": "DATE"})
    assert len(scratch.query("SELECT * FROM r")) == 3


def test_names_twice_and_unnamed_columns(scratch: Scratch) -> None:
    result = scratch.query('SELECT n, n, n + 1, NULL, \'x\' AS "q""" FROM r WHERE n = 1')
    assert [column.name for column in result.columns] == ["n", "n", "(n + 1)", "NULL", 'q"']
    assert result.fetchall() == [(1, 1, 2, None, "x")]
    assert len(result.df().columns) == 5


def test_order_is_kept_beyond_one_vector(scratch: Scratch) -> None:
    scratch.execute("CREATE TABLE big AS SELECT range AS i, hash(range) AS h FROM range(300000)")
    result = scratch.query("SELECT i, h FROM big ORDER BY h DESC, i")
    hashes = [h for _, h in result]
    assert hashes == sorted(hashes, reverse=True) and len(hashes) == 300000
    assert result.fetchmany(5) == []


def test_fetching_continues_and_the_rest_serves_all(scratch: Scratch) -> None:
    result = scratch.query("SELECT d FROM r ORDER BY d")
    assert result.fetchone() == (1,)
    assert result.df()["d"].tolist() == [1, 2, 3]
    assert result.fetchmany(1) == [(2,)]
    assert result.arrow()["d"].to_pylist() == [1, 2, 3]
    assert pa.table(result).num_rows == 3
    assert list(result) == [(3,)] and result.fetchone() is None and result.fetchall() == []
    assert len(result) == 3


def test_results_are_independent(scratch: Scratch) -> None:
    results = [scratch.query(f"SELECT d + {i} FROM r ORDER BY d") for i in range(5)]
    assert [result.fetchone() for result in results] == [(1 + i,) for i in range(5)]
    scratch.drop("r")
    assert [result.fetchall() for result in results] == [[(2 + i,), (3 + i,)] for i in range(5)]


def tables(scratch: Scratch) -> set[str]:
    """The results' tables, but that of the question itself, which may be made before or after it is answered."""
    asked = scratch.query("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'dpsql_results'")
    return {f"dpsql_results.{name}" for (name,) in asked.fetchall()} - {asked._table}


def test_closed_and_forgotten_results_are_dropped(scratch: Scratch) -> None:
    kept = scratch.query("SELECT 1")
    closed = scratch.query("SELECT 2")
    closed.fetchone()
    closed.close()
    closed.close()
    scratch.query("SELECT 3")
    gc.collect()
    assert tables(scratch) == {kept._table}
    assert kept.fetchall() == [(1,)]
    with pytest.raises(InterfaceError):
        closed.fetchall()


def test_a_stream_goes_to_another_scratch(scratch: Scratch) -> None:
    with Scratch() as other:
        other.load_stream("copy", scratch.query("SELECT k, d FROM r ORDER BY d"))
        assert other.query("SELECT * FROM copy").fetchall() == [("b", 1), (None, 2), ("a", 3)]


def test_user_tables(scratch: Scratch) -> None:
    scratch.execute("CREATE TABLE mine (a INTEGER)")
    assert scratch.execute("INSERT INTO mine VALUES (1), (2)") == 2
    assert scratch.query("SELECT sum(a)::BIGINT FROM mine").fetchall() == [(3,)]


def test_files(scratch: Scratch, tmp_path: Path) -> None:
    result = scratch.query(
        "SELECT k, n::DECIMAL(9, 2) AS n, DATE '2020-01-02' AS d, TIMESTAMP '2020-01-02 03:04:05' AS t, d > 1 AS b,"
        " 'NaN'::DOUBLE AS nan, [1, NULL] AS list, 'comma, \"quote\"' AS q FROM r ORDER BY r.d"
    )
    for kind in ("csv", "json", "parquet"):
        result.write(tmp_path / f"r.{kind}", kind)
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["k", "n", "d", "t", "b", "nan", "list", "q"]
    assert rows[1] == ["b", "2.00", "2020-01-02", "2020-01-02 03:04:05", "false", "nan", "[1, None]", 'comma, "quote"']
    assert rows[2][:2] == ["", ""]
    records = json.loads((tmp_path / "r.json").read_text())
    assert records[0] == {
        "k": "b", "n": 2, "d": "2020-01-02", "t": "2020-01-02 03:04:05", "b": False, "nan": None, "list": [1, None],
        "q": 'comma, "quote"',
    }  # fmt: skip
    assert pq.read_table(tmp_path / "r.parquet")["n"].to_pylist() == [Decimal("2.00"), None, Decimal("1.00")]
    with pytest.raises(InterfaceError):
        result.write(tmp_path / "r.txt", "txt")
    empty = scratch.query("SELECT 1 AS a WHERE false")
    empty.write(tmp_path / "e.json", "json")
    assert json.loads((tmp_path / "e.json").read_text()) == []


@pytest.mark.parametrize("value", ["DATE 'infinity'", "TIMESTAMP 'infinity'", "DATE '20000-01-01'"])
def test_values_without_a_python_form(scratch: Scratch, value: str) -> None:
    result = scratch.query(f"SELECT {value} AS x")
    try:
        ((fetched,),) = result.fetchall()
    except PostProcessingError as error:
        assert error.number == 502
    else:
        assert isinstance(fetched, datetime.date | str)


def test_a_missing_package_is_named(scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    result = scratch.query("SELECT 1 AS a")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    for ask, extra in ((result.arrow, "dpsql[arrow]"), (result.polars, "dpsql[polars]")):
        with pytest.raises(InterfaceError) as caught:
            ask()
        assert extra in str(caught.value)
    assert result.fetchall() == [(1,)]


@pytest.mark.parametrize("how", ["thread", "control-c"])
def test_interrupting(scratch: Scratch, how: str) -> None:
    stop = scratch.interrupt if how == "thread" else lambda: os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.3, stop)
    timer.start()
    with pytest.raises(PostProcessingError if how == "thread" else KeyboardInterrupt) as caught:
        scratch.query(LONG)
    timer.join()
    assert isinstance(caught.value, dpsql.Error)
    assert caught.value.number == 503
    assert len(scratch.query("SELECT * FROM r")) == 3


def test_threads(scratch: Scratch) -> None:
    wrong: list[object] = []

    def work(number: int) -> None:
        for _ in range(10):
            rows = scratch.query(f"SELECT d * {number} FROM r ORDER BY d").fetchall()
            if rows != [(number,), (2 * number,), (3 * number,)]:
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_closing(scratch: Scratch) -> None:
    scratch.close()
    with pytest.raises(InterfaceError):
        scratch.query("SELECT 1")


def test_public_tables(tmp_path: Path, scratch: Scratch) -> None:
    path = tmp_path / "p.csv"
    path.write_text("a,b\n1,x\n2,\n")
    with PublicReader({"p": Files(paths=(path,), kind="csv")}, Limits()) as public:
        assert [column.name for column in public.columns("p")] == ["a", "b"]
        scratch.load_stream("p", public.stream(f"SELECT * FROM {relation('p')}"))
        scratch.load_stream("q", public.stream("SELECT CAST(a AS INTEGER) AS a FROM source.p"))
    assert scratch.query("SELECT p.a, b, q.a FROM p JOIN q ON p.a::INTEGER = q.a ORDER BY 1").fetchall() == [
        ("1", "x", 1),
        ("2", None, 2),
    ]
