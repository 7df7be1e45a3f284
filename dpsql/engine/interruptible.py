"""Ctrl-C that always stops a query.

DuckDB polls for signals while it works in the main thread, and misses some of them: about every second SIGINT raised
from a thread went unnoticed until the query's end. So the query runs in a thread of its own, and the main thread, which
Python wakes for signals, waits and passes the interrupt on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from dpsql.errors import PostProcessingError

T = TypeVar("T")
_AGAIN_AFTER_SECONDS = 0.1


def interruptible(work: Callable[[], T], interrupt: Callable[[], object]) -> T:
    """work()'s result or exception. On Ctrl-C: `interrupt` until the work has ended, then KeyboardInterrupt; the same for
    whatever else a signal's handler raises here (SystemExit, of SIGTERM).

    Outside the main thread, where no signal arrives, it is just work().
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome = _Outcome(work)
    thread = threading.Thread(target=outcome.find, daemon=True)
    launched = False
    stopped: BaseException | None = None
    while True:
        try:
            if not launched:
                launched = True
                thread.start()
            # An event of our own: an interrupted Thread.join takes the thread for ended (CPython 3.11). Never without a
            # time limit: a signal that comes just before the wait begins would be seen only after it.
            while not outcome.ended.wait(_AGAIN_AFTER_SECONDS):
                if stopped is not None:
                    interrupt()  # again and again: one that comes between two statements is lost
            break
        except BaseException as signal:  # only a signal's handler raises here; raised again
            if outcome.claim():
                raise  # it has not begun and never will: work is not left running with nobody waiting for it
            stopped = signal
    if stopped is not None:
        raise stopped
    return outcome.get()


class _Outcome(Generic[T]):
    def __init__(self, work: Callable[[], T]) -> None:
        self.ended = threading.Event()
        self._claimed = threading.Lock()
        self._work = work
        self._result: list[T] = []
        self._error: BaseException | None = None

    def claim(self) -> bool:
        """Whether this caller is the first: the thread, which then works, or who has given it up."""
        return self._claimed.acquire(blocking=False)

    def find(self) -> None:
        if not self.claim():
            return
        try:
            self._result.append(self._work())
        except BaseException as error:  # it is raised again where it was asked for
            self._error = error
        finally:
            self.ended.set()

    def get(self) -> T:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return self._result[0]


class Watch:
    """While it is open: interrupts when the time is over, again and again; None: there is no limit."""

    def __init__(self, seconds: float | None, interrupt: Callable[[], object]) -> None:
        self._seconds, self._interrupt = seconds, interrupt
        self._over = threading.Event()
        self.late = False

    def __enter__(self) -> Watch:
        if self._seconds is not None:
            threading.Thread(target=self._wait, args=(self._seconds,), daemon=True).start()
        return self

    def _wait(self, seconds: float) -> None:
        if self._over.wait(seconds):
            return
        self.late = True
        while not self._over.wait(_AGAIN_AFTER_SECONDS):
            self._interrupt()

    def __exit__(self, *raised: object) -> None:
        self._over.set()

    def late_error(self) -> PostProcessingError:
        return took_too_long(self._seconds or 0)


def took_too_long(seconds: float) -> PostProcessingError:
    return PostProcessingError(
        f"the statement took longer than {seconds:g} seconds", code=506, fix="SET time_limit = 600 allows ten minutes."
    )
