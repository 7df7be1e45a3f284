"""The PostgreSQL door: real clients against a really started server."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from dpsql.server.accounts import Accounts
from tests.server.started import SENTINEL, Started, started, write_data
from tests.server.test_workers import LONG

pytestmark = pytest.mark.slow

PASSWORD = "secret pässword"
CLIENTS = Path(__file__).with_name("clients")
BY_SPECIALTY = "SELECT specialty, COUNT(*) AS n FROM visits WHERE cost > {} GROUP BY specialty ORDER BY specialty"


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with started(write_data(tmp_path_factory.mktemp("wire")), "--postgres-port", "0") as running:
        give_passwords(running)
        yield running


def give_passwords(server: Started) -> None:
    accounts = Accounts(server.metadata.with_name(server.metadata.name + ".ledger.users"))
    for name in ("ana", "ben"):
        accounts.set_password(name, PASSWORD)


def dsn(server: Started, **more: Any) -> dict[str, Any]:
    given = {"host": "127.0.0.1", "port": server.postgres, "user": "ana", "password": PASSWORD, "dbname": "dpsql"}
    return {**given, **more}


@pytest.fixture
def connection(wire: Started) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(**dsn(wire), autocommit=True) as opened:
        yield opened


# --- psycopg


def test_queries_are_answered_charged_once_and_repeated_free(wire: Started, connection: Any) -> None:
    notices: list[str] = []
    connection.add_notice_handler(lambda told: notices.append(told.message_primary))
    first = connection.execute(BY_SPECIALTY.format("%s"), [100]).fetchall()
    assert [row[0] for row in first] == ["cardiology", "oncology", "surgery"]
    assert all(1000 < n < 1130 for _, n in first)
    assert connection.execute(BY_SPECIALTY.format(100)).fetchall() == first
    assert notices[0].startswith("privacy: ε = 1") and "a repeat" in notices[1]
    assert wire.query(BY_SPECIALTY.format(100)).tree["rows"] == [list(row) for row in first]  # of the other door, too


VALUES = """SELECT 1 AS i, 1.5 AS d, CAST(1.5 AS DOUBLE) AS r, DATE '2020-01-01' AS day, TRUE AS b, NULL AS n, 'é' AS s,
    TIMESTAMP '2020-01-01 01:02:03.5' AS t, INTERVAL 5 DAY AS span, [1, 2] AS many, CAST('-Infinity' AS DOUBLE) AS least,
    -123456.789 AS long, 0.0001 AS small, CAST(100000000.00 AS DECIMAL(12, 2)) AS wide, ['a,b', 'c"d', NULL] AS texts"""
EXPECTED = (
    *(1, Decimal("1.5"), 1.5, dt.date(2020, 1, 1), True, None, "é", dt.datetime(2020, 1, 1, 1, 2, 3, 500_000)),
    *(dt.timedelta(days=5), [1, 2], float("-inf"), Decimal("-123456.789"), Decimal("0.0001")),
    *(Decimal("100000000.00"), ["a,b", 'c"d', None]),
)


@pytest.mark.parametrize("binary", [False, True])
def test_values(connection: Any, binary: bool) -> None:
    assert connection.cursor(binary=binary).execute(VALUES).fetchone() == EXPECTED


def test_parameters_of_every_type(connection: Any) -> None:
    sql = """SELECT COUNT(*) AS n FROM visits
        WHERE specialty = %s AND visited_on < %s AND duration > %s AND cost < %s AND cost > %s"""
    given = ["oncology", dt.date(2020, 5, 1), 1.5, Decimal(200), 3]
    (text,) = connection.execute(sql, given).fetchone()
    (again,) = connection.execute(sql, given, prepare=True).fetchone()
    ((inlined,),) = psycopg.ClientCursor(connection).execute(sql, given).fetchall()
    assert text == again and abs(text - inlined) < 100 and 100 < text < 500
    with pytest.raises(psycopg.Error) as raised:
        connection.execute("SELECT COUNT(*) FROM visits WHERE cost > %s", ["no number"])
    assert raised.value.sqlstate == "42P02"


def test_server_cursors_pipelines_and_streams(wire: Started, connection: Any) -> None:
    with psycopg.connect(**dsn(wire)) as other, other.cursor("cur") as cursor:
        cursor.execute(BY_SPECIALTY.format("%s"), [101])
        assert len(cursor.fetchmany(2)) == 2 and len(cursor.fetchall()) == 1
    with connection.pipeline():
        one, two = connection.execute("SELECT 1 AS a"), connection.execute("SELECT 2 AS a")
        assert (one.fetchone(), two.fetchone()) == ((1,), (2,))
    assert list(connection.cursor().stream("SELECT 1 AS a UNION ALL SELECT 2 ORDER BY a")) == [(1,), (2,)]


def test_copy(connection: Any) -> None:
    query = "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c, 1.5 AS d, '' AS e UNION ALL SELECT 2, 'é\t\\', 'z', 2.5, 'f' ORDER BY a"

    def sent(sql: str) -> bytes:
        with connection.cursor().copy(sql) as copy:
            return b"".join(bytes(part) for part in copy)

    assert sent(f"COPY ({query}) TO STDOUT").decode() == '1\tx,"y\t\\N\t1.5\t\n2\té\\t\\\\\tz\t2.5\tf\n'
    csv = sent(f"COPY ({query}) TO STDOUT (FORMAT csv, HEADER true)").decode()
    assert csv == 'a,b,c,d,e\n1,"x,""y",,1.5,""\n2,é\t\\,z,2.5,f\n'
    with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["int4", "text", "text", "numeric", "text"])
        assert list(copy.rows()) == [(1, 'x,"y', None, Decimal("1.5"), ""), (2, "é\t\\", "z", Decimal("2.5"), "f")]
    with connection.cursor().copy("COPY (SELECT 1 AS a LIMIT 0) TO STDOUT (FORMAT binary)") as copy:
        assert list(copy.rows()) == []
    assert sent("COPY specialties (name) TO STDOUT").count(b"\n") == 3
    for wrong in (
        "COPY specialties FROM STDIN",
        "COPY (SELECT 1) TO '/tmp/x'",
        "COPY (SELECT 1) TO STDOUT (DELIMITER ';')",
    ):
        with pytest.raises(psycopg.Error):
            connection.execute(wrong)


def test_errors_and_transactions(wire: Started) -> None:
    with psycopg.connect(**dsn(wire)) as opened:
        opened.execute("CREATE TABLE mine (a INTEGER)")
        opened.cursor().executemany("INSERT INTO mine VALUES (%s)", [(1,), (2,)])
        assert opened.execute("SELECT SUM(a) AS s FROM mine").fetchone() == (3,)
        with pytest.raises(psycopg.errors.UndefinedColumn) as raised:
            opened.execute("SELECT nope FROM visits")
        assert raised.value.diag.statement_position == "8" and "DPSQL-102" in str(raised.value)
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            opened.execute("SELECT 1")
        opened.rollback()
        with pytest.raises(psycopg.errors.UndefinedTable):
            opened.execute("SELECT a FROM mine")


def test_the_wrapper_of_a_bi_tool_is_the_same_release(connection: Any) -> None:
    inner = "SELECT specialty, COUNT(*) AS n FROM visits WHERE cost > 102 GROUP BY specialty"
    first = sorted(connection.execute(inner).fetchall())
    wrapped = connection.execute(f'SELECT * FROM ({inner}) AS "q" LIMIT 1000').fetchall()
    assert sorted(wrapped) == first


def test_describing_runs_and_charges_nothing(wire: Started, connection: Any) -> None:
    spent = wire.request("GET", "/v1/budget").tree["budget"]["spent"]["epsilon"]
    pg = connection.pgconn
    pg.prepare(b"p", b"SELECT specialty, AVG(cost) AS m FROM visits WHERE duration < $1 GROUP BY 1")
    told = pg.describe_prepared(b"p")
    assert [told.param_type(0), told.ftype(0), told.ftype(1)] == [701, 25, 701] and told.fname(1) == b"m"
    assert wire.request("GET", "/v1/budget").tree["budget"]["spent"]["epsilon"] == spent


def test_prepared_statements_said_in_sql(connection: Any) -> None:
    sql = BY_SPECIALTY.format("$1 AND visited_on < $2")
    connection.execute(f"PREPARE p (int) AS {sql}")
    first = connection.execute("EXECUTE p (105, DATE '2020-06-01')").fetchall()
    assert len(first) == 3 and connection.execute(
        sql.replace("$1", "%s").replace("$2", "%s"), [105, dt.date(2020, 6, 1)]
    )
    simple = psycopg.ClientCursor(connection).execute("EXECUTE p (105, '2020-06-01'::date)").fetchall()
    assert (
        simple == first and connection.cursor(binary=True).execute("EXECUTE p (105, '2020-06-01')").fetchall() == first
    )
    pg = connection.pgconn
    assert pg.exec_prepared(b"p", [b"105", b"2020-06-01"]).ntuples == 3  # the same as the protocol's
    for wrong in (
        "EXECUTE p (105)",
        "EXECUTE p (105, CURRENT_DATE)",
        "EXECUTE nope",
        f"PREPARE p AS {sql}",
        "EXECUTE p ('x', '')",
    ):
        with pytest.raises(psycopg.Error, match="DPSQL-(109|122|602|106)"):
            connection.execute(wrong)
    with pytest.raises(psycopg.errors.UndefinedColumn):
        connection.execute("PREPARE q AS SELECT nope FROM visits WHERE cost > $1")
    connection.execute("DEALLOCATE p")
    with pytest.raises(psycopg.Error, match="DPSQL-602"):
        connection.execute("EXECUTE p (105, '2020-06-01')")
    for named, statement in ((b"x", b"EXECUTE x"), (b"y", b"EXECUTE z"), (b"z", b"EXECUTE y")):
        pg.prepare(named, statement)
    for named in (b"x", b"y"):  # itself, or each other: an end there must be
        assert b"DPSQL-122" in pg.exec_prepared(named, []).error_message
        assert b"DPSQL-122" in pg.describe_prepared(named).error_message
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_cancel(connection: Any) -> None:
    timer = threading.Timer(1.5, connection.cancel)
    timer.start()
    began = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(LONG)
    assert time.monotonic() - began < 40
    assert connection.execute("SELECT 1 AS a").fetchone() == (1,)


def test_a_timeout_of_the_clients(connection: Any) -> None:
    connection.execute("SET statement_timeout = '500ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(LONG)
    connection.execute("RESET statement_timeout")
    assert connection.execute("SELECT 1 AS a").fetchone() == (1,)


def test_dpsqls_settings_are_reset_too(connection: Any) -> None:
    for back in ("RESET epsilon", "RESET ALL", "DISCARD ALL"):
        before = connection.execute("SHOW ALL").fetchall()
        connection.execute("SET epsilon = 0.125")
        assert connection.execute("SHOW ALL").fetchall() != before
        connection.execute(back)
        assert connection.execute("SHOW ALL").fetchall() == before


def test_rows_of_changes_are_described(connection: Any) -> None:
    """psycopg and asyncpg ask for the columns before the statement runs."""
    connection.execute('CREATE OR REPLACE TABLE kept (id INTEGER, "Name" VARCHAR)')
    insert = 'INSERT INTO kept VALUES (%s, %s) RETURNING id + 1 AS next, upper("Name") AS "Name"'
    cursor = connection.execute(insert, (1, "returning"))
    assert [column.name for column in cursor.description] == ["next", "Name"]
    assert cursor.fetchall() == [(2, "RETURNING")]
    assert connection.execute("UPDATE kept SET id = 5 RETURNING *", prepare=True).fetchall() == [(5, "returning")]
    with pytest.raises(psycopg.Error, match="DPSQL-122"):
        connection.execute("UPDATE kept AS k SET id = 7 RETURNING k.id", prepare=True)
    assert connection.execute("DELETE FROM kept RETURNING id").fetchall() == [(5,)]
    assert connection.execute("SHOW BUDGET").fetchall() and connection.execute("SHOW TABLES").fetchall()


def test_two_at_a_time_and_no_other_analysts_tables(wire: Started) -> None:
    with psycopg.connect(**dsn(wire)) as ana, psycopg.connect(**dsn(wire, user="ben")) as ben:
        ana.execute("CREATE TABLE mine (a INTEGER)")
        with pytest.raises(psycopg.errors.UndefinedTable):
            ben.execute("SELECT * FROM mine")


# --- who gets in


@pytest.mark.parametrize("wrong", [{"password": "wrong"}, {"user": "zed"}, {"user": "olga"}, {"password": ""}])
def test_wrong_passwords(visits: Path, wrong: dict[str, str]) -> None:
    with started(visits, "--postgres-port", "0") as server:
        give_passwords(server)
        with pytest.raises(psycopg.OperationalError) as raised:
            psycopg.connect(**dsn(server, **wrong))
        assert "DPSQL-700" in str(raised.value) or "no password supplied" in str(raised.value)
        assert server.workers() == []
        psycopg.connect(**dsn(server)).close()


def test_many_wrong_passwords_have_to_wait(visits: Path) -> None:
    with started(visits, "--postgres-port", "0") as server:
        give_passwords(server)
        said = []
        for _ in range(12):
            with pytest.raises(psycopg.OperationalError) as raised:
                psycopg.connect(**dsn(server, password="wrong"))
            said.append("DPSQL-706" in str(raised.value))
        assert said[-1] and not said[0]
        psycopg.connect(**dsn(server, user="ben")).close()


def test_tls(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    made += ["-keyout", str(key), "-out", str(certificate), "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(made, check=True, capture_output=True)
    tls = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with started(write_data(tmp_path), "--postgres-port", "0", *tls) as server:
        give_passwords(server)
        with psycopg.connect(**dsn(server, sslmode="verify-full", sslrootcert=str(certificate))) as opened:
            assert opened.execute("SELECT 1 AS a").fetchone() == (1,) and opened.pgconn.ssl_in_use
        with pytest.raises(psycopg.OperationalError, match="needs TLS"):
            psycopg.connect(**dsn(server, sslmode="disable"))
        stuffed = struct.pack("!ii", 8, 80_877_103) + struct.pack("!ii", 8, 196_608)
        assert b"not of the protocol" in talk(server, stuffed)
        import dpsql

        context = ssl.create_default_context(cafile=str(certificate))
        assert context.verify_mode is ssl.CERT_REQUIRED
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSL_CERT_FILE", str(certificate))
            with dpsql.connect(f"https://localhost:{server.port}", token=server.tokens["ana"]) as there:
                assert there.execute("SELECT 1 AS a").fetchone() == (1,)
        with pytest.raises(dpsql.OperationalError):
            dpsql.connect(f"https://localhost:{server.port}", token=server.tokens["ana"])


# --- asyncpg


def test_asyncpg(wire: Started) -> None:
    async def ask() -> None:
        given = dsn(wire)
        given["database"] = given.pop("dbname")
        connection = await asyncpg.connect(**given)
        sql = """SELECT specialty, COUNT(*) AS n, AVG(cost) AS m, SUM(cost) AS s FROM visits WHERE cost > $1
            GROUP BY 1 ORDER BY 1"""
        rows = await connection.fetch(sql, 103)
        assert [row["specialty"] for row in rows] == ["cardiology", "oncology", "surgery"]
        sql = """SELECT COUNT(*) AS n FROM visits WHERE specialty = $1 AND visited_on < $2 AND duration > $3
            AND cost BETWEEN $4 AND $5 AND specialty IN ($6, $7)"""
        values = ("oncology", dt.date(2020, 5, 1), 1.5, 1, 200, "oncology", "surgery")
        assert await connection.fetchval(sql, *values) > 100
        assert tuple(await connection.fetchrow(VALUES)) == EXPECTED
        assert len(await connection.fetch("SELECT name FROM specialties ORDER BY name LIMIT $1", 2)) == 2
        async with connection.transaction():
            assert len([row async for row in connection.cursor("SELECT name FROM specialties", prefetch=1)]) == 3
        with pytest.raises(asyncpg.UndefinedColumnError):
            await connection.fetch("SELECT nope FROM visits")
        with pytest.raises(asyncpg.DataError):
            await connection.fetch("SELECT COUNT(*) AS n FROM visits WHERE cost > $1", "x")
        await connection.execute("CREATE TABLE mine (a INTEGER, b VARCHAR, d DATE)")
        many = [(1, "x", dt.date(2020, 1, 1)), (2, None, None)]
        await connection.executemany("INSERT INTO mine VALUES ($1, $2, $3)", many)
        assert [tuple(row) for row in await connection.fetch("SELECT * FROM mine ORDER BY a")] == many
        await connection.close()
        given = dsn(wire)
        given["database"] = given.pop("dbname")
        async with asyncpg.create_pool(**given, min_size=1, max_size=3) as pool:
            counts = [pool.fetchval("SELECT COUNT(*) AS n FROM visits WHERE cost > $1", i) for i in range(4)]
            assert all(n > 3500 for n in await asyncio.gather(*counts))

    asyncio.run(ask())


# --- SQLAlchemy, pandas


def test_sqlalchemy_and_pandas(wire: Started) -> None:
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(**dsn(wire)))
    inspector = sa.inspect(engine)
    assert inspector.get_table_names() == ["specialties", "visits"] and inspector.get_view_names() == []
    columns = {column["name"]: str(column["type"]) for column in inspector.get_columns("visits")}
    assert columns["duration"] == "DOUBLE PRECISION" and columns["visited_on"] == "DATE" and len(columns) == 6
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    for read in ("foreign_keys", "indexes", "unique_constraints", "check_constraints"):
        assert getattr(inspector, f"get_{read}")("visits") == []
    assert inspector.get_table_comment("visits") == {"text": "one row per visit"} and inspector.has_table("visits")
    assert not inspector.has_table("nothing")
    visits = sa.Table("visits", sa.MetaData(), autoload_with=engine)
    asked = sa.select(visits.c.specialty, sa.func.count().label("n")).where(visits.c.cost > 50).group_by("specialty")
    with engine.connect() as opened:
        assert len(opened.execute(asked).fetchall()) == 3
    assert pd.read_sql(BY_SPECIALTY.format(104), engine).shape == (3, 2)
    assert list(pd.read_sql_table("specialties", engine)["floor"]) == [1, 2, 2]
    engine.dispose()


# --- psql and JDBC: recorded sessions


def played(command: list[str], server: Started, text: str = "") -> str:
    environment = {**os.environ, "PGPASSWORD": PASSWORD, "PGOPTIONS": "", "PAGER": "", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, input=text, env=environment, capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr


def test_psql(wire: Started, pytestconfig: pytest.Config) -> None:
    if os.environ.get("CI") != "true" and shutil.which("psql") is None:
        pytest.skip("psql is not installed")
    script = (CLIENTS / "psql.sql").read_text()
    command = ["psql", "-h", "127.0.0.1", "-p", str(wire.postgres), "-U", "ana", "-d", "dpsql", "-X", "-q"]
    environment = {**os.environ, "PGPASSWORD": PASSWORD, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command, input=script, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300
    )
    recorded = CLIENTS / "psql.out"
    if pytestconfig.getoption("--update"):
        recorded.write_text(done.stdout)
    assert done.stdout == recorded.read_text()


def test_jdbc(wire: Started, tmp_path: Path) -> None:
    driver = Path("/usr/share/java/postgresql.jar")
    if os.environ.get("CI") != "true" and (not driver.exists() or shutil.which("javac") is None):
        pytest.skip("pgjdbc is not installed")
    subprocess.run(["javac", "-d", str(tmp_path), str(CLIENTS / "Pg.java")], check=True, capture_output=True)
    said = played(["java", "-cp", f"{tmp_path}:{driver}", "Pg", str(wire.postgres), PASSWORD], wire)
    lines = said.splitlines()
    assert len(lines) == 19 and [line for line in lines if not line.startswith("ok  ")] == [], said
    assert "ok  timeout 57014" in lines and "ok  error 42703" in lines and "ok  isValid true" in lines
    assert "[null, public, visits, visited_on, 91, date]" in said


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_pgbench(wire: Started, tmp_path: Path, mode: str) -> None:
    programs = [*Path("/usr/lib/postgresql").glob("*/bin/pgbench")]
    if os.environ.get("CI") != "true" and not programs:
        pytest.skip("pgbench is not installed")  # `make engines` installs it, and CI fails without
    script = tmp_path / "script.sql"
    query = "SELECT COUNT(*) AS n FROM visits WHERE cost > :c \\gset"
    script.write_text(f"\\set c random(200, 202)\nBEGIN;\n{query}\nSELECT :n + 1 AS a;\nEND;\n")
    command = [str(programs[-1]), "-n", "-f", str(script), "-M", mode, "-t", "3", "-c", "2", "-h", "127.0.0.1"]
    said = played([*command, "-p", str(wire.postgres), "-U", "ana", "dpsql"], wire)
    assert "actually processed: 6/6" in said and "failed transactions: 0 " in said, said


def test_odbc(wire: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = [*Path("/usr/lib").glob("*/odbc/psqlodbcw.so")]
    if os.environ.get("CI") != "true" and not (driver and shutil.which("isql")):
        pytest.skip("ODBC is not installed")  # `make engines` installs it, and CI fails without
    given = {
        "Driver": driver[0],
        "Servername": "127.0.0.1",
        "Port": wire.postgres,
        "Database": "dpsql",
        "Username": "ana",
    }
    told = [f"{name}={value}" for name, value in {**given, "Password": PASSWORD}.items()]
    (tmp_path / "odbc.ini").write_text("\n".join(["[dpsql]", *told, ""]))
    monkeypatch.setenv("ODBCINI", str(tmp_path / "odbc.ini"))
    asked = [BY_SPECIALTY.format(106), "help visits", "SELECT nope FROM visits", "SELECT 1.5 AS a, 'é' AS b"]
    lines = played(["isql", "-b", "-d,", "dpsql"], wire, "\n".join([*asked, ""])).splitlines()
    names = ("patient_id", "specialty", "cost", "duration", "visited_on", "referrer")
    assert [line.split(",")[0] for line in lines[:3]] == ["cardiology", "oncology", "surgery"], lines
    assert [line.split(",")[3] for line in lines[3:9]] == [*names] and "1.5,é" in lines[9:]


# --- bytes


def talk(server: Started, sent: bytes) -> bytes:
    """What is answered to these bytes until the server closes, or has nothing more to say."""
    with socket.create_connection(("127.0.0.1", server.postgres), timeout=10) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while part := client.recv(65536):
                answer += part
        return answer


def startup(code: int = 196_608, **told: str) -> bytes:
    body = b"".join(name.encode() + b"\0" + value.encode() + b"\0" for name, value in told.items()) + b"\0"
    return struct.pack("!ii", len(body) + 8, code) + body


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (startup(user="ana"), b"SCRAM-SHA-256"),
        (startup(196_610, user="ana"), b"v\0\0\0"),  # 3.2 is negotiated down
        (startup(0x0003_270F, user="ana"), b"SCRAM-SHA-256"),
        (startup(131_072, user="ana"), b"a version"),
        (struct.pack("!ii", 8, 80_877_103), b"N"),
        (struct.pack("!ii", 8, 80_877_104) + struct.pack("!ii", 8, 80_877_103) + startup(user="ana"), b"NNR"),
        (struct.pack("!ii", 900_000_000, 196_608), b"wrong length"),
        (struct.pack("!ii", 3, 196_608), b"wrong length"),
        (b"\x16\x03\x01\x02\x00", b"TLS begins"),
        (startup(user="ana") + b"Q\0\0\0\x0dSELECT 1\0", b"a password was expected"),
        (startup(user="ana") + b"p" + struct.pack("!i", 900_000_000), b"wrong length"),
        (startup(user="ana") + b"p" + struct.pack("!i", 4), b"not of the protocol"),
        (struct.pack("!iiii", 16, 80_877_102, 1, 2), b""),
        (struct.pack("!iii", 12, 80_877_102, 1), b"wrong length"),
        (b"GET / HTTP/1.1\r\n\r\n", b"wrong length"),
        (b"", b""),
    ],
)
def test_first_packets(wire: Started, sent: bytes, answer: bytes) -> None:
    assert answer in talk(wire, sent)
    assert b"a bug" not in talk(wire, sent)


def test_logs_have_no_secret_no_cell_and_no_bug(wire: Started) -> None:
    with psycopg.connect(**dsn(wire), autocommit=True) as opened:
        shown = str(opened.execute("SELECT referrer, COUNT(*) AS n FROM visits GROUP BY referrer").fetchall())
    kept = wire.log() + (wire.metadata.parent / "audit.jsonl").read_text()
    assert "Traceback" not in kept and "a bug" not in kept and PASSWORD not in kept
    assert SENTINEL not in kept + shown
