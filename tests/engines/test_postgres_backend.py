"""PostgreSQL behind the vault: what is asked, what comes back, what is said when it fails."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

from dpsql.engine.scratch import Scratch
from dpsql.engine.vault import Vault
from dpsql.errors import ExecutionError, InternalError, Interrupted, SourceError
from dpsql.testing import exact
from tests.engines.postgres import COLLATED, PLAIN, READER, Server
from tests.unit.engine.test_vault import everything_said
from tests.worlds import people

SENTINEL = "sentinel-4b1d"
LONG = "SELECT count(*) AS n FROM generate_series(1, 100000000) a, generate_series(1, 40) b WHERE (a * b) % 7 = 3"


@pytest.fixture(scope="module")
def server(postgres: Server) -> Server:
    postgres.execute(
        f"""
        CREATE TABLE t (x bigint, name text);
        INSERT INTO t VALUES (0, '{SENTINEL}'), (1, NULL), (2, 'b'), (3, ''), (4, 'é');
        CREATE TABLE changing AS SELECT 1::bigint AS x;
        """
    )
    return postgres


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def vault(server: Server, told: list[str]) -> Iterator[Vault]:
    with Vault.open({"t": server.table("t")}, owner_log=told.append) as vault:
        yield vault


def test_integers_are_int64_and_texts_are_objects(vault: Vault) -> None:
    assert (vault.engine, vault.relation("t")) == ("postgresql", '"public"."t"')
    got = vault.run('SELECT x, name, nullif(x, 1) AS y FROM "public"."t" ORDER BY x')
    assert got["x"].dtype == np.int64 and not np.ma.isMaskedArray(got["x"])
    assert got["name"].tolist() == [SENTINEL, None, "b", "", "é"] and got["name"].dtype == object
    assert np.ma.isMaskedArray(got["y"]) and got["y"].tolist() == [0, None, 2, 3, 4]
    got = vault.run('SELECT x, name FROM "public"."t" WHERE false')
    assert (got["x"].dtype, got["name"].dtype, len(got["x"])) == (np.dtype(np.int64), np.dtype(object), 0)
    extremes = [-(2**63), 2**63 - 1]
    got = vault.run(f"SELECT v FROM unnest(ARRAY[{extremes[0]}, {extremes[1]}]) AS u (v)")
    assert got["v"].tolist() == extremes


@pytest.mark.parametrize(
    "item",
    ["1.5", "1::numeric", "x::integer", "1e0", "DATE '2020-01-01'", "true", "ARRAY[1]", "name::varchar", "'a'::name"],
)
def test_other_types_are_a_bug_and_say_no_value(vault: Vault, item: str) -> None:
    with pytest.raises(InternalError):
        vault.run(f'SELECT {item} AS y FROM "public"."t"')


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x AS a, x AS a FROM public.t",
        "DROP TABLE public.t",
        "TABLE public.t",
        "WITH RECURSIVE a AS (SELECT 1) SELECT 1",
    ],
)
def test_what_the_planner_never_renders(vault: Vault, sql: str) -> None:
    with pytest.raises(InternalError):
        vault.run(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1::bigint AS x; SELECT 2::bigint AS x",
        "WITH d AS (DELETE FROM public.t RETURNING x) SELECT x FROM d",
        "SELECT x INTO public.copy FROM public.t",
        "SELECT x FROM t",  # the search path is the server's own
        "SELECT x FROM public.t FOR UPDATE",
    ],
)
def test_nothing_is_written_and_one_statement_is_one(vault: Vault, server: Server, sql: str) -> None:
    with Vault.open({"t": server.table("t", user="owner")}) as superusers:
        for one in (vault, superusers):
            with pytest.raises(ExecutionError) as caught:
                one.run(sql)
            assert caught.value.number == 500
    assert server.execute("SELECT count(*) FROM t") == [(5,)]


def test_loads_are_there_for_one_statement(vault: Vault) -> None:
    keys = {
        "k": np.ma.MaskedArray(np.array([0, 1, 9]), [False, True, False]),
        "s": np.array(["a", None, "c'\\%s $1 \n é"], dtype=object),
    }
    with vault.snapshot() as snapshot:
        got = snapshot.run("SELECT k, s FROM keys ORDER BY k", loads={"keys": keys})
        assert (got["k"].tolist(), got["s"].tolist()) == ([0, 9, None], ["a", "c'\\%s $1 \n é", None])
        with_steps = "WITH b AS MATERIALIZED (SELECT k + 1 AS k FROM keys) SELECT x FROM b JOIN public.t ON x = b.k"
        assert snapshot.run(with_steps, loads={"keys": keys, "more": keys})["x"].tolist() == [1]
    with pytest.raises(ExecutionError):
        vault.run("SELECT k FROM keys")
    none = {"k": np.array([], dtype=np.int64), "s": np.array([], dtype=object)}
    assert vault.run("SELECT count(k) + count(s) AS n FROM no", loads={"no": none})["n"].tolist() == [0]
    assert vault.run("SELECT s FROM n", loads={"n": {"s": np.array([None], dtype=object)}})["s"].tolist() == [None]
    nul = {"o": np.array([0, 1, 2]), "v": np.array(["a\0", "b", None], dtype=object)}
    assert vault.run("SELECT o FROM keys", loads={"keys": nul})["o"].tolist() == [1, 2]


def test_public_rows_keep_their_values(vault: Vault) -> None:
    sql = """
        SELECT * FROM (VALUES (1::BIGINT, 'x', 1e308, 5e-324, 'nan'::DOUBLE, '-inf'::DOUBLE, 0.1::DECIMAL(38,20),
            170141183460469231731687303715884105727::HUGEINT, DATE '1582-10-10', DATE '290000-01-01', 'infinity'::DATE,
            TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMP '0044-03-15 (BC) 00:00:00', true, NULL::INTEGER, 0.1::FLOAT))
            AS v(i, t, a, b, c, d, e, f, g, h, j, k, l, m, n, o)
    """
    wanted = """
        SELECT (i = 1 AND t = 'x' AND a = 1e308 AND b = 5e-324 AND c = 'NaN' AND d = '-Infinity' AND e = 0.1
            AND f = 170141183460469231731687303715884105727 AND g = DATE '1582-10-10' AND h = DATE '9999-12-31' AND j IS NULL
            AND k = TIMESTAMP '1969-12-31 23:59:59.999999' AND l = TIMESTAMP '0001-01-01' AND m AND n IS NULL
            AND o = 0.1::real::float8)::integer::bigint AS same,
            concat_ws(' ', pg_typeof(i), pg_typeof(t), pg_typeof(a), pg_typeof(e), pg_typeof(f), pg_typeof(g), pg_typeof(k),
                pg_typeof(m), pg_typeof(n)) AS types
        FROM load_0
    """.strip()
    with Scratch() as scratch:
        got = vault.run(wanted, loads={"load_0": scratch.query(sql)})
        empty = vault.run("SELECT count(*) AS n FROM load_0", loads={"load_0": scratch.query(f"{sql} WHERE i > 1")})
    types = "bigint text double precision numeric numeric date timestamp without time zone boolean bigint"
    assert (got["same"].tolist(), got["types"].tolist(), empty["n"].tolist()) == ([1], [types], [0])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST(name AS bigint) AS y FROM public.t",
        "SELECT y FROM public.t",
        "SELECT (SELECT x FROM public.t) AS y",
        "SELECT 9223372036854775807 + x AS y FROM public.t",
        "SELECT to_date(name, 'YYYY')::text AS y FROM public.t",
    ],
)
def test_a_failure_says_nothing_but_to_the_owner(
    vault: Vault, told: list[str], sql: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ExecutionError) as caught:
        vault.run(sql)
    assert caught.value.number == 500
    assert SENTINEL not in everything_said(caught.value) + "".join(capfd.readouterr()) + caplog.text
    assert caught.value.__context__ is None and caught.value.__cause__ is None
    assert len(told) == 1
    assert vault.run("SELECT count(*) AS n FROM public.t")["n"].tolist() == [5]


def test_the_owner_is_told_what_happened(vault: Vault, told: list[str]) -> None:
    with pytest.raises(ExecutionError):
        vault.run("SELECT CAST(name AS bigint) AS y FROM public.t")
    assert SENTINEL in told[0]


def test_interrupt_from_a_thread(vault: Vault) -> None:
    timer = threading.Timer(0.3, vault.interrupt)
    timer.start()
    with pytest.raises(ExecutionError) as caught:
        vault.run(LONG)
    timer.join()
    assert caught.value.number == 503
    assert vault.run("SELECT count(*) AS n FROM public.t")["n"].tolist() == [5]


def test_control_c(vault: Vault, server: Server) -> None:
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(Interrupted) as caught:
        vault.run(LONG)
    timer.join()
    assert caught.value.number == 503
    running = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%100000000%'"
    assert server.execute(f"{running} AND pid <> pg_backend_pid()") == [(0,)]


def test_a_time_limit_has_a_code_of_its_own(server: Server) -> None:
    with Vault.open({"t": server.table("t", timeout=1)}) as vault:
        with pytest.raises(ExecutionError) as caught:
            vault.run(LONG)
        assert caught.value.number == 506


def test_disk_and_memory_have_a_code_of_their_own(server: Server) -> None:
    server.execute("ALTER ROLE reader SET temp_file_limit = '64kB'")
    try:
        with Vault.open({"t": server.table("t")}) as vault, pytest.raises(ExecutionError) as caught:
            vault.run(
                "SELECT count(*) AS n FROM (SELECT a FROM generate_series(1, 9000000) a ORDER BY a % 1000003, a) AS s"
            )
        assert caught.value.number == 504
    finally:
        server.execute("ALTER ROLE reader RESET temp_file_limit")


def test_a_snapshot_sees_the_same_rows_and_the_next_one_the_new_ones(server: Server) -> None:
    with Vault.open({"t": server.table("changing")}) as vault:
        with vault.snapshot() as snapshot:
            snapshot.start()
            server.execute("INSERT INTO changing VALUES (2)")
            assert snapshot.run("SELECT count(*) AS n FROM public.changing")["n"].tolist() == [1]
            server.execute("DELETE FROM changing")
            assert snapshot.run("SELECT count(*) AS n FROM public.changing")["n"].tolist() == [1]
        assert vault.run("SELECT count(*) AS n FROM public.changing")["n"].tolist() == [0]


def test_nobody_empties_a_table_under_a_snapshot(server: Server) -> None:
    """TRUNCATE is seen by older snapshots too, so it has to wait."""
    server.execute("CREATE TABLE emptied AS SELECT 1::bigint AS x")
    with Vault.open({"t": server.table("emptied")}) as vault, vault.snapshot() as snapshot:
        snapshot.start()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            server.execute("SET lock_timeout = 200; TRUNCATE emptied")
        assert snapshot.run("SELECT count(*) AS n FROM public.emptied")["n"].tolist() == [1]
    server.execute("SET lock_timeout = 2000; TRUNCATE emptied")


def test_the_tables_are_locked_before_the_snapshot_is_taken(server: Server) -> None:
    """Whoever rewrites a table while a query begins: the query sees the rewritten rows, and not a table that looks empty."""
    server.execute("CREATE TABLE rewritten AS SELECT 1::bigint AS x")
    with (
        Vault.open({"t": server.table("rewritten")}) as vault,
        server.connect() as rewriter,
        vault.snapshot() as snapshot,
    ):
        with rewriter.transaction():
            rewriter.execute("TRUNCATE rewritten")
            rewriter.execute("INSERT INTO rewritten VALUES (7), (8)")
            starting = threading.Thread(target=snapshot.start)
            starting.start()
            time.sleep(0.5)
        starting.join()
        assert snapshot.run("SELECT x FROM public.rewritten ORDER BY x")["x"].tolist() == [7, 8]


def test_a_table_that_is_altered_after_it_was_opened_is_another(server: Server) -> None:
    server.execute("CREATE TABLE altered AS SELECT 1::bigint AS x")
    with Vault.open({"t": server.table("altered")}) as vault:
        server.execute("ALTER TABLE altered ENABLE ROW LEVEL SECURITY")
        with pytest.raises(SourceError), vault.snapshot() as snapshot:
            snapshot.start()
        server.execute("DROP TABLE altered; CREATE TABLE altered AS SELECT 1::bigint AS x")
        for _ in range(2):
            with pytest.raises(ExecutionError) as caught, vault.snapshot() as snapshot:
                snapshot.start()
            assert caught.value.number == 505 and "Nothing was charged" in str(caught.value)
        server.execute("REVOKE SELECT ON altered FROM reader")
        with (
            pytest.raises(SourceError, match="no table public.altered that the role may read"),
            vault.snapshot() as snapshot,
        ):
            snapshot.start()
        server.execute("DROP TABLE altered")
        with (
            pytest.raises(SourceError, match="no table public.altered that the role may read"),
            vault.snapshot() as snapshot,
        ):
            snapshot.start()


def test_runs_may_overlap(vault: Vault) -> None:
    answers: list[Any] = []

    def work(number: int) -> None:
        for _ in range(5):
            loads = {"k": {"v": np.array([number])}}
            answers.append(vault.run("SELECT v, count(*) AS n FROM public.t, k GROUP BY v", loads=loads)["v"].tolist())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [[number] for number in range(4) for _ in range(5)]


def test_no_setting_of_the_role_changes_what_a_statement_means(server: Server) -> None:
    hostile = {
        "TimeZone": "'Europe/Berlin'",
        "DateStyle": "'German'",
        "extra_float_digits": "-15",
        "search_path": "public",
        "transform_null_equals": "on",
        "standard_conforming_strings": "off",
        "array_nulls": "off",
        "default_transaction_read_only": "off",
        "statement_timeout": "1",
    }
    for name, value in hostile.items():
        server.execute(f"ALTER ROLE reader SET {name} = {value}")
    server.execute(f"ALTER ROLE reader IN DATABASE {PLAIN} SET client_encoding = 'LATIN1'")
    try:
        with Vault.open({"t": server.table("t")}) as vault:
            loads = {"k": {"v": np.ma.MaskedArray(np.array([1]), [True])}}
            got = vault.run(
                "SELECT TIMESTAMPTZ '2026-07-01 12:00:00+00'::text || DATE '2026-07-01'::text || 0.1::float8::text || 'a\\b'"
                " AS s, (SELECT count(*) FROM public.t WHERE name = NULL) AS n,"
                " (SELECT count(*) FROM k WHERE v IS NULL) AS k",
                loads=loads,
            )
            assert got["s"].tolist() == ["2026-07-01 12:00:00+002026-07-010.1a\\b"]
            assert (got["n"].tolist(), got["k"].tolist()) == ([0], [1])
            assert vault.run("SELECT name || chr(28450) AS name FROM public.t WHERE x = 4")["name"].tolist() == ["é漢"]
    finally:
        server.execute(f"ALTER ROLE reader RESET ALL; ALTER ROLE reader IN DATABASE {PLAIN} RESET ALL")


def test_identity_is_what_the_server_says_of_itself(server: Server, vault: Vault) -> None:
    (system,) = server.execute("SELECT system_identifier::text FROM pg_control_system()")[0]
    (database,) = server.execute("SELECT oid::bigint FROM pg_database WHERE datname = current_database()")[0]
    identity = vault.identity("t")
    assert identity == {
        "kind": "postgresql",
        "system": system,
        "database": str(database),
        "schema": "public",
        "table": "t",
    }
    with Vault.open({"t": server.table("t", user="owner")}) as other:
        assert other.identity("t") == identity
    with Vault.open({"t": server.table("t", system=system)}) as declared:
        assert declared.identity("t") == identity
    with pytest.raises(SourceError) as caught:
        Vault.open({"t": server.table("t", system="7")})
    assert caught.value.number == 317


def test_collations_of_the_database_do_not_reach_what_is_compared_as_bytes(server: Server) -> None:
    server.execute(
        "CREATE TABLE texts (s text COLLATE insensitive); INSERT INTO texts VALUES ('A'), ('a'), ('á')",
        database=COLLATED,
    )
    with Vault.open({"t": server.table("texts", database=COLLATED)}) as vault:
        rows = 'SELECT count(*) AS n FROM (SELECT CAST(s AS text) COLLATE "C" AS s FROM public.texts) AS t GROUP BY s'
        assert vault.run(rows)["n"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("user", [READER, "owner"])
def test_the_vault_shows_nothing_of_itself(server: Server, user: str) -> None:
    with Vault.open({"t": server.table("t", user=user)}) as vault, vault.snapshot() as snapshot:
        snapshot.start()
        shown = repr(vault) + repr(snapshot) + repr(vault._backend) + repr(snapshot._run)
        assert str(server.folder) not in shown and user not in shown


def test_no_function_of_a_schema_in_the_roles_path_stands_in_for_the_servers_own(server: Server) -> None:
    """A path that names another schema before pg_catalog: its set_config said what was asked for, and set nothing, so its
    operators compared, and failed where a person was there."""
    server.execute(
        f"""
        CREATE SCHEMA planted; GRANT USAGE ON SCHEMA planted TO {READER};
        CREATE TABLE planted.t AS SELECT i::bigint AS u, i::bigint AS x FROM generate_series(1, 9) AS i;
        GRANT SELECT ON planted.t TO {READER};
        CREATE FUNCTION planted.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT $2';
        CREATE FUNCTION planted.same(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
            IF EXISTS (SELECT FROM planted.t WHERE u OPERATOR(pg_catalog.=) 7) THEN RAISE 'somebody is here'; END IF;
            RETURN true;
        END $$;
        CREATE OPERATOR planted.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = planted.same);
        ALTER ROLE {READER} SET search_path = planted, pg_catalog;
        """
    )
    try:
        with exact(people({"x": "integer"}), source={"t": server.table("t", schema="planted")}) as connection:
            assert connection.execute("SELECT COUNT(*) FROM t WHERE x = 3").fetchall() == [(1,)]
    finally:
        server.execute(f"ALTER ROLE {READER} RESET search_path; DROP SCHEMA planted CASCADE")
