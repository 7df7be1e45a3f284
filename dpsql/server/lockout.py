"""Who tried too often has to wait: counted for each address, and for each name at an address."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from dpsql.errors import OperationalError

FREE_TRIES = 10
LONGEST = 300.0
MOST_KEPT = 10_000


class Lockout:
    """After so many failed tries in a row each further one doubles the wait. Nobody can lock out another address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()

    def check(self, address: str, name: str = "") -> None:
        """OperationalError 706 while it has to wait."""
        tries, until = self._failed.get((address, name), (0, 0.0))
        if tries >= FREE_TRIES and self._clock() < until:
            raise OperationalError("too many tries", code=706, fix="Wait a few minutes.")

    def failed(self, address: str, name: str = "") -> None:
        """One more; after LONGEST without one, counting starts again."""
        tries, until = self._failed.pop((address, name), (0, 0.0))
        if tries and self._clock() > until + LONGEST:
            tries = 0
        wait = min(LONGEST, 2.0 ** max(0, tries + 1 - FREE_TRIES)) if tries + 1 >= FREE_TRIES else 0.0
        self._failed[address, name] = (tries + 1, self._clock() + wait)
        while len(self._failed) > MOST_KEPT:
            self._failed.popitem(last=False)

    def let_in(self, address: str, name: str = "") -> None:
        """Somebody who knows the password."""
        self._failed.pop((address, name), None)
