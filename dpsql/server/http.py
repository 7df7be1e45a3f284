"""The HTTP door: JSON in; JSON, CSV or Arrow out. It translates, and decides nothing."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpsql.dbapi.exchange import Tree, malformed
from dpsql.errors import Error, InternalError
from dpsql.server import administration, page
from dpsql.server.accounts import Account
from dpsql.server.answers import FORMS, Sent, as_json, body_of, plain, refused, told
from dpsql.server.asked import Asked
from dpsql.server.service import Answered, QueryService, not_let_in
from dpsql.server.sessions import Session

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
# What can be asked by POST with a body, and what by GET.
POSTED = ("query", "explain", "cost")
POSTED_WITHIN = (*POSTED, "many", "transaction")
LOOKED_AT = ("budget", "tables", "metadata", "functions")
KEYS = frozenset({"sql", "parameters", "query_id", "many", "cells", "do"})

Endpoint = Callable[["Http", Request], Awaitable[Response]]


class Http:
    """The application over a query service."""

    def __init__(self, service: QueryService) -> None:
        self.service = service
        self.app: ASGIApp = _Guard(Starlette(routes=list(self._routes())))

    def _routes(self) -> list[Route]:
        alone = [self._route(f"/v1/{name}", Http._post, "POST") for name in POSTED]
        alone += [self._route(f"/v1/{name}", Http._get, "GET") for name in LOOKED_AT]
        within = [self._route(f"/v1/sessions/{{session}}/{name}", Http._post, "POST") for name in POSTED_WITHIN]
        within += [self._route(f"/v1/sessions/{{session}}/{name}", Http._get, "GET") for name in LOOKED_AT]
        return [
            *page.routes(),
            Route("/health", _health, methods=["GET"]),
            self._route("/v1/me", Http._me, "GET"),
            self._route("/v1/releases", Http._releases, "GET"),
            self._route("/v1/releases/{release}", Http._release, "GET"),
            self._route("/v1/sessions", Http._open, "POST"),
            self._route("/v1/sessions/{session}", Http._close, "DELETE"),
            self._route("/v1/sessions/{session}/stop", Http._stop, "POST"),
            self._route("/v1/stop", Http._stop_named, "POST"),
            *(self._route(path, endpoint, method) for method, path, endpoint in administration.ENDPOINTS),
            *alone,
            *within,
        ]

    def _route(self, path: str, endpoint: Endpoint, method: str) -> Route:
        async def called(request: Request) -> Response:
            try:
                return await endpoint(self, request)
            except Error as error:
                return refused(error)

        return Route(path, called, methods=[method])

    # --- endpoints

    async def _post(self, request: Request) -> Response:
        account, session = self._session(request)
        with self.service.one_request(account.name):
            body = await body_of(request, KEYS)
            asked = {**body, "ask": _last(request), "as": FORMS.get(_accepts(request), "rows")}
            answer, sent = await self._asked(request, account, asked, session)
            cells = answer if body.get("cells") == "tagged" else await asyncio.to_thread(plain, answer)
            # Many rows keep nobody else waiting.
            response = await asyncio.to_thread(told, cells, sent, _accepts(request))
        return Sent(response, self.service.unread, account.name)

    async def _get(self, request: Request) -> Response:
        account, session = self._session(request)
        answer, _ = await self._asked(request, account, {"ask": _last(request)}, session)
        return as_json(answer)

    async def answered(self, request: Request, account: Account, asked: Mapping[str, Tree]) -> Mapping[str, Tree]:
        """An answer without a body."""
        return (await self._asked(request, account, asked))[0]

    async def _asked(
        self, request: Request, account: Account, asked: Mapping[str, Tree], session: Session | None = None
    ) -> Answered:
        """The service's answer. Who goes away while it waits is not charged."""
        statement = Asked()
        watching = asyncio.create_task(_gone(request, statement))
        try:
            answer, body = await self.service.ask(account, "http", asked, session, statement)
            return {name: value for name, value in answer.items() if name != "size"}, body
        finally:
            watching.cancel()

    async def _open(self, request: Request) -> Response:
        session = await self.service.sessions.open(self.account(request).name)
        return as_json({"session": session.name}, status=201)

    async def _close(self, request: Request) -> Response:
        _, session = self._session(request)
        assert session is not None
        await self.service.sessions.close(session)
        return as_json({})

    async def _stop(self, request: Request) -> Response:
        account, session = self._session(request)
        assert session is not None
        self.service.stop(account.name, session=session)
        return as_json({})

    async def _stop_named(self, request: Request) -> Response:
        """What this account asked under that query id, in whatever session."""
        account = self.account(request)
        with self.service.one_request(account.name):
            query_id = (await body_of(request, KEYS)).get("query_id")
        if not isinstance(query_id, str):
            raise malformed("query_id is a text")
        return as_json({"stopped": self.service.stop(account.name, query_id=query_id)})

    async def _me(self, request: Request) -> Response:
        account = self.account(request)
        return as_json({"name": account.name, "role": account.role})

    async def _releases(self, request: Request) -> Response:
        account = self.account(request)
        asked = {"ask": "releases", "everybody": account.role == "owner", "as": FORMS.get(_accepts(request), "rows")}
        response = told(*await self._asked(request, account, asked), _accepts(request))
        return Sent(response, self.service.unread, account.name)

    async def _release(self, request: Request) -> Response:
        account = self.account(request)
        asked = {"ask": "release", "release": request.path_params["release"], "everybody": account.role == "owner"}
        asked["as"] = FORMS.get(_accepts(request), "rows")
        answer, body = await self._asked(request, account, asked)
        return Sent(told(plain(answer), body, _accepts(request)), self.service.unread, account.name)

    # --- who, and in which session

    def account(self, request: Request) -> Account:
        """Whose token the request has."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise not_let_in()
        address = "" if request.client is None else request.client.host
        return self.service.with_token(token.strip(), address)

    def _session(self, request: Request) -> tuple[Account, Session | None]:
        account = self.account(request)
        name = request.path_params.get("session")
        return account, None if name is None else self.service.sessions.find(name, account.name)


async def _health(request: Request) -> Response:
    return as_json({"status": "ok"})


async def _gone(request: Request, asked: Asked) -> None:
    """Waits until the connection is closed."""
    with contextlib.suppress(ClientDisconnect):
        while (await request.receive())["type"] != "http.disconnect":
            pass
    asked.withdraw()


def _accepts(request: Request) -> str:
    return request.headers.get("accept", "")


def _last(request: Request) -> str:
    return request.url.path.rpartition("/")[2]


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
                await refused(failed)(scope, receive, sent)
