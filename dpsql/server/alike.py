"""Requests that are alike take turns: what is asked again before it is answered waits, and is then a free repeat."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager


class Alike:
    """A lock for each name in use."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: dict[str, int] = {}

    @asynccontextmanager
    async def one_at_a_time(self, names: Sequence[str]) -> AsyncIterator[None]:
        """Nobody else has one of these names meanwhile. All take them by the alphabet, so no two wait for each other."""
        async with AsyncExitStack() as held:
            for name in sorted(names):
                await held.enter_async_context(self._one(name))
            yield

    @asynccontextmanager
    async def _one(self, name: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(name, asyncio.Lock())
        self._users[name] = self._users.get(name, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._users[name] -= 1
            if not self._users[name]:
                del self._users[name], self._locks[name]
