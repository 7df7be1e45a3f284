"""Every endpoint and everybody who may not use it. The list is the router's: a new endpoint is covered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

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
    with started(write_data(tmp_path_factory.mktemp("endpoints")), names=("anaximander", "ben", "olga")) as server:
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
    body = {"sql": "SELECT 1 AS a", "many": []} if method == "POST" else None
    return server.request(method, path.replace("{session}", session), body, who=who, **headers)


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
        assert ask(there, method, path, "", "olga").status == 200


@pytest.mark.parametrize("path", ["/metrics", "/v1/accounts", "/v1/audit", "/v1/ledger"])
def test_reports_for_the_data_owner_are_refused_to_analysts(there: Started, path: str) -> None:
    assert ask(there, "GET", path, "", "ben").code == "DPSQL-701"


@pytest.mark.parametrize(("method", "path"), OPEN)
def test_what_is_open_to_all_is_the_same_for_all(there: Started, method: str, path: str) -> None:
    """And only reads: files of the page, and that the server is there."""
    assert method in ("GET", "HEAD") and "{" not in path
    answers = {ask(there, method, path, "", who).body for who in (None, "anaximander", "olga")}
    assert len(answers) == 1 and b"anaximander" not in answers.pop()
