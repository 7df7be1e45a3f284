"""Requests to a dpsql server: JSON over HTTP, with the standard library alone."""

from __future__ import annotations

import http.client
import ipaddress
import json
import ssl
import time
from collections.abc import Mapping
from urllib.parse import urlsplit

from dpsql.dbapi.exchange import Tree, error_of, read_json
from dpsql.errors import Error, InterfaceError, OperationalError

SCHEMES = ("https://", "http://")
KEPT = 3.0  # seconds for which a connection is used again; the server closes it after five
MOST_ANSWER = 256 << 20
TIMEOUT = 3600.0


def is_address(catalog: object) -> bool:
    """Whether connect() is given a server rather than metadata."""
    return isinstance(catalog, str) and catalog.lower().startswith(SCHEMES)


class Channel:
    """One client's requests, one after the other. The token goes into a header and nowhere else."""

    def __init__(self, address: str, token: str) -> None:
        parts = urlsplit(address)
        if parts.username is not None or parts.query or parts.fragment or parts.path.strip("/") or not parts.hostname:
            raise InterfaceError(
                "this is not the address of a server", code=709, fix="Write https://host:port, and give token=."
            )
        if parts.scheme == "http" and not _loopback(parts.hostname):
            raise InterfaceError(
                "the token would cross the network as plain text", code=709, fix="Use https:// with this server."
            )
        if not token.isascii() or not token.isprintable():
            raise InterfaceError("this is not a token", code=700, fix="`dpsql user token` makes them.")
        try:
            self._place = (parts.hostname, parts.port or (443 if parts.scheme == "https" else 80))
        except ValueError:
            raise InterfaceError("the address has a wrong port", code=709) from None
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._open: http.client.HTTPConnection | None = None
        self._used = 0.0

    def ask(self, method: str, path: str, body: Mapping[str, Tree] | None = None) -> dict[str, Tree]:
        """The answer; the server's error raised, or 709 where there is none."""
        raw = None if body is None else json.dumps(body).encode()
        try:
            status, text = self._sent(method, path, raw)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise _unreachable(type(error).__name__) from None
        except BaseException:  # Ctrl-C: what is left of the answer must not be taken for the next one's; raised again
            self.close()
            raise
        try:
            tree = read_json(text)
        except Error:
            raise _unreachable("not JSON") from None
        if not isinstance(tree, dict) or (status >= 400) != ("error" in tree):
            raise _unreachable(f"status {status}")
        if "error" in tree:
            raise error_of(tree["error"])
        return tree

    def _sent(self, method: str, path: str, raw: bytes | None) -> tuple[int, bytes]:
        if self._open is None or time.monotonic() - self._used > KEPT:
            self.close()
            self._open = self._connection()
        self._open.request(method, path, raw, self._headers)
        answer = self._open.getresponse()
        text = answer.read(MOST_ANSWER)
        self._used = time.monotonic()
        return answer.status, text

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._place
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=TIMEOUT)
        return http.client.HTTPSConnection(host, port, timeout=TIMEOUT, context=self._tls)

    def another(self) -> Channel:
        """To the same server at the same time, from another thread."""
        other = object.__new__(Channel)
        other._place, other._tls, other._headers = self._place, self._tls, self._headers
        other._open, other._used = None, 0.0
        return other

    def close(self) -> None:
        """Idempotent; the next request connects again."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def __del__(self) -> None:
        if getattr(self, "_open", None) is not None:
            self.close()


def _unreachable(why: str) -> OperationalError:
    return OperationalError(
        f"the server cannot be reached, or is not a dpsql server ({why})",
        code=709,
        why="If a statement was sent, it may have been charged.",
        fix="Check the address. With a query id, asking again is charged once.",
    )


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
