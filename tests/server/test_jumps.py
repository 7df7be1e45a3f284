"""What changes under a running server: its clock, an account's role, whether an account may ask at all."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from dpsql.server.accounts import Accounts
from tests.server import started as starting
from tests.server.started import Started, started, wait_until
from tests.server.test_postgres import dsn, give_passwords
from tests.server.test_workers import LONG

pytestmark = pytest.mark.slow
SET_CLOCK = "import os, time; real = time.time; time.time = lambda: real() + float(open(os.environ['JUMP']).read()); "
YEARS = 10 * 365 * 86_400


@pytest.fixture
def there(visits: Path) -> Iterator[Started]:
    with started(visits, "--postgres-port", "0") as running:
        give_passwords(running)
        yield running


def accounts(server: Started) -> Accounts:
    return Accounts(server.metadata.with_name(server.metadata.name + ".ledger.users"))


@pytest.mark.parametrize("jump", [YEARS, -YEARS])
def test_nothing_but_tokens_goes_by_the_clock(visits: Path, monkeypatch: pytest.MonkeyPatch, jump: int) -> None:
    clock = visits.with_name("jump")
    clock.write_text("0")
    monkeypatch.setenv("JUMP", str(clock))
    monkeypatch.setattr(starting, "COMMAND", SET_CLOCK + starting.COMMAND)
    with started(visits, "--postgres-port", "0", "--deadline", "8") as server:
        give_passwords(server)
        session = server.request("POST", "/v1/sessions").tree["session"]
        path = f"/v1/sessions/{session}/query"
        assert server.query("SET epsilon = 0.5", path=path).status == 200
        codes = [server.query("SELECT 1 AS a", who="nobody").code for _ in range(13)]
        with psycopg.connect(**dsn(server), autocommit=True) as wire:
            clock.write_text(str(jump))
            assert server.query("SELECT 1 AS a").status == (429 if jump > 0 else 200)  # a token has expired, or not
            assert server.query("SELECT 1 AS a", who="nobody").code == codes[-1] == "DPSQL-706"  # still locked out
            began = time.monotonic()
            with pytest.raises(psycopg.Error, match="DPSQL-500"):
                wire.execute(LONG)  # still ended by the deadline
            assert 6 < time.monotonic() - began < 60
            assert wire.execute("SELECT 1 AS a").fetchone() == (1,)
            clock.write_text("0")
            shown = server.query("SHOW epsilon", path=path)  # the session is there, idle for seconds and not for years
            assert shown.status == 200 and shown.tree["rows"][0][1] == "0.5"
        assert "Traceback" not in server.log() and len(server.audit()) > 5


def test_a_role_counts_as_it_is_at_each_request(there: Started) -> None:
    book = accounts(there)
    session = there.request("POST", "/v1/sessions", who="olga").tree["session"]
    asked: list[tuple[str, str, Any]] = [
        ("GET", f"/v1/{one}", None) for one in ("audit", "ledger", "spending", "accounts", "changes")
    ]
    asked += [("GET", "/metrics", None), ("POST", "/v1/budget/limit", {"epsilon": "5", "why": "x"})]
    asked += [("POST", "/v1/accounts/ana/token", {"days": 1})]
    for role, status in (("owner", 200), ("analyst", 403), ("owner", 200)):
        tree = json.loads(book.path.read_text())
        next(one for one in tree["accounts"] if one["name"] == "olga")["role"] = role
        beside = book.path.with_name("beside")
        beside.touch(0o600)
        beside.write_text(json.dumps(tree))
        beside.replace(book.path)
        for method, path, body in asked:
            assert there.request(method, path, body, who="olga").status // 100 == status // 100, (role, path)
        assert there.request("GET", "/v1/me", who="olga").tree["role"] == role
        assert there.query("SELECT 1 AS a", who="olga", path=f"/v1/sessions/{session}/query").status == 200


def test_a_revoked_account_hears_it_at_its_next_message(there: Started) -> None:
    """Also where the answer would come from rows that the server keeps."""
    for said in ("FETCH 1 FROM c", "SELECT 1 AS a", "SHOW timezone", "COMMIT"):
        give_passwords(there)
        with psycopg.connect(**dsn(there, user="ben")) as wire:
            wire.execute("DECLARE c CURSOR FOR SELECT name FROM specialties")
            assert wire.execute("FETCH 1 FROM c").fetchone() is not None
            accounts(there).revoke("ben")
            with pytest.raises(psycopg.Error, match="DPSQL-700"):
                wire.execute(said)
            assert wire.broken
    wait_until(lambda: there.workers() == [])
