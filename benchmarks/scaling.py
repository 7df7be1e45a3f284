"""What grows with what? The engine's time for one query, and the bytes that leave it, by rows, units and groups.

COUNT and SUM of a real by a key with so many values; limits that almost every unit is within. `power` is the power of the
size that the time grows with, from the line above: 1 is in proportion. `seconds` are all of the query's statements there;
`cpu` is the processor time of the engine (of dpsql too, where they are one process). One turn of each; before Spark's it
answers the query a few times, since Java compiles what is run often.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from math import log
from pathlib import Path

import dpsql
from benchmarks._engine_cases import Case
from benchmarks._engine_data import Size
from benchmarks._vault_time import Seconds, bytes_fetched, vault_time
from benchmarks.engines import ENGINES

ROWS, FIXED = (1_000_000, 3_000_000, 10_000_000, 30_000_000), 3_000_000
UNIT_COUNTS, KEY_COUNTS = (10_000, 100_000, 1_000_000), (10, 1_000, 100_000)
COMPILED_AFTER = {"spark": 4}
PARTS = ("rows", "units", "groups")


def main(argv: list[str]) -> None:
    """--engine NAME, --part rows|units|groups, --most rows, --fixed rows where others grow, --threads N"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scaling")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="default: all")
    parser.add_argument("--part", choices=PARTS, action="append", help="default: all")
    parser.add_argument("--most", type=int, default=ROWS[-1], help="no table has more rows")
    parser.add_argument("--fixed", type=int, default=FIXED)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args(argv)
    for engine in chosen.engine or ENGINES:
        for part in chosen.part or PARTS:
            print(f"\n{engine}, threads: {chosen.threads}")
            head = ("rows", "units", "groups", "seconds", "cpu", "bytes")
            print("".join(f"{word:>13}" for word in (*head, "power", "of cpu")))
            before: tuple[int, Seconds] | None = None
            for size in sizes(part, chosen.most, chosen.fixed):
                spent, fetched = measure(engine, size, chosen.threads)
                number = {"rows": size.rows, "units": size.units, "groups": size.keys}[part]
                powers = () if before is None else tuple(slope(*before, number, spent))
                line(size, spent, fetched, powers)
                before = number, spent


def sizes(part: str, most: int, fixed: int) -> Iterator[Size]:
    match part:
        case "rows":
            yield from (Size(rows, keys=1_000) for rows in ROWS if rows <= most)
        case "units":
            yield from (Size(fixed, units=units, keys=1_000) for units in UNIT_COUNTS)
        case _:
            yield from (Size(fixed, keys=keys) for keys in KEY_COUNTS)


def slope(small: int, before: Seconds, large: int, now: Seconds) -> Iterator[float]:
    for one, other in ((before.wall, now.wall), (before.cpu, now.cpu)):
        yield log(other / one) / log(large / small)


def line(size: Size, spent: Seconds, fetched: int, powers: tuple[float, ...]) -> None:
    numbers = f"{size.rows:>13,}{size.units:>13,}{size.keys:>13,}{spent.wall:>13.2f}{spent.cpu:>13.2f}{fetched:>13,}"
    print(numbers + "".join(f"{power:>13.2f}" for power in powers), flush=True)


def measure(name: str, size: Size, threads: int) -> tuple[Seconds, int]:
    case = Case(name="", key="many", keys=size.keys, limit=max(1, 2 * size.rows // size.units))
    with (
        tempfile.TemporaryDirectory(prefix="dpsql-scaling-") as folder,
        ENGINES[name](Path(folder), size, threads) as engine,
        dpsql.connect(case.catalog, source=engine.source(), threads=engine.threads) as connection,
    ):
        connection.execute("SET fresh = true")  # or a repeated query would be answered from the ledger
        connection.explain(case.query)  # opens the source
        for _ in range(COMPILED_AFTER.get(name, 0)):
            connection.execute(case.query).fetchall()
        with vault_time() as spent, bytes_fetched() as fetched:
            whole = engine.timed(lambda: connection.execute(case.query).fetchall())
    return Seconds(wall=sum(spent, Seconds()).wall, cpu=whole.cpu), sum(fetched)
