"""One statement on its way: it waits, then runs. Whoever asked can stop it, or go away."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from dpsql.errors import Error, OperationalError
from dpsql.server.places import busy


class Asked:
    """stop: who asked wants no answer; while it waits, that costs nothing, and what runs is told to stop. withdraw: who
    asked is gone; what runs goes on, since its rows come on record and asking again is free."""

    def __init__(self) -> None:
        self.told_to_stop = threading.Event()
        self._wait: asyncio.Timeout | None = None
        self._ended_as: Callable[[], Error] = _waited_too_long
        self._stop_running: Callable[[], None] | None = None

    def stop(self) -> None:
        """At once where it waits; soon where it runs."""
        self.told_to_stop.set()
        self._end_wait(stopped_early)
        if self._stop_running is not None:
            self._stop_running()

    def withdraw(self) -> None:
        """Where it waits, it never runs."""
        self._end_wait(stopped_early)

    def refuse(self, error: Callable[[], Error]) -> None:
        """Where it waits, it ends with this."""
        self._end_wait(error)

    @asynccontextmanager
    async def waits(self, seconds: float) -> AsyncIterator[None]:
        """What happens inside can be ended without a charge; nothing of the statement may begin there."""
        try:
            async with asyncio.timeout(seconds) as self._wait:
                if self.told_to_stop.is_set():
                    raise stopped_early()
                yield
        except TimeoutError:
            raise self._ended_as() from None
        finally:
            self._wait = None

    def runs(self, stop: Callable[[], None]) -> None:
        """From now on stopping means this."""
        self._stop_running = stop

    def _end_wait(self, error: Callable[[], Error]) -> None:
        if self._wait is not None and not self._wait.expired():
            self._ended_as = error
            self._wait.reschedule(0)  # long ago


def stopped_early() -> OperationalError:
    return OperationalError("the statement was stopped while it waited", code=503, why="Nothing was charged.")


def stopped() -> OperationalError:
    return OperationalError(
        "the statement was stopped", code=503, why="What it may have charged stays charged: SHOW BUDGET shows it."
    )


def _waited_too_long() -> OperationalError:
    return busy("the statement waited too long for its turn")
