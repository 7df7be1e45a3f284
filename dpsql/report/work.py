"""How far a query is, without a figure that depends on data: stages done of stages planned, and the time that has passed."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """done, planned: stages (releases) of the plan; both are 0 before the plan is made. seconds: since the query began."""

    done: int
    planned: int
    seconds: float

    def __str__(self) -> str:
        stages = f"{self.done} of {self.planned} stages done, " if self.planned > 1 else ""
        return f"{stages}{self.seconds:.0f} s"


class Work:
    """What one session is doing now. Told by the thread that works, read by another that shows it."""

    def __init__(self) -> None:
        self._done = self._planned = 0
        self._began = time.monotonic()

    def begin(self) -> None:
        self._done, self._planned, self._began = 0, 0, time.monotonic()

    def plan(self, stages: int) -> None:
        """So many stages more: choices that come before a query have stages of their own."""
        self._planned += stages

    def step(self) -> None:
        self._done += 1

    @property
    def now(self) -> Progress:
        return Progress(done=self._done, planned=self._planned, seconds=time.monotonic() - self._began)
