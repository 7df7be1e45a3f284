"""One table, however it is stored, gives one answer: files of both kinds, globs, databases, awkward frames."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql.testing import exact
from tests.worlds import dataset, people, private, public

pytestmark = pytest.mark.slow

COLUMNS = {
    "u": "text",
    "word": "text",
    "whole": {"type": "integer", "lower": 0, "upper": 10},
    "price": {"type": "decimal(6, 2)", "lower": 0, "upper": 500},
    "share": {"type": "real", "lower": 0, "upper": 1},
    "yes": "boolean",
    "day": {"type": "date", "lower": "2020-01-01", "upper": "2020-12-31"},
    "moment": {"type": "timestamp", "lower": "2020-01-01", "upper": "2020-12-31"},
}
ROWS = [
    ("ann", "a, b", 1, "1.50", 0.25, True, "2020-01-02", "2020-01-02 10:00:00"),
    ("ann", "it's", 2, "2.25", 0.5, False, "2020-02-03", "2020-02-03 11:30:00"),
    ("bob", 'say "x"', 3, "99.99", 1.0, True, "2020-02-03", "2020-02-03 11:30:00"),
    ("cid", "é", 10, "0.01", 0.0, None, "2020-12-31", "2020-06-30 00:00:00"),
    ("dan", None, None, None, None, True, None, None),
]
SQL = (
    "SELECT word, COUNT(*), SUM(whole), SUM(price), SUM(share), COUNT(yes), MIN(day), MAX(moment) FROM t GROUP BY word",
    "SELECT yes, EXTRACT(month FROM day) AS m, COUNT(DISTINCT u), COUNT(moment) FROM t GROUP BY yes, m ORDER BY ALL",
    "SELECT date_trunc('hour', moment) AS h, COUNT(*) FROM t WHERE day = DATE '2020-02-03' GROUP BY h",
)


def catalog(folder: Path, source: object = None, **table: object) -> Path:
    """A YAML file (JSON is YAML) beside the data."""
    table |= {} if source is None else {"source": source}
    path = folder / "catalog.yaml"
    described = people(COLUMNS, max_groups=100, max_rows=100, budget={"epsilon": 9}, **table)
    path.write_text(json.dumps(described))
    return path


def answers(path: Path, source: object = None) -> list[list[tuple[object, ...]]]:
    connection = exact(path, source=source)
    try:
        return [sorted(connection.execute(sql).fetchall(), key=repr) for sql in SQL]
    finally:
        connection.close()


def table() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t (u VARCHAR, word VARCHAR, whole INTEGER, price DECIMAL(6, 2), share DOUBLE, yes BOOLEAN,"
        " day DATE, moment TIMESTAMP)"
    )
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ROWS)
    return connection


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> list[list[tuple[object, ...]]]:
    folder = tmp_path_factory.mktemp("wanted")
    with table() as connection:
        connection.execute(f"COPY t TO '{folder / 'one.parquet'}'")
    rows = answers(catalog(folder, "one.parquet"))
    counted = sorted((row[1] for row in rows[0]), key=repr)
    assert counted == [1, 1, 1, 1, 1]
    assert (sum(row[2] or 0 for row in rows[0]), sum(row[3] or 0 for row in rows[0])) == (
        16,
        decimal.Decimal("103.75"),
    )
    return rows


def parquet_folder(folder: Path) -> Path:
    with table() as connection:
        (folder / "parts").mkdir()
        for i in range(len(ROWS)):
            connection.execute(f"COPY (SELECT * FROM t LIMIT 1 OFFSET {i}) TO '{folder / 'parts' / f'{i}.parquet'}'")
    return catalog(folder, "parts/*.parquet")


def parquet_folder_of_spark(folder: Path) -> Path:
    """A folder that is named like a file, with folders in it, and with what is not data."""
    parquet_folder(folder)
    (folder / "t.parquet" / "year=2020").mkdir(parents=True)
    (folder / "t.parquet" / "_temporary").mkdir()
    for i in range(len(ROWS)):
        to = folder / "t.parquet" / ("year=2020" if i % 2 else "") / f"part-{i}.parquet"
        shutil.copy(folder / "parts" / f"{i}.parquet", to)
    shutil.copy(folder / "parts" / "0.parquet", folder / "t.parquet" / "_temporary" / "0.parquet")
    shutil.copy(folder / "parts" / "0.parquet", folder / "t.parquet" / ".0.parquet")
    (folder / "t.parquet" / "_SUCCESS").touch()
    return catalog(folder, "t.parquet")


def parquet_folder_by_its_name(folder: Path) -> Path:
    parquet_folder(folder)
    return catalog(folder, "parts")


def parquet_list(folder: Path) -> Path:
    """Two files whose columns stand in different orders."""
    with table() as connection:
        connection.execute(f"COPY (SELECT * FROM t LIMIT 2) TO '{folder / 'a.parquet'}'")
        turned = "SELECT moment, day, yes, share, price, whole, word, u FROM t LIMIT 9 OFFSET 2"
        connection.execute(f"COPY ({turned}) TO '{folder / 'b.parquet'}'")
    return catalog(folder, ["a.parquet", "b.parquet"])


def csv_default(folder: Path) -> Path:
    with table() as connection:
        connection.execute(f"COPY t TO '{folder / 't.csv'}' (HEADER, DELIMITER ',')")
    return catalog(folder, "t.csv")


def csv_as_pandas_writes_it(folder: Path) -> Path:
    """Dates with midnight, moments with a T, a fraction, or an offset."""
    lines = ["u,word,whole,price,share,yes,day,moment"]
    for n, (u, word, whole, price, share, yes, day, at) in enumerate(ROWS):
        written_at = None if at is None else (at.replace(" ", "T"), f"{at}.000", f"{at}+00")[n % 3]
        quoted = None if word is None else '"' + word.replace('"', '""') + '"'
        cells = (u, quoted, whole, price, share, yes, None if day is None else f"{day} 00:00:00", written_at)
        lines.append(",".join("" if cell is None else str(cell) for cell in cells))
    (folder / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    return catalog(folder, "t.csv")


def csv_of_its_own(folder: Path) -> Path:
    lines = ["u;word;whole;price;share;yes;day;moment"]
    for u, word, whole, price, share, yes, day, at in ROWS:
        written_at = None if at is None else dt.datetime.fromisoformat(at).strftime("%d.%m.%Y %H:%M")
        date = None if day is None else dt.date.fromisoformat(day).strftime("%d.%m.%Y")
        quoted = None if word is None else "'" + word.replace("'", "''") + "'"
        cells = (u, quoted, whole, price, share, None if yes is None else str(yes).lower(), date, written_at)
        lines.append(";".join("" if cell is None else str(cell) for cell in cells))
    (folder / "t.csv").write_text("\n".join(lines) + "\nbroken;line\n", encoding="utf-8")
    written = {"delimiter": ";", "quote": "'", "escape": "'", "date_format": "%d.%m.%Y"}
    return catalog(folder, "t.csv", format={**written, "timestamp_format": "%d.%m.%Y %H:%M"})


def database(folder: Path) -> Path:
    with table() as connection:
        connection.execute(f"ATTACH '{folder / 'd.duckdb'}' AS d")
        connection.execute("CREATE SCHEMA d.own")
        connection.execute("CREATE TABLE d.own.t AS FROM t")
    return catalog(folder, {"database": "d.duckdb", "table": "own.t"})


STORED = (
    parquet_folder,
    parquet_folder_of_spark,
    parquet_folder_by_its_name,
    parquet_list,
    csv_default,
    csv_as_pandas_writes_it,
    csv_of_its_own,
    database,
)


@pytest.mark.parametrize("stored", STORED)
def test_stored(stored: Callable[[Path], Path], tmp_path: Path, wanted: list[list[tuple[object, ...]]]) -> None:
    assert answers(stored(tmp_path)) == wanted


def pandas_objects() -> object:
    """Every cell a Python object: str, bytes, Decimal, date, datetime, None."""
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for row in ROWS:
        u, word, whole, price, share, yes, day, at = row
        columns["u"].append(u.encode())
        columns["word"].append(word)
        columns["whole"].append(whole)
        columns["price"].append(None if price is None else decimal.Decimal(price))
        columns["share"].append(share)
        columns["yes"].append(yes)
        columns["day"].append(None if day is None else dt.date.fromisoformat(day))
        columns["moment"].append(None if at is None else dt.datetime.fromisoformat(at))
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})


def pandas_typed() -> object:
    """Categories, nullable dtypes, a timezone."""
    frame = pandas_objects()
    assert isinstance(frame, pd.DataFrame)
    frame["u"] = pd.Series([row[0] for row in ROWS], dtype="category")
    frame["word"] = pd.Series([row[1] for row in ROWS], dtype="string")
    frame["whole"] = frame["whole"].astype("Int16")
    frame["share"] = frame["share"].astype("Float64")
    frame["yes"] = frame["yes"].astype("boolean")
    at = pd.to_datetime(pd.Series([row[7] for row in ROWS]))
    frame["moment"] = at.dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")
    return frame


def arrow() -> object:
    frame = pandas_typed()
    assert isinstance(frame, pd.DataFrame)
    return pa.Table.from_pandas(frame)


def arrays() -> object:
    frame = pandas_objects()
    assert isinstance(frame, pd.DataFrame)
    return {name: np.asarray(frame[name], dtype=object) for name in frame}


def relation() -> object:
    return table().table("t")


@pytest.mark.parametrize("made", [pandas_objects, pandas_typed, arrow, arrays, relation])
def test_frames(made: Callable[[], object], tmp_path: Path, wanted: list[list[tuple[object, ...]]]) -> None:
    assert answers(catalog(tmp_path), {"t": made()}) == wanted


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"


def test_a_database_that_another_process_writes_to(tmp_path: Path) -> None:
    path = database(tmp_path)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "d.duckdb")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(dpsql.Error) as caught:
            answers(path)
        assert caught.value.code == "DPSQL-304"
    finally:
        holder.stdin.close()
        holder.wait()
        holder.stdout.close()
    assert answers(path)


@pytest.mark.parametrize("version", ["1.0", "2.6"])
def test_parquet_that_one_cell_could_stop(version: str, tmp_path: Path) -> None:
    """Milliseconds and times of day: DuckDB raises for some. Refused by the schema alone, not by what the rows hold."""
    table = pa.table(
        {
            "u": ["a"],
            "nested": pa.array([{"moment": dt.datetime(2020, 1, 1)}], pa.struct([("moment", pa.timestamp("ms"))])),
            "moment": pa.array([0], pa.int64()).view(pa.timestamp("us")),
            "milli": pa.array([0], pa.int64()).view(pa.timestamp("ms")),
            "clock": pa.array([0], pa.int64()).view(pa.time64("us")),
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", version=version)

    def count(column: str, type_: str) -> object:
        columns = {"u": "text", column: type_}
        spec = private(columns, source="t.parquet", max_groups=1, max_rows=1)
        catalog = dataset({"t": spec, "p": public(columns, source="t.parquet")}, budget={"epsilon": 9})
        (tmp_path / "c.yaml").write_text(json.dumps(catalog))
        with exact(tmp_path / "c.yaml") as connection:
            assert connection.execute(f"SELECT COUNT({column}) FROM p").fetchall() == [(1,)]
            return connection.execute(f"SELECT COUNT({column}) FROM t").fetchall()

    assert count("moment", "timestamp") == [(1,)]
    for column, type_ in (("milli", "timestamp"), ("clock", "text")):
        with pytest.raises(dpsql.Error, match=f'307.*"{column}"'):
            count(column, type_)
