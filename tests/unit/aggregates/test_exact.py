"""Exact mode with caps that do not bite is DuckDB on the cleaned table, for every aggregate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import duckdb
import pytest

import dpsql.testing
from dpsql.dbapi import Connection
from tests.cases.reading import Case
from tests.worlds.mixed import ANSWERED, CLEANED, KEYS, catalog, table

CELL = 5 / 65_535 * 1.01  # a step of the candidates of x; those of i and p are their values


@pytest.fixture(scope="module")
def oracle() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as plain:
        plain.register("raw", table())
        plain.execute(f"CREATE TABLE t AS {CLEANED}")
        yield plain


@pytest.fixture(scope="module")
def exact() -> Iterator[Connection]:
    with dpsql.testing.exact(catalog(), source={"t": table()}) as conn:
        yield conn


def near(kind: str, ours: Any, theirs: Any) -> bool:
    if theirs is None and ours == 0 and kind == "count":
        return True  # DuckDB's COUNT_IF of no rows is NULL; ours is 0, as every other count
    if theirs is None or (isinstance(theirs, float) and math.isnan(theirs)):
        return ours is None
    if kind in ("0", "count"):
        return bool(ours == theirs)
    if kind == "list":
        return len(ours) == len(theirs) and all(near("cell", a, b) for a, b in zip(ours, theirs, strict=True))
    if kind == "days":
        return abs(days(ours) - days(theirs)) <= 1
    if kind == "cell":
        step = 1 if isinstance(theirs, int) else 0.5 if float(theirs) * 2 % 1 == 0 else CELL
        return abs(float(ours) - float(theirs)) <= max(step, CELL)
    return math.isclose(float(ours), float(theirs), rel_tol=float(kind), abs_tol=float(kind))


def days(value: date) -> float:
    return (
        value.timestamp() / 86_400 if isinstance(value, datetime) else value.toordinal() - date(1970, 1, 1).toordinal()
    )


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case.text)
@pytest.mark.parametrize("form", ["{} FROM t", "k, {} FROM t GROUP BY k ORDER BY k", "{} FROM t WHERE i > 100"])
def test_exact_mode_is_duckdb(case: Case, form: str, oracle: duckdb.DuckDBPyConnection, exact: Connection) -> None:
    kind, items = case.outcome.removeprefix("within "), case.text
    ours = exact.execute("SELECT " + form.format(items)).fetchall()
    where = f" WHERE k IN {tuple(KEYS)} " if "GROUP" in form else ""
    theirs = oracle.execute("SELECT " + form.format(items).replace("FROM t", f"FROM t{where}")).fetchall()
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        if kind == "map":
            expected = other[-1] or {}
            assert {n: count for n, count in mine[-1].items() if count} == expected
        elif kind == "bins":
            assert sum(mine[-1].values()) == sum((other[-1] or {}).values())
            assert [mine[-1][edge] for edge in (1.0, 2.5, 4.0)] == [
                (other[-1] or {}).get(e, 0) for e in (1.0, 2.5, 4.0)
            ]
        else:
            shown = list(zip(mine, other, strict=True))
            keys = 1 if "GROUP" in form else 0
            assert all(near("0" if n < keys else kind, a, b) for n, (a, b) in enumerate(shown)), shown


def test_mode_and_top_k(oracle: duckdb.DuckDBPyConnection, exact: Connection) -> None:
    (ours, listed) = exact.execute("SELECT MODE(i), APPROX_TOP_K(i, 3) FROM t").fetchall()[0]
    counts = dict(oracle.execute("SELECT i, count(*) FROM t WHERE i IS NOT NULL GROUP BY i").fetchall())
    heaviest = sorted(counts.values(), reverse=True)
    assert counts[ours] == heaviest[0] and [counts[i] for i in listed] == heaviest[:3]
    assert exact.execute("SELECT MODE(k) FROM t").fetchall()[0][0] in KEYS


def test_result_types(exact: Connection, oracle: duckdb.DuckDBPyConnection) -> None:
    """DuckDB's, but for HUGEINT and for counts of histograms."""
    for case in ANSWERED:
        kind, items = case.outcome.removeprefix("within "), case.text
        if kind in ("map", "bins", "0", "count"):
            continue
        ours = exact.execute(f"SELECT {items} FROM t").description
        theirs = oracle.execute(f"SELECT {items} FROM t").description
        assert ours is not None and theirs is not None
        assert [str(c[1]) for c in ours] == [
            str(c[1]).replace("UINTEGER", "BIGINT").replace("HUGEINT", "BIGINT") for c in theirs
        ], items
