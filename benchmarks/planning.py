"""How long does a plan take? EXPLAIN of simple statements, and of those as large as the limits allow, with its memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dpsql
from benchmarks._large_queries import LARGE
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
LARGE_LIMIT, MEMORY_LIMIT = 200, 100  # ms and MB, of what is as large as it may be
MOST = 1 << 17


def main(argv: list[str]) -> None:
    """argv: how many turns (31); or `large NAME N`, which main itself runs, in a process of its own."""
    if argv[:1] == ["large"]:
        _measure_one(argv[1], int(argv[2]))
        return
    turns = int(argv[0]) if argv else 31
    with tempfile.TemporaryDirectory(prefix="dpsql-planning-") as folder:
        connection = dpsql.connect(prepare("hospital", Path(folder)))
        for name, sql in STATEMENTS.items():
            connection.explain(sql)  # public tables are read once
            times = sorted(_milliseconds(connection, sql) for _ in range(turns))
            print(f"{name:14} {statistics.median(times):8.1f} ms   fastest {times[0]:8.1f} ms")
        print(f"simple statements should stay within {LIMIT} ms\n\nas many as are accepted:")
        for name in LARGE:
            command = [sys.executable, "-m", "benchmarks", "planning", "large", name, str(largest(connection, name))]
            lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
            print(lines[-1], flush=True)
        connection.close()
    print(f"they should stay within {LARGE_LIMIT} ms and {MEMORY_LIMIT} MB")


def largest(connection: dpsql.Connection, name: str) -> int:
    """The largest n, within a twentieth, with which a query is accepted."""
    low, high = 0, 1
    while high < MOST and _accepted(connection, LARGE[name](high)):
        low, high = high, high * 2
    while high - low > 1 + low // 20:
        middle = (low + high) // 2
        low, high = (middle, high) if _accepted(connection, LARGE[name](middle)) else (low, middle)
    return max(low, 2)  # some need two


def _accepted(connection: dpsql.Connection, sql: str) -> bool:
    try:
        connection.explain(sql)
    except dpsql.Error:
        return False
    return True


def _measure_one(name: str, n: int) -> None:
    """Processor time of all threads, the least of five turns, and the most memory beyond what there was before."""
    with tempfile.TemporaryDirectory(prefix="dpsql-planning-") as folder:
        connection = dpsql.connect(prepare("hospital", Path(folder)))
        for sql in STATEMENTS.values():
            connection.explain(sql)
        sql, before = LARGE[name](n), _memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5", "ascii")  # the peak begins anew
        connection.explain(sql)
        memory = _memory("VmHWM") - before
        times = []
        for _ in range(5):
            started = time.process_time()
            connection.explain(sql)
            times.append((time.process_time() - started) * 1000)
        connection.close()
    over = " (over)" if min(times) > LARGE_LIMIT or memory > MEMORY_LIMIT else ""
    print(f"{n:7,} {name:20} {min(times):6.0f} ms {memory:6.0f} MB{over}")


def _memory(line: str) -> float:
    """MB, as Linux says them."""
    status = Path("/proc/self/status").read_text("ascii").splitlines()
    return float(next(text.split()[1] for text in status if text.startswith(line))) / 1024


def _milliseconds(connection: dpsql.Connection, sql: str) -> float:
    started = time.perf_counter()
    connection.explain(sql)
    return (time.perf_counter() - started) * 1000
