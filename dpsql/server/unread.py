"""Answers that the server keeps until they are read: so many bytes for each account, then its questions hear "busy"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsql.server.places import busy

MOST_UNREAD = 64 << 20


class Unread:
    """kept: what other doors keep for an account, in bytes."""

    def __init__(self) -> None:
        self._sending: Counter[str] = Counter()
        self.kept: Callable[[str], int] = lambda _: 0

    def check(self, account: str) -> None:
        """Before anything is charged: 702 for an account that does not read its answers."""
        if self._sending[account] + self.kept(account) > MOST_UNREAD:
            raise busy(
                f"this account has not read more than {MOST_UNREAD >> 20} MB of its answers",
                "Read them, or close cursors and connections. Nothing was charged.",
            )

    @contextmanager
    def sending(self, account: str, size: int) -> Iterator[None]:
        """An answer on its way to a client."""
        self._sending[account] += size
        try:
            yield
        finally:
            self._sending[account] -= size
            if not self._sending[account]:
                del self._sending[account]
