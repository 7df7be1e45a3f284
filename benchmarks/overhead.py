"""What does bounding cost? A query of 10^7 rows against the plain two-level aggregate, in turns, on the same file.

The plain one groups by unit and keys, then by keys, with COUNT and SUM of doubles; ours also cleans, puts values on the
grid, keeps at most max_groups groups of each unit, and brings totals to the noise grid. Times are the fastest of the turns;
on a busy machine the ratio of processor time (cpu) says more than that of the clock.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from dpsql.engine.sources import Columns
from dpsql.plan.render.bounding import bounding
from dpsql.plan.render.stage_tables import key_table_columns
from dpsql.query import plan_of, read
from dpsql.session import open_session
from dpsql.vault_sql import vault_relations

ROWS, UNITS = 10_000_000, 200_000
FEW, MANY = 8, 10_000
CAPS = (1, 4)
SALT = 0x9E3779B9
Times = tuple[float, float]  # seconds on the wall and of the processors


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """key: None, or the column to group by. exceed: the share of the units with more groups than the cap, in words."""

    key: str | None
    keys: int
    cap: int
    exceed: str
    limit: float
    private: bool = False


def cases() -> Iterator[Case]:
    for cap in CAPS:
        yield Case(key=None, keys=1, cap=cap, exceed="-", limit=1.7)
        for name, keys in (("few", FEW), ("many", MANY)):
            yield Case(key=f"{name}_{cap}", keys=keys, cap=cap, exceed="8 %", limit=1.7)
            yield Case(key=f"{name}_all", keys=keys, cap=cap, exceed="all", limit=2.2)
        yield Case(key=f"many_{cap}", keys=MANY, cap=cap, exceed="8 %", limit=1.7, private=True)


def main(argv: list[str]) -> None:
    """--rows N, --units N, --turns N, --threads N, --source parquet|duckdb"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks overhead")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--source", choices=("parquet", "duckdb"), default="parquet")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="dpsql-overhead-") as folder:
        made = make_data(Path(folder), chosen.rows, chosen.units, chosen.source)
        print(f"{chosen.rows:,} rows, {chosen.units:,} units, {chosen.source}, {chosen.threads} threads")
        titles = f"{'plain, s':>9} {'dpsql, s':>9} {'ratio':>6} {'cpu':>6} {'limit':>6}"
        print(f"{'keys':>16} {'cap':>4} {'units over it':>14} {titles}")
        for case in cases():
            (plain, plain_cpu), (ours, ours_cpu) = measure(case, made, chosen.turns, chosen.threads)
            keys = "no keys" if case.key is None else f"{case.keys:,} {'private' if case.private else 'public'}"
            ratio = ours / plain
            times = f"{plain:>9.3f} {ours:>9.3f} {ratio:>6.2f} {ours_cpu / plain_cpu:>6.2f}"
            line = f"{keys:>16} {case.cap:>4} {case.exceed:>14} {times} {case.limit:>6}"
            print(line if ratio <= case.limit else f"{line}  over")
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def make_data(folder: Path, rows: int, units: int, kind: str) -> Path:
    """u, x, and for each number of keys a column where every unit reaches many (_all), and for each cap one where 8 % of
    the units do and the others stay within it."""
    path = folder / f"rows.{kind}"
    columns = []
    for name, keys in (("few", FEW), ("many", MANY)):
        columns.append(f"{name}_all")
        for cap in CAPS:
            own = f"CAST((hash(u, (hash(u, i) >> 3) % {cap}) >> 7) % {keys} AS INTEGER)"
            columns.append(f"CASE WHEN u % 100 < 8 THEN {name}_all ELSE {own} END AS {name}_{cap}")
    base = (
        f"SELECT i, CAST(hash(i) % {units} AS BIGINT) AS u, CAST(hash(i, 3) % 2400000 AS DOUBLE) / 10000 AS x,"
        f" CAST(hash(i, 1) % {FEW} AS INTEGER) AS few_all, CAST(hash(i, 2) % {MANY} AS INTEGER) AS many_all"
        f" FROM range({rows}) AS r(i)"
    )
    select = f"SELECT u, x, {', '.join(columns)} FROM ({base})"
    with duckdb.connect() as connection:
        if kind == "parquet":
            connection.execute(f"COPY ({select}) TO '{path}'")
        else:
            connection.execute(f"ATTACH '{path}' AS d")
            connection.execute(f"CREATE TABLE d.rows AS {select}")
    return path


def measure(case: Case, path: Path, turns: int, threads: int) -> tuple[Times, Times]:
    with duckdb.connect(config={"threads": threads}) as connection:
        if path.suffix == ".duckdb":
            connection.execute(f"ATTACH '{path}' AS d (READ_ONLY)")
        source = "d.rows" if path.suffix == ".duckdb" else f"'{path}'"
        plain, ours = plain_query(case, source), vault_query(case, path, threads)
        turn = [(seconds(lambda: connection.execute(plain).fetchnumpy()), seconds(ours)) for _ in range(turns)]
    return fastest([one for one, _ in turn]), fastest([other for _, other in turn])


def plain_query(case: Case, source: str) -> str:
    key, by = ("", "u") if case.key is None else (f"{case.key} AS k, ", f"u, {case.key}")
    inner = f"SELECT {key}count(*) AS n, sum(x) AS s FROM {source} GROUP BY {by}"
    outer = "SELECT count(*), sum(n), sum(s)" if case.key is None else "SELECT k, count(*), sum(n), sum(s)"
    return f"{outer} FROM ({inner}) AS y{'' if case.key is None else ' GROUP BY k'}"


def vault_query(case: Case, path: Path, threads: int) -> Callable[[], object]:
    """Step 10 of the query, planned and opened."""
    session = open_session(catalog(case, path), threads=threads)
    key = "" if case.key is None else f"{case.key}, "
    by = "" if case.key is None else f" GROUP BY {case.key}"
    stage = plan_of(session, read(f"SELECT {key}COUNT(*), SUM(x) FROM t{by}")).stages[0]
    vault = session.vault()
    query = bounding(stage, vault_relations(session, vault, stage), salt=SALT, exact=False)
    loads: dict[str, Columns] = {n: key_table_columns(values, type_) for n, (values, type_) in query.key_tables.items()}
    return lambda: vault.run(query.sql, loads=loads)


def catalog(case: Case, path: Path) -> dict[str, object]:
    columns: dict[str, object] = {"u": "integer", "x": {"type": "real", "lower": 0, "upper": 240}}
    if case.key is not None:
        public = {"type": "integer", "lower": 0, "upper": case.keys - 1, "nullable": False}
        columns[case.key] = "integer" if case.private else public
    source = str(path) if path.suffix == ".parquet" else {"database": str(path), "table": "main.rows"}
    table = {"source": source, "unit": "u", "max_groups": case.cap, "max_rows": 50, "columns": columns}
    return {
        "dataset": f"overhead_{case}",
        "unit": "person",
        "budget": {"epsilon": 10, "delta": 1e-6},
        "per_query": {"epsilon": 1, "delta": 1e-9},
        "tables": {"t": table},
    }


def seconds(work: Callable[[], object]) -> Times:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def fastest(times: list[Times]) -> Times:
    return min(wall for wall, _ in times), min(cpu for _, cpu in times)
