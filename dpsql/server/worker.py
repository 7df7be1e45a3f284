"""What runs in a worker process: one session of one account, which answers requests one after the other.

A request and an answer are JSON; an answer may be followed by bytes. The process ends when its pipe does: a reader thread
waits for that, and for words that stop what runs now.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import hashlib
import json
import os
import queue
import re
import resource
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

from dpsql.dbapi.exchange import Tree, error_tree, read_json
from dpsql.dbapi.statements import execute
from dpsql.errors import Error, ExecutionError, InternalError, Interrupted, LedgerError, SourceError, TamperedLedger
from dpsql.server.asked import stopped_early
from dpsql.server.bodies import MOST_BYTES, too_large
from dpsql.server.places import busy
from dpsql.server.requests import Served
from dpsql.session import Session, open_session

PR_SET_PDEATHSIG = 1
HEADROOM = 512 << 20  # of address space, above what an idle worker has and its memory limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a worker is started for. digest: of the metadata file. memory, disk: in bytes. begin: SET statements, whose
    values RESET goes back to."""

    metadata: str
    digest: str
    analyst: str
    memory: int
    disk: int
    threads: int
    begin: tuple[str, ...] = ()


def work(pipe: Pipe, task: Task) -> None:
    """The process. It leaves without unwinding: after DuckDB ran out of memory, closing it may crash."""
    _begin_process()
    desk = _Desk(pipe)
    try:
        session = _opened(task)
        _limit(task)
    except Error as error:
        desk.answer({"error": error_tree(without_folders(error))})
        os._exit(1)
    except OSError as error:
        tell_owner(f"a session cannot be started: {error.strerror}")
        desk.answer({"error": error_tree(busy("a session cannot be started", "Tell the owner. Nothing was charged."))})
        os._exit(1)
    served = Served(session)
    desk.stop = session.interrupt
    desk.answer({"ready": True})
    desk.start()
    while True:
        number, request = desk.requests.get()
        desk.running = number
        if desk.told_to_stop == number:
            desk.answer({"error": error_tree(stopped_early()), "real": "DPSQL-503"})
        else:
            desk.answer(*_answered(served.answer, request))
        desk.running = 0


def _answered(
    answer: Callable[[Mapping[str, Tree]], tuple[Tree, bytes | None]], request: Tree
) -> tuple[Tree, bytes | None]:
    """Whatever happens, an answer: what fails on private rows has one code and one text."""
    try:
        return answer(request)
    except Error as error:
        return {"error": error_tree(without_folders(opaque(error))), "real": error.code}, None
    except MemoryError:
        return {"error": error_tree(opaque(ExecutionError("", code=504))), "real": "DPSQL-504"}, None
    except Exception as error:  # a bug of ours: its words could quote a cell
        return {"error": error_tree(InternalError(f"a bug in dpsql: {type(error).__name__}"))}, None


PRIVATE_CAUSES = (500, 504, 506)


def opaque(error: Error) -> Error:
    """Which limit a query met may depend on private rows."""
    if isinstance(error, ExecutionError) and not isinstance(error, Interrupted) and error.number in PRIVATE_CAUSES:
        return ExecutionError(
            "the query could not be finished",
            code=500,
            why="No details are given, since they might reveal something about the data. What it was charged stays charged.",
        )
    return error


_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/'\":]+/)+(?=[^\s/])")


def without_folders(error: Error) -> Error:
    """Where the owner keeps data and ledger is for the owner's eyes; who asks hears the file's name."""
    if isinstance(error, SourceError | LedgerError | TamperedLedger):
        tell_owner(f"{error.code} {error.what}")
        error.what, error.why = _FOLDERS.sub("", error.what), _FOLDERS.sub("", error.why)
    return error


def tell_owner(what: str) -> None:
    """On standard error, one line; a disk that is full there does no harm."""
    with contextlib.suppress(OSError):
        print(f"dpsql: {what}".encode("unicode_escape").decode("ascii"), file=sys.stderr, flush=True)


class _Desk:
    """The worker's end of its pipe."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self.requests: queue.SimpleQueue[tuple[int, Tree]] = queue.SimpleQueue()
        self.running = self.told_to_stop = 0
        self.stop: Callable[[], None] = lambda: None

    def start(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def answer(self, tree: Tree, body: bytes | None = None) -> None:
        try:
            text = json.dumps({**tree, "body": body is not None}).encode()
            if len(text) > MOST_BYTES:
                text, body = json.dumps({"error": error_tree(too_large()), "body": False}).encode(), None
            self._pipe.send_bytes(text)
            if body is not None:
                self._pipe.send_bytes(body)
        except OSError:  # the server is gone
            os._exit(0)

    def _read(self) -> None:
        while True:
            try:
                told = read_json(self._pipe.recv_bytes())
            except (EOFError, OSError):
                os._exit(0)
            if "request" in told:
                self.requests.put((told["number"], told["request"]))
            else:
                self.told_to_stop = told["stop"]
                if self.told_to_stop == self.running:
                    self.stop()


def _begin_process() -> None:
    """It ends with its parent, leaves signals to it, and writes no core: that would be private rows in a file."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(one, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    sys.stdout.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _opened(task: Task) -> Session:
    if not os.path.exists(task.metadata) or digest_of(task.metadata) != task.digest:
        raise SourceError("the metadata changed since the server started", code=300, fix="Restart the server.")
    session = open_session(
        task.metadata,
        analyst=task.analyst,
        restricted=True,
        memory_limit=f"{task.memory // 10**6}MB",
        threads=task.threads,
        disk=task.disk,
    )
    for statement in task.begin:
        execute(session, statement, None)
    session.connected = dataclasses.replace(session.defaults)
    session.vault()
    session.scratch.execute("SELECT 1")
    return session


def digest_of(metadata: str) -> str:
    """What the server and its workers compare."""
    return hashlib.sha256(Path(metadata).read_bytes()).hexdigest()


def _limit(task: Task) -> None:
    """Set once everything is open: below what an idle process has, DuckDB crashes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    space = pages * resource.getpagesize() + task.memory + HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (space, space))
    resource.setrlimit(resource.RLIMIT_FSIZE, (task.disk, task.disk))
