"""Many clients of all doors at once: no charge is lost, none is counted twice, and how much longer it takes than embedded.

python -m tests.server.load CLIENTS SECONDS
"""

from __future__ import annotations

import itertools
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

import dpsql
from dpsql.server.accounts import Accounts
from tests.server.kills import charges
from tests.server.started import Started, started, write_data

PASSWORD = "load password"
KINDS = ("http", "driver", "postgres")


@dataclass
class Seen:
    """answered: how many new questions had an answer. seconds: how long each took, by its kind."""

    answered: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, outcome: str, seconds: float) -> None:
        with self.guard:
            self.outcomes[f"{kind} {outcome}"] += 1
            self.answered += outcome == "ok"
            if outcome == "ok":
                self.seconds.setdefault(kind, []).append(seconds)


def question(number: int) -> str:
    """A new one for each number."""
    asked = ("COUNT(*)", "SUM(cost)", "AVG(duration)")[number % 3]
    return f"SELECT specialty, {asked} AS x FROM visits WHERE duration > 0.{number:0>9} GROUP BY specialty ORDER BY 1"


def load(folder: Path, clients: int, seconds: float) -> Seen:
    """All doors at once, then the ledger is compared with what was answered."""
    metadata = write_data(folder, epsilon=1_000_000)
    seen, numbers, over = Seen(), itertools.count(1), threading.Event()
    options = ("--postgres-port", "0", "--sessions", str(clients + 10), "--running", "4")
    names = tuple(f"c{i}" for i in range(clients))  # one account may not take all places
    with started(metadata, *options, names=names) as server:
        accounts = Accounts(metadata.with_name(metadata.name + ".ledger.users"))
        for name in names[2::3]:
            accounts.set_password(name, PASSWORD)
        doors = (_http, _driver, _postgres)
        asking = [
            threading.Thread(target=doors[i % 3], args=(server, seen, numbers, over, name))
            for i, name in enumerate(names)
        ]
        for one in asking:
            one.start()
        time.sleep(seconds)
        over.set()
        for one in asking:
            one.join()
    charged = charges(metadata)
    assert len(charged) == seen.answered == sum(one.state == "released" for one in charged)
    _embedded(metadata, seen, numbers)
    return seen


def _until(over: threading.Event) -> Iterator[None]:
    """At least once, however busy the machine is."""
    yield
    while not over.is_set():
        yield


def _http(server: Started, seen: Seen, numbers: itertools.count[int], over: threading.Event, who: str) -> None:
    for _ in _until(over):
        began = time.monotonic()
        reply = server.query(question(next(numbers)), who=who)
        seen.add("http", "ok" if reply.status == 200 else reply.code, time.monotonic() - began)


def _driver(server: Started, seen: Seen, numbers: itertools.count[int], over: threading.Event, who: str) -> None:
    try:
        connection = dpsql.connect(f"http://127.0.0.1:{server.port}", token=server.tokens[who])
    except dpsql.Error as error:
        return seen.add("driver", error.code, 0)
    with connection:
        _ask(connection, dpsql.Error, "driver", seen, numbers, over)


def _postgres(server: Started, seen: Seen, numbers: itertools.count[int], over: threading.Event, who: str) -> None:
    try:
        given = f"host=127.0.0.1 port={server.postgres} user={who} password='{PASSWORD}' dbname=dpsql"
        connection = psycopg.connect(given, autocommit=True)
    except psycopg.Error as error:
        return seen.add("postgres", str(error)[-200:], 0)
    with connection:
        _ask(connection, psycopg.Error, "postgres", seen, numbers, over)


def _ask(connection: Any, errors: Any, kind: str, seen: Seen, numbers: Any, over: threading.Event) -> None:
    for _ in _until(over):
        began = time.monotonic()
        try:
            rows = connection.execute(question(next(numbers))).fetchall()
            outcome = "ok" if len(rows) == 3 else "wrong"
        except errors as error:
            outcome = str(error)[:80]
        seen.add(kind, outcome, time.monotonic() - began)


def _embedded(metadata: Path, seen: Seen, numbers: itertools.count[int]) -> None:
    with dpsql.connect(metadata, analyst="ana") as connection:
        for _ in range(20):
            began = time.monotonic()
            connection.execute(question(next(numbers))).fetchall()
            seen.seconds.setdefault("embedded, alone", []).append(time.monotonic() - began)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        result = load(Path(place), int(sys.argv[1]), float(sys.argv[2]))
    print(f"{result.answered} answered, each charged once; {dict(result.outcomes)}")
    for kind, times in result.seconds.items():
        ordered = sorted(times)
        median, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]
        print(f"{kind}: median {median:.3f} s, the slowest 5 % take over {late:.3f} s")
