"""What breaks of a cluster while a query runs: executors that are killed, and a Spark Connect server that is made again. An
answer is right, or there is none, with a code that says nothing; the next query is answered."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

import dpsql
from dpsql import testing
from tests.engines import spark as engine
from tests.engines.spark_cluster import Cluster, running
from tests.worlds import people

pytestmark = [pytest.mark.deep, pytest.mark.filterwarnings("ignore")]
ROWS = 3_000_000
ASKED = "SELECT k, COUNT(*), SUM(x), COUNT(DISTINCT x) FROM t GROUP BY k ORDER BY k"
CATALOG: dict[str, Any] = people(
    {"k": {"type": "integer", "keys": {"from": 0, "to": 3}}, "x": {"type": "real", "lower": 0, "upper": 4}},
    rows_per_unit=20,
)


def test_faults_of_a_cluster(tmp_path: Path) -> None:
    if not engine.available() and os.environ.get("CI") != "true":
        pytest.skip(engine.MISSING)
    files = tmp_path / "t.parquet"
    made = f"SELECT i % 50000 AS u, i % 4 AS k, CAST(i % 17 AS DOUBLE) / 4 AS x FROM range({ROWS}) AS r(i)"
    duckdb.sql(f"COPY ({made}) TO '{files}' (FORMAT parquet)")
    with testing.exact(CATALOG, source={"t": files}) as here:
        expected = here.execute(ASKED).fetchall()
    with running() as cluster:
        session = connected(cluster)
        with testing.exact(CATALOG, source={"t": {"spark": session, "files": str(files)}}) as there:
            assert there.execute(ASKED).fetchall() == expected
            for _ in range(3):
                killed: list[int] = []
                stop = threading.Timer(2, lambda killed=killed: killed.extend(kill(cluster)))
                stop.start()
                with suppress(dpsql.Error):
                    assert there.execute(ASKED).fetchall() == expected
                stop.join()
                assert killed
        cluster.stop_serving()
        with testing.exact(CATALOG, source={"t": {"spark": session, "files": str(files)}}) as gone:
            with pytest.raises(dpsql.Error) as caught:
                gone.execute(ASKED)
            assert caught.value.code in ("DPSQL-315", "DPSQL-500") and "127.0.0.1" not in str(caught.value)
        cluster.serve()
        again = connected(cluster)
        with testing.exact(CATALOG, source={"t": {"spark": again, "files": str(files)}}) as there:
            assert there.execute(ASKED).fetchall() == expected
        again.stop()


def connected(cluster: Cluster) -> Any:
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(cluster.connect).create()


def kill(cluster: Cluster) -> list[int]:
    """All executors at once; workers start others."""
    killed = cluster.executors()
    for process in killed:
        os.kill(process, signal.SIGKILL)
    return killed
