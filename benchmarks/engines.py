"""What does bounding cost where the data are? On PostgreSQL, Spark and DuckDB, against the plain two-level aggregate there.

1 and 10 million rows of 200,000 units, one of which has 300,000 (--rows 30000000 for three times that). The plain query
groups by unit and key, clamps each unit's sum, then groups by key. It runs on the same engine, in turns with ours, with as
much memory for sorts and hashes and as many threads. Ours is every statement of one query in the engine; `query` is all of
it: planning, connecting, fetching, noise and ledger too. On PostgreSQL processor time is the server's, on Spark Java's.
`bytes` are the columns that leave the engine. The fastest turn counts: Spark's Java compiles what is run often, so a new
session's first turns take several times as long, and there are more turns of it.
PostgreSQL and one session of Spark are started by the benchmark (make engines). On a busy machine the ratio of processor
time says more. --no-heavy leaves out the unit with 300,000 rows.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import log
from pathlib import Path

import dpsql
from benchmarks._engine_cases import Case, cases
from benchmarks._engine_data import HEAVY, UNITS, Engine, Size, on_duckdb, on_postgres
from benchmarks._spark import on_spark
from benchmarks._vault_time import Seconds, bytes_fetched, fastest, vault_time

ENGINES: dict[str, Callable[[Path, Size, int], AbstractContextManager[Engine]]] = {
    "duckdb": on_duckdb,
    "postgresql": on_postgres,
    "spark": on_spark,
}
ROWS = (1_000_000, 10_000_000)
MOST = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """plain, ours: statements in the engine. whole: our query; its cpu is the engine's. groups: rows that came back."""

    plain: Seconds
    ours: Seconds
    whole: Seconds
    size: int
    groups: int

    @property
    def ratio(self) -> float:
        """Of processor time."""
        return self.whole.cpu / self.plain.cpu


def main(argv: list[str]) -> None:
    """--engine NAME, --rows N (may be repeated), --case NAME, --turns N, --threads N, --limit rows of a unit, --no-heavy"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks engines")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="default: all")
    parser.add_argument("--rows", type=int, action="append", help=f"default: {ROWS}")
    parser.add_argument("--case", action="append", help="the first column of a line; default: all")
    parser.add_argument("--turns", type=int, help="default: 3, of Spark 10; of more than 2,000,000 rows 1 and 3")
    parser.add_argument("--no-heavy", action="store_true", help="no unit has 300,000 rows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=int, help="rows of a unit that count; default: above almost every unit's")
    chosen = parser.parse_args(argv)
    for engine in chosen.engine or ENGINES:
        before: dict[str, tuple[int, Measured]] = {}
        ratios: dict[str, dict[int, float]] = {}
        for rows in chosen.rows or ROWS:
            head(engine, rows, chosen.threads)
            with (
                tempfile.TemporaryDirectory(prefix="dpsql-engines-") as name,
                ENGINES[engine](
                    Path(name), Size(rows, heavy=0 if chosen.no_heavy else HEAVY), chosen.threads
                ) as opened,
            ):
                for case in cases(chosen.limit or 2 * rows // UNITS):
                    if case.name not in (chosen.case or [case.name]):
                        continue
                    measured = measure(opened, case, chosen.turns or turns_of(engine, rows))
                    line(case, measured)
                    if case.name in before:
                        slope(*before[case.name], rows, measured)
                    before[case.name] = rows, measured
                    ratios.setdefault(case.name, {})[rows] = measured.ratio
        table(ratios)


def turns_of(engine: str, rows: int) -> int:
    few, many = (3, 10) if engine == "spark" else (1, 3)
    return many if rows <= 2_000_000 else few


def head(engine: str, rows: int, threads: int) -> None:
    print(f"\n{engine}: {rows:,} rows, {UNITS:,} units, threads: {threads}")
    words = ("plain, s", "ours, s", "query, s", "ratio", "plain cpu", "our cpu", "ratio", "groups", "bytes", "a group")
    print(f"{'keys':>20}" + "".join(f"{word:>{len(word) + 3}}" for word in words))


def line(case: Case, m: Measured) -> None:
    wall, cpu = m.ours.wall / m.plain.wall, m.ratio
    each = m.size / max(1, m.groups)
    print(
        f"{case.name:>20}{m.plain.wall:>11.3f}{m.ours.wall:>10.3f}{m.whole.wall:>11.3f}{wall:>8.2f}{m.plain.cpu:>12.2f}"
        f"{m.whole.cpu:>10.2f}{cpu:>8.2f}{m.groups:>9,}{m.size:>8,}{each:>10.0f}{'' if cpu <= MOST else '  over'}",
        flush=True,
    )


def table(ratios: dict[str, dict[int, float]]) -> None:
    """The ratios of processor time, as `dpsql help scale` has them."""
    sizes = list(dict.fromkeys(rows for each in ratios.values() for rows in each))
    print(f"\n| question |{''.join(f' {rows:,} rows |' for rows in sizes)}\n|---|{'--:|' * len(sizes)}")
    for name, each in ratios.items():
        print(f"| {name} |{''.join(f' {each[rows]:.1f} |' if rows in each else ' |' for rows in sizes)}", flush=True)


def slope(rows: int, small: Measured, many: int, large: Measured) -> None:
    powers = (
        log(b / a) / log(many / rows)
        for a, b in ((small.ours.wall, large.ours.wall), (small.whole.cpu, large.whole.cpu))
    )
    print(f"{'':>20}   time grows as rows to the power of {next(powers):.2f} (cpu {next(powers):.2f})", flush=True)


def measure(engine: Engine, case: Case, turns: int) -> Measured:
    plain, ours, whole = [], [], []
    answers: list[int] = []
    with dpsql.connect(case.catalog, source=engine.source(), threads=engine.threads) as connection:
        connection.execute("SET fresh = true")  # or a repeated query would be answered from the ledger
        connection.explain(case.query)  # opens the source
        with vault_time() as spent, bytes_fetched() as sizes:
            for _ in range(turns):
                plain.append(engine.timed(lambda: engine.plain(case.plain)))
                sizes.clear()
                before = len(spent)
                whole.append(engine.timed(lambda: answers.append(len(connection.execute(case.query).fetchall()))))
                ours.append(sum(spent[before:], Seconds()))
    return Measured(plain=fastest(plain), ours=fastest(ours), whole=fastest(whole), size=sum(sizes), groups=answers[-1])
