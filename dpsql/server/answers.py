"""Requests and answers over HTTP: JSON, the status of an error, and bytes that are sent no faster than they are read."""

from __future__ import annotations

import decimal
import json
from collections.abc import Collection, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from dpsql.dbapi.exchange import Tree, error_tree, malformed, of_tree, read_json
from dpsql.errors import Error
from dpsql.server.unread import Unread

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
CHUNK = 1 << 18
MOST_BODY = 8 << 20


class Sent(Response):
    """A body that counts as unread of an account until its last part is handed over."""

    def __init__(self, answer: Response, unread: Unread, account: str) -> None:
        self.__dict__.update(answer.__dict__)
        self._unread, self._account = unread, account

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = memoryview(bytes(self.body))
        with self._unread.sending(self._account, len(body)):
            await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
            for begin in range(0, max(1, len(body)), CHUNK):
                part, more = body[begin : begin + CHUNK], begin + CHUNK < len(body)
                await send({"type": "http.response.body", "body": bytes(part), "more_body": more})


async def body_of(request: Request, keys: Collection[str]) -> Mapping[str, Tree]:
    """An object with these keys at most."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MOST_BODY:
            raise malformed(f"the request has more than {MOST_BODY >> 20} MB")
    tree = read_json(bytes(raw))
    if not isinstance(tree, dict):
        raise malformed("the request is not an object")
    unknown = sorted(set(tree) - set(keys))
    if unknown:
        raise malformed(f"a request has no {unknown[0][:40]!r}")
    return tree


def as_json(tree: Mapping[str, Tree], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """In UTF-8; surrogates, which a statement may quote, are escaped."""
    try:
        text = json.dumps(tree, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        text = json.dumps(tree, allow_nan=False).encode()
    return Response(text, status, headers, "application/json")


def told(answer: Mapping[str, Tree], body: bytes | None, accepted: str) -> Response:
    """The bytes in the form that was asked for; JSON where there are none."""
    return as_json(answer) if body is None else Response(body, media_type=accepted)


def refused(error: Error) -> Response:
    """The error as JSON, with a status by its code."""
    status = STATUS.get(error.code) or _status(error.number)
    headers = {"www-authenticate": "Bearer"} if status == 401 else {"retry-after": "1"} if status == 503 else None
    return as_json({"error": error_tree(error)}, status, headers)


def _status(number: int) -> int:
    """By the range of the code: what the question is to blame for, what the budget, what the server."""
    if 400 <= number < 410:
        return 403
    return 500 if number == 1 or 300 <= number < 400 or 410 <= number < 600 and number not in (502, 503) else 400


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
