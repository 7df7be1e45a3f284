"""TPC-H's 22 queries with the customer as the unit: which are answered, how far off, how slow. [scale] [folder] [--write]
--speed: of five of them, how slow, against what they may be."""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import duckdb

import dpsql
from benchmarks._vault_time import Seconds, fastest, in_vault, seconds, vault_time
from dpsql.report.privacy import Privacy
from tests.conformance.tpch_data import catalog, query

HERE = Path(__file__).parent
ENVIRONMENT = HERE.parent / ".venv-tpch"
HELP = HERE.parent / "dpsql" / "help" / "tpch.md"
TABLES = ("customer", "orders", "lineitem", "nation", "region", "part", "supplier", "partsupp")
# The columns of each answer that are keys; the others are compared as numbers.
KEYS: dict[int, tuple[int, ...]] = {
    1: (0, 1),
    3: (0, 2, 3),
    4: (0,),
    5: (0,),
    6: (),
    7: (0, 1, 2),
    8: (0,),
    9: (0, 1),
    12: (0,),
    13: (0,),
    14: (),
    15: (0, 1, 2, 3),
    17: (),
    19: (),
    20: (0, 1),
    21: (0,),
    22: (0,),
}
# How many times plain DuckDB's time a query may take, at scale factor 1 on a quiet machine.
SPEED = {1: 6.2, 5: 1.75, 6: 2.5, 14: 3.0, 19: 1.85}
TURNS = 5
Rows = Sequence[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class Line:
    """One query of the table."""

    number: int
    answered: str
    limits: str = ""
    keys: str = ""
    error: str = ""
    withheld: str = ""
    slower: str = ""


def main(argv: list[str]) -> None:
    words = [word for word in argv if not word.startswith("--")]
    scale = words[0] if words else "1"
    folder = Path(words[1]) if len(words) > 1 else generated(scale)
    source = {table: folder / f"{table}.parquet" for table in TABLES}
    if "--speed" in argv:
        speed(source)
        return
    lines = [_measured(number, source) for number in range(1, 23)]
    text = table(lines, scale)
    print(text)
    if "--write" in argv:
        HELP.write_text(text, encoding="utf-8")


def generated(scale: str) -> Path:
    """The data of a scale factor, made once by tpchgen-cli in an environment of its own."""
    folder = HERE.parent / "data" / f"tpch-{scale}"
    if not (folder / "lineitem.parquet").exists():
        program = ENVIRONMENT / "bin" / "tpchgen-cli"
        if not program.exists():
            print(f"making {ENVIRONMENT.name} with tpchgen-cli", file=sys.stderr)
            venv.create(ENVIRONMENT, with_pip=True)
            pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--quiet", "tpchgen-cli==4.0.0"]
            subprocess.run(pip, check=True)
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([str(program), "parquet", "-s", scale, "--output-dir", str(folder)], check=True)
    return folder


def _measured(number: int, source: dict[str, Path]) -> Line:
    sql = query(number)
    with duckdb.connect() as plain, dpsql.connect(catalog(), source=source) as connection:
        _views(plain, source)
        connection.execute("SET fresh = true")  # or a repeated query would be answered from the ledger
        connection.execute("SET max_rows_contributed = 'auto'")
        try:
            plan = connection.explain(sql).to_dict()
        except dpsql.Error as refusal:
            return Line(number, f"no: {refusal.what} ({refusal.code})")
        if not plan["stages"]:
            return Line(number, "yes, free: nothing private is read", slower=_slower(plain, connection, sql))
        exact, noisy = plain.execute(sql).fetchall(), connection.execute(sql)
        error, withheld = _off(exact, noisy.fetchall(), KEYS[number])
        return Line(
            number,
            "yes",
            limits=_limits(noisy.privacy),
            keys=", then ".join(_keys(s["keys"]) for s in plan["stages"]),
            error=error,
            withheld=withheld,
            slower=_slower(plain, connection, sql),
        )


def speed(source: dict[str, Path]) -> None:
    """In turns, the fastest of each; cpu: of processor time, which says more on a busy machine. vault: its statements."""
    print(f"{'query':>6} {'plain, s':>9} {'vault, s':>9} {'dpsql, s':>9} {'ratio':>6} {'cpu':>6} {'most':>6}")
    for number, most in SPEED.items():
        plain, vault, ours = _in_turns(query(number), source)
        ratio, cpu = ours.wall / plain.wall, ours.cpu / plain.cpu
        times = f"{plain.wall:>9.3f} {vault.wall:>9.3f} {ours.wall:>9.3f} {ratio:>6.2f} {cpu:>6.2f} {most:>6}"
        print(f"{number:>6} {times}{'' if ratio <= most else '  over'}", flush=True)


def _in_turns(sql: str, source: dict[str, Path]) -> tuple[Seconds, Seconds, Seconds]:
    """Plain DuckDB, and dpsql's vault statements and whole query."""
    plain, vault, ours = [], [], []
    with duckdb.connect() as engine, dpsql.connect(catalog(), source=source) as connection, vault_time() as spent:
        _views(engine, source)
        connection.execute("SET fresh = true")  # or a repeated query would be answered from the ledger
        for _ in range(TURNS):
            plain.append(seconds(lambda: engine.execute(sql).fetchall()))
            whole, inner = in_vault(spent, lambda: connection.execute(sql).fetchall())
            ours.append(whole)
            vault.append(inner)
    return fastest(plain), fastest(vault), fastest(ours)


def _views(engine: duckdb.DuckDBPyConnection, source: dict[str, Path]) -> None:
    for name, file in source.items():
        engine.execute(f"CREATE VIEW {name} AS SELECT * FROM '{file}'")


def _limits(privacy: Privacy | None) -> str:
    """The limits that were chosen, in rows or in what the values of one customer may add up to."""
    assert privacy is not None
    limits = [limit for limit in privacy.limits if limit.chosen is not None]
    texts = [
        f"{limit.chosen:,.6g}" + ({1: " row"}.get(int(limit.chosen or 0), " rows") if limit.of == "rows" else "")
        for limit in limits
    ]
    return ", ".join(texts) or "declared"


def _keys(keys: list[dict[str, object]]) -> str:
    if not keys:
        return "one group"
    public = [int(str(key["count"])) for key in keys if key["public"]]
    private = len(keys) - len(public)
    shown = [f"{math.prod(public)} public"] if public else []
    return " × ".join([*shown, *(["private"] * bool(private))])


def _off(exact: Rows, noisy: Rows, keys: tuple[int, ...]) -> tuple[str, str]:
    """The median relative error of the values that came out, and the share of the rows that did not."""
    by_key = {tuple(row[i] for i in keys): row for row in noisy}
    errors: list[float] = []
    missing = 0
    for row in exact:
        other = by_key.get(tuple(row[i] for i in keys))
        missing += other is None
        for i, value in enumerate(row):
            if other is None or i in keys or not isinstance(value, int | float | Decimal):
                continue
            cell = other[i]
            far = math.inf if not isinstance(cell, int | float | Decimal) else abs(float(cell) - float(value))
            errors.append(far / max(abs(float(value)), 1e-9))
    shown = "–" if not errors else f"{100 * statistics.median(errors):.2g} %"
    return shown, f"{missing} of {len(exact)}"


def _slower(plain: duckdb.DuckDBPyConnection, connection: dpsql.Connection, sql: str) -> str:
    """How many times the plain query's time, the middle of three runs each."""
    ours, theirs = [], []
    for _ in range(3):
        started = time.perf_counter()
        plain.execute(sql).fetchall()
        theirs.append(time.perf_counter() - started)
        started = time.perf_counter()
        connection.execute(sql).fetchall()
        ours.append(time.perf_counter() - started)
    return f"{statistics.median(ours) / statistics.median(theirs):.1f} ({statistics.median(ours):.2f} s)"


def table(lines: list[Line], scale: str) -> str:
    answered = sum(line.answered.startswith("yes") for line in lines)
    head = f"""# TPC-H: which of its 22 queries are answered

The privacy unit is the customer: customers and orders are private, line items belong to the customers of their
orders, and the other tables are public. `python -m benchmarks tpch {scale} --write` writes this page. It uses data of
scale factor {scale}, the metadata of `tests/conformance/tpch/tpch.yaml`, and ε = 1 and δ = 1e-7 for each query. The
data choose how many rows of one customer count, and how much their values may add up to (`max_rows_contributed =
'auto'`), for a part of ε. {answered} of 22 queries are answered. With limits that are large enough, these and query 3
equal DuckDB in exact mode; a test checks that.

*limits* are those that were chosen: rows of one customer, or what the values of one customer may add up to.

*error* is the relative distance from the true answer, as the median over the released numbers; it includes the noise
and what the limits leave out. *withheld* rows have private keys too rare to show, or noise moved them out of a LIMIT.
*time* is given as a multiple of plain DuckDB's time over the same Parquet files, and in seconds, on a busy machine
with two cores.

| query | answered | limits | keys | error | withheld | time |
|--:|---|---|---|--:|--:|--:|
"""
    rows = [
        f"| {x.number} | {x.answered} | {x.limits} | {x.keys} | {x.error} | {x.withheld} | {x.slower} |" for x in lines
    ]
    return head + "\n".join(rows) + "\n"
