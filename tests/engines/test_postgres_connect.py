"""The whole of connect() on PostgreSQL: plans, repeats, the ledger, limits, an interruption, and what leaves the server."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.engine.hardening import Limits
from dpsql.engine.postgres.backend import PostgresRun
from dpsql.engine.sources import Array
from dpsql.engine.vault import Vault
from dpsql.errors import InterfaceError, Interrupted
from dpsql.shell.main import main
from tests.engines.postgres import PLAIN, Server

Catalogs = Callable[..., Path]
METADATA = """
dataset: {table}
version: {version}
unit: person
budget: {{epsilon: 10, delta: 1.0e-6}}
per_query: {{epsilon: 1, delta: 1.0e-9}}
tables:
  visits:
    source: {{database: "{url}", table: {table}}}
    unit: person
    rows_per_unit: {limit}
    columns:
      person: integer
      ward: {{type: integer, keys: {{from: 0, to: 7}}}}
      days: {days}
"""
BY_WARD = "SELECT ward, COUNT(*) AS n, SUM(days) AS days FROM visits GROUP BY ward"
BOUNDED = "{type: integer, lower: 0, upper: 9}"


@pytest.fixture(scope="module")
def server(postgres: Server) -> Server:
    for table, rows in (("visits", 400), ("many_visits", 40_000)):
        postgres.execute(
            f"CREATE TABLE {table} AS SELECT i % (CAST({rows} AS bigint) / 2) AS person, i % 8 AS ward, i % 10 AS days"
            f" FROM generate_series(1, {rows}) AS i"
        )
    return postgres


@pytest.fixture
def catalog(server: Server, tmp_path: Path) -> Catalogs:
    def write(
        table: str = "visits", *, version: str = "a", limit: str = "2", days: str = BOUNDED, url: str = ""
    ) -> Path:
        path = tmp_path / f"{table}.yaml"
        values = {"url": url or server.url(), "table": table, "version": version, "limit": limit, "days": days}
        path.write_text(METADATA.format(**values))
        return path

    return write


def spent(connection: dpsql.Connection[Any]) -> float:
    return float(connection.budget.spent.epsilon)


def test_explain_needs_no_server(catalog: Catalogs, tmp_path: Path) -> None:
    with dpsql.connect(catalog()) as connection:
        here = str(connection.explain(BY_WARD))
        assert spent(connection) == 0
    gone = catalog(url=f"postgresql://reader@/{PLAIN}?host={tmp_path}")
    with dpsql.connect(gone) as connection:
        assert str(connection.explain(BY_WARD)) == here
        with pytest.raises(dpsql.Error) as caught:
            connection.execute(BY_WARD)
        assert caught.value.number == 315
        assert spent(connection) == 0


def test_answers_repeats_and_the_ledger(catalog: Catalogs) -> None:
    """A repeat is the same rows and free, in a later session and by another spelling of the address, until the version
    changes; what was spent stays."""
    with dpsql.connect(catalog()) as connection:
        first = connection.execute(BY_WARD).fetchall()
        assert [row[0] for row in first] == list(range(8)) and spent(connection) == 1
        assert connection.execute(BY_WARD).fetchall() == first and spent(connection) == 1
    other = catalog(url=server_of(catalog).replace("reader@", "owner@") + "&application_name=other")
    with dpsql.connect(other) as connection:
        assert connection.execute(BY_WARD).fetchall() == first and spent(connection) == 1
    with dpsql.connect(catalog(version="b")) as connection:
        connection.execute(BY_WARD)
        assert spent(connection) == 2


def server_of(catalog: Catalogs) -> str:
    return catalog().read_text().split('database: "')[1].split('"')[0]


@pytest.mark.slow
def test_advise_writes_what_the_data_say(catalog: Catalogs, capfd: pytest.CaptureFixture[str]) -> None:
    path = catalog(limit="auto", days="integer")
    assert main(["advise", str(path), "--epsilon", "1", "--write", "--yes"]) == 0, capfd.readouterr()
    text = path.read_text()
    assert "chosen by dpsql advise" in text and "rows_per_unit: auto" not in text and "upper" in text
    assert main(["check", str(path), "--source"]) == 0
    assert main(["explain", str(path), BY_WARD]) == 0
    assert "chosen by dpsql advise" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("limits", "memory", "workers"),
    [
        (Limits(), "256MB", "0"),
        (Limits(memory="1GB"), "122070kB", "0"),
        (Limits(memory="1GB", threads=4), "30517kB", "3"),
        (Limits(memory="10MB", threads=1024), "64kB", "1023"),
    ],
)
def test_limits_of_memory_and_threads_reach_the_server(
    server: Server, limits: Limits, memory: str, workers: str
) -> None:
    asked = "SELECT current_setting('work_mem') AS m, current_setting('max_parallel_workers_per_gather') AS w"
    with Vault.open({"t": server.table("visits")}, limits) as vault:
        row = vault.run(asked)
    assert (row["m"][0], row["w"][0]) == (memory, workers)


def test_a_share_of_a_memory_is_refused(catalog: Catalogs) -> None:
    with dpsql.connect(catalog(), memory_limit="50%") as connection, pytest.raises(InterfaceError, match="on a server"):
        connection.execute(BY_WARD)


@pytest.mark.slow
def test_a_connection_that_is_lost_is_charged_and_says_nothing(catalog: Catalogs, server: Server) -> None:
    server.execute("CREATE TABLE cut_off AS SELECT * FROM visits")

    def cut_off() -> None:
        for _ in range(600):
            if server.execute("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"):
                server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
                return
            time.sleep(0.05)

    path = catalog("cut_off")
    with dpsql.connect(path) as connection:
        with slow_statements(server):
            thread = threading.Thread(target=cut_off)
            thread.start()
            with pytest.raises(dpsql.Error) as caught:
                connection.execute(BY_WARD)
            thread.join()
        assert caught.value.code == "DPSQL-500" and "terminat" not in str(caught.value)
        assert spent(connection) == 1
        assert len(connection.execute(BY_WARD).fetchall()) == 8  # the next one has a connection of its own


def test_control_c_ends_the_servers_query(catalog: Catalogs, server: Server) -> None:
    """The charge stands: what the query saw is not known. The connection stays usable."""
    server.execute("CREATE TABLE locked AS SELECT * FROM visits")
    with dpsql.connect(catalog("locked")) as connection, slow_statements(server):
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(Interrupted):
            connection.execute(BY_WARD)
        timer.join()
        assert [row[0] for row in server.execute(ACTIVE)] == []
        assert spent(connection) == 1
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


ACTIVE = "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND usename = 'reader'"


@contextmanager
def slow_statements(server: Server) -> Iterator[None]:
    """Each statement of a stage runs beside a minute's sleep on the server."""
    original = PostgresRun.execute

    def execute(run: PostgresRun, sql: str, loads: Any) -> Any:
        return original(run, f"WITH asleep AS MATERIALIZED (SELECT pg_sleep(60)) {_beside(sql)}", loads)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresRun, "execute", execute)
        yield
    time.sleep(0.1)


def _beside(sql: str) -> str:
    """The statement, when the sleep is over."""
    return f"SELECT s.* FROM asleep CROSS JOIN ({sql}) AS s"


@pytest.mark.parametrize(
    "asked",
    [BY_WARD, "SELECT COUNT(*), AVG(days) FROM visits", "SELECT ward, COUNT(DISTINCT days) FROM visits GROUP BY ward"],
)
def test_what_leaves_the_server_grows_with_groups_alone(
    catalog: Catalogs, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a hundred times as many rows as few are fetched, of integers and keys."""
    fetched: list[int] = []
    original = PostgresRun.fetch

    def fetch(run: PostgresRun) -> dict[str, Array]:
        columns = original(run)
        fetched.append(sum(len(column) for column in columns.values()))
        return columns

    monkeypatch.setattr(PostgresRun, "fetch", fetch)
    sizes = []
    for table in ("visits", "many_visits"):
        fetched.clear()
        with dpsql.connect(catalog(table, version=table)) as connection:
            groups = len(connection.execute(asked).fetchall())
        sizes.append(list(fetched))
        assert 0 < sum(fetched) <= 8 * groups
    assert sizes[0] == sizes[1]


def test_stages_are_planned_by_hashes_and_the_servers_catalogs_as_it_likes(server: Server) -> None:
    asked = "SELECT current_setting('enable_sort') || current_setting('enable_nestloop') AS s"
    with Vault.open({"t": server.table("visits")}) as vault:
        assert vault.run(asked)["s"][0] == "offoff"
        with vault.snapshot() as snapshot:
            snapshot.start()
            assert snapshot.run(asked)["s"][0] == "offoff"
