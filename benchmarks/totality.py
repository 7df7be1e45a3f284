"""Does one value make a function slow? Every function over a column of one hostile value, against its median value.

Each time is of ROWS rows with the value (fastest of TURNS), in the vault's form, less that of reading the column, plus
what the cheapest query does with a row anyway (GROUPING). Texts are judged by their bytes: a function may read what it is
given. Other arguments hold a plain value. "over": more than LIMIT times the median of the function's values.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator

import duckdb

from dpsql.domain.facts import Atom
from dpsql.domain.types import TEXT, Type
from dpsql.functions import FUNCTIONS, totalise
from dpsql.ir.expr import Call, Column
from dpsql.plan.dialects import duckdb as vault
from tests.unit.functions.world import HOSTILE, TYPES, connection, every_call, fill

ROWS, TURNS, LIMIT = 100_000, 5, 3.0
GROUPING = 20e-9  # seconds a row: GROUP BY unit with a count
CALLS = 4  # of a function, with different types
PLAIN = 2  # the place in HOSTILE of the value that other arguments hold
BYTES = 64


def main(argv: list[str]) -> None:
    """[function …] [--rows N]"""
    parser = argparse.ArgumentParser(prog="python -m benchmarks totality")
    parser.add_argument("functions", nargs="*")
    parser.add_argument("--rows", type=int, default=ROWS)
    chosen = parser.parse_args(argv)
    over = 0
    print(f"{'function':>18} {'types':>24} {'median, ms':>11} {'worst, ms':>10} {'ratio':>6}  worst value")
    with connection() as con:
        tables(con, chosen.rows)
        for name in chosen.functions or sorted(FUNCTIONS):
            for call in some_calls(name):
                times = [(timed(con, call, n, chosen.rows), value) for n, value in enumerate(HOSTILE[first(call).type])]
                median = statistics.median(seconds for seconds, _ in times)
                worst, value = max(times, key=lambda one: one[0])
                over += worst > LIMIT * median
                mark = "  over" if worst > LIMIT * median else ""
                types = ", ".join(str(arg.type) for arg in call.args if isinstance(arg, Column))
                shown = f"{str(value)[:24]!r}{mark}"
                print(
                    f"{name:>18} {types:>24} {median * 1e3:>11.2f} {worst * 1e3:>10.2f} {worst / median:>6.2f}  {shown}"
                )
    print(f"{over} over {LIMIT} times the median")


def tables(con: duckdb.DuckDBPyConnection, rows: int) -> None:
    """v<type>_<value>: the value in every row, a plain one here and there so that no vector is constant."""
    for t, type_ in enumerate(TYPES):
        values = HOSTILE[type_]
        fill(con, "few", type_, values)
        con.execute(f"CREATE TABLE all_{t} AS SELECT row_number() OVER () - 1 AS n, v FROM few")
        for n in range(len(values)):
            this, plain = (f"(SELECT v FROM all_{t} WHERE n = {at})" for at in (n, PLAIN))
            con.execute(
                f"CREATE TABLE v{t}_{n} AS SELECT CASE WHEN i % 1000 = 0 THEN {plain} ELSE {this} END AS v"
                f" FROM range({rows}) AS r(i)"
            )


def some_calls(name: str) -> Iterator[Call]:
    """One call for each choice of column types, CALLS at most, spread over what there is."""
    by_types: dict[tuple[Type, ...], Call] = {}
    for call in every_call(name):
        columns = tuple(arg.type for arg in call.args if isinstance(arg, Column))
        if columns:
            by_types.setdefault(columns, call)
    calls = list(by_types.values())
    yield from calls[:: max(1, len(calls) // CALLS)][:CALLS]


def first(call: Call) -> Column:
    return next(arg for arg in call.args if isinstance(arg, Column))


def timed(con: duckdb.DuckDBPyConnection, call: Call, value: int, rows: int) -> float:
    columns = {arg.id: TYPES.index(arg.type) for arg in call.args if isinstance(arg, Column)}
    lead = first(call).id
    named = {i: f"v{t}_{value if i == lead else PLAIN}" for i, t in columns.items()}
    tables_ = " POSITIONAL JOIN ".join(f"{table} AS t{i}" for i, table in named.items())
    total, _ = totalise(call, {})
    text = vault.render(total, lambda column: f"t{column.id}.v")
    whole = fastest(con, f"SELECT count({text}) FROM {tables_}")
    reading = fastest(con, f"SELECT {', '.join(f'count(t{i}.v)' for i in columns)} FROM {tables_}")
    seconds = max(whole - reading, 0) + GROUPING * rows
    return seconds / max(1.0, size(HOSTILE[first(call).type][value]) / BYTES) if first(call).type == TEXT else seconds


def size(value: Atom) -> int:
    return len(value.encode()) if isinstance(value, str) else 0


def fastest(con: duckdb.DuckDBPyConnection, sql: str) -> float:
    best = float("inf")
    for _ in range(TURNS):
        began = time.process_time()
        con.execute(sql).fetchall()
        best = min(best, time.process_time() - began)
    return best
