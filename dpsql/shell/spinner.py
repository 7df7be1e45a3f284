"""A sign of life on long runs: stages done and the time, on a terminal only. No percentage: it would tell about the data."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dpsql.shell.stderr import coloured

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
BEFORE_SECONDS, FRAME_SECONDS = 0.4, 0.1


@contextmanager
def spinner(now: Callable[[], object] | None = None) -> Iterator[None]:
    """Turns on stderr while the block runs, and leaves no trace. now: how far it is."""
    if not coloured(sys.stderr):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_turn, args=(done, now), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _turn(done: threading.Event, now: Callable[[], object] | None) -> None:
    start = time.monotonic()
    if done.wait(BEFORE_SECONDS):
        return
    frame = 0
    while True:
        elapsed = time.monotonic() - start
        told = f"{elapsed:.1f} s" if now is None else str(now())
        sys.stderr.write(f"\r{FRAMES[frame % len(FRAMES)]} {told}  (Ctrl-C stops it)\x1b[K")
        sys.stderr.flush()
        frame += 1
        if done.wait(FRAME_SECONDS):
            break
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
