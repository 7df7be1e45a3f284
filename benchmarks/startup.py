"""How long the command takes to start, as ratios to `python -c "import duckdb"` on the same machine."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from dpsql.samples.prepare import prepare

RUNS = 7
QUERY = "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty"


def seconds(*words: str) -> float:
    """The median wall time of a process."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="dpsql-startup-") as folder:
        metadata = str(prepare("hospital", Path(folder)))
        shell = ("-m", "dpsql.shell.main")
        commands = {
            "python -c pass": ("-c", "pass"),
            "python -c 'import duckdb'": ("-c", "import duckdb"),
            "python -c 'import dpsql'": ("-c", "import dpsql"),
            "dpsql --version": (*shell, "--version"),
            "dpsql --help": (*shell, "--help"),
            "dpsql help bounds": (*shell, "help", "bounds"),
            "dpsql explain METADATA SQL": (*shell, "explain", metadata, QUERY),
            "dpsql METADATA -c SQL": (*shell, metadata, "-c", QUERY),
        }
        measured = {name: seconds(*words) for name, words in commands.items()}
    unit = measured["python -c 'import duckdb'"]
    print(f"{'command':30} {'ms':>6} {'ratio':>6}   (median of {RUNS}; ratio to import duckdb)")
    for name, taken in measured.items():
        print(f"{name:30} {taken * 1000:6.0f} {taken / unit:6.2f}")
