"""What a thread's statement has cost so far, for the message of whatever ends it."""

from __future__ import annotations

import threading

from dpsql.accounting.loss import ZERO, Cost


class SpentHere(threading.local):
    """nothing; asked (the charge is being written); charged; released."""

    state: str = "nothing"
    cost: Cost = ZERO

    def clear(self) -> None:
        self.is_now("nothing", ZERO)

    def is_now(self, state: str, cost: Cost) -> None:
        self.state, self.cost = state, cost
