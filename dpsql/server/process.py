"""A worker process from outside: started, asked with a deadline, stopped, ended."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import threading
import time
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess

from dpsql.dbapi.exchange import Tree, error_of, error_tree, read_json
from dpsql.errors import Error, ExecutionError
from dpsql.server.asked import stopped_early
from dpsql.server.bodies import MOST_BYTES
from dpsql.server.worker import Task, opaque, work

START_SECONDS = 60.0
STOP_SECONDS = 2.0  # between asking a worker to stop and ending it
MOST_ANSWER = MOST_BYTES + (1 << 20)


class WorkerDied(Exception):
    """cause: for the audit log alone."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


@cache
def context() -> ForkServerContext:
    """Workers come from a process without threads that has everything imported."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["dpsql.server.worker", "pandas"])
    return made


class WorkerProcess:
    """One worker. `ask` blocks: one thread at a time; `stop` and `end` may come from another."""

    def __init__(self, task: Task) -> None:
        here, there = context().Pipe()
        self._pipe: Pipe = here
        self.process: BaseProcess = context().Process(target=work, args=(there, task), daemon=True)
        self.process.start()
        there.close()  # otherwise its end would not be seen
        self._number = 0
        self._stop_at = float("inf")
        self._sending = threading.Lock()
        started = self._answer(time.monotonic() + START_SECONDS)
        if "error" in started:
            self.end()
            raise error_of(started["error"])

    @property
    def alive(self) -> bool:
        return self.process.is_alive()

    def ask(
        self, request: Mapping[str, Tree], seconds: float, stopped: threading.Event
    ) -> tuple[dict[str, Tree], bytes | None]:
        """The answer with its size, and its body; WorkerDied where there is none in time. An error of the request is in
        the answer. What was stopped is not sent."""
        with self._sending:
            if stopped.is_set():
                return {"error": error_tree(stopped_early()), "real": "DPSQL-503"}, None
            self._number += 1
            self._stop_at = float("inf")
            try:
                self._pipe.send_bytes(json.dumps({"number": self._number, "request": request}).encode())
            except OSError:
                raise self._died() from None
        answer = self._answer(time.monotonic() + seconds)
        body = self._receive() if answer.pop("body", False) else None
        return answer, body

    def stop(self) -> None:
        """Stop what runs now; what does not stop is ended."""
        with self._sending:
            self._stop_at = time.monotonic() + STOP_SECONDS
            with contextlib.suppress(OSError):
                self._pipe.send_bytes(json.dumps({"stop": self._number}).encode())

    def end(self) -> None:
        """At once. What it charged stays charged."""
        self.process.kill()
        self.process.join(5)
        self._pipe.close()

    def _answer(self, until: float) -> dict[str, Tree]:
        while not wait([self._pipe, self.process.sentinel], 0.25):
            if time.monotonic() > until:
                raise self._ended("deadline")
            if time.monotonic() > self._stop_at:
                raise self._ended("stopped")
        raw = self._receive()
        tree = read_json(raw)
        if not isinstance(tree, dict):
            raise self._ended("no answer")
        return {**tree, "size": len(raw)}

    def _receive(self) -> bytes:
        try:
            return self._pipe.recv_bytes(MOST_ANSWER)
        except (EOFError, OSError):
            raise self._died() from None

    def _ended(self, cause: str) -> WorkerDied:
        self.process.kill()
        self.process.join(5)
        return WorkerDied(cause)

    def _died(self) -> WorkerDied:
        self.process.join(2)
        self.process.kill()
        return WorkerDied(f"exit {self.process.exitcode}")


def died_error() -> dict[str, Tree]:
    """The same words as of any failure on private rows."""
    error: Error = opaque(ExecutionError("", code=500))
    return error_tree(error)
