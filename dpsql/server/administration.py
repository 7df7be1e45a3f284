"""The owner's side over HTTP: accounts, grants and limits, reports. Each change is a line of the audit log.

A token in a header is the only way in, and no page of another host can send it: there is no cookie to be abused. What is
not here stays on the command line: a new epoch, which gives the whole budget again, and the metadata, which are a file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from dpsql.dbapi.exchange import Tree, malformed
from dpsql.errors import InterfaceError
from dpsql.server.accounts import Account, Role
from dpsql.server.answers import as_json, body_of
from dpsql.server.budget_changes import CHANGES

if TYPE_CHECKING:
    from dpsql.server.http import Http

DAY = 86_400
MOST_DAYS = 3660
Endpoints = list[tuple[str, str]]


async def accounts(http: Http, request: Request) -> Response:
    """Names, roles, and how they get in: no secret, and no digest of one."""
    _owner(http, request)
    listed = [
        {
            "name": one.name,
            "role": one.role,
            "password": one.verifier is not None,
            "tokens": [{"id": token.name, "expires": token.expires} for token in one.tokens],
        }
        for one in http.service.accounts.all().values()
    ]
    return as_json({"accounts": listed})


async def add(http: Http, request: Request) -> Response:
    """An account without a way in, as `dpsql user add`."""
    by, body = await _change(http, request, {"name", "role"})
    name, role = _text(body, "name"), body.get("role", "analyst")
    if role not in get_args(Role):
        raise malformed("role is analyst or owner")
    listed = http.service.analysts
    if role == "analyst" and listed is not None and name not in listed:
        raise InterfaceError(
            f"the metadata's analysts: does not list {name[:70]!r}, so the budget allows it no query",
            code=707,
            fix="Write it there, and restart the server.",
        )
    await asyncio.to_thread(http.service.accounts.add, name, role)
    _noted(http, by, "user add", name, role=role)
    return as_json({"name": name, "role": role}, status=201)


async def token(http: Http, request: Request) -> Response:
    """A token, told once, as `dpsql user token`."""
    by, body = await _change(http, request, {"days"})
    name, days = request.path_params["account"], body.get("days", 90)
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= MOST_DAYS:
        raise malformed(f"days is a whole number from 1 to {MOST_DAYS}")
    text, kept = await asyncio.to_thread(http.service.accounts.new_token, name, days * DAY)
    _noted(http, by, "user token", name, token=kept.name, days=days)
    return as_json({"token": text, "id": kept.name, "expires": kept.expires}, status=201)


async def password(http: Http, request: Request) -> Response:
    """For PostgreSQL's clients, as `dpsql user password`."""
    by, body = await _change(http, request, {"password"})
    name = request.path_params["account"]
    await asyncio.to_thread(http.service.accounts.set_password, name, _text(body, "password"))
    _noted(http, by, "user password", name)
    return as_json({})


async def revoke(http: Http, request: Request) -> Response:
    """One token, or all of them and the password, as `dpsql user revoke`."""
    by, body = await _change(http, request, {"token"})
    name, which = request.path_params["account"], body.get("token")
    if which is not None and not isinstance(which, str):
        raise malformed("token is the id of one")
    await asyncio.to_thread(http.service.accounts.revoke, name, which)
    _noted(http, by, "user revoke", name, token=which)
    return as_json({})


async def changes(http: Http, request: Request) -> Response:
    """Grants and limits on record."""
    account = _owner(http, request)
    return as_json(await http.answered(request, account, {"ask": "changes"}))


async def change(http: Http, request: Request) -> Response:
    """A grant or a limit, as `dpsql budget grant` and `dpsql budget limit`."""
    kind = request.url.path.rpartition("/")[2]
    by, body = await _change(http, request, {"analyst", "epsilon", "delta", "why"})
    asked = {**body, "ask": kind, "accounts": [*http.service.accounts.all()]}
    answer = await http.answered(request, by, asked)
    told = {name: body[name] for name in ("epsilon", "delta", "why") if body.get(name) is not None}
    _noted(http, by, f"budget {kind}", body.get("analyst"), **told)
    return as_json(answer)


async def report(http: Http, request: Request) -> Response:
    """The ledger's check, or who spent what."""
    account = _owner(http, request)
    return as_json(await http.answered(request, account, {"ask": request.url.path.rpartition("/")[2]}))


async def audit(http: Http, request: Request) -> Response:
    """The newest lines."""
    _owner(http, request)
    return as_json({"entries": await asyncio.to_thread(http.service.audit.newest)})


async def metrics(http: Http, request: Request) -> Response:
    """For Prometheus."""
    _owner(http, request)
    return PlainTextResponse(http.service.metrics())


ENDPOINTS = (
    ("GET", "/metrics", metrics),
    ("GET", "/v1/audit", audit),
    ("GET", "/v1/ledger", report),
    ("GET", "/v1/spending", report),
    ("GET", "/v1/accounts", accounts),
    ("POST", "/v1/accounts", add),
    ("POST", "/v1/accounts/{account}/token", token),
    ("POST", "/v1/accounts/{account}/password", password),
    ("POST", "/v1/accounts/{account}/revoke", revoke),
    ("GET", "/v1/changes", changes),
    *(("POST", f"/v1/budget/{kind}", change) for kind in CHANGES),
)


def _owner(http: Http, request: Request) -> Account:
    account = http.account(request)
    http.service.check_role(account, "owner")
    return account


async def _change(http: Http, request: Request, keys: set[str]) -> tuple[Account, Mapping[str, Tree]]:
    """Who it is, before the body is read."""
    by = _owner(http, request)
    with http.service.one_request(by.name):
        return by, await body_of(request, keys)


def _text(body: Mapping[str, Tree], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise malformed(f"{name} is a text")
    return value


def _noted(http: Http, by: Account, what: str, name: Tree, **told: Tree) -> None:
    http.service.audit.write("changed", account=by.name, what=what, name=name, **told)
