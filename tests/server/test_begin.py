"""What a client of the PostgreSQL door begins with: settings in its first packet act as if it had said SET."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from dpsql.errors import Error
from dpsql.server.wire import startup
from dpsql.server.wire.transactions import Transaction
from tests.server.started import Started, started, wait_until, write_data
from tests.server.test_postgres import PASSWORD, dsn, give_passwords
from tests.server.test_workers import LONG


@pytest.mark.parametrize(
    ("told", "statements", "others"),
    [
        ({"options": "-c epsilon=0.1 -cstatement_timeout=5s"}, ("SET epsilon = 0.1",), {"statement_timeout": "5s"}),
        ({"options": r"--search-path=a\,\ b\\"}, (), {"search_path": "a, b\\"}),
        ({"options": "-c Epsilon=1", "epsilon": "0.5"}, ("SET epsilon = 0.5",), {}),
        ({"epsilon": "0.1; SELECT 'x'"}, ("SET epsilon = '0.1; SELECT ''x'''",), {}),
        ({"epsilom": "0.1"}, ("SET epsilom = 0.1",), {}),
        ({"mechanism": "gaussian", "DateStyle": "ISO"}, ("SET mechanism = gaussian",), {"datestyle": "ISO"}),
        ({"user": "ana", "database": "x", "replication": "off", "_pq_.a": "b"}, (), {}),
    ],
)
def test_what_a_first_packet_sets(told: dict[str, str], statements: tuple[str, ...], others: dict[str, str]) -> None:
    assert startup.begin(told) == startup.Begin(statements, others)


@pytest.mark.parametrize(
    "told", [{"options": said} for said in ("-d 5", "x", "-c", "-c epsilon", "--", "-c =1")] + [{"replication": "true"}]
)
def test_what_sets_nothing_is_refused(told: dict[str, str]) -> None:
    with pytest.raises(Error):
        startup.begin(told)


def test_a_connection_goes_back_to_what_it_began_with() -> None:
    here = Transaction()
    here.begin({"statement_timeout": "5s", "client_encoding": "'utf-8'", "application_name": "a b"})
    for back in ("RESET statement_timeout", "RESET ALL", "DISCARD ALL", "SET statement_timeout TO DEFAULT"):
        assert here.reply("SET statement_timeout = 0") is not None and here.timeout is None
        here.reply(back)
        assert here.timeout == 5 and here.settings["application_name"] == "a b"
    for wrong in ({"client_encoding": "LATIN1"}, {"statement_timeout": "soon"}):
        with pytest.raises(Error):
            Transaction().begin(wrong)


@pytest.mark.parametrize("name", ["SQL_ASCII", "'utf-8'", "UTF8", "unicode", "default"])
def test_encodings_that_are_sent_as_they_are(name: str) -> None:
    assert Transaction().reply(f"SET client_encoding TO {name}") is not None
    assert Transaction().reply(f"SET NAMES {name}") is not None


def test_what_is_meant_for_dpsql_does_not_pass_for_postgresqls() -> None:
    """A misspelt epsilon would be charged in full."""
    for said in ("SET epsilom = 0.1", "SET max_row_contributed = 1", "SHOW epsilon", "RESET epsilom"):
        assert Transaction().reply(said) is None
    for said in ("SET lock_timeout = 1", "SET intervalstyle = 'iso_8601'", "SET TIME ZONE 'UTC'", "SET x.epsilon = 1"):
        assert Transaction().reply(said) is not None


# --- real clients


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with started(write_data(tmp_path_factory.mktemp("begin")), "--postgres-port", "0") as running:
        give_passwords(running)
        yield running


def in_force(connection: psycopg.Connection[Any], name: str) -> Any:
    row = connection.execute(f"SHOW {name}").fetchone()
    assert row is not None
    return row[1] if len(row) > 1 else row[0]


@pytest.mark.slow
def test_settings_hold_from_the_beginning_to_the_end(wire: Started) -> None:
    options = r"-c statement_timeout=5s -c epsilon=0.1 --search-path=a,\ b"
    with psycopg.connect(**dsn(wire), options=options, application_name="a tool", autocommit=True) as opened:
        assert opened.info.parameter_status("application_name") == in_force(opened, "application_name") == "a tool"
        assert in_force(opened, "search_path") == "a, b"
        for change in ("SELECT 1", "SET epsilon = 0.5", "SET statement_timeout = 0"):
            opened.execute(change)
            opened.execute("DISCARD ALL")
            assert [in_force(opened, name) for name in ("epsilon", "statement_timeout")] == ["0.1", "5s"]
        notices: list[str] = []
        opened.add_notice_handler(lambda told: notices.append(str(told.message_primary)))
        opened.execute("SELECT COUNT(*) AS n FROM visits WHERE cost > 31")
        assert notices[0].startswith("privacy: ε = 0.1")
        with pytest.raises(psycopg.errors.QueryCanceled):
            opened.execute(LONG)


@pytest.mark.slow
def test_a_new_worker_begins_with_them_too(wire: Started) -> None:
    with psycopg.connect(**dsn(wire), options="-c epsilon=0.1", autocommit=True) as opened:
        (worker,) = wire.workers()
        os.kill(worker, 9)
        with pytest.raises(psycopg.Error, match="DPSQL-(500|704)"):
            opened.execute("SELECT COUNT(*) AS n FROM visits WHERE cost > 32")
        assert in_force(opened, "epsilon") == "0.1"
    wait_until(lambda: not wire.workers())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "code"),
    [
        ("-c epsilon=-1", "DPSQL-119"),
        ("-c epsilon=0.1;x", "DPSQL-119"),
        ("-c epsilom=0.1", "DPSQL-119.*Did you mean epsilon"),
        ("-c delta=1", "DPSQL-119"),
        ("-c statement_timeout=soon", "DPSQL-119"),
        ("-c client_encoding=LATIN1", "DPSQL-122"),
        ("-d 5", "DPSQL-119"),
    ],
)
def test_what_set_refuses_nobody_begins_with(wire: Started, options: str, code: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="(?s)FATAL: +" + code):
        psycopg.connect(**dsn(wire), options=options)
    wait_until(lambda: not wire.workers())


@pytest.mark.slow
def test_psql_begins_with_pgoptions(wire: Started) -> None:
    if os.environ.get("CI") != "true" and shutil.which("psql") is None:
        pytest.skip("psql is not installed")  # `make engines` installs it, and CI fails without
    command = ["psql", "-h", "127.0.0.1", "-p", str(wire.postgres), "-U", "ana", "-d", "dpsql", "-XqAt"]
    environment = {**os.environ, "PGPASSWORD": PASSWORD, "PGOPTIONS": "-c epsilon=0.25 -c statement_timeout=7s"}
    done = subprocess.run(
        [*command, "-c", "SHOW epsilon", "-c", "SHOW statement_timeout"],
        env={**environment, "PGAPPNAME": "x", "PGDATESTYLE": "ISO", "PGTZ": "Europe/Berlin", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout.splitlines()[0].startswith("epsilon|0.25|") and done.stdout.splitlines()[1] == "7s", done
