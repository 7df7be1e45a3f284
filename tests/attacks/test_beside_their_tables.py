"""Text that runs where the analyst's tables are (a transaction's queries, and every change): what it must not reach."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from tests.worlds import dataset, private, public


@pytest.fixture
def connection() -> Iterator[dpsql.Connection]:
    catalog = dataset({"t": private({"a": "integer"}, unit="id"), "p": public({"x": "integer"})})
    source = {"t": {"id": [1, 2], "a": [77, 88]}, "p": {"x": [1, 2]}}
    with dpsql.connect(catalog, source=source, memory_limit="200MB") as opened:
        opened.autocommit = False
        opened.execute("CREATE TABLE mine (x INTEGER)")
        opened.execute("INSERT INTO mine VALUES (5)")
        assert opened.in_transaction
        yield opened


SYSTEM = """
    pg_settings duckdb_tables duckdb_views duckdb_columns duckdb_databases sqlite_master pragma_database_list pg_database
    main.duckdb_tables pg_catalog.pg_settings information_schema.tables scratch.information_schema.tables "PG_Settings"
    system.main.duckdb_tables temp.information_schema.tables memory.main.p_p 'pg_settings'
""".split()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM {0}",
        "SELECT * FROM mine, {0}",
        "SELECT * FROM {0}, (WITH {1} AS (SELECT 1) SELECT 1)",
        "SELECT (SELECT count(*) FROM {0}) FROM mine",
        "CREATE TABLE made AS SELECT * FROM {0}",
        "CREATE TABLE made AS SELECT * FROM mine, {0}",
        "CREATE VIEW made AS FROM {0}",
        "CREATE TABLE made AS SELECT * FROM (DESCRIBE {0})",
        "INSERT INTO mine SELECT count(*) FROM {0}",
    ],
)
def test_no_settings_and_no_working_tables(connection: dpsql.Connection, text: str) -> None:
    connection.execute('CREATE SCHEMA "temp.information_schema"')
    connection.execute('CREATE SCHEMA "scratch.information_schema"')
    for name in SYSTEM:
        last = name.rpartition(".")[2].replace("'", '"')
        with pytest.raises(dpsql.Error, match="DPSQL-(100|101|105|108|113|120|122)"):
            connection.execute(text.format(name, last)).fetchall()


def test_nothing_is_listed(connection: dpsql.Connection) -> None:
    for statement in ("CREATE TABLE made AS FROM (SHOW {})", "FROM (SHOW {})", "INSERT INTO mine FROM (SHOW {})"):
        for text in ("ALL TABLES", "DATABASES", "TABLES"):
            with pytest.raises(dpsql.Error, match="DPSQL-1"):
                connection.execute(statement.format(text))


def test_no_files_and_no_other_text(connection: dpsql.Connection, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("a\nsecret\n", encoding="utf-8")
    for text in ("{}", "read_text({})", "read_csv({})", "glob({})", "query({})", "duckdb_settings()"):
        _refused_everywhere(connection, text.format(f"'{file}'"), file)


def _refused_everywhere(connection: dpsql.Connection, named: str, file: Path) -> None:
    for statement in (
        f"SELECT * FROM {named}",
        f"SELECT * FROM mine, {named}",
        f'SELECT * FROM {named}, (WITH "{file}" AS (SELECT 1) SELECT 1)',
        f"CREATE TABLE made AS SELECT * FROM {named}",
    ):
        with pytest.raises(dpsql.Error):
            connection.execute(statement).fetchall()


@pytest.mark.parametrize(
    "call",
    ["getenv('HOME')", "current_setting('temp_directory')", "write_log('x')", "json_execute_serialized_sql('{}')"],
)
def test_no_functions_of_the_process(connection: dpsql.Connection, call: str) -> None:
    for text in (f"SELECT {call} FROM mine", f"CREATE VIEW made AS SELECT {call}", f"INSERT INTO mine SELECT {call}"):
        with pytest.raises(dpsql.Error, match="DPSQL-1"):
            connection.execute(text)


def test_nothing_private(connection: dpsql.Connection) -> None:
    """Under no spelling, and not by a variable of Python's."""
    for name in ("t", "main.t", "T", '"t"', "'t'", "scratch.main.t", "memory.main.t", "given", "sql", "self"):
        for text in (
            f"SELECT * FROM {name}",
            f"SELECT * FROM mine, {name}",
            f"SELECT * FROM {name}, (WITH z AS (FROM mine) FROM z)",
        ):
            with pytest.raises(dpsql.Error):
                connection.execute(text).fetchall()
    assert connection.execute("WITH t AS (SELECT 1 AS a) SELECT a FROM t").fetchall() == [(1,)]
    assert connection.budget.spent.epsilon == 0


def test_not_what_another_has_not_committed(connection: dpsql.Connection) -> None:
    with connection.beside() as other:
        other.autocommit = False
        other.execute("CREATE TEMP TABLE theirs AS SELECT 1 AS y")
        for name in ("mine", "main.mine"):
            with pytest.raises(dpsql.SqlError, match="DPSQL-10[18]"):
                other.execute(f"SELECT * FROM {name}")
        for name in ("theirs", "main.theirs", "temp.theirs"):
            with pytest.raises(dpsql.SqlError, match="DPSQL-10"):
                connection.execute(f"SELECT * FROM {name}")


def test_time_and_memory_have_their_limits(connection: dpsql.Connection) -> None:
    connection.execute("SET time_limit = 0.5")
    endless = "SELECT count(*) FROM range(1000000000000) a, mine WHERE (a.range * 7919) % 1000003 = x"
    ever = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r, mine"
    for text in (endless, ever):
        with pytest.raises(dpsql.Error, match="DPSQL-506"):
            connection.execute(text)
        connection.rollback()
        connection.execute("CREATE TABLE mine AS SELECT 5 AS x")
    connection.execute("SET time_limit = 60")
    with pytest.raises(dpsql.Error, match="DPSQL-504"):
        connection.execute("SELECT list(a.range::VARCHAR) FROM range(100000000) a, mine")
    connection.rollback()
    assert connection.execute("SELECT count(*) FROM p").fetchall() == [(2,)]


def test_public_tables_and_pivots_in_a_transaction(connection: dpsql.Connection) -> None:
    assert connection.execute("SELECT mine.x, p.x FROM mine, p ORDER BY ALL").fetchall() == [(5, 1), (5, 2)]
    connection.execute("INSERT INTO mine SELECT x FROM p")
    assert connection.execute("PIVOT mine ON x USING count(*)").fetchall() == [(1, 1, 1)]
    connection.rollback()
    connection.execute("CREATE TABLE mine AS SELECT x FROM p")
    assert connection.execute("SELECT sum(x) FROM mine").fetchall() == [(3,)]
    connection.commit()
    with connection.beside() as other:
        assert other.execute("SELECT sum(mine.x + p.x) FROM mine, p").fetchall() == [(12,)]
