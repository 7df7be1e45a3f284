"""Cursors and connections: row factories, messages, ends, and what PEP 249 leaves open."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.testing import exact
from tests.worlds import keys, people


def catalog(**more: Any) -> dict[str, Any]:
    budget = {"budget": {"epsilon": 5, "delta": 1e-6}, "per_query": {"epsilon": 1, "delta": 1e-9}}
    return people({"k": keys("a", "b")}, unit="id", max_groups=1, max_rows=1, **{**budget, **more})


DATA = {"id": np.arange(100), "k": ["a", "b"] * 50}
TWO = "SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, 'y' ORDER BY a"


@pytest.fixture
def connection() -> Iterator[dpsql.Connection]:
    with dpsql.connect(catalog(), source=DATA) as opened:
        yield opened


@dataclasses.dataclass
class Pair:
    a: int
    b: str


FACTORIES: list[tuple[Any, list[Any]]] = [
    (dpsql.tuple_row, [(1, "x"), (2, "y")]),
    (dpsql.dict_row, [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]),
    (dpsql.namedtuple_row, [(1, "x"), (2, "y")]),
    (dpsql.class_row(Pair), [Pair(1, "x"), Pair(2, "y")]),
    (dpsql.scalar_row, [1, 2]),
]


@pytest.mark.parametrize(("factory", "rows"), FACTORIES)
def test_row_factories(connection: dpsql.Connection, factory: Any, rows: list[Any]) -> None:
    cursor = connection.cursor(row_factory=factory)
    assert cursor.execute(TWO).fetchall() == rows
    assert list(cursor.execute(TWO)) == rows
    assert cursor.execute(TWO).fetchone() == rows[0]
    assert cursor.fetchmany(5) == rows[1:]
    assert cursor.fetchone() is None
    connection.row_factory = factory
    assert connection.execute(TWO).fetchall() == rows


def test_named_rows_have_names(connection: dpsql.Connection) -> None:
    row = (
        connection.cursor(row_factory=dpsql.namedtuple_row)
        .execute('SELECT 1 AS a, 2 AS "not a name", 3 AS a')
        .fetchone()
    )
    assert row is not None and row.a == 1 and row._1 == 2 and row._2 == 3  # type: ignore[attr-defined]
    with dpsql.connect(catalog(), source=DATA, row_factory=dpsql.dict_row) as opened:
        assert opened.execute("SELECT 1 AS a").fetchone() == {"a": 1}


def test_rownumber_and_arraysize(connection: dpsql.Connection) -> None:
    cursor = connection.cursor()
    assert cursor.rownumber is None and cursor.rowcount == -1 and cursor.lastrowid is None
    cursor.execute(TWO)
    assert cursor.rownumber == 0 and cursor.rowcount == 2
    cursor.fetchone()
    assert cursor.rownumber == 1
    for bad in (0, -1, 1.5, True, "2", None):
        with pytest.raises(dpsql.InterfaceError):
            cursor.arraysize = bad  # type: ignore[assignment]
    with pytest.raises(dpsql.InterfaceError):
        cursor.fetchmany(-1)
    assert cursor.fetchmany(0) == []


def test_a_connection_keeps_its_errors_and_its_cursor_its_connection(connection: dpsql.Connection) -> None:
    for name in (
        "Warning",
        "Error",
        "InterfaceError",
        "DatabaseError",
        "DataError",
        "OperationalError",
        "IntegrityError",
    ):
        assert getattr(connection, name) is getattr(dpsql, name)
    assert connection.cursor().connection is connection
    with pytest.raises(connection.ProgrammingError):
        connection.execute("SELEC 1")


ON_CLOSED: list[Callable[[Any], object]] = [
    lambda c: c.execute("SELECT 1"),
    lambda c: c.executemany("INSERT INTO t VALUES (?)", []),
    lambda c: c.fetchone(),
    lambda c: c.fetchall(),
    lambda c: next(c),
    lambda c: c.df(),
    lambda c: c.nextset(),
    lambda c: c.__enter__(),
]


@pytest.mark.parametrize("call", ON_CLOSED)
def test_closed(connection: dpsql.Connection, call: Callable[[Any], object]) -> None:
    cursor = connection.execute("SELECT 1")
    cursor.close()
    cursor.close()
    with pytest.raises(dpsql.InterfaceError) as refused:
        call(cursor)
    assert refused.value.code == "DPSQL-602"
    cursor = connection.execute("SELECT 1")
    connection.close()
    connection.close()
    with pytest.raises(dpsql.InterfaceError) as refused:
        call(cursor)
    assert refused.value.code == "DPSQL-601"
    assert "closed" in repr(connection)
    for on_connection in (connection.cursor, connection.commit, connection.rollback, lambda: connection.budget):
        with pytest.raises(dpsql.InterfaceError):
            on_connection()


def test_rollback_never_refunds(connection: dpsql.Connection) -> None:
    connection.execute("SELECT k, COUNT(*) FROM t GROUP BY k")
    assert connection.budget.spent.epsilon == 1
    connection.rollback()
    connection.commit()
    assert connection.budget.spent.epsilon == 1
    assert connection.autocommit is True
    connection.autocommit = False
    connection.execute("CREATE TABLE mine (a INTEGER)")
    assert connection.in_transaction
    connection.execute("SELECT k, COUNT(*) FROM t GROUP BY k")
    connection.rollback()
    assert connection.budget.spent.epsilon == 2 and not connection.in_transaction
    with pytest.raises(dpsql.ProgrammingError, match="DPSQL-101"):
        connection.execute("SELECT * FROM mine")


def test_executemany_is_for_changes(connection: dpsql.Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE mine (a INTEGER, b VARCHAR(10), d DATE)")
    rows = [(1, "x", date(2020, 1, 1)), (None, None, None)]
    assert cursor.executemany("INSERT INTO mine VALUES (?, ?, ?)", rows).rowcount == 2
    assert cursor.description is None
    cursor.executemany("INSERT INTO mine (b, a) VALUES ($b, $a)", iter([{"a": 3, "b": "z"}]))
    assert cursor.execute("SELECT * FROM mine ORDER BY a").fetchall() == [rows[0], (3, "z", None), rows[1]]
    for sql in ("SELECT COUNT(*) FROM t WHERE id > ?", "SET epsilon = ?", "CREATE TABLE x (a INTEGER)"):
        with pytest.raises(dpsql.Error):
            cursor.executemany(sql, [(1,)] if "?" in sql else [()])
    assert connection.budget.spent.epsilon == 0
    with pytest.raises(dpsql.ProgrammingError):
        cursor.executemany("INSERT INTO mine VALUES (?, ?, ?)", [(1, "a", None), (1, 2)])
    assert cursor.execute("SELECT COUNT(*) FROM mine").fetchone() == (4,)  # what came before the error stays


def test_values_of_many_rows(connection: dpsql.Connection) -> None:
    connection.execute("CREATE TABLE mine (a BIGINT)")
    rows = ", ".join(f"({i})" for i in range(1500))
    assert connection.execute(f"INSERT INTO mine VALUES {rows}").rowcount == 1500
    assert connection.execute("SELECT SUM(a), COUNT(*) FROM mine").fetchone() == (1500 * 1499 // 2, 1500)
    assert connection.execute("VALUES (1, 'x'), (2, NULL)").fetchall() == [(1, "x"), (2, None)]


def test_messages() -> None:
    """Notes of a release and notices of the ledger; cleared by the next statement."""
    given = catalog()
    with dpsql.connect(given, source=DATA) as first:
        assert first.messages == []
        first.execute("SELECT COUNT(*) FROM t")
        given["budget"] = {"epsilon": 6, "delta": 1e-6}
        with dpsql.connect(given, source=DATA) as second:
            ((kind, notice),) = second.messages
            assert kind is dpsql.Warning and "changed" in str(notice)
            cursor = second.cursor()
            assert cursor.messages == [] and second.messages != []
            cursor.execute("SELECT 1")
            assert second.messages == [] and cursor.messages == []


def test_exact_is_loud() -> None:
    with exact(catalog(), source=DATA) as opened:
        cursor = opened.execute("SELECT k, COUNT(*) AS n FROM t GROUP BY k")
        assert cursor.fetchall() == [("a", 50), ("b", 50)]
        assert "EXACT" in repr(opened) and "EXACT" in repr(cursor) and "EXACT" in str(cursor._repr_html_())


def test_html_is_escaped_and_short(connection: dpsql.Connection) -> None:
    shown = str(connection.execute("SELECT '<script>' AS \"<b>\"")._repr_html_())
    assert "<script>" not in shown and "&lt;script&gt;" in shown and "<b>" not in shown
    connection.execute("CREATE TABLE mine (a BIGINT)")
    connection.execute("INSERT INTO mine VALUES " + ", ".join(f"({i})" for i in range(100)))
    cursor = connection.execute("SELECT a FROM mine")
    assert "40 more rows" in str(cursor._repr_html_())
    assert len(cursor.fetchall()) == 100  # looking does not fetch
    assert connection.execute("DROP TABLE mine")._repr_html_() is None
    plan = str(connection.execute('EXPLAIN SELECT 1 AS "<b>"')._repr_html_())
    assert plan.startswith("<pre") and "<b>" not in plan and "<table" not in plan


def test_a_prompt_is_told_what_a_cursor_holds(connection: dpsql.Connection[Any]) -> None:
    cursor = connection.execute("SELECT 1 AS a, 2 AS b")
    assert repr(cursor) == "<dpsql cursor (open; 1 row of a, b)>"
    assert repr(connection.execute("SELECT " + ", ".join(f"{i} AS c{i}" for i in range(9)))).endswith("c5, …)>")
    assert repr(connection.cursor()) == "<dpsql cursor (open)>"
    cursor.close()
    assert repr(cursor) == "<dpsql cursor (closed)>"


def test_threads_each_with_a_connection() -> None:
    """threadsafety = 1: threads share the module. Together they never spend more than there is."""
    given = catalog()
    outcomes: list[str] = []

    def ask() -> None:
        with dpsql.connect(given, source=DATA) as opened:
            for i in range(3):
                try:
                    opened.execute("SELECT COUNT(*) FROM t WHERE id > ?", [threading.get_ident() % 1000 + i]).fetchall()
                    outcomes.append("answered")
                except dpsql.BudgetError:
                    outcomes.append("refused")

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 12 and outcomes.count("answered") >= 5
    with dpsql.connect(given, source=DATA) as opened:
        assert opened.budget.spent.epsilon == 5


def test_a_connection_may_move_to_another_thread(connection: dpsql.Connection) -> None:
    rows: list[Any] = []
    thread = threading.Thread(target=lambda: rows.append(connection.execute("SELECT COUNT(*) FROM t").fetchone()))
    thread.start()
    thread.join()
    assert len(rows) == 1 and connection.budget.spent.epsilon == 1


def test_constructors() -> None:
    assert dpsql.Date(2020, 2, 29) == date(2020, 2, 29)
    assert dpsql.Time(1, 2, 3) == time(1, 2, 3)
    assert dpsql.Timestamp(2020, 1, 1, 2, 3, 4) == datetime(2020, 1, 1, 2, 3, 4)
    ticks = datetime(2020, 1, 1, 2, 3, 4).timestamp()
    assert dpsql.DateFromTicks(ticks) == date(2020, 1, 1)
    assert dpsql.TimeFromTicks(ticks) == time(2, 3, 4)
    assert dpsql.TimestampFromTicks(ticks) == datetime(2020, 1, 1, 2, 3, 4)
    assert dpsql.Binary(b"x") == b"x"


def test_every_name_of_the_module_is_there_and_nothing_heavy_is_loaded() -> None:
    with warnings.catch_warnings():
        for name in dpsql.__all__:
            assert getattr(dpsql, name) is not None
    heavy = (
        "import dpsql, sys; print([m for m in ('duckdb', 'numpy', 'pandas', 'sqlglot', 'yaml') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory_limit": m}
        for m in ("10XB", "", "1", "-5GB", "0", "1KB", "4GB'; --", "9999999999GB", "NaN GB", 5, b"1GB")
    ]
    + [{"threads": n} for n in (0, -1, True, 1.5, "2", 10**9)],
)
def test_memory_and_threads_are_refused_at_once(wrong: dict[str, Any]) -> None:
    """They were bugs in dpsql at the first query; a billion threads ended the process."""
    with pytest.raises(dpsql.InterfaceError, match=next(iter(wrong))) as caught:
        dpsql.connect(catalog(), source=DATA, **wrong)
    assert caught.value.code == "DPSQL-600"


@pytest.mark.parametrize("size", ["10MB", "1.5 GB", "4gib", "80%"])
def test_sizes_of_memory(size: str) -> None:
    with dpsql.connect(catalog(), source=DATA, memory_limit=size, threads=2) as opened:
        assert opened.execute("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize("path", [b"a.csv", 3, None])
def test_what_is_no_path_is_not_written_to(connection: dpsql.Connection, path: Any) -> None:
    with pytest.raises(dpsql.InterfaceError, match="takes a path"):
        connection.execute(TWO).write(path)
