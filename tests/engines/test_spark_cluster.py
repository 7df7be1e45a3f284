"""Spark Connect, over a real standalone cluster: one master, two workers, each a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql import testing
from tests.engines import spark as engine
from tests.engines.spark_cluster import Cluster, running
from tests.worlds import people

# PySpark and gRPC warn of what is theirs; what dpsql answers is compared.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
ROWS = 20_000
# One unit has a third of the rows.
MADE = f"""
    CREATE TABLE visits USING parquet AS
    SELECT CASE WHEN id % 3 = 0 THEN 0 ELSE id % 500 END AS u, id % 4 AS k, double(id % 17) / 4 AS x,
        concat('g', id % 5) AS s FROM range({ROWS})
"""
COLUMNS: dict[str, Any] = {
    "u": "integer",
    "k": {"type": "integer", "keys": {"from": 0, "to": 3}},
    "x": {"type": "real", "lower": 0, "upper": 4},
    "s": "text",
}
CATALOG = """
dataset: visits
version: "1"
unit: person
budget: {epsilon: 100, delta: 1.0e-3}
per_query: {epsilon: 1, delta: 1.0e-6}
tables:
  visits:
    source: ADDRESS
    unit: u
    rows_per_unit: 20
    columns: {u: integer, k: {type: integer, keys: {from: 0, to: 3}}, x: {type: real, lower: 0, upper: 4}, s: text}
"""


def test_a_cluster_of_two_workers(tmp_path: Path) -> None:
    """One test, so that pytest's processes do not start a cluster each."""
    if not engine.available() and os.environ.get("CI") != "true":
        pytest.skip(engine.MISSING)
    from pyspark.sql.connect.session import SparkSession

    with running() as cluster:
        session = SparkSession.builder.remote(cluster.connect).create()
        try:
            session.sql(MADE).collect()
            exact_totals_are_those_of_the_same_rows_on_duckdb(session)
            the_shell_asks_the_cluster(cluster, tmp_path)
            init_reads_names_and_types(cluster)
        finally:
            session.stop()


def exact_totals_are_those_of_the_same_rows_on_duckdb(session: Any) -> None:
    rows = session.table("visits").toArrow()
    tables = {"visits": {**people(COLUMNS, rows_per_unit=20)["tables"]["t"]}}
    catalog = {**people(COLUMNS), "tables": tables}
    asked = (
        "SELECT k, COUNT(*), SUM(x) FROM visits GROUP BY k ORDER BY k",
        "SELECT s, COUNT(DISTINCT u), AVG(x) FROM visits GROUP BY s ORDER BY s",
    )
    with testing.exact(catalog, source=session) as there, testing.exact(catalog, source=rows) as here:
        for sql in asked:
            assert there.execute(sql).fetchall() == here.execute(sql).fetchall()


def the_shell_asks_the_cluster(cluster: Cluster, tmp_path: Path) -> None:
    metadata = tmp_path / "visits.yaml"
    metadata.write_text(CATALOG.replace("ADDRESS", cluster.connect))
    done = _dpsql(metadata, "-c", "SELECT k, COUNT(*) FROM visits GROUP BY k")
    assert done.returncode == 0 and len(done.stdout.splitlines()) >= 4, done.stderr
    again = _dpsql(metadata, "-c", "SELECT k, COUNT(*) FROM visits GROUP BY k")
    assert again.stdout == done.stdout, "a repeat is free and the same"
    checked = subprocess.run(
        [sys.executable, "-m", "dpsql", "check", str(metadata), "--source"], capture_output=True, text=True, timeout=300
    )
    assert checked.returncode == 0, checked.stderr


def _dpsql(metadata: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dpsql", str(metadata), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def init_reads_names_and_types(cluster: Cluster) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dpsql", "init", cluster.connect, "--table", "visits"],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0 and f'source: {{spark: "{cluster.connect}", table: visits}}' in done.stdout, done.stderr
    assert "k: integer" in done.stdout and "s: text" in done.stdout


def test_no_connect_server_is_said_without_its_name(tmp_path: Path) -> None:
    metadata = {**people(COLUMNS), "tables": {"t": {**people(COLUMNS)["tables"]["t"], "source": "sc://127.0.0.1:1"}}}
    with dpsql.connect(metadata, ledger=None) as connection, pytest.raises(dpsql.Error) as caught:
        connection.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) COUNT(*) FROM t")
    assert caught.value.code == "DPSQL-315" and "127.0.0.1" not in str(caught.value)
