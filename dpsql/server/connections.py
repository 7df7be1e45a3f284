"""HTTP connections that end: what says too little, or reads too slowly, is not kept."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

LOOK_SECONDS = 2.0
HEAD_SECONDS = 15.0  # until a request has begun and its headers are there
BODY_SECONDS = 60.0  # until all of it is there
STALLED_SECONDS = 60.0  # without one byte that is read
READ_SECONDS = 600.0  # until an answer is read to its end
MOST_IDLE = 200  # connections without a request


class Connection(H11Protocol):
    """With time limits for whatever a client does, and a bound on connections that do nothing."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        now = self.loop.time()
        self._idle_since = self._request_since = self._unsent_since = self._moved = now
        self._request: Any = None
        self._unsent = 0
        self._drop_one_too_many()
        self._look = self.loop.call_later(LOOK_SECONDS, self._watch)

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._idle_since = self.loop.time()
        super().on_response_complete()

    @property
    def idle(self) -> bool:
        """It has no request that waits for an answer."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _drop_one_too_many(self) -> None:
        """The oldest one of the address that has most: a newcomer is let in, and nobody locks out another address."""
        others = [one for one in self.connections if isinstance(one, Connection) and one.idle and one is not self]
        if len(others) < MOST_IDLE:
            return
        address = Counter(_address(one) for one in others).most_common(1)[0][0]
        min((one for one in others if _address(one) == address), key=lambda one: one._idle_since).transport.abort()

    def _watch(self) -> None:
        """Now and then."""
        if self._too_late(self.loop.time()):
            self.transport.abort()
        else:
            self._look = self.loop.call_later(LOOK_SECONDS, self._watch)

    def _too_late(self, now: float) -> bool:
        if self.cycle is not self._request:
            self._request, self._request_since = self.cycle, now
        unsent = self.transport.get_write_buffer_size()
        if unsent == 0:
            self._unsent_since = self._moved = now
        elif unsent != self._unsent:
            self._moved = now
        self._unsent = unsent
        if unsent:
            return now - self._moved > STALLED_SECONDS or now - self._unsent_since > READ_SECONDS
        if self.idle:
            return now - self._idle_since > HEAD_SECONDS
        return bool(self.cycle.more_body) and now - self._request_since > BODY_SECONDS


def _address(one: Connection) -> str:
    return "" if one.client is None else one.client[0]
