"""kill -9 of workers and of the server under load: nothing is released that was not charged, and the ledger holds.

python -m tests.server.kills 100 [SECONDS]
"""

from __future__ import annotations

import contextlib
import http.client
import itertools
import math
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dpsql.accounting.ledger import Ledger
from dpsql.accounting.releases import Release, releases
from tests.server.started import Started, started, write_data

CLIENTS = 4


@dataclass
class Tally:
    """answered: the ids of queries whose rows arrived."""

    answered: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)


def rounds(folder: Path, count: int, *, seed: int = 0, seconds: float = math.inf) -> Tally:
    """Each round: a server, clients, kills of workers, then a kill of the server; afterwards the ledger is checked. No round
    begins after so many seconds."""
    metadata = write_data(folder, epsilon=1_000_000)
    tally, draw, numbers = Tally(), random.Random(seed), itertools.count(1)
    until = time.monotonic() + seconds
    for _ in range(count):
        if time.monotonic() > until:
            break
        _round(metadata, tally, draw, numbers)
        check(metadata, tally)
    return tally


def _round(metadata: Path, tally: Tally, draw: random.Random, numbers: itertools.count[int]) -> None:
    with started(metadata) as server:
        assert server.query("SELECT 1 AS a").status == 200
        over = threading.Event()
        clients = [threading.Thread(target=_ask, args=(server, tally, numbers, over)) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for _ in range(2):
            time.sleep(draw.uniform(0.2, 1.5))
            with contextlib.suppress(IndexError, ProcessLookupError):
                os.kill(draw.choice(server.workers()), signal.SIGKILL)
                tally.kills["worker"] += 1
        time.sleep(draw.uniform(0, 0.3))
        server.process.kill()
        tally.kills["server"] += 1
        over.set()
        for client in clients:
            client.join()
        _gone(metadata)


def _ask(server: Started, tally: Tally, numbers: itertools.count[int], over: threading.Event) -> None:
    while not over.is_set():
        name = f"q{next(numbers)}"
        sql = f"SELECT COUNT(*) AS n FROM visits WHERE duration > 0.{name[1:]:0>9}"
        try:
            reply = server.query(sql, query_id=name)
        except (OSError, http.client.HTTPException):
            tally.outcomes["no answer"] += 1
            continue
        tally.outcomes["ok" if reply.status == 200 else reply.code] += 1
        if reply.status == 200:
            tally.answered.append(name)


def _gone(metadata: Path) -> None:
    """No worker outlives its server: nobody has the ledger open any more, whoever began it."""
    until = time.monotonic() + 30
    while _users_of(f"{metadata}.ledger"):
        assert time.monotonic() < until, "a worker outlived its server"
        time.sleep(0.05)


def _users_of(ledger: str) -> list[str]:
    users = []
    for folder in Path("/proc").glob("[0-9]*/fd"):
        with contextlib.suppress(OSError):
            if folder.parent.name != str(os.getpid()):
                users += [link for one in folder.iterdir() if (link := os.readlink(one)).startswith(ledger)]
    return users


def charges(metadata: Path) -> tuple[Release, ...]:
    """What the ledger has, after all of it was verified."""
    path = metadata.with_name(metadata.name + ".ledger")
    bad = Ledger.verify_file(path)
    assert bad is None, bad
    ledger = Ledger.inspect(path)
    try:
        charged = releases(ledger.rows())
        spent = ledger.balance().spent.epsilon
    finally:
        ledger.close()
    assert spent == sum(one.cost.epsilon for one in charged if one.state != "void")
    return charged


def check(metadata: Path, tally: Tally) -> None:
    """Everything that was answered is on record as released, charged once."""
    states = Counter((one.query_id, one.state) for one in charges(metadata))
    assert len(set(tally.answered)) == len(tally.answered)
    assert all(states[name, "released"] == 1 for name in tally.answered)
    assert all(count == 1 for count in states.values())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        limit = float(sys.argv[2]) if len(sys.argv) > 2 else math.inf
        result = rounds(Path(place), int(sys.argv[1]), seed=int(time.time()), seconds=limit)
    print(f"{len(result.answered)} answered, all of them charged; {dict(result.outcomes)}; kills {dict(result.kills)}")
