"""Places for statements that run: so many in all, fewer for one account, and the fairest of who waits comes next."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dpsql.errors import OperationalError

Waiting = tuple[str, "asyncio.Future[None]"]


class Places:
    """At the same time `running` statements run, `of_account` of one account; `waiting` more wait.

    of_account None: an account begins another only where more places are free than it has. Alone it has half of them; two
    together leave one of four, and so on: many accounts that act as one are needed before a newcomer has to wait.

    Of those that wait, the account with the fewest running statements is next, then the one whose last turn is longest ago,
    then who came first. Where too many wait, the account with the most waiting statements loses its newest: it hears
    "busy", and is not charged, since nothing of it has begun.
    """

    def __init__(self, *, running: int, of_account: int | None, waiting: int) -> None:
        self._free = running
        self._of_account = of_account
        self._most_waiting = waiting
        self._running: Counter[str] = Counter()
        self._waiting: list[Waiting] = []
        self._turns = 0
        self._last_turn: dict[str, int] = {}

    @property
    def running(self) -> int:
        return self._running.total()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @asynccontextmanager
    async def one(self, account: str) -> AsyncIterator[None]:
        """A place, until it is left; OperationalError 702 where there is none to wait for."""
        await self._enter(account)
        try:
            yield
        finally:
            self._free += 1
            self._running[account] -= 1
            self._serve()

    async def _enter(self, account: str) -> None:
        if self._may(account):  # whoever waits then may not
            self._take(account)
            return
        self._make_room(account)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((account, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:  # it came at the same moment
                self._free += 1
                self._running[account] -= 1
                self._serve()
            self._waiting = [one for one in self._waiting if one[1] is not turn]
            raise

    def _may(self, account: str) -> bool:
        """Whether it may begin another statement now."""
        has = self._running[account]
        return self._free > has if self._of_account is None else self._free > 0 and has < self._of_account

    def _take(self, account: str) -> None:
        self._free -= 1
        self._running[account] += 1
        self._turns += 1
        self._last_turn[account] = self._turns

    def _make_room(self, account: str) -> None:
        if len(self._waiting) < self._most_waiting:
            return
        counts = Counter(name for name, _ in self._waiting)
        name, most = max(counts.items(), key=lambda one: one[1], default=("", 0))
        if most <= counts[account] + 1:
            raise busy()
        place = max(i for i, one in enumerate(self._waiting) if one[0] == name)
        _, turn = self._waiting.pop(place)
        turn.set_exception(busy())

    def _serve(self) -> None:
        while may := [one for one in self._waiting if self._may(one[0])]:
            account, turn = min(may, key=lambda one: (self._running[one[0]], self._last_turn.get(one[0], 0)))
            self._waiting.remove((account, turn))
            if not turn.done():
                self._take(account)
                turn.set_result(None)


def busy(
    what: str = "the server is busy", fix: str = "Try again in a moment. Nothing was charged."
) -> OperationalError:
    """702: nothing of it has begun, so it costs nothing."""
    return OperationalError(what, code=702, fix=fix)
