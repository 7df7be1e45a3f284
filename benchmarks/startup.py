"""How long the command takes to start, as ratios to `python -c "import duckdb"` on the same machine.

Processor time (user and system, all threads) beside the clock: on a machine with other work only the first says
something. Bytecode is compiled once, as an installed package's is, before anything is measured.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from dpsql.samples.prepare import prepare

RUNS = 7
QUERY = "SELECT specialty, COUNT(*) AS n FROM visits WHERE duration > {} GROUP BY specialty"
TARGETS = {"dpsql --version": 0.150, "dpsql METADATA -c SQL": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The least of several runs, in seconds: what other processes add is never negative."""

    processor: float
    clock: float


def taken(environment: dict[str, str], *words: str) -> Taken:
    """Of a process. A {} in its words is another number each time, so that no query is a repeat."""
    runs = [_run(environment, [word.format(number) for word in words]) for number in range(RUNS + 1)]
    return Taken(processor=min(run.processor for run in runs[1:]), clock=min(run.clock for run in runs[1:]))


def _run(environment: dict[str, str], words: list[str]) -> Taken:
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Taken(
        processor=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        clock=time.perf_counter() - start,
    )


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
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        measured = {name: taken(environment, *words) for name, words in commands.items()}
    unit = measured["python -c 'import duckdb'"].processor
    print(
        f"{'command':28} {'processor ms':>12} {'ratio':>6} {'clock ms':>9}   (least of {RUNS}; ratio to import duckdb)"
    )
    for name, seconds in measured.items():
        target = f"   target {TARGETS[name] * 1000:.0f} ms" if name in TARGETS else ""
        ratio = seconds.processor / unit
        print(f"{name:28} {seconds.processor * 1000:12.0f} {ratio:6.2f} {seconds.clock * 1000:9.0f}{target}")
