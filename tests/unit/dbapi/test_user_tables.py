"""Tables of one's own: statements on them are DuckDB's, their constraints hold, transactions end as DB-API says."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import dpsql
from tests.worlds import dataset, keys, private, public


@pytest.fixture
def connection() -> Iterator[dpsql.Connection]:
    catalog = dataset(
        {"t": private({"k": keys("a", "b")}, unit="id", max_groups=1, max_rows=1), "p": public({"x": "integer"})},
        per_query={"epsilon": 1, "delta": 1e-9},
    )
    source = {"t": {"id": list(range(100)), "k": ["a", "b"] * 50}, "p": {"x": [1, 2, 3]}}
    with dpsql.connect(catalog, source=source) as opened:
        yield opened


def rows(connection: dpsql.Connection, sql: str) -> list[tuple[object, ...]]:
    return connection.execute(sql).fetchall()


@pytest.mark.parametrize(
    ("definition", "wrong"),
    [
        ("a INTEGER NOT NULL", "INSERT INTO m VALUES (NULL)"),
        ("a INTEGER UNIQUE", "INSERT INTO m VALUES (1), (1)"),
        ("a INTEGER PRIMARY KEY", "INSERT INTO m VALUES (NULL)"),
        ("a INTEGER CHECK (a > 3)", "INSERT INTO m VALUES (3)"),
        ("a INTEGER REFERENCES other (b)", "INSERT INTO m VALUES (8)"),
        ("a INTEGER, CONSTRAINT c FOREIGN KEY (a) REFERENCES other (b)", "INSERT INTO m SELECT 8"),
        ("a INTEGER UNIQUE", "INSERT INTO m SELECT COUNT(*) * 0 FROM t UNION ALL SELECT 0"),
    ],
)
def test_constraints_hold(connection: dpsql.Connection, definition: str, wrong: str) -> None:
    connection.execute("CREATE TABLE other (b INTEGER PRIMARY KEY)")
    assert connection.execute(f"CREATE TABLE m ({definition})").rowcount == -1
    with pytest.raises(dpsql.IntegrityError, match="DPSQL-507"):
        connection.execute(wrong)
    assert rows(connection, "SELECT COUNT(*) FROM m") == [(0,)]


def test_rows_are_changed(connection: dpsql.Connection) -> None:
    connection.execute("CREATE TABLE m (a INTEGER PRIMARY KEY, b VARCHAR DEFAULT 'new')")
    assert rows(connection, "INSERT INTO m (a) VALUES (1), (2), (3) RETURNING a, b") == [(i, "new") for i in (1, 2, 3)]
    assert connection.execute("UPDATE m SET b = ? WHERE a >= ?", ["old", 2]).rowcount == 2
    assert connection.execute("DELETE FROM m WHERE a = $a", {"a": 1}).rowcount == 1
    connection.execute("INSERT INTO m VALUES (2, 'x') ON CONFLICT (a) DO UPDATE SET b = excluded.b")
    assert rows(connection, "SELECT a, b FROM m ORDER BY a") == [(2, "x"), (3, "old")]
    connection.execute("WITH w AS (SELECT 7 AS a) INSERT INTO m (a) SELECT a FROM w")
    connection.execute("MERGE INTO m USING (SELECT x FROM p) AS s ON m.a = s.x WHEN MATCHED THEN DELETE")
    assert rows(connection, "SELECT a FROM m") == [(7,)]
    assert connection.execute("TRUNCATE m").rowcount == 1
    assert connection.budget.spent.epsilon == 0


def test_tables_of_a_pivot_without_in(connection: dpsql.Connection) -> None:
    """DuckDB makes several statements of it; where that cannot be one of dpsql's, it says so."""
    connection.execute("CREATE TABLE m AS PIVOT p ON x USING count(*)")
    assert rows(connection, "SELECT * FROM m") == [(1, 1, 1)]
    assert connection.execute("INSERT INTO m SELECT * FROM (PIVOT p ON x USING count(*))").rowcount == 1
    connection.execute(
        "CREATE OR REPLACE TABLE m AS PIVOT (SELECT k, COUNT(*) AS n FROM t GROUP BY k) ON k USING sum(n)"
    )
    assert [d[0] for d in connection.execute("FROM m").description or ()] == ["a", "b"]
    with pytest.raises(dpsql.SqlError, match="DPSQL-108") as caught:
        connection.execute("UPDATE m SET a = (SELECT max(a) FROM (PIVOT p ON x USING count(*)))")
    assert "PIVOT without IN" in str(caught.value)


@pytest.mark.parametrize(
    "sql", ["SELECT x'é'", "CREATE TABLE m AS SELECT x'é' AS a", "SELECT [x'0😀', COUNT(*)] FROM t", "SELECT 1 `a`"]
)
def test_what_duckdb_has_no_words_for(connection: dpsql.Connection, sql: str) -> None:
    """Its message would end within a letter; and a sign that it reads in a way of its own."""
    with pytest.raises(dpsql.Error, match=r"DPSQL-1\d\d"):
        connection.execute(sql)


def test_what_is_made_beside_tables(connection: dpsql.Connection) -> None:
    for sql in (
        "CREATE SEQUENCE s START 5",
        "CREATE TABLE m (a INTEGER DEFAULT nextval('s'), b INTEGER)",
        "CREATE INDEX i ON m (b)",
        "COMMENT ON COLUMN m.b IS 'words'",
        "INSERT INTO m (b) VALUES (1)",
        "CREATE VIEW v AS SELECT a + b AS c FROM m",
        "ALTER TABLE m ADD COLUMN d DATE",
        "CREATE TEMP TABLE w AS SELECT x AS c FROM p",
    ):
        connection.execute(sql)
    assert rows(connection, "SELECT a, b, d FROM m") == [(5, 1, None)]
    assert rows(connection, "SELECT c FROM v") == [(6,)]
    assert rows(connection, "SELECT SUM(c) FROM w") == [(6,)]
    connection.execute("DROP VIEW v")
    with pytest.raises(dpsql.ProgrammingError, match="DPSQL-101"):
        connection.execute("SELECT c FROM v")


def test_a_transaction(connection: dpsql.Connection) -> None:
    connection.execute("CREATE TABLE m (a INTEGER)")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO m SELECT COUNT(*) * 0 FROM t")
    connection.execute("INSERT INTO m VALUES (4)")
    connection.execute("CREATE TABLE n AS SELECT * FROM m")
    held = connection.execute("SELECT a FROM m ORDER BY a")
    assert rows(connection, "SELECT COUNT(*) FROM t JOIN n ON id = a") != []  # private rows meet what is not committed
    connection.execute("ROLLBACK")
    assert held.fetchall() == [(0,), (4,)]  # what was answered stays
    assert rows(connection, "SELECT COUNT(*) FROM m") == [(0,)]
    assert connection.budget.spent.epsilon == 2
    connection.execute("BEGIN TRANSACTION")
    connection.execute("INSERT INTO m VALUES (1)")
    connection.execute("COMMIT")
    connection.rollback()
    assert rows(connection, "SELECT COUNT(*) FROM m") == [(1,)]


def test_without_autocommit(connection: dpsql.Connection) -> None:
    connection.autocommit = False
    connection.execute("CREATE TABLE m (a INTEGER PRIMARY KEY)")
    connection.execute("INSERT INTO m VALUES (1)")
    connection.commit()
    with pytest.raises(dpsql.IntegrityError):
        connection.execute("INSERT INTO m VALUES (1)")
    connection.execute("INSERT INTO m VALUES (2)")
    connection.rollback()
    assert rows(connection, "SELECT a FROM m") == [(1,)]
    connection.execute("INSERT INTO m VALUES (2)")
    connection.autocommit = True
    connection.rollback()
    assert rows(connection, "SELECT COUNT(*) FROM m") == [(2,)]


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE t SET k = 'a'",
        "DELETE FROM p",
        "DROP TABLE p",
        "DROP VIEW IF EXISTS p",
        "ALTER TABLE t ADD COLUMN z INTEGER",
        "CREATE OR REPLACE TABLE t (a INTEGER)",
        "CREATE VIEW p AS SELECT 1",
        "CREATE VIEW v AS SELECT k FROM t",
        "UPDATE m SET a = 1 FROM t",
        "INSERT INTO m SELECT id FROM t",
        "CREATE TABLE n AS SELECT * FROM t",
        "CREATE TABLE n AS SELECT * FROM memory.main.p_p",
        'UPDATE m SET a = (SELECT 1 FROM "Memory" /**/ . main.p_p)',
        "CREATE VIEW v AS SELECT U&'\\0061'",
        "CREATE TABLE n AS SELECT * FROM read_csv('/etc/passwd')",
        "CREATE TABLE n AS SELECT * FROM '/etc/passwd'",
        "INSERT INTO m SELECT * FROM query('SELECT 1')",
        "CREATE VIEW v AS SELECT current_setting('temp_directory')",
        "CREATE MACRO f(x) AS x",
        "CREATE OR REPLACE SECRET s (TYPE s3)",
        "CREATE TEMP MACRO count(x) AS 0",
        "CREATE TABLE n (a INTEGER); DROP TABLE m",
        "INSERT INTO m VALUES (1) /* /* */",
        "WITH w AS (SELECT 1) INSERT INTO t SELECT 1, 'a'",
        "ATTACH ':memory:' AS x",
        "COPY m TO '/tmp/x'",
        "SAVEPOINT a",
        "COMMENT ON DATABASE scratch IS 'x'",
    ],
)
def test_what_stays_closed(connection: dpsql.Connection, sql: str) -> None:
    connection.execute("CREATE TABLE m (a INTEGER)")
    with pytest.raises(dpsql.DatabaseError) as refused:
        connection.execute(sql)
    assert not isinstance(refused.value, dpsql.InternalError)
    assert connection.budget.spent.epsilon == 0
    assert rows(connection, "SELECT COUNT(*) FROM m") == [(0,)]
    assert [name for name, *_ in rows(connection, "SHOW TABLES")] == ["t", "p", "m"]


def test_words_are_read_as_duckdb_reads_them(connection: dpsql.Connection) -> None:
    connection.execute('CREATE TABLE "od""d; name" ("a;b" VARCHAR DEFAULT \'it\'\'s; -- no comment\')')
    connection.execute("/* a */ INSERT INTO \"od\"\"d; name\" VALUES ($$x;'y$$), (E'\\'') -- end\n;")
    assert rows(connection, 'SELECT * FROM "od""d; name" ORDER BY 1') == [("'",), ("x;'y",)]


def test_connections_beside_each_other(connection: dpsql.Connection) -> None:
    other = connection.beside()
    connection.execute("CREATE TABLE m (a INTEGER PRIMARY KEY, b INTEGER)")
    connection.execute("INSERT INTO m VALUES (1, 0)")
    connection.execute("BEGIN")
    connection.execute("UPDATE m SET b = 1")
    assert rows(other, "SELECT b FROM m") == [(0,)]
    with pytest.raises(dpsql.OperationalError, match="DPSQL-508"):
        other.execute("UPDATE m SET b = 2")
    connection.commit()
    other.execute("SET epsilon = 0.5")
    rows(other, "SELECT COUNT(*) FROM t")
    assert connection.budget.spent.epsilon == 0.5
    rows(connection, "SELECT k, COUNT(*) FROM t GROUP BY k")
    assert other.budget.spent.epsilon == 1.5
    connection.close()
    assert connection.closed and not other.closed
    assert rows(other, "SELECT b FROM m") == [(1,)]
    other.close()
    with pytest.raises(dpsql.InterfaceError, match="DPSQL-601"):
        other.execute("SELECT 1")


def test_only_the_connection_of_a_transaction_sees_it(connection: dpsql.Connection) -> None:
    connection.execute("CREATE SCHEMA mine")
    connection.execute("CREATE TABLE mine.m (a INTEGER)")
    connection.execute("INSERT INTO mine.m SELECT x FROM p")
    connection.execute("CREATE SEQUENCE s START 7")
    assert rows(connection, "SELECT SUM(a) FROM mine.m JOIN p ON a = x") == [(6,)]
    assert rows(connection, "SELECT nextval('s')") == [(7,)]
    for sql in (
        "SELECT * FROM mine.m, t",
        "SELECT nextval('s') FROM t",
        "SELECT * FROM memory.main.p_p",
        "SELECT getenv('HOME')",
    ):
        with pytest.raises(dpsql.DatabaseError):
            connection.execute(sql)
    connection.execute("BEGIN")
    for sql in (
        "SELECT * FROM t",
        "SELECT * FROM mine.m, t",
        "SELECT * FROM memory.main.p_p",
        "SELECT * FROM '/etc/passwd'",
    ):
        with pytest.raises(dpsql.DatabaseError):
            connection.execute(sql)
    assert connection.budget.spent.epsilon == 0


def test_moments_with_a_zone(connection: dpsql.Connection) -> None:
    moment = datetime(2020, 1, 1, 12, tzinfo=UTC)
    connection.execute("CREATE TABLE m (w TIMESTAMP WITH TIME ZONE)")
    connection.execute("INSERT INTO m VALUES ('2020-01-01 13:00:00+01'), (NULL)")
    cursor = connection.execute("SELECT w FROM m ORDER BY w")
    assert cursor.fetchone() == (moment,) and cursor.fetchall() == [(None,)]
    assert cursor.description is not None and cursor.description[0][1] == dpsql.DATETIME


STRANGE = f"SELECT '101'::BIT AS b, ['1'::BIT, NULL] AS l, '12:00:00+02'::TIMETZ AS z, {2**128 - 1}::UHUGEINT AS u"


@pytest.mark.slow
def test_values_that_arrow_cannot_hold_stay_what_they_are(connection: dpsql.Connection) -> None:
    """On every way that rows take: apart, into a table, in a transaction, with RETURNING, beside released numbers."""
    shown = [("101", "[1, NULL]", "12:00:00+02", str(2**128 - 1))]
    as_text = "SELECT b::VARCHAR, l::VARCHAR, z::VARCHAR, u::VARCHAR FROM "
    assert rows(connection, f"{as_text}({STRANGE})") == shown
    connection.execute(f"CREATE TABLE m AS {STRANGE}")
    connection.execute(f"CREATE TABLE n AS SELECT m.*, c FROM m, ({STRANGE}) AS k, (SELECT COUNT(*) AS c FROM t)")
    types = [column[1] for column in connection.execute("SELECT b, l, z, u FROM n").description or ()]
    assert types == ["BIT", "BIT[]", "TIME WITH TIME ZONE", "UHUGEINT"]
    for autocommit in (True, False):
        connection.autocommit = autocommit
        assert rows(connection, f"{as_text} m") == rows(connection, f"{as_text} n") == shown
        first = connection.execute("UPDATE m SET b = b RETURNING *").fetchall()
        assert first == rows(connection, "FROM m") == rows(connection, STRANGE)
    assert connection.execute("SELECT b, l FROM m").arrow().to_pylist() == [{"b": "101", "l": ["1", None]}]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t WHERE k IN (SELECT w FROM m)",
        "SELECT COUNT(*) FROM t JOIN m ON k = w",
        "SELECT w, COUNT(*) FROM m JOIN t ON k = w GROUP BY w",
        "SELECT COUNT(*) FROM t WHERE EXISTS (FROM m WHERE w = k AND w > '')",
        "WITH n AS (SELECT * FROM m), o AS (SELECT * FROM n) SELECT COUNT(*) FROM t JOIN o ON k = w",
        "SELECT COUNT(*) FROM t JOIN (FROM m UNION ALL FROM m) AS n ON k = w AND n.z IS NULL",
    ],
)
def test_columns_of_other_types_beside_private_rows(connection: dpsql.Connection, sql: str) -> None:
    """A TIME or a UUID that the query does not use is in nobody's way; one that it uses is refused by its name."""
    connection.execute("CREATE TABLE m (z TIME, w VARCHAR, u UUID)")
    connection.execute("INSERT INTO m VALUES (NULL, 'a', uuid())")
    if "z" in sql:
        with pytest.raises(dpsql.Refused, match='DPSQL-130  the type of column "z"'):
            connection.execute(sql)
    else:
        assert 0 < connection.execute(sql).fetchall()[0][-1] < 100
    assert rows(connection, "SELECT typeof(z), typeof(u) FROM m") == [("TIME", "UUID")]
