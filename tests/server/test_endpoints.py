"""Every endpoint and everybody who may not use it. The list is the router's: a new endpoint is covered."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest

from dpsql.server import administration
from dpsql.server.accounts import Accounts
from dpsql.server.http import Http
from tests.server.started import Reply, Started, started, write_data

pytestmark = pytest.mark.slow

NOBODY: Any = None
ENDPOINTS = sorted(
    (method, route.path) for route in Http(NOBODY)._routes() for method in route.methods or set()
)  # what Starlette adds is there, too: HEAD for each GET
GUARDED = [(method, path) for method, path in ENDPOINTS if path == "/metrics" or path.startswith("/v1/")]
OPEN = [one for one in ENDPOINTS if one not in GUARDED]
SQL = "SELECT COUNT(*) AS n_of_anaximander FROM visits"
NOT_LET_IN = ((401, "DPSQL-700"), (429, "DPSQL-706"))  # the latter: tried too often


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """anaximander has a session with a table, a release, a token that expired and one that was revoked."""
    with started(
        write_data(tmp_path_factory.mktemp("endpoints")), names=("anaximander", "ben", "olga", "zeno")
    ) as server:
        path = server.metadata.with_name(server.metadata.name + ".ledger.users")
        accounts = Accounts(path)
        server.tokens["expired"] = Accounts(path, lambda: time.time() - 7200).new_token("anaximander", 60)[0]
        server.tokens["revoked"], revoked = accounts.new_token("anaximander", 60)
        assert server.request("GET", "/v1/me", who="revoked").status == 200
        accounts.revoke("anaximander", revoked.name)
        assert server.query(SQL, who="anaximander").status == 200
        yield server


@pytest.fixture(scope="module")
def session(there: Started) -> str:
    name = str(there.request("POST", "/v1/sessions", who="anaximander").tree["session"])
    made = there.query("CREATE TABLE of_anaximander (a INTEGER)", path=f"/v1/sessions/{name}/query", who="anaximander")
    assert made.status == 200
    return name


def ask(server: Started, method: str, path: str, session: str, who: str | None, **headers: str) -> Reply:
    body = sound(path) if method == "POST" else None
    place = path.replace("{session}", session).replace("{account}", "zeno")
    return server.request(method, place, body, who=who, **headers)


NEW = itertools.count(1)


def sound(path: str) -> dict[str, Any]:
    """A body that each endpoint takes."""
    bodies: dict[str, dict[str, Any]] = {
        "/v1/accounts": {"name": f"new{next(NEW)}"},
        "/v1/accounts/{account}/token": {"days": 1},
        "/v1/accounts/{account}/password": {"password": "long enough"},
        "/v1/accounts/{account}/revoke": {},
        "/v1/budget/grant": {"epsilon": "0.5", "why": "a test"},
        "/v1/budget/limit": {"why": "a test"},
        "/v1/stop": {"query_id": "x"},
    }
    return bodies.get(path, {"sql": "SELECT 1 AS a", "many": []})


def outcome(reply: Reply, method: str) -> tuple[int, str]:
    """HEAD has no body: its code is that of the status."""
    of_status = {401: "DPSQL-700", 429: "DPSQL-706", 403: "DPSQL-701", 404: "DPSQL-704"}
    return reply.status, of_status.get(reply.status, "") if method == "HEAD" else reply.code


@pytest.mark.parametrize("who", [None, "expired", "revoked", "x" * 43, "dpsql_", "anaximander"])
@pytest.mark.parametrize(("method", "path"), GUARDED)
def test_nobody_is_let_in_without_a_token_that_is_valid(
    there: Started, session: str, method: str, path: str, who: str | None
) -> None:
    headers = {"authorization": "Basic YTpi"} if who == "anaximander" else {}  # a token is the only way
    reply = ask(there, method, path, session, None if headers else who, **headers)
    assert outcome(reply, method) in NOT_LET_IN
    assert b"anaximander" not in reply.body


@pytest.mark.parametrize(("method", "path"), [one for one in GUARDED if "{session}" in one[1]])
@pytest.mark.parametrize("who", ["ben", "olga"])
def test_nobody_gets_into_anothers_session(there: Started, session: str, method: str, path: str, who: str) -> None:
    """And it is not told whether there is one; an owner has no more of it."""
    reply, nowhere = (ask(there, method, path, name, who) for name in (session, "0" * 32))
    assert (reply.status, reply.body) == (nowhere.status, nowhere.body)
    assert outcome(reply, method) == (404, "DPSQL-704")
    assert ask(there, "GET", "/v1/sessions/{session}/tables", session, "anaximander").status == 200


@pytest.mark.parametrize(("method", "path"), [one for one in GUARDED if "{session}" not in one[1]])
def test_an_analyst_is_told_nothing_of_another_or_is_refused(there: Started, method: str, path: str) -> None:
    reply = ask(there, method, path, "", "ben")
    assert reply.status in (200, 201, 403, 404)  # 404: of no release that is named so
    assert b"anaximander" not in reply.body
    if reply.status == 403:
        assert outcome(reply, method) == (403, "DPSQL-701")
        assert ask(there, method, path, "", "olga").status in (200, 201)


@pytest.mark.parametrize(("method", "path"), [one[:2] for one in administration.ENDPOINTS])
def test_the_side_of_the_data_owner_is_refused_to_analysts(there: Started, method: str, path: str) -> None:
    """And nothing changes: not the accounts, not the budget, not its record."""
    before = state(there)
    for body in (sound(path), {}, b"no JSON", b"x" * 100_000):
        place = path.replace("{account}", "ben")
        reply = there.request(method, place, body if method == "POST" else None, who="ben")
        assert (reply.status, reply.code) == (403, "DPSQL-701")
    assert state(there) == before


def state(server: Started) -> tuple[bytes, ...]:
    paths = ("/v1/accounts", "/v1/changes", "/v1/spending")
    return tuple(server.request("GET", path, who="olga").body for path in paths)


def test_no_other_page_can_send_a_change(there: Started) -> None:
    """What a browser sends by itself, from whatever page, has no token: there is no cookie that could be used."""
    before = state(there)
    body = b'{"name": "eve", "role": "owner"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        reply = there.request(
            "POST", "/v1/accounts", body, who=None, content_type=kind, origin="https://evil.example", cookie="token=1"
        )
        assert outcome(reply, "POST") in NOT_LET_IN and "set-cookie" not in reply.headers
    preflight = there.request("OPTIONS", "/v1/accounts", who=None, origin="https://evil.example")
    assert preflight.status == 405 and not any(name.startswith("access-control") for name in preflight.headers)
    assert state(there) == before


@pytest.mark.parametrize(("method", "path"), OPEN)
def test_what_is_open_to_all_is_the_same_for_all(there: Started, method: str, path: str) -> None:
    """And only reads: files of the page, and that the server is there."""
    assert method in ("GET", "HEAD") and "{" not in path
    answers = {ask(there, method, path, "", who).body for who in (None, "anaximander", "olga")}
    assert len(answers) == 1 and b"anaximander" not in answers.pop()
