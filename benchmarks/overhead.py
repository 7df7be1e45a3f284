"""What does bounding cost? Queries of the vault against plain aggregates in DuckDB, in turns, on the same data.

Four tables: 10^7 rows of 200,000 units, for limits that no unit, 8 % of them and all exceed; 10^6 rows of 10^6 units; rows
that are units themselves; growth to 6·10^7 rows, with peak memory. The plain query groups by unit and keys, then by keys
(for rows that are units: by keys), with COUNT and SUM of doubles. Ours is everything the vault does for one query, in all
its statements: it also cleans, puts values on a grid, chooses private keys, weighs rows, brings totals to the noise grid.
Times are the fastest of the turns; on a busy machine the ratio of processor time (cpu) says more than that of the clock.

Where rows are units, the plain query of 10^6 rows takes 1 to 4 ms out of a database or a frame, and two limits are the
engine's own (DuckDB 2.0, two threads, processor time). A statement costs about 2 ms before it reads a row: 0.3 to parse it
for the look that it is one SELECT, 1 to 1.5 to plan it (0.4 for the plain one), the rest for its thread, cursor and
columns. And a sum of doubles is cheap: SUM(TRY_CAST(CASE WHEN x BETWEEN lo AND hi THEN x WHEN x < lo THEN lo
WHEN NOT isnan(x) THEN hi ELSE x END * 2^k AS BIGINT)), the least that answers on every double, takes 2.2 times SUM(x) of a
frame, 1.75 of a .duckdb file, 1.35 of Parquet. So without keys a
frame's ratio is 3.3 at 10^6 rows and 2.5 at 5·10^6 (--single 5000000).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from statistics import geometric_mean

import dpsql
from benchmarks._memory import forget_peak, peak
from benchmarks._overhead_data import HIGH, KEYS, KINDS, Data, make
from benchmarks._vault_time import Seconds, fastest, in_vault, seconds, vault_time

ROWS, UNITS, SINGLE = 10_000_000, 200_000, 1_000_000
PARTS = ("limits", "units", "rows", "growth")
WORST, MEAN = 1.6, 1.0  # of the table of limits
GROWTH, MEMORY = 6, "2GB"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """key: None, or the column to group by. limit: rows per unit; None: rows are units. most: what the ratio may be."""

    key: str | None
    private: bool = False
    limit: int | None
    most: float

    @property
    def keys(self) -> str:
        if self.key is None:
            return "no keys"
        near = ", 4 a unit" if self.key == "own" else ""
        return f"{KEYS[self.key]:,} {'private' if self.private else 'public'}{near}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    plain: Seconds
    ours: Seconds
    whole: Seconds

    @property
    def ratio(self) -> float:
        return self.ours.wall / self.plain.wall

    @property
    def cpu(self) -> float:
        return self.ours.cpu / self.plain.cpu


def main(argv: list[str]) -> None:
    """--rows N, --units N, --turns N, --threads N, --source parquet|duckdb|frame, --part limits|units|rows|growth"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks overhead")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--single", type=int, default=SINGLE, help="rows of the tables with one row per unit")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--source", choices=KINDS, default="parquet", help="of the table of limits")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--alone", help=argparse.SUPPRESS)  # what a process of its own measures, as JSON
    chosen = parser.parse_args(argv)
    if chosen.alone is not None:
        print(json.dumps(alone(json.loads(chosen.alone))))
        return
    with tempfile.TemporaryDirectory(prefix="dpsql-overhead-") as name:
        folder = Path(name)
        for part in chosen.part or PARTS:
            match part:
                case "limits":
                    limits(make(folder, chosen.rows, chosen.units, chosen.source), chosen.turns, chosen.threads)
                case "growth":
                    growth(folder, chosen.rows, chosen.units, chosen.threads)
                case _:
                    one_row_each(folder, chosen.single, chosen.turns, chosen.threads, rows_are_units=part == "rows")


# --- tables -----------------------------------------------------------------------------------------------------------


def limits(data: Data, turns: int, threads: int) -> None:
    head(f"{data.rows:,} rows, {data.units:,} units, {data.kind}, {threads} threads", "units over limit")
    rows = []
    for limit in data.limits().values():
        over = share_over(data, limit)
        for case in limit_cases(limit):
            measured = measure(case, data, turns, threads)
            rows.append(measured)
            line(f"{over:8.1%} {limit:7}", case, measured)
    summary(rows, f"(at most {MEAN}, worst at most {WORST})")


def limit_cases(limit: int) -> Iterator[Case]:
    for key in (None, "few", "own", "many"):
        yield Case(key=key, limit=limit, most=WORST)
    for key in ("own", "many"):
        yield Case(key=key, private=True, limit=limit, most=WORST)


def one_row_each(folder: Path, rows: int, turns: int, threads: int, *, rows_are_units: bool) -> None:
    """`rows_per_unit: 1` against the two-level query, or `row_is_unit` against the one-level query."""
    what = "rows that are units (plain: one level)" if rows_are_units else f"rows of {rows:,} units"
    head(f"{rows:,} {what}, {threads} threads", "source")
    lines = []
    for kind in KINDS:
        data = make(folder, rows, rows, kind)
        for key, private in ((None, False), ("two", False), ("many", False), ("two", True), ("many", True)):
            most = 2.5 if rows_are_units and key is None else 2.0
            case = Case(key=key, private=private, limit=None if rows_are_units else 1, most=most)
            measured = measure(case, data, turns, threads)
            lines.append(measured)
            line(kind, case, measured)
    summary(lines, "")


def head(title: str, first: str) -> None:
    print(f"\n{title}")
    print(
        f"{first:>16} {'keys':>24} {'plain, s':>9} {'vault, s':>9} {'query, s':>9} {'ratio':>6} {'cpu':>6} {'most':>5}"
    )


def line(first: str, case: Case, m: Measured) -> None:
    times = (
        f"{m.plain.wall:>9.3f} {m.ours.wall:>9.3f} {m.whole.wall:>9.3f} {m.ratio:>6.2f} {m.cpu:>6.2f} {case.most:>5}"
    )
    print(f"{first:>16} {case.keys:>24} {times}{'' if m.ratio <= case.most else '  over'}", flush=True)


def summary(measurements: Iterable[Measured], wanted: str) -> None:
    for name, ratios in (("ratio", [m.ratio for m in measurements]), ("cpu", [m.cpu for m in measurements])):
        print(f"geometric mean of {name} {geometric_mean(ratios):.2f}, worst {max(ratios):.2f} {wanted}".rstrip())


def share_over(data: Data, limit: int) -> float:
    with data.plain(2) as connection:
        counts = "SELECT count(*) AS n FROM t GROUP BY u"
        row = connection.execute(f"SELECT avg(CAST(n > {limit} AS INTEGER)) FROM ({counts}) AS c").fetchone()
    return float(row[0]) if row is not None else 0.0


# --- one case ---------------------------------------------------------------------------------------------------------


def measure(case: Case, data: Data, turns: int, threads: int) -> Measured:
    plain, ours, whole = [], [], []
    text = plain_query(case)
    with data.plain(threads) as engine, connect(case, data, threads) as connection, vault_time() as spent:
        for _ in range(turns):
            plain.append(seconds(lambda: engine.execute(text).fetchnumpy()))
            all_of_it, vault = in_vault(spent, lambda: connection.execute(query(case)).fetchall())
            whole.append(all_of_it)
            ours.append(vault)
    return Measured(plain=fastest(plain), ours=fastest(ours), whole=fastest(whole))


def query(case: Case) -> str:
    key = "" if case.key is None else f"{case.key}, "
    return f"SELECT {key}COUNT(*), SUM(x) FROM t{'' if case.key is None else f' GROUP BY {case.key}'}"


def plain_query(case: Case) -> str:
    if case.limit is None:  # a row is a unit: one level
        return query(case)
    key, by = ("", "u") if case.key is None else (f"{case.key}, ", f"u, {case.key}")
    inner = f"SELECT {key}count(*) AS n, sum(x) AS s FROM t GROUP BY {by}"
    return (
        f"SELECT {key}count(*), sum(n), sum(s) FROM ({inner}) AS y{'' if case.key is None else f' GROUP BY {case.key}'}"
    )


def connect(case: Case, data: Data, threads: int, memory: str | None = None) -> dpsql.Connection:
    connection = dpsql.connect(catalog(case), source=data.source(), threads=threads, memory_limit=memory)
    connection.execute("SET fresh = true")  # or a repeated query would be answered from the ledger
    return connection


def catalog(case: Case) -> dict[str, object]:
    columns: dict[str, object] = {"x": {"type": "real", "lower": 0, "upper": HIGH}}
    if case.key is not None:
        public = {"type": "integer", "lower": 0, "upper": KEYS[case.key] - 1, "nullable": False}
        columns[case.key] = "integer" if case.private else public
    if case.limit is None:
        table: dict[str, object] = {"row_is_unit": True, "columns": columns}
    else:
        table = {"unit": "u", "rows_per_unit": case.limit, "columns": {"u": "integer", **columns}}
    return {
        "dataset": "overhead",
        "unit": "person",
        "budget": {"epsilon": 1_000_000, "delta": 0.5},
        "per_query": {"epsilon": 1, "delta": 1e-9},
        "tables": {"t": table},
    }


# --- growth and memory: processes of their own ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Alone:
    """seconds, and the process's greatest memory before the query and after it, in MB."""

    wall: float
    cpu: float
    before: float
    peak: float


def growth(folder: Path, rows: int, units: int, threads: int) -> None:
    """Each query once, in a process of its own, under a limit; both processes have loaded the same modules."""
    sizes = [make(folder, rows * n, units * n, "parquet") for n in (1, GROWTH)]
    print(
        f"\n{rows:,} and {GROWTH * rows:,} rows, Parquet, {threads} threads, at most {MEMORY}, each once in a process"
    )
    print(f"{'keys':>16} {'rows':>12} {'query':>9} {'wall, s':>9} {'cpu, s':>9} {'peak, MB':>9} {'of it query':>11}")
    for key in (None, "few", "many"):
        for who in ("two-level", "dpsql"):
            lines = []
            for data in sizes:
                case = Case(key=key, limit=data.limits()["8 %"], most=WORST)
                one = in_own_process(case, data, who, threads)
                lines.append(one)
                times = f"{one.wall:>9.2f} {one.cpu:>9.2f} {one.peak:>9.0f} {one.peak - one.before:>11.0f}"
                print(f"{case.keys:>16} {data.rows:>12,} {who:>9} {times}", flush=True)
            slopes = [
                log(b / a) / log(GROWTH) for a, b in ((lines[0].wall, lines[1].wall), (lines[0].cpu, lines[1].cpu))
            ]
            print(f"{'':>16} time grows as rows to the power of {slopes[0]:.2f} (cpu {slopes[1]:.2f})")


def in_own_process(case: Case, data: Data, who: str, threads: int) -> Alone:
    asked = {"who": who, "case": asdict(case), "data": {**asdict(data), "path": str(data.path)}, "threads": threads}
    words = [sys.executable, "-m", "benchmarks", "overhead", "--alone", json.dumps(asked)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, cwd=Path(__file__).parent.parent)
    return Alone(**json.loads(done.stdout.splitlines()[-1]))


def alone(asked: dict[str, object]) -> dict[str, float]:
    """In the process: open, then one query, timed."""
    case_of, data_of, threads = asked["case"], asked["data"], asked["threads"]
    assert isinstance(case_of, dict) and isinstance(data_of, dict) and isinstance(threads, int)
    case, data = Case(**case_of), Data(**{**data_of, "path": Path(data_of["path"])})
    if asked["who"] == "dpsql":
        with connect(case, data, threads, MEMORY) as connection, vault_time() as spent:
            connection.explain(query(case))
            forget_peak()
            before = peak()
            _, taken = in_vault(spent, lambda: connection.execute(query(case)).fetchall())
    else:
        with data.plain(threads, MEMORY) as engine:
            engine.execute("SELECT count(*) FROM t").fetchall()
            forget_peak()
            before = peak()
            taken = seconds(lambda: engine.execute(plain_query(case)).fetchnumpy())
    return asdict(Alone(wall=taken.wall, cpu=taken.cpu, before=before, peak=peak()))
