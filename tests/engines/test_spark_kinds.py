"""Columns of Spark's rarer kinds: padded and collated texts, texts as years, folders as columns, types that are not read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql
from dpsql import testing
from dpsql.engine.hardening import Limits
from dpsql.engine.sources import Cluster, SparkTable
from dpsql.engine.spark import settings
from dpsql.engine.spark.backend import Spark
from dpsql.engine.vault import Vault
from tests.worlds import people

pytestmark = pytest.mark.slow
MADE = """
    CREATE TABLE kinds (u BIGINT, c CHAR(5), v VARCHAR(5), ci STRING COLLATE UTF8_LCASE, un STRING COLLATE UNICODE_CI,
        rt STRING COLLATE UTF8_BINARY_RTRIM, y STRING, ym INTERVAL YEAR TO MONTH, dt INTERVAL DAY TO SECOND, j VARIANT,
        m MAP<STRING, INT>, a ARRAY<INT>, s STRUCT<x: INT>, b BINARY, big DECIMAL(38, 0), small DECIMAL(38, 38),
        l TIMESTAMP_LTZ, n TIMESTAMP_NTZ) USING parquet
"""
ROWS = """
    INSERT INTO kinds SELECT id,
        element_at(array('a', 'a ', 'b', 'A'), i), element_at(array('a', 'a ', 'b', 'A'), i),
        element_at(array('a', 'A', 'é', 'É'), i), element_at(array('a', 'A', 'e', 'é'), i),
        element_at(array('a', 'a ', 'b', 'b'), i),
        element_at(array('0000-01-01', '12020-01-01', '2020-02-30', '0001-01-01'), i),
        INTERVAL '0-1' YEAR TO MONTH, INTERVAL '1 00:00:00' DAY TO SECOND, parse_json('1'), map('k', 1), array(1),
        named_struct('x', 1), X'ff',
        CAST('99999999999999999999999999999999999999' AS DECIMAL(38,0)) - id, CAST('1e-38' AS DECIMAL(38,38)) * id,
        TIMESTAMP_LTZ'2026-03-29 01:30:00 UTC', TIMESTAMP_NTZ'2026-03-29 02:30:00'
    FROM (SELECT id, CAST(id % 4 + 1 AS INT) AS i FROM range(8))
"""
COLUMNS: dict[str, Any] = {
    "c": "text", "v": "text", "ci": "text", "un": "text", "rt": "text", "y": "date", "big": "decimal(38, 0)",
    "small": "decimal(38, 38)", "l": "timestamp", "n": "timestamp",
}  # fmt: skip


def at(spark: Any, name: str = "", *, files: str = "") -> SparkTable:
    return SparkTable(
        cluster=Cluster(session=spark), name=tuple(name.split(".")) if name else (), files=(files,) if files else ()
    )


@pytest.fixture(scope="module")
def kinds(spark: Any) -> Iterator[SparkTable]:
    made = settings.fresh(spark)  # with char(n) as Spark has it, whatever the session's settings are
    made.sql(MADE)
    made.sql(ROWS)
    yield at(spark, "kinds")
    made.sql("DROP TABLE kinds")


def groups(connection: Any, key: str) -> dict[Any, int]:
    return dict(connection.execute(f"SELECT {key}, COUNT(*) FROM t GROUP BY 1").fetchall())


def test_texts_are_their_bytes_whatever_the_column_says(kinds: SparkTable) -> None:
    """char(n) has no blanks at its end; a collation that takes texts for one does not join them, as keys or compared."""
    with testing.exact(people(COLUMNS), source={"t": kinds}) as connection:
        assert groups(connection, "c") == {"a": 4, "b": 2, "A": 2}
        assert groups(connection, "v") == {"a": 2, "a ": 2, "b": 2, "A": 2}
        assert groups(connection, "ci") == {"a": 2, "A": 2, "é": 2, "É": 2}
        assert groups(connection, "un") == {"a": 2, "A": 2, "e": 2, "é": 2}
        assert groups(connection, "rt") == {"a": 2, "a ": 2, "b": 4}
        asked = "COUNT_IF(c = 'a'), COUNT_IF(c = 'a '), COUNT_IF(ci = 'a'), COUNT_IF(rt = 'a'), COUNT_IF(ci LIKE 'A%')"
        assert connection.execute(f"SELECT {asked}, COUNT_IF(LENGTH(c) = 1) FROM t").fetchall() == [(4, 0, 2, 2, 2, 8)]
        assert connection.execute("SELECT COUNT(y), MIN(y) FROM t WHERE y = DATE '0001-01-01'").fetchall()[0][0] == 2


def test_padded_texts_as_units(kinds: SparkTable) -> None:
    """Two texts are two persons, but for blanks that pad; where a collation takes them for one, neither answer is right."""
    for unit, persons in (("c", 3), ("v", 4)):
        catalog = people({unit: "text", "big": "decimal(38, 0)"}, unit=unit)
        with testing.exact(catalog, source={"t": kinds}) as connection:
            assert connection.execute(f"SELECT COUNT(DISTINCT {unit}) FROM t").fetchall() == [(persons,)], unit
    for unit in ("ci", "un", "rt"):
        catalog = people({unit: "text", "big": "decimal(38, 0)"}, unit=unit)
        with testing.exact(catalog, source={"t": kinds}) as connection, pytest.raises(dpsql.Error) as caught:
            connection.execute("SELECT COUNT(big) FROM t")
        assert caught.value.code == "DPSQL-307" and "takes different texts for equal" in str(caught.value)


def test_moments_and_long_decimals(kinds: SparkTable) -> None:
    """A time with a zone is UTC's; one without is as it stands, where clocks are put forward too."""
    with testing.exact(people(COLUMNS), source={"t": kinds}) as connection:
        hours = "COUNT_IF(date_part('hour', l) = 1), COUNT_IF(date_part('hour', n) = 2)"
        asked = f"{hours}, COUNT(DISTINCT big), COUNT(DISTINCT small)"
        assert connection.execute(f"SELECT {asked} FROM t").fetchall() == [(8, 8, 8, 8)]
        one = f"SELECT COUNT(*) FROM t WHERE CAST(big AS VARCHAR) = '{10**38 - 1 - 3}'"
        assert connection.execute(one).fetchall() == [(1,)]


def test_what_is_not_read_says_so(kinds: SparkTable) -> None:
    with Vault(Spark({"t": kinds}, Limits(), None), None) as vault:
        types = {column.name: column.type for column in vault.columns("t")}
    interval = dict.fromkeys(("ym", "dt"), "an interval")
    for name, words in {
        **interval,
        "j": "not plain ones",
        "m": "maps",
        "a": "arrays",
        "s": "structs",
        "b": "bytes",
    }.items():
        assert types[name].startswith("unreadable: ") and words in types[name], (name, types[name])
    with pytest.raises(dpsql.Error) as caught, testing.exact(people({"j": "text"}), source={"t": kinds}) as connection:
        connection.execute("SELECT COUNT(j) FROM t")
    assert caught.value.code == "DPSQL-307"


def test_folders_are_columns_of_text(spark: Any, tmp_path: Path) -> None:
    """What is in a folder's name decides no type; a row whose folder has no value there is NULL."""
    for value, units in (("1", [1, 2]), ("01", [3]), ("x%2Fy", [4]), ("__HIVE_DEFAULT_PARTITION__", [5])):
        folder = tmp_path / "parts" / f"k={value}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"u": units}), folder / "part.parquet")
    source = {"t": at(spark, files=str(tmp_path / "parts"))}
    with testing.exact(people({"k": "text"}), source=source) as connection:
        assert groups(connection, "k") == {"1": 2, "01": 1, "x/y": 1, None: 1}
    with testing.exact(people({"k": "integer"}), source=source) as connection:
        assert groups(connection, "k") == {1: 3, None: 2}
