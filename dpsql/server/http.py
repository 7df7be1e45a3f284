"""The HTTP door: JSON in; JSON, CSV or Arrow out. It translates, and decides nothing."""

from __future__ import annotations

import asyncio
import decimal
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsql.dbapi.exchange import Tree, error_tree, malformed, of_tree, read_json
from dpsql.errors import Error, InternalError
from dpsql.server import page
from dpsql.server.accounts import Account
from dpsql.server.service import QueryService, not_let_in
from dpsql.server.sessions import Session

MOST_BODY = 8 << 20
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
STATUS = {
    "DPSQL-700": 401,
    "DPSQL-701": 403,
    "DPSQL-702": 503,
    "DPSQL-704": 404,
    "DPSQL-705": 413,
    "DPSQL-706": 429,
    "DPSQL-710": 404,
}
FORMS = {"text/csv": "csv", "application/vnd.apache.arrow.stream": "arrow", "text/markdown": "markdown"}
# What can be asked by POST with a body, and what by GET.
POSTED = ("query", "explain", "cost")
POSTED_WITHIN = (*POSTED, "many", "transaction")
LOOKED_AT = ("budget", "tables", "metadata", "functions")
KEYS = frozenset({"sql", "parameters", "query_id", "many", "cells", "do"})

Endpoint = Callable[["Http", Request], Awaitable[Response]]


class Http:
    """The application over a query service."""

    def __init__(self, service: QueryService) -> None:
        self._service = service
        self.app: ASGIApp = _Guard(Starlette(routes=list(self._routes())))

    def _routes(self) -> list[Route]:
        alone = [self._route(f"/v1/{name}", Http._post, "POST") for name in POSTED]
        alone += [self._route(f"/v1/{name}", Http._get, "GET") for name in LOOKED_AT]
        within = [self._route(f"/v1/sessions/{{session}}/{name}", Http._post, "POST") for name in POSTED_WITHIN]
        within += [self._route(f"/v1/sessions/{{session}}/{name}", Http._get, "GET") for name in LOOKED_AT]
        return [
            *page.routes(),
            Route("/health", _health, methods=["GET"]),
            self._route("/metrics", Http._metrics, "GET"),
            self._route("/v1/me", Http._me, "GET"),
            self._route("/v1/releases", Http._releases, "GET"),
            self._route("/v1/releases/{release}", Http._release, "GET"),
            self._route("/v1/audit", Http._audit, "GET"),
            self._route("/v1/ledger", Http._of_owner, "GET"),
            self._route("/v1/spending", Http._of_owner, "GET"),
            self._route("/v1/accounts", Http._accounts, "GET"),
            self._route("/v1/sessions", Http._open, "POST"),
            self._route("/v1/sessions/{session}", Http._close, "DELETE"),
            self._route("/v1/sessions/{session}/stop", Http._stop, "POST"),
            *alone,
            *within,
        ]

    def _route(self, path: str, endpoint: Endpoint, method: str) -> Route:
        async def called(request: Request) -> Response:
            try:
                return await endpoint(self, request)
            except Error as error:
                return _refused(error)

        return Route(path, called, methods=[method])

    # --- endpoints

    async def _post(self, request: Request) -> Response:
        account, session = self._session(request)
        body = await _body(request)
        asked = {**body, "ask": _last(request), "as": FORMS.get(_accepts(request), "rows")}
        answer, told = await self._service.ask(account, "http", asked, session)
        cells = answer if body.get("cells") == "tagged" else await asyncio.to_thread(plain, answer)
        return await asyncio.to_thread(_told, cells, told, _accepts(request))  # many rows keep nobody else waiting

    async def _get(self, request: Request) -> Response:
        account, session = self._session(request)
        answer, _ = await self._service.ask(account, "http", {"ask": _last(request)}, session)
        return _json(answer)

    async def _open(self, request: Request) -> Response:
        session = await self._service.sessions.open(self._account(request).name)
        return _json({"session": session.name}, status=201)

    async def _close(self, request: Request) -> Response:
        _, session = self._session(request)
        assert session is not None
        await self._service.sessions.close(session)
        return _json({})

    async def _stop(self, request: Request) -> Response:
        _, session = self._session(request)
        assert session is not None
        session.stop()
        return _json({})

    async def _me(self, request: Request) -> Response:
        account = self._account(request)
        return _json({"name": account.name, "role": account.role})

    async def _releases(self, request: Request) -> Response:
        account = self._account(request)
        asked = {"ask": "releases", "everybody": account.role == "owner", "as": FORMS.get(_accepts(request), "rows")}
        return _told(*await self._service.ask(account, "http", asked), _accepts(request))

    async def _release(self, request: Request) -> Response:
        account = self._account(request)
        asked = {"ask": "release", "release": request.path_params["release"], "everybody": account.role == "owner"}
        answer, body = await self._service.ask(account, "http", {**asked, "as": FORMS.get(_accepts(request), "rows")})
        return _told(plain(answer), body, _accepts(request))

    async def _audit(self, request: Request) -> Response:
        self._service.check_role(self._account(request), "owner")
        return _json({"entries": self._service.audit.newest()})

    async def _of_owner(self, request: Request) -> Response:
        account = self._account(request)
        self._service.check_role(account, "owner")
        return _json((await self._service.ask(account, "http", {"ask": _last(request)}))[0])

    async def _accounts(self, request: Request) -> Response:
        """Names, roles, and how they get in: no secret, and no digest of one."""
        self._service.check_role(self._account(request), "owner")
        listed = [
            {
                "name": one.name,
                "role": one.role,
                "password": one.verifier is not None,
                "tokens": [{"id": token.name, "expires": token.expires} for token in one.tokens],
            }
            for one in self._service.accounts.all().values()
        ]
        return _json({"accounts": listed})

    async def _metrics(self, request: Request) -> Response:
        self._service.check_role(self._account(request), "owner")
        return PlainTextResponse(self._service.metrics())

    # --- who, and in which session

    def _account(self, request: Request) -> Account:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise not_let_in()
        address = "" if request.client is None else request.client.host
        return self._service.with_token(token.strip(), address)

    def _session(self, request: Request) -> tuple[Account, Session | None]:
        account = self._account(request)
        name = request.path_params.get("session")
        return account, None if name is None else self._service.sessions.find(name, account.name)


async def _health(request: Request) -> Response:
    return _json({"status": "ok"})


def _accepts(request: Request) -> str:
    return request.headers.get("accept", "")


def _told(answer: Mapping[str, Tree], body: bytes | None, accepted: str) -> Response:
    """The bytes in the form that was asked for; JSON where there are none."""
    return _json(answer) if body is None else Response(body, media_type=accepted)


def _last(request: Request) -> str:
    return request.url.path.rpartition("/")[2]


def _json(tree: Mapping[str, Tree], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """In UTF-8; surrogates, which a statement may quote, are escaped."""
    try:
        text = json.dumps(tree, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        text = json.dumps(tree, allow_nan=False).encode()
    return Response(text, status, headers, "application/json")


async def _body(request: Request) -> Mapping[str, Tree]:
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MOST_BODY:
            raise malformed(f"the request has more than {MOST_BODY >> 20} MB")
    tree = read_json(bytes(raw))
    if not isinstance(tree, dict):
        raise malformed("the request is not an object")
    unknown = sorted(set(tree) - KEYS)
    if unknown:
        raise malformed(f"a request has no {unknown[0][:40]!r}")
    return tree


def plain(answer: Mapping[str, Tree]) -> Mapping[str, Tree]:
    """Cells as a person expects them in JSON: dates as text, decimals as text (no digit is lost), NaN as null."""
    if answer.get("rows") is None:
        return answer
    return {**answer, "rows": [[_plain(cell) for cell in row] for row in answer["rows"]]}


def _plain(tree: Tree) -> Tree:
    if isinstance(tree, list):
        return [_plain(one) for one in tree]
    if not isinstance(tree, dict):
        return tree
    ((tag, inner),) = tree.items()
    match tag:
        case "real":
            return None
        case "map":
            return {str(_plain(key)): _plain(value) for key, value in inner}
        case "tuple":
            return [_plain(one) for one in inner]
        case "decimal":
            return str(decimal.Decimal(inner))
        case "interval":
            return str(of_tree(tree))
        case _:
            return inner


def _refused(error: Error) -> Response:
    status = STATUS.get(error.code) or _status(error.number)
    headers = {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": "1"} if status == 503 else None
    return _json({"error": error_tree(error)}, status, headers)


def _status(number: int) -> int:
    """By the range of the code: what the question is to blame for, what the budget, what the server."""
    if 400 <= number < 410:
        return 403
    return 500 if number == 1 or 300 <= number < 400 or 410 <= number < 600 and number not in (502, 503) else 400


class _Guard:
    """Headers for every answer, and for whatever escapes an answer without a word of it."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._inner(scope, receive, send)
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                extra: list[Any] = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        try:
            await self._inner(scope, receive, sent)
        except ClientDisconnect:
            pass  # it is gone before it has said all
        except Exception as error:  # a bug of ours: told by its kind alone
            print(f"dpsql: a bug: {type(error).__name__} in the HTTP door", file=sys.stderr)
            if not begun:
                failed = InternalError(f"a bug in dpsql: {type(error).__name__}")
                await _refused(failed)(scope, receive, sent)
