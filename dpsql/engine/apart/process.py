"""The processes apart that run now: started where one is needed, used one statement at a time, ended where one hangs.

They are this process's, not a session's: each statement gets a database of its own, so nothing stays in them.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.interruptible import interruptible, took_too_long
from dpsql.errors import Interrupted, PostProcessingError

_WORKER = Path(__file__).with_name("worker.py")
_AGAIN_AFTER_SECONDS = 0.05
KEPT = 4  # idle ones


class Worker:
    """One process. What it is asked is a statement at a time; `end` may come from any thread."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(_WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # Ctrl-C is for whoever asks
        )
        self._write([str(Path(duckdb.__file__).parent.parent)])

    def _write(self, line: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line).encode("ascii") + b"\n")
        self._process.stdin.flush()

    def ask(self, asked: object) -> dict[str, Any] | None:
        """Its answer; None where it ended."""
        assert self._process.stdout is not None
        try:
            self._write(asked)
            line = self._process.stdout.readline()
        except (OSError, ValueError):
            return None
        return json.loads(line) if line.endswith(b"\n") else None

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        self._process.kill()

    def bury(self) -> None:
        """After it ended: its pipes are closed and the system forgets it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _environment() -> dict[str, str]:
    """Nothing of this process's own: a password may be there."""
    return {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}


@dataclass(slots=True)
class Running:
    """A statement that runs apart: what stops it, and whether that was its time."""

    worker: Worker
    late: bool = False
    stopped: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        self.stopped = True
        self.worker.end()

    def watch(self, seconds: float) -> None:
        """Ends it when its time is over; in a thread of its own."""
        if not self.over.wait(seconds):
            self.late = True
            self.worker.end()


class Workers:
    """idle: those that wait for a statement."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._guard = threading.Lock()

    def _take(self) -> Worker:
        while True:
            with self._guard:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                return Worker()
            if worker.runs:
                return worker
            worker.bury()

    def _give_back(self, worker: Worker) -> None:
        with self._guard:
            if len(self._idle) < KEPT:
                self._idle.append(worker)
                return
        worker.bury()

    def run(self, asked: object, seconds: float, begun: Callable[[Running], object]) -> dict[str, Any]:
        """The answer of a process apart; PostProcessingError 506 after `seconds`, 503 where it was stopped, 504 where it
        ended by itself. begun: hears of what runs, to stop it."""
        worker = self._take()
        running = Running(worker)
        begun(running)
        watch = threading.Thread(target=running.watch, args=(seconds,), daemon=True)
        watch.start()
        answer: dict[str, Any] | None = None
        try:
            answer = interruptible(lambda: worker.ask(asked), running.stop)
        except KeyboardInterrupt:
            raise Interrupted("the query was interrupted") from None
        finally:
            running.over.set()
            watch.join()
            if answer is None or running.late or running.stopped:
                worker.bury()
            else:
                self._give_back(worker)
        if answer is None:
            raise _ended(running, seconds)
        return answer

    def forget(self) -> None:
        """In a forked child: they are the parent's."""
        self._idle, self._guard = [], threading.Lock()

    def close(self) -> None:
        with self._guard:
            while self._idle:
                self._idle.pop().bury()


def _ended(running: Running, seconds: float) -> PostProcessingError:
    if running.late:
        return took_too_long(seconds)
    if running.stopped:
        return PostProcessingError("the query was interrupted", code=503)
    return PostProcessingError(
        "the process that ran the statement ended",
        code=504,
        why="The statement needed more memory or disk than is allowed, or DuckDB failed at it.",
    )


WORKERS = Workers()
atexit.register(WORKERS.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=WORKERS.forget)
