"""What is passed on to DuckDB as text reaches nothing: what may not pass is refused by name, and where it runs there is
nothing to be reached, should the list have a hole: the second half of these tests goes around the list."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.engine.apart.process import WORKERS
from dpsql.engine.apart.run import Apart, Question
from dpsql.engine.hardening import Limits
from dpsql.engine.scratch import Scratch
from tests.cases.reading import Case, read
from tests.worlds import markets

ATTACKS = read("public/attacks.sql")


@pytest.fixture(scope="module")
def connection() -> Iterator[dpsql.Connection]:
    with dpsql.connect(markets.catalog(), source=markets.source()) as opened:
        for statement in markets.MADE:
            opened.execute(statement)
        yield opened


@pytest.mark.parametrize("case", ATTACKS, ids=str)
def test_refused_with_a_code_and_for_nothing(case: Case, connection: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Error) as caught:
        connection.execute(case.text)
    assert caught.value.code.startswith("DPSQL-1"), caught.value
    assert "secret " not in str(caught.value).replace(case.text, "")
    assert connection.budget.spent.epsilon == 0


def test_there_are_enough() -> None:
    assert len(ATTACKS) >= 100


def test_nothing_was_made(connection: dpsql.Connection) -> None:
    """By any of them: no table, no view, no file."""
    for case in ATTACKS:
        with contextlib.suppress(dpsql.Error):
            connection.execute(case.text)
    assert [row[0] for row in connection.execute("SHOW TABLES").fetchall() if row[1] == "yours"] == ["nested"]
    assert not [name for name in os.listdir("/tmp") if name in ("x.csv", "x.duckdb", "x")]


HUNGRY = {
    "SELECT count(*) FROM range(1000000000000)": "506",
    "WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t) SELECT count(*) FROM t": "506",
    "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = -1": "506",
    "SELECT list(i) FROM range(10000000000) t(i)": "504|506",
    "SELECT * FROM range(100000) a, range(100000) b ORDER BY random()": "504|506",
    "SELECT repeat('x', 10000000000)": "502|504",
    "SELECT lpad('x', 2000000000, 'y') || lpad('x', 2000000000, 'z')": "50[246]",
    "SELECT len(range(1000000000000))": "502|504",
    "SELECT string_agg(repeat('x', 1000), '') FROM range(10000000)": "504|506",
    "SELECT sum(len(repeat(i::VARCHAR, 100000))) FROM range(100000000) t(i)": "506",
}


@pytest.mark.slow
@pytest.mark.parametrize("sql", HUNGRY)
def test_what_has_no_end_has_one(sql: str) -> None:
    """Each ends in its time, and the next statement is answered."""
    with dpsql.connect(markets.catalog(), source=markets.source(), memory_limit="200MB") as opened:
        opened.execute("SET time_limit = 2")
        began = time.monotonic()
        with pytest.raises(dpsql.Error, match=f"DPSQL-({HUNGRY[sql]})"):
            opened.execute(sql)
        assert time.monotonic() - began < 60
        opened.execute("SET time_limit = 60")
        assert opened.execute("SELECT count(*) FROM towns").fetchone() == (4,)


def test_a_statement_is_stopped_from_another_thread(connection: dpsql.Connection) -> None:
    stop = threading.Timer(0.5, connection.interrupt)
    stop.start()
    with pytest.raises(dpsql.Error, match="DPSQL-503"):
        connection.execute("SELECT count(*) FROM range(1000000000000)")
    assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.skipif(os.name == "nt", reason="there Ctrl-C is for the whole console")
def test_ctrl_c_stops_it(connection: dpsql.Connection) -> None:
    stop = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    stop.start()
    with pytest.raises(dpsql.Interrupted):
        connection.execute("SELECT count(*) FROM range(1000000000000)")
    assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Apart]:
    """The way to the process, without the list."""
    with Scratch(Limits()) as scratch, Apart(scratch, tmp_path, Limits(memory="200MB")) as opened:
        yield opened


AROUND = (
    "FROM read_text('/etc/passwd')",
    "FROM '/etc/passwd'",
    "FROM glob('/*')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "FROM sniff_csv('/etc/passwd')",
    "FROM read_parquet('https://example.com/x.parquet')",
    "FROM query('FROM read_text(''/etc/passwd'')')",
    "FROM made.made_up",
)


@pytest.mark.parametrize("sql", AROUND)
def test_where_it_runs_there_is_nothing_to_be_reached(apart: Apart, sql: str) -> None:
    with pytest.raises(dpsql.Error, match="disabled by configuration|does not exist"):
        apart.rows(Question(text=sql), 20)


@pytest.mark.skipif(os.name == "nt", reason="there what is open has a name")
def test_where_it_runs_its_own_files_have_no_names(apart: Apart, tmp_path: Path) -> None:
    """Not even those that hold what it reads, and what it makes."""
    tables = {"t": "SELECT 42 AS x"}
    question = Question(text="SELECT t.x + l.x AS y FROM t, l", tables=tables, lasting={"l": "SELECT 1 AS x"})
    assert apart.rows(question, 20).fetchall() == [(43,)]
    for name in ("**", "*", "given.duckdb", "made.duckdb", "new.duckdb", "new.duckdb.wal", "{}.duckdb", "../2.duckdb"):
        file = tmp_path / str(apart._number + 1) / name.format(apart._number + 2)
        asked = replace(question, text=f"SELECT t.x, r.* FROM t, l, read_blob('{file}') AS r")
        with contextlib.suppress(dpsql.Error):
            assert apart.rows(asked, 20).fetchall() == []


def test_scratch_reaches_no_file(connection: dpsql.Connection, tmp_path: Path) -> None:
    """Where the analyst's tables are, without the list: not the folder of exchange, and not the session's other folders."""
    temporary = connection._session.engines.temporary.path
    connection.execute("SELECT * FROM towns")
    assert list(temporary.glob("exchange/*.duckdb"))
    user = connection._session.scratch.user_connection()
    try:
        for path in (tmp_path, temporary, temporary / "exchange", temporary / "courier", temporary / "vault", "/etc"):
            for text in (f"FROM read_blob('{path}/*')", f"FROM glob('{path}/**')", f"FROM read_text('{path}/x')"):
                with pytest.raises(dpsql.Error, match="disabled by configuration"):
                    user.query(text)
    finally:
        user.close()


@pytest.mark.parametrize(
    "sql",
    ["COPY (SELECT 1) TO '{}/x.csv'", "ATTACH '{}/x.duckdb'", "LOAD httpfs", "SET memory_limit = '9GB'", "CHECKPOINT"],
)
def test_where_it_runs_nothing_but_a_query_is_run(apart: Apart, sql: str, tmp_path: Path) -> None:
    with pytest.raises(dpsql.Error):
        apart.rows(Question(text=sql.format(tmp_path)), 20)
    assert not list(tmp_path.glob("x.*"))


def test_a_statement_sees_no_other_ones_tables_and_no_environment(apart: Apart) -> None:
    os.environ["DPSQL_TEST_SECRET"] = "a password"
    try:
        shown = apart.rows(Question(text="SELECT current_setting('secret_directory'), 1"), 20)
        assert "password" not in repr(shown.fetchall())
        for worker in WORKERS._idle:
            environment = Path(f"/proc/{worker._process.pid}/environ")
            if environment.exists():
                assert b"a password" not in environment.read_bytes()
    finally:
        del os.environ["DPSQL_TEST_SECRET"]


def test_a_process_that_was_killed_is_replaced(connection: dpsql.Connection) -> None:
    connection.execute("SELECT 1")
    for worker in list(WORKERS._idle):
        worker._process.kill()
        worker._process.wait()
    assert connection.execute("SELECT 2").fetchone() == (2,)


def test_nothing_but_public_tables_stays_in_the_folder(connection: dpsql.Connection) -> None:
    folder = connection._session.engines.temporary.inner("exchange")
    connection.execute("SELECT * FROM towns, range(100)").fetchall()
    with pytest.raises(dpsql.Error):
        connection.execute("SELECT error('x')")
    for kept in folder.iterdir():
        with duckdb.connect(str(kept), read_only=True) as there:
            assert there.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("rows",)]


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE endless AS SELECT count(*) AS n FROM range(1000000000000)",
        "INSERT INTO nested SELECT [count(*)], NULL, NULL, 1 FROM range(1000000000000)",
        "FROM endless_view",
        "SELECT n FROM endless_view, (SELECT COUNT(*) FROM visits)",
        "SELECT COUNT(*) FROM visits, endless_view",
    ],
)
def test_statements_on_ones_tables_end_in_their_time(sql: str) -> None:
    with dpsql.connect(markets.catalog(), source=markets.source()) as opened:
        for statement in (*markets.MADE, "CREATE VIEW endless_view AS SELECT count(*) AS n FROM range(1000000000000)"):
            opened.execute(statement)
        opened.execute("SET time_limit = 0.5")
        with pytest.raises(dpsql.Error, match="DPSQL-506"):
            opened.execute(sql)
        assert opened.budget.spent.epsilon == 0
        opened.execute("SET time_limit = 60")
        assert opened.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1" + "+1" * 3500,
        "SELECT " + "NOT " * 7000 + "true",
        "SELECT * FROM towns a" + " JOIN towns b ON true" * 1000,
        "SELECT " + "(" * 5000 + "1" + ")" * 5000,
        "SELECT " + "CASE WHEN true THEN " * 1500 + "1 " + "END " * 1500,
        " UNION ALL ".join(["SELECT 1"] * 2500),
        "SELECT a" + "[1]" * 2500,
        "SELECT " + "[" * 63 + "1" + "]" * 63,
    ],
    ids=range(8),
)
def test_texts_without_end_are_read_in_time(connection: dpsql.Connection, sql: str) -> None:
    began = time.monotonic()
    with contextlib.suppress(dpsql.Error):
        connection.execute(sql)
    assert time.monotonic() - began < 20


CHAIN = "".join(f", a{n + 1} AS (SELECT a.x FROM a{n} a, a{n} b)" for n in range(30))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT [x] FROM " + "(SELECT x FROM " * 45 + "(SELECT note AS x FROM visits)" + ")" * 45,
        f"WITH a0 AS (SELECT 1 AS x){CHAIN} SELECT [x], [n] FROM a3, (SELECT COUNT(*) AS n FROM visits)",
        f"WITH a0 AS (SELECT age AS x FROM visits){CHAIN} SELECT [x] FROM a30",
        "SELECT " + ", ".join(f"[COUNT(*) + {n}]" for n in range(800)) + " FROM visits",
    ],
    ids=range(4),
)
def test_cutting_a_text_apart_ends(connection: dpsql.Connection, sql: str) -> None:
    """A chain of names that each say the one before twice was 2^30 looks."""
    began = time.monotonic()
    with contextlib.suppress(dpsql.Error):
        connection.explain(sql)
    assert time.monotonic() - began < 60
