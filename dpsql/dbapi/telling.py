"""Progress for whoever waits in Python: progress=function of connect() and PrivateFrame, or a line on the screen."""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from dpsql.errors import InterfaceError
from dpsql.report.work import Progress, Work

Tell = Callable[[Progress], object]
Asked = bool | Tell | None
EVERY_SECONDS = 0.5
WIDTH = 60
QUIET_SECONDS = 2.0  # a query that is done by then shows no line


def tell_of(progress: Asked) -> Tell | None:
    """What progress= means: a function; True: a line on the screen; None: one where a person waits; False: nothing."""
    if progress is None:
        return Line() if _somebody_waits() else None
    if isinstance(progress, bool):
        return Line() if progress else None
    if not callable(progress):
        raise InterfaceError(
            f"progress= is {type(progress).__name__}", fix="Give a function of one argument, True or False."
        )
    return progress


def _somebody_waits() -> bool:
    """A notebook, or Python at a prompt."""
    if hasattr(builtins, "get_ipython") or "__IPYTHON__" in vars(builtins):
        return True
    return bool(hasattr(sys, "ps1") or sys.flags.interactive) and sys.stderr is not None and sys.stderr.isatty()


class Working(Protocol):
    """A session, here or at a server: what runs now, and who is told of it."""

    work: Work
    tell: Tell | None


class Line:
    """One line on the screen that is written over, and is gone at the end."""

    def __init__(self) -> None:
        self._shown = False

    def __call__(self, progress: Progress) -> None:
        if progress.seconds >= QUIET_SECONDS:
            sys.stderr.write(f"\rdpsql: {progress}".ljust(WIDTH))
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * WIDTH + "\r")
            sys.stderr.flush()
        self._shown = False


@contextmanager
def telling(session: Working) -> Iterator[None]:
    """Tell how far the query is every half second, from a thread of its own, and once when it is done."""
    tell: Tell | None = session.tell
    session.work.begin()
    if tell is None:
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_tell, args=(session, tell, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tell(session: Working, tell: Tell, done: threading.Event) -> None:
    """What the function raises ends the telling, and not the query."""
    try:
        while not done.wait(EVERY_SECONDS):
            tell(session.work.now)
        if isinstance(tell, Line):
            tell.clear()
        elif (last := session.work.now).planned:  # something was released
            tell(last)
    except Exception as error:  # whatever a user's function raises
        sys.stderr.write(f"dpsql: progress= raised {type(error).__name__}, and is not called any more\n")
        session.tell = None
