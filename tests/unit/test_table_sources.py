"""A source that is given by hand is read as carefully as a declared one."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.engine.sources import Files
from dpsql.errors import SourceError
from dpsql.metadata.load import load
from dpsql.sources.table_sources import sources_of
from dpsql.testing import exact
from tests.worlds import dataset, people, private, through

COLUMNS = {"name": "text", "n": "integer"}
CATALOG = people(COLUMNS, unit="name", rows_per_unit=1, budget={"epsilon": 1, "delta": 0})


@pytest.mark.parametrize("given", ["t.parquet", Path("t.parquet"), {"t": "t.parquet"}, {"T": Path("t.parquet")}])
def test_two_people_s_names_are_never_read_as_one(given: object) -> None:
    """Bytes that are no UTF-8 are read as "?": in the unit's column such a text is nobody."""
    (sources,) = sources_of(load(CATALOG), given).values()
    assert isinstance(sources, Files) and sources.exact == {"name"}


def test_nor_are_the_rows_of_two_people_that_a_path_leads_to(tmp_path: Path) -> None:
    """Each of these rows would have been of three people: who removes one would change what two others have."""
    keys = [b"a\xff", b"a\xfe", b"a?", b"b"]
    for name, columns in {"people": ("u", "id"), "visits": ("x", "person")}.items():
        cells = pa.array([key for key in keys for _ in range(5 if name == "visits" else 1)], pa.binary())
        numbers = [n // 5 if name == "visits" else n for n in range(len(cells))]
        texts = pa.Array.from_buffers(pa.string(), len(cells), cells.buffers())
        pq.write_table(pa.table(dict(zip(columns, (numbers, texts), strict=True))), tmp_path / f"{name}.parquet")
    visits = private({"person": "text", "x": "integer"}, unit=through("people", person="id"))
    catalog = dataset({"people": private({"id": "text"}), "visits": visits})
    with exact(catalog, source={name: tmp_path / f"{name}.parquet" for name in ("people", "visits")}) as connection:
        assert connection.execute("SELECT COUNT(*) FROM people").fetchall() == [(4,)]
        assert connection.execute("SELECT x, COUNT(*) FROM visits GROUP BY x").fetchall() == [(3, 5)]


SEVERAL = {
    "DOUBLE": ("0.0", "-0.0"),
    "FLOAT": ("1", "1"),
    "DECIMAL(9,2)": ("1", "1"),
    "INTERVAL": ("'1 month'", "'30 days'"),
}


@pytest.mark.parametrize("type_", SEVERAL)
def test_units_that_are_equal_in_the_source_are_never_several(tmp_path: Path, type_: str) -> None:
    """Zero has two signs, 1.0 is 1 in another table, a month is thirty days: only their texts differ."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        cells = ", ".join(f"CAST({cell} AS {type_})" for cell in SEVERAL[type_])
        database.execute(f"CREATE TABLE t AS SELECT unnest([{cells}]) AS name, 1 AS n")
    source = str(tmp_path / "d.duckdb")
    refused = pytest.raises(SourceError, match=f'"name" is {re.escape(type_)} in the source')
    with refused as caught, exact(CATALOG, source=source) as connection:
        connection.execute("SELECT COUNT(*) FROM t")
    assert caught.value.number == 307


def test_units_that_differ_in_the_source_are_not_made_one() -> None:
    """DuckDB's moments are of microseconds here, whatever they are of in the source."""
    table = pa.table({"name": pa.array([1_000, 1_001], pa.timestamp("ns")), "n": [1, 2]})
    refused = pytest.raises(SourceError, match="is TIMESTAMP")
    with refused as caught, exact(CATALOG, source={"t": table}) as connection:
        connection.execute("SELECT COUNT(*) FROM t")
    assert caught.value.number == 307


def test_a_unit_with_a_collation_is_refused_in_duckdb_too(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        database.execute(
            'CREATE TABLE t ("name" VARCHAR COLLATE NOCASE, n INTEGER, "a ""b" VARCHAR COLLATE NOCASE.NOACCENT)'
        )
        database.execute("INSERT INTO t VALUES ('anna', 1, 'x'), ('ANNA', 2, 'X')")
    source = str(tmp_path / "d.duckdb")
    for unit in ("name", 'a "b'):
        refused = pytest.raises(SourceError, match="has a collation that takes different texts for equal")
        with refused, exact(people({unit: "text"}, unit=unit), source=source) as connection:
            connection.execute("SELECT COUNT(*) FROM t")
    with exact(people({"name": "text"}, unit="n"), source=source) as connection:
        assert connection.execute("SELECT COUNT(DISTINCT name), COUNT_IF(name = 'anna') FROM t").fetchall() == [(2, 1)]
