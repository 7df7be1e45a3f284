"""Statements that were answered wrongly, or ended in an error that is none of ours: now refused by name, or right."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest

import dpsql
from dpsql import testing
from tests.worlds import bounded, people

COLUMNS = {"pid": "integer", "k": bounded("integer", 0, 4), "m": bounded("decimal(10, 2)", 0, 100)}
CATALOG = people(COLUMNS, unit="pid", rows_per_unit=1, budget={"epsilon": 1, "delta": 0})


@pytest.fixture
def exact() -> Iterator[dpsql.Connection]:
    numbers = list(range(50))
    money = pa.array([Decimal(n) for n in numbers], pa.decimal128(10, 2))
    table = pa.table({"pid": numbers, "k": [n % 5 for n in numbers], "m": money})
    with testing.exact(CATALOG, source={"t": table}) as connection:
        connection.execute("CREATE TABLE p (k INTEGER)")
        connection.execute("INSERT INTO p VALUES (1), (2)")
        yield connection


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM ((SELECT k, m FROM t) s JOIN p ON s.k = p.k)",
        "SELECT COUNT(*) FROM ((SELECT k, m FROM t) s JOIN p ON s.k = p.k) z",
        "SELECT COUNT(z.m) FROM ((SELECT k, m FROM t) s JOIN p ON s.k = p.k) z",
        "SELECT COUNT(*) FROM (((SELECT k, m FROM t) s JOIN p USING (k)))",
    ],
)
def test_joins_in_parentheses_whose_left_side_is_a_query(exact: dpsql.Connection, sql: str) -> None:
    assert exact.execute(sql).fetchall() == [(20,)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("(SELECT COUNT(*) FROM t) CROSS JOIN p", "DPSQL-100"),
        ('SELECT 1 AS "a\x00b"', "DPSQL-100"),
        ('SELECT "foo"(1)', "DPSQL-107"),
        ('SELECT "foo"(k), COUNT(*) FROM t GROUP BY 1', "DPSQL-107"),
        ("SELECT SUM(n) OVER w FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) WINDOW w AS (w)", "DPSQL-102"),
        (
            "SELECT SUM(n) OVER v FROM (SELECT k, COUNT(*) AS n FROM t GROUP BY k) WINDOW v AS (w), w AS (v)",
            "DPSQL-102",
        ),
    ],
)
def test_refused(exact: dpsql.Connection, sql: str, code: str) -> None:
    with pytest.raises(dpsql.Error) as refused:
        exact.execute(sql)
    assert refused.value.code == code


def test_a_quoted_name_of_a_function_is_its_name(exact: dpsql.Connection) -> None:
    assert exact.execute('SELECT "abs"(-3)').fetchall() == [(3,)]


def test_lists_of_decimals_are_described(exact: dpsql.Connection) -> None:
    cursor = exact.execute("SELECT QUANTILE_DISC(m, [0.2, 0.8]) FROM t")
    assert [column[1] for column in cursor.description or ()] == ["DECIMAL(10,2)[]"]
    assert [column[4] for column in cursor.description or ()] == [None]
    assert len(cursor.fetchall()[0][0]) == 2


@pytest.mark.parametrize("levels", [12, 60])
def test_names_of_names_have_an_end(exact: dpsql.Connection, levels: int) -> None:
    """Each names the one before twice: 12 levels took 8 s and 800 MB to explain."""
    ctes = ["t0 AS (SELECT pid, k FROM t)"]
    ctes += [f"t{n} AS (SELECT a.pid, a.k FROM t{n - 1} a JOIN t{n - 1} b USING (pid))" for n in range(1, levels + 1)]
    with pytest.raises(dpsql.SqlError, match="DPSQL-138"):
        exact.explain(f"WITH {', '.join(ctes)} SELECT COUNT(*) FROM t{levels}")
