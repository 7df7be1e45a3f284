"""How long does a plan take? EXPLAIN of simple and large statements: milliseconds of wall time, the middle of the turns."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import dpsql
from dpsql.samples.prepare import prepare

STATEMENTS = {
    "a count": "SELECT COUNT(*) FROM visits",
    "few keys": "SELECT specialty, COUNT(*), AVG(duration) FROM visits WHERE duration > 10 GROUP BY specialty",
    "a join": "SELECT s.floor, SUM(duration) FROM visits JOIN specialties AS s ON specialty = s.name GROUP BY 1",
    "366 keys": "SELECT visited_on, COUNT(*) FROM visits GROUP BY visited_on",
    "20 sums": f"SELECT {', '.join(f'SUM(LEAST(duration, {n}))' for n in range(1, 21))} FROM visits",
    "158,112 keys": "SELECT specialty, visited_on, FLOOR(duration / 3.4), COUNT(*) FROM visits GROUP BY ALL",
}
LIMIT = 10  # ms, of the simple ones


def main(argv: list[str]) -> None:
    """argv: how many turns (31)."""
    turns = int(argv[0]) if argv else 31
    with tempfile.TemporaryDirectory(prefix="dpsql-planning-") as folder:
        connection = dpsql.connect(prepare("hospital", Path(folder)))
        for name, sql in STATEMENTS.items():
            connection.explain(sql)  # public tables are read once
            times = sorted(_milliseconds(connection, sql) for _ in range(turns))
            print(f"{name:14} {statistics.median(times):8.1f} ms   fastest {times[0]:8.1f} ms")
        connection.close()
    print(f"simple statements should stay within {LIMIT} ms")


def _milliseconds(connection: dpsql.Connection, sql: str) -> float:
    started = time.perf_counter()
    connection.explain(sql)
    return (time.perf_counter() - started) * 1000
