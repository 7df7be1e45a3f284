"""Malformed HTTP requests: an answer of ours or a closed connection, never an exception, and no growth."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import resource
import socket
from pathlib import Path
from typing import Any

import pytest

from dpsql.server.accounts import Account, Accounts
from dpsql.server.audit import Audit
from dpsql.server.http import Http
from dpsql.server.service import QueryService
from dpsql.server.settings import Settings
from tests.server.started import Started, write_data

pytestmark = pytest.mark.slow

ANSWERS = {200, 201, 400, 401, 403, 404, 405, 413, 429, 503}
PATHS = [
    "/v1/query",
    "/v1/cost",
    "/v1/explain",
    "/v1/budget",
    "/v1/tables",
    "/v1/me",
    "/v1/sessions",
    "/metrics",
    "/health",
]
PATHS += [
    "/v1/sessions/ID/query",
    "/v1/sessions/ID/many",
    "/v1/sessions/ID",
    "/v1/sessions/ID/stop",
    "/",
    "/page/main.js",
    "/v1/releases/3-0123456789abcdef0123456789abcdef",
    "/v1/functions",
    "/v1/spending",
    "/v1/audit",
    "/v1/../v1/me",
]
BODIES: list[Any] = [
    {"sql": "SELECT 1 AS a", "parameters": [1, {"date": "2020-01-01"}, {"map": [[1, 2]]}], "query_id": "x"},
    {"sql": "SELECT $a", "parameters": {"a": {"decimal": "1.5"}}, "cells": "tagged"},
    {"sql": "INSERT INTO t VALUES (?)", "many": [[1], [None], [{"real": "nan"}]]},
    *({}, [], 5, None, {"sql": 5}, {"do": "commit"}, "x", {"sql": "é" * 1000}, [[[[[[1]]]]]]),
]


class Answering(QueryService):
    """Without workers: whatever is asked has one row."""

    async def ask(self, account: Account, door: str, request: Any, session: Any = None, asked: Any = None) -> Any:
        assert isinstance(request, dict)
        privacy: dict[str, Any] = {"text": "", "intervals": {}}
        rows = [[1, {"decimal": "1.5"}, {"real": "nan"}, [{"map": [[1, 2]]}]]]
        return {"kind": "query", "columns": [["a", "INTEGER"]], "rows": rows, "privacy": privacy}, None


def mutated(draw: random.Random, raw: bytes) -> bytes:
    changed = bytearray(raw)
    for _ in range(draw.randint(0, 3)):
        place = draw.randrange(len(changed) + 1)
        match draw.randrange(3):
            case 0:
                changed[place : place + 1] = draw.randbytes(1)
            case 1:
                del changed[place : place + draw.randint(1, 5)]
            case _:
                changed[place:place] = draw.choice(
                    [b'"', b"{", b"[", b"\x00", b"\xff", b"\\ud800", b"1e999", b"NaN", b"%00"]
                )
    return bytes(changed)


async def answered(app: Any, draw: random.Random, token: str) -> int:
    """The status of one malformed request."""
    body = mutated(draw, json.dumps(draw.choice(BODIES)).encode())
    path = draw.choice(PATHS)
    value = draw.choice(
        [f"Bearer {token}", f"Bearer {token}", "Bearer", "", "Basic eDp5", "Bearer é", f"bearer  {token} "]
    )
    headers = [(b"authorization", value.encode("latin-1")), (b"accept", mutated(draw, b"text/csv"))]
    method = draw.choice(["GET", "POST", "DELETE", "PUT", "HEAD"])
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
    }
    scope |= {"method": method, "path": path, "raw_path": path.encode(), "headers": headers, "query_string": b"a=%ff"}
    scope |= {"client": ("127.0.0.1", 5), "server": ("127.0.0.1", 80)}
    parts = [{"type": "http.request", "body": body, "more_body": False}]
    status: list[int] = []

    async def receive() -> Any:
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    await app(scope, receive, send)
    return status[0]


def held() -> tuple[int, int]:
    """Kilobytes of memory at their peak, and open files."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, len(os.listdir("/proc/self/fd"))


def assert_no_growth(before: tuple[int, int]) -> None:
    memory, files = held()
    assert memory - before[0] < 20_000 and files <= before[1]


MANY = [10_000, pytest.param(100_000, marks=pytest.mark.deep)]


@pytest.mark.parametrize("count", MANY)
def test_malformed_requests(tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int) -> None:
    accounts = Accounts(tmp_path / "users")
    accounts.add("ana", "analyst")
    token, _ = accounts.new_token("ana", 3600)
    service = Answering(Settings(metadata=write_data(tmp_path)), accounts, Audit(None))
    app, draw = Http(service).app, random.Random(17)

    async def all_of_them(count: int) -> set[int]:
        return {await answered(app, draw, token) for _ in range(count)}

    assert asyncio.run(all_of_them(count // 5)) <= ANSWERS
    before = held()
    seen = asyncio.run(all_of_them(count - count // 5))
    assert {200, 400, 401, 404, 405} <= seen <= ANSWERS
    assert_no_growth(before)
    assert "a bug" not in capsys.readouterr().err


def test_malformed_bytes(server: Started) -> None:
    draw = random.Random(17)
    sound = f"POST /v1/query HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {server.tokens['ana']}\r\n".encode()
    sound += b'Content-Length: 15\r\n\r\n{"sql": "SELEC"}'
    for _ in range(500):
        raw = mutated(draw, mutated(draw, sound))
        place = ("127.0.0.1", server.port)
        with socket.create_connection(place, timeout=30) as client, contextlib.suppress(ConnectionError):
            client.sendall(raw)
            client.shutdown(socket.SHUT_WR)
            answer = client.recv(4096)
            assert answer == b"" or answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 503")), answer
    assert server.query("SELECT 1 AS a").status == 200
    assert "Traceback" not in server.log() and "a bug" not in server.log()
