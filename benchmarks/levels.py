"""How far off are the levels of ROLLUP and CUBE, by how ε is divided among them? Root mean squares over runs, at ε = 1."""

from __future__ import annotations

import math
from collections import defaultdict
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import dpsql
from dpsql import testing

RUNS = 40
PEOPLE = 20_000
KEYS = (("a", 5), ("b", 12), ("c", 8))
ASKED = ("ROLLUP (a, b)", "ROLLUP (a, b, c)", "CUBE (a, b)", "CUBE (a, b, c)")
WAYS = (
    ("equal", "split = (1)"),
    ("default", ""),
    ("per level", "error = 'per level'"),
    ("per cell", "error = 'per cell'"),
)


def main(argv: list[str]) -> None:
    """`--runs N` asks each question N times."""
    runs = int(argv[argv.index("--runs") + 1]) if "--runs" in argv else RUNS
    for accounting, mechanism in (("approx", "laplace"), ("zcdp", "gaussian")):
        for sets in ASKED:
            print(f"{sets}, {mechanism} noise, {runs} runs")
            for name, option in WAYS:
                print(f"  {name:10} {_line(sets, option, accounting, mechanism, runs)}")


def catalog(accounting: str) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: {"type": "integer", "lower": 1, "upper": most, "nullable": False} for name, most in KEYS
    }
    budget = {"budget": {"epsilon": 10**9, "delta": 0.5}, "per_query": {"epsilon": 1, "delta": 1e-6}}
    tables = {"t": {"unit": "u", "rows_per_unit": 1, "columns": {"u": "integer", **columns}}}
    return {"dataset": "levels", "unit": "person", "accounting": accounting, **budget, "tables": tables}


def table() -> pa.Table:
    draw = np.random.default_rng(5)
    columns = {name: draw.integers(1, most + 1, PEOPLE) for name, most in KEYS}
    return pa.table({"u": np.arange(PEOPLE), **columns})


def _line(sets: str, option: str, accounting: str, mechanism: str, runs: int) -> str:
    keys = sets[sets.index("(") + 1 : -1]
    text = f"{keys}, COUNT(*) AS n FROM t GROUP BY {sets}"
    described, source = catalog(accounting), {"t": table()}
    with testing.exact(described, source=source) as connection:
        truth = {row[:-1]: row[-1] for row in connection.execute(f"SELECT {text}").fetchall()}
    options = ", ".join(part for part in (f"mechanism = '{mechanism}', fresh = true", option) if part)
    squares: dict[tuple[bool, ...], list[float]] = defaultdict(list)
    with TemporaryDirectory() as folder, dpsql.connect(described, source=source, ledger=f"{folder}/l") as connection:
        for _ in range(runs):
            asked = f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {text}"
            for row in connection.execute(asked).fetchall():
                level = tuple(key is not None for key in row[:-1])
                squares[level].append((float(row[-1]) - float(truth.get(row[:-1], 0))) ** 2)
    means = {level: math.fsum(off) / len(off) for level, off in squares.items()}
    per_cell = math.fsum(math.fsum(off) for off in squares.values()) / sum(map(len, squares.values()))
    per_level = math.fsum(means.values()) / len(means)
    names = keys.split(", ")
    shown = (
        f"{'·'.join(n for n, errors in zip(names, level, strict=True) if errors) or 'all'} {math.sqrt(mean):.1f}"
        for level, mean in sorted(means.items(), reverse=True)
    )
    return f"per cell {math.sqrt(per_cell):6.2f}, per level {math.sqrt(per_level):6.2f}   {', '.join(shown)}"
