"""Runs every program on the same data, measures, and has the tables written."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

import dpsql
from benchmarks import accuracy
from benchmarks._environment import ROOT, python_with
from benchmarks._server_results import section
from benchmarks.peers.child import Task
from benchmarks.peers.measures import Size, Speed, Truth, measured, spent
from benchmarks.peers.reasons import OURS
from benchmarks.peers.table import written

HERE = Path(__file__).parent
RESULTS = HERE.parent / "RESULTS.md"
NUMBERS = HERE.parent / "results" / "peers.json"
EPSILON, DELTA, CAP, SEED = 1.0, 1e-6, 10, 1
HIGH = 240.0  # of amounts in the tables for speed
SECONDS, MEMORY = 240, 8_000  # of one measurement of speed; MB
SIZES = (
    Size(rows=100_000, units=10_000, groups=1_000),
    Size(rows=1_000_000, units=100_000, groups=1_000),
    Size(rows=10_000_000, units=1_000_000, groups=1_000),
    Size(rows=1_000_000, units=10_000, groups=1_000),
    Size(rows=1_000_000, units=1_000_000, groups=1_000),
    Size(rows=1_000_000, units=100_000, groups=10),
    Size(rows=1_000_000, units=100_000, groups=100_000),
)
WARM = Size(rows=1_000, units=100, groups=5)
QUICK = (Size(rows=20_000, units=4_000, groups=10),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """script: ask_….py. requirements: the file of its environment; None: this one. package: whose version is told."""

    name: str
    script: str
    package: str
    requirements: str | None
    cap: int | None = CAP


PROGRAMS = (
    Program(name=OURS[0], script="dpsql", package="dpsql", requirements=None, cap=None),
    Program(name=OURS[1], script="dpsql", package="dpsql", requirements=None),
    Program(name="smartnoise-sql", script="smartnoise", package="smartnoise-sql", requirements="smartnoise"),
    Program(name="opendp (Polars)", script="opendp", package="opendp", requirements="opendp"),
    Program(name="pyqrlew", script="pyqrlew", package="pyqrlew", requirements="pyqrlew"),
    Program(name="pipeline-dp", script="pipelinedp", package="pipeline-dp", requirements="pipelinedp"),
)


class Cannot(Exception):
    """Why there is no answer, in one line."""


def main(argv: list[str]) -> None:
    """--quick prints a smoke test; --tables writes RESULTS.md again from results/peers.json."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks peers")
    parser.add_argument("--runs", type=int, default=200, help="of each question about accuracy")
    parser.add_argument("--seconds", type=float, default=60, help="after which no further run of a question begins")
    parser.add_argument(
        "--turns", type=int, default=3, help="of each measurement of speed that takes less than a minute"
    )
    parser.add_argument("--quick", action="store_true", help="3 runs, one small table for speed; printed, not written")
    parser.add_argument("--only", action="append", help="programs, by their names; printed, not written")
    parser.add_argument("--tables", action="store_true", help="write the tables and pictures of the last run again")
    chosen = parser.parse_args(argv)
    if chosen.quick:
        chosen.runs, chosen.turns = 3, 1
    if not chosen.tables:
        programs = [one for one in PROGRAMS if chosen.only is None or one.name in chosen.only]
        measured = numbers(programs, chosen.runs, chosen.seconds, chosen.turns, QUICK if chosen.quick else SIZES)
        if chosen.quick or chosen.only:
            print(written(measured, strict=False))
            return
        NUMBERS.parent.mkdir(exist_ok=True)
        NUMBERS.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_results()
    draw = [str(python_with(HERE / "requirements" / "opendp.txt", "peers-opendp")), "-m", "benchmarks.peers.draw"]
    subprocess.run([*draw, str(NUMBERS), str(NUMBERS.parent)], check=True, cwd=ROOT)


def write_results() -> None:
    """RESULTS.md, from the numbers of this benchmark and of `server`."""
    about_peers = written(json.loads(NUMBERS.read_text(encoding="utf-8")))
    RESULTS.write_text(about_peers + section(), encoding="utf-8")


def numbers(programs: list[Program], runs: int, seconds: float, turns: int, sizes: tuple[Size, ...]) -> dict[str, Any]:
    """Everything that RESULTS.md says, as JSON."""
    accurate: list[dict[str, Any]] = []
    fast: list[dict[str, Any]] = []
    versions: dict[str, str] = {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dpsql-peers-") as name:
        folder = Path(name)
        file = orders(folder)
        truth = Truth.of(file)
        for program in programs:
            versions[program.package] = version(program)
            task = _task(program, file, truth.rows, accuracy.CATEGORIES, accuracy.HIGH, runs=runs, seconds=seconds)
            accurate += [{"program": program.name, **line} for line in asked(program, task, truth)]
            print(f"{time.monotonic() - began:7.0f} s  accuracy of {program.name}", file=sys.stderr, flush=True)
        warm = table(folder, WARM)
        for size in sizes:
            file = table(folder, size)
            fast += timed(programs, size, file, warm, turns)
            file.unlink()
            print(f"{time.monotonic() - began:7.0f} s  speed: {size}", file=sys.stderr, flush=True)
    settings = {"epsilon": EPSILON, "delta": DELTA, "cap": CAP, "runs": runs, "turns": turns, "seconds": seconds}
    limits = {"seed": SEED, "time_limit": SECONDS, "memory_limit": MEMORY}
    when = datetime.now(UTC).date().isoformat()
    minutes = round((time.monotonic() - began) / 60)
    about = {"date": when, "minutes": minutes, "machine": machine(), "versions": versions}
    return {**about, "settings": {**settings, **limits}, "accuracy": accurate, "speed": fast}


# --- data -------------------------------------------------------------------------------------------------------------


def orders(folder: Path) -> Path:
    """The table of `benchmarks accuracy`: 25,000 orders of 5,000 people, 200 categories, amounts in [0, 500]."""
    file = folder / "orders.parquet"
    frame = accuracy.orders(SEED)
    with duckdb.connect() as connection:
        connection.register("frame", frame)
        connection.execute(f"COPY (SELECT person, category, amount FROM frame) TO '{file}'")
    return file


def table(folder: Path, size: Size) -> Path:
    """A unit has about rows / units rows, in any of the groups, amounts in [0, HIGH); the same at every call."""
    file = folder / f"{size.rows}x{size.units}x{size.groups}.parquet"
    unit = "i" if size.units == size.rows else f"hash(i) % {size.units}"
    select = (
        f"SELECT CAST(hash({unit}, 9) >> 1 AS BIGINT) AS person, CAST(1 + hash(i, 1) % {size.groups} AS BIGINT) AS category,"
        f" CAST(hash(i, 3) % {HIGH:.0f}0000 AS DOUBLE) / 10000 AS amount FROM range({size.rows}) AS r(i)"
    )
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({select}) TO '{file}'")
    return file


# --- processes --------------------------------------------------------------------------------------------------------


def _task(program: Program, file: Path, rows: int, keys: int, high: float, *, runs: int, seconds: float) -> Task:
    return Task(
        file=str(file),
        rows=rows,
        keys=keys,
        high=high,
        epsilon=EPSILON,
        delta=DELTA,
        cap=program.cap,
        runs=runs,
        seconds=seconds,
    )


def asked(program: Program, task: Task, truth: Truth) -> Iterator[dict[str, Any]]:
    """One line of each question; where the program stops early, of each that it answered, and of all a reason."""
    try:
        for line in child(program, task, 3_600):
            yield measured(line, truth)
    except Cannot as reason:
        yield {"question": "all", "cannot": str(reason)}


def timed(programs: list[Program], size: Size, file: Path, warm: Path, turns: int) -> Iterator[dict[str, Any]]:
    """Each turn all programs, each in a new process; those that took a minute only once."""
    speeds: dict[str, list[Speed]] = {program.name: [] for program in programs}
    failed: dict[str, str] = {}
    for _ in range(turns):
        for program in programs:
            if program.name in failed or sum(one.wall for one in speeds[program.name]) > 60:
                continue
            task = _task(program, file, size.rows, size.groups, HIGH, runs=1, seconds=0)
            try:
                (line,) = child(program, replace(task, warm=str(warm)), SECONDS)
                speeds[program.name].append(Speed.of(line))
            except Cannot as reason:
                failed[program.name] = str(reason)
    for program in programs:
        said = {"cannot": failed[program.name]} if program.name in failed else spent(speeds[program.name])
        yield {"program": program.name, **asdict(size), **said}


def child(program: Program, task: Task, limit: float) -> list[dict[str, Any]]:
    words = [str(interpreter(program)), "-m", f"benchmarks.peers.ask_{program.script}", json.dumps(asdict(task))]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    began = time.monotonic()
    running = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )
    while True:
        try:
            out, errors = running.communicate(timeout=0.25)
            break
        except subprocess.TimeoutExpired:
            over = time.monotonic() - began > limit
            if over or resident(running.pid) > MEMORY:
                running.kill()
                running.communicate()
                raise Cannot(f"more than {limit:.0f} s" if over else f"more than {MEMORY:,} MB of memory") from None
    if running.returncode != 0:
        raise Cannot((errors.strip().splitlines() or [f"exit {running.returncode}"])[-1])
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def resident(pid: int) -> float:
    """MB; 0 where the system does not tell, or the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def interpreter(program: Program) -> Path:
    if program.requirements is None:
        return Path(sys.executable)
    try:
        return python_with(HERE / "requirements" / f"{program.requirements}.txt", f"peers-{program.requirements}")
    except subprocess.CalledProcessError as problem:
        last = (problem.stderr or "").strip().splitlines()[-1:]
        raise Cannot(f"cannot be installed: {' '.join(last) or problem}") from None


def version(program: Program) -> str:
    if program.requirements is None:
        return dpsql.__version__
    ask = f"import importlib.metadata as m; print(m.version({program.package!r}))"
    try:
        words = [str(interpreter(program)), "-c", ask]
    except Cannot as reason:
        return str(reason)
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def machine() -> str:
    """What it is, not whose."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    python = ".".join(platform.python_version_tuple()[:2])
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {python}"
