"""What an owner changes over HTTP: the same as on the command line, at once, on record, and refused with a reason."""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import psycopg
import pytest

from tests.server.kills import charges
from tests.server.started import Reply, Started, started, write_data

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    folder = tmp_path_factory.mktemp("owner")
    analysts = "analysts: {ana: {epsilon: 1}, ben: {}, carl: {epsilon: 3}, dora: {}}"
    with started(write_data(folder, analysts=analysts), "--postgres-port", "0") as server:
        yield server


def post(server: Started, path: str, **body: object) -> Reply:
    return server.request("POST", path, body, who="olga")


def question(number: int) -> str:
    return f"SELECT COUNT(*) AS n FROM visits WHERE duration > 0.{number:0>6}"


def test_an_account_from_nothing_to_gone(there: Started) -> None:
    assert post(there, "/v1/accounts", name="carl").status == 201
    made = post(there, "/v1/accounts/carl/token", days=2)
    token, named = made.tree["token"], made.tree["id"]
    assert abs(made.tree["expires"] - time.time() - 2 * 86_400) < 60
    assert there.request("GET", "/v1/me", who=token).tree == {"name": "carl", "role": "analyst"}
    assert post(there, "/v1/accounts/carl/password", password="pass of carl").status == 200
    given: dict[str, Any] = {"host": "127.0.0.1", "port": there.postgres, "user": "carl", "password": "pass of carl"}
    with psycopg.connect(**given, dbname="dpsql", autocommit=True) as wire:
        assert wire.execute("SELECT 1 AS a").fetchone() == (1,)
        assert post(there, "/v1/accounts/carl/revoke", token=named).status == 200
        assert there.request("GET", "/v1/me", who=token).status == 401
        assert wire.execute("SELECT 2 AS a").fetchone() == (2,)  # the password still lets in
        assert post(there, "/v1/accounts/carl/revoke").status == 200
        with pytest.raises(psycopg.OperationalError):
            wire.execute("SELECT 3 AS a")
            wire.execute("SELECT 4 AS a")
    changed = [line for line in there.audit() if line["event"] == "changed" and line["name"] == "carl"]
    assert [line["what"] for line in changed] == ["user add", "user token", "user password", *["user revoke"] * 2]
    assert {line["account"] for line in changed} == {"olga"}
    kept = (there.metadata.parent / "audit.jsonl").read_text() + there.log()
    assert token not in kept and "pass of carl" not in kept


def test_a_grant_is_there_at_once_in_an_open_session_and_on_record(there: Started) -> None:
    session = there.request("POST", "/v1/sessions").tree["session"]
    path = f"/v1/sessions/{session}/query"
    assert there.query(question(1), path=path).status == 200
    assert there.query(question(2), path=path).code == "DPSQL-400"
    after = post(there, "/v1/budget/grant", analyst="ana", epsilon="0.1", why="  one more ")
    assert [one["total"]["epsilon"] for one in after.tree["accounts"] if one["account"] == "ana"] == [1.1]
    tenth = question(2).replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.1)")
    assert there.query(tenth, path=path).status == 200
    assert there.query(question(3), path=path).code == "DPSQL-400"
    assert post(there, "/v1/budget/limit", analyst="ana", epsilon=0, why="no more").status == 200
    assert post(there, "/v1/budget/grant", analyst="ana", epsilon=5, why="not above the limit").status == 200
    assert there.query(question(3), path=path).code == "DPSQL-400"
    assert there.query(question(1), path=path).tree["privacy"]["repeated"]
    assert post(there, "/v1/budget/limit", analyst="ana", why="lifted").status == 200
    assert there.query(question(3), path=path).status == 200
    told = there.request("GET", "/v1/changes", who="olga").tree["changes"]
    assert [(one["kind"], one["epsilon"]) for one in told] == [
        ("limit", None),
        ("grant", 5),
        ("limit", 0),
        ("grant", 0.1),
    ]
    assert told[-1]["why"] == "one more (olga, over the server)" and told[-1]["analyst"] == "ana"
    assert sum(one.cost.epsilon for one in charges(there.metadata) if one.analyst == "ana") == Fraction(21, 10)
    assert there.request("GET", "/v1/ledger", who="olga").tree["ok"]


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("accounts", {"name": "eve"}, "DPSQL-707"),  # the metadata does not list her
        ("accounts", {"name": "ana"}, "DPSQL-707"),
        ("accounts", {"name": "../../x"}, "DPSQL-707"),
        ("accounts", {"name": "dora", "role": "admin"}, "DPSQL-703"),
        ("accounts", {"name": 5}, "DPSQL-703"),
        ("accounts", {"name": "dora", "verifier": "x"}, "DPSQL-703"),
        ("accounts/nobody/token", {"days": 1}, "DPSQL-707"),
        ("accounts/ana/token", {"days": 0}, "DPSQL-703"),
        ("accounts/ana/token", {"days": True}, "DPSQL-703"),
        ("accounts/ana/token", {"days": 1e9}, "DPSQL-703"),
        ("accounts/ana/password", {"password": "short"}, "DPSQL-707"),
        ("accounts/ana/password", {}, "DPSQL-703"),
        ("accounts/ana/revoke", {"token": "0000"}, "DPSQL-707"),
        ("accounts/ana/revoke", {"token": []}, "DPSQL-703"),
        ("budget/grant", {"analyst": "eve", "epsilon": 1, "why": "x"}, "DPSQL-707"),
        ("budget/grant", {"analyst": "ben", "epsilon": 1, "why": "x"}, "DPSQL-707"),  # he has no cap
        ("budget/grant", {"epsilon": -1, "why": "x"}, "DPSQL-703"),
        ("budget/grant", {"epsilon": "nan", "why": "x"}, "DPSQL-703"),
        ("budget/grant", {"epsilon": "1e999999999", "why": "x"}, "DPSQL-703"),
        ("budget/grant", {"epsilon": True, "why": "x"}, "DPSQL-703"),
        ("budget/grant", {"epsilon": 1, "why": " "}, "DPSQL-703"),
        ("budget/grant", {"epsilon": 1}, "DPSQL-703"),
        ("budget/grant", {"epsilon": 0, "why": "x"}, "DPSQL-703"),
        ("budget/grant", {"epsilon": 1, "why": "x", "ask": "limit"}, "DPSQL-703"),
        ("budget/limit", {"analyst": 7, "epsilon": 1, "why": "x"}, "DPSQL-703"),
    ],
)
def test_what_is_refused_changes_nothing(there: Started, path: str, body: dict[str, Any], code: str) -> None:
    def state() -> list[bytes]:
        paths = ("accounts", "changes", "spending")
        return [there.request("GET", f"/v1/{one}", who="olga").body for one in paths]

    before = state()
    reply = there.request("POST", f"/v1/{path}", body, who="olga")
    assert (reply.status, reply.code) == (400, code), reply.body
    assert state() == before


def test_a_query_cannot_pretend_to_be_a_change(there: Started) -> None:
    for body in ({"sql": "SELECT 1 AS a", "ask": "grant"}, {"ask": "grant", "epsilon": 1, "why": "x"}):
        assert there.request("POST", "/v1/query", body).code == "DPSQL-703"
    session = there.request("POST", "/v1/sessions").tree["session"]
    for name in ("grant", "limit", "changes", "spending", "ledger"):
        for method in ("GET", "POST"):
            assert there.request(method, f"/v1/sessions/{session}/{name}", {}).status in (404, 405)
