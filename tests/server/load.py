"""Many clients of all doors at once, with new questions, repeats, refusals and EXPLAINs: no charge is lost, none is counted
twice. The same clients then ask the embedded engine. `python -m benchmarks server` prints what it took.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg

import dpsql
from dpsql.accounting.releases import Release
from dpsql.server.accounts import Accounts
from tests.server.kills import charges
from tests.server.started import Started, started, write_data

PASSWORD = "load password"
KINDS = ("http", "driver", "postgres")
CLIENTS_OF_ACCOUNT = 2
READY = "SELECT name, floor FROM specialties"  # public: free
OPENING_SECONDS = 600
RUNNING = 4  # statements at the same time
SHARED = 900_000_000  # the numbers of questions that everybody asks
MIX = {"new": 10, "repeat": 5, "shared": 2, "refused": 2, "explain": 3}
REFUSED = (("SELECT referrer FROM visits", "DPSQL-112"), ("SELECT AVG(cots) AS a FROM visits", "DPSQL-102"))


@dataclass
class Told:
    """What an answer says of itself: whose it is, and what it was charged."""

    epsilon: Fraction
    rows: int


class Failed(Exception):
    """The answer is an error; its text begins with its code."""


Ask = Callable[[str], Told]


@dataclass
class Client:
    """One of a door: how it asks and explains."""

    door: str
    account: str
    ask: Ask
    explain: Ask


@dataclass
class Seen:
    """charged: ε by account, as clients were told. outcomes by door, kind of statement and outcome; seconds by door and
    kind, of what was answered or refused."""

    charged: dict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    outcomes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    charges: int = 0
    elapsed: float = 0
    guard: threading.Lock = field(default_factory=threading.Lock)

    def asked(self, client: Client, kind: str, sql: str) -> bool:
        """Ask it, and note what became of it; whether it was answered."""
        began = time.monotonic()
        told = Told(Fraction(0), 3)
        try:
            told = client.explain(sql) if kind == "explain" else client.ask(sql)
            outcome = "ok" if told.rows == 3 else "wrong"
        except Failed as failed:
            outcome = str(failed)[:80]
        took = time.monotonic() - began
        with self.guard:
            self.charged[client.account] += told.epsilon
            self.charges += told.epsilon > 0
            self.outcomes[client.door, kind, outcome] += 1
            if outcome == "ok" or kind == "refused":
                self.seconds[client.door, kind].append(took)
        return outcome == "ok"

    def unexpected(self) -> list[tuple[str, str, str]]:
        """Outcomes that there should not be: a refusal is refused for its reason, the rest is answered or hears "busy"."""
        reasons = tuple(reason for _, reason in REFUSED)

        def expected(kind: str, outcome: str) -> bool:
            return outcome.startswith(reasons) if kind == "refused" else outcome in ("ok", "DPSQL-702")

        return [key for key in self.outcomes if not expected(*key[1:])]


def question(number: int) -> str:
    """A new one for each number."""
    asked = ("COUNT(*)", "SUM(cost)", "AVG(duration)")[number % 3]
    options = ("", "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.25) ")[number % 2]
    where = f"WHERE duration > 0.{number:0>9}"
    return f"SELECT {options}specialty, {asked} AS x FROM visits {where} GROUP BY specialty ORDER BY 1"


def use(client: Client, seen: Seen, numbers: itertools.count[int], over: threading.Event, draw: random.Random) -> None:
    """One statement of each kind, however busy the machine is; then more until it is over."""
    mine = [question(next(numbers))]
    seen.asked(client, "new", mine[0])
    first = [kind for kind in MIX if kind != "new"]
    while first or not over.is_set():
        kind = first.pop() if first else draw.choices([*MIX], [*MIX.values()])[0]
        match kind:
            case "new":
                sql = question(next(numbers))
            case "repeat":
                sql = draw.choice(mine)
            case "shared":
                sql = question(SHARED + draw.randrange(50))
            case "refused":
                sql = draw.choice(REFUSED)[0]
            case _:
                sql = question(draw.randrange(1000))
        if seen.asked(client, kind, sql) and kind == "new":
            mine.append(sql)


def load(folder: Path, clients: int, seconds: float, *, alone: int = 0) -> tuple[Seen, Seen]:
    """All doors at once, then the ledger is compared with what was told: (what the clients saw, what one client of each
    door saw before that with so many questions)."""
    metadata = write_data(folder, epsilon=1_000_000)
    seen, quiet, numbers = Seen(), Seen(), itertools.count(1)
    options = ("--postgres-port", "0", "--sessions", str(2 * clients + 10), "--running", str(RUNNING))
    accounts = [f"c{i}" for i in range(-(-clients // CLIENTS_OF_ACCOUNT))]
    with started(metadata, *options, names=tuple(accounts)) as server:
        book = Accounts(metadata.with_name(metadata.name + ".ledger.users"))
        for name in accounts:
            book.set_password(name, PASSWORD)
        doors = {"http": _http, "driver": _driver, "postgres": _postgres}
        for door in KINDS if alone else ():
            with doors[door](server, accounts[0]) as client:
                client.ask(READY)
                for _ in range(alone):
                    quiet.asked(client, "new", question(next(numbers)))
        opened = [(doors[KINDS[i % 3]], server, accounts[i // CLIENTS_OF_ACCOUNT]) for i in range(clients)]
        together(opened, seen, numbers, seconds)
    check(charges(metadata), seen, quiet)
    return seen, quiet


def embedded(folder: Path, clients: int, seconds: float, *, alone: int = 0) -> tuple[Seen, Seen]:
    """The same statements of as many connections of one process, in a thread each; as many run at the same time."""
    metadata = write_data(folder, epsilon=1_000_000)
    seen, quiet, numbers = Seen(), Seen(), itertools.count(1)
    with ThreadPoolExecutor(RUNNING) as turns:
        with _embedded((metadata, turns), "c0") as client:
            for _ in range(alone):
                quiet.asked(client, "new", question(next(numbers)))
        there = (metadata, turns)
        together([(_embedded, there, f"c{i // CLIENTS_OF_ACCOUNT}") for i in range(clients)], seen, numbers, seconds)
    check(charges(metadata), seen, quiet)
    return seen, quiet


def together(opened: Sequence[tuple[Any, Any, str]], seen: Seen, numbers: itertools.count[int], seconds: float) -> None:
    """Everybody asks for so many seconds, each in a thread."""
    over = threading.Event()

    failed: list[Exception] = []
    ready = threading.Barrier(len(opened) + 1)

    def one(door: Any, there: Any, account: str, seed: int) -> None:
        try:
            with door(there, account) as client:
                client.ask(READY)  # its process has started
                ready.wait(OPENING_SECONDS)
                use(client, seen, numbers, over, random.Random(seed))
        except Exception as error:
            failed.append(error)
            ready.abort()

    asking = [threading.Thread(target=one, args=(*given, seed)) for seed, given in enumerate(opened)]
    for thread in asking:
        thread.start()
    with contextlib.suppress(threading.BrokenBarrierError):
        ready.wait(OPENING_SECONDS)
    began = time.monotonic()
    over.wait(seconds)
    over.set()
    for thread in asking:
        thread.join()
    seen.elapsed = time.monotonic() - began
    for error in failed:
        raise error


def check(charged: Sequence[Release], *seen: Seen) -> None:
    """The ledger's sum is what the clients were told, for each account; nothing was released twice to one account."""
    spent: dict[str, Fraction] = defaultdict(Fraction)
    for one in charged:
        assert one.state == "released", one.state
        spent[str(one.analyst)] += one.cost.epsilon
    told: dict[str, Fraction] = defaultdict(Fraction)
    for each in seen:
        assert not each.unexpected(), each.unexpected()
        for account, epsilon in each.charged.items():
            told[account] += epsilon
    assert dict(spent) == {account: epsilon for account, epsilon in told.items() if epsilon}
    twice = [key for key, count in Counter((one.analyst, one.plan) for one in charged).items() if count > 1]
    assert not twice, f"{len(twice)} releases were charged twice"


# --- the doors


@contextlib.contextmanager
def _http(server: Started, who: str) -> Iterator[Client]:
    def tree(path: str, sql: str) -> Any:
        reply = server.request("POST", path, {"sql": sql}, who=who)
        if reply.status != 200:
            raise Failed(reply.code)
        return reply.tree

    def ask(sql: str) -> Told:
        told = tree("/v1/query", sql)
        return Told(_epsilon(told["privacy"]), len(told["rows"]))

    def explain(sql: str) -> Told:
        return Told(Fraction(0), 3 if "Neighbouring data" in tree("/v1/explain", sql)["text"] else 0)

    yield Client("http", who, ask, explain)


def _epsilon(privacy: Any) -> Fraction:
    return Fraction(0) if privacy is None or privacy["repeated"] else Fraction(privacy["cost"]["epsilon"])


@contextlib.contextmanager
def _driver(server: Started, who: str) -> Iterator[Client]:
    with dpsql.connect(f"http://127.0.0.1:{server.port}", token=server.tokens[who]) as connection:
        yield _of_connection("driver", who, connection)


@contextlib.contextmanager
def _embedded(there: tuple[Path, ThreadPoolExecutor], who: str) -> Iterator[Client]:
    """In their turn, as at the server: fifty at once would wait too long for the ledger."""
    metadata, turns = there
    with turns.submit(dpsql.connect, metadata, analyst=who).result() as connection:
        client = _of_connection("embedded", who, connection)
        ask, explain = client.ask, client.explain
        yield Client(
            "embedded",
            who,
            lambda sql: turns.submit(ask, sql).result(),
            lambda sql: turns.submit(explain, sql).result(),
        )


def _of_connection(door: str, who: str, connection: Any) -> Client:
    def ask(sql: str) -> Told:
        try:
            cursor = connection.execute(sql)
        except dpsql.Error as error:
            raise Failed(error.code) from None
        free = cursor.privacy is None or cursor.privacy.repeated
        return Told(Fraction(0) if free else Fraction(cursor.privacy.cost.epsilon), len(cursor.fetchall()))

    def explain(sql: str) -> Told:
        return Told(Fraction(0), 3 if "Neighbouring data" in str(connection.explain(sql)) else 0)

    return Client(door, who, ask, explain)


@contextlib.contextmanager
def _postgres(server: Started, who: str) -> Iterator[Client]:
    given = f"host=127.0.0.1 port={server.postgres} user={who} password='{PASSWORD}' dbname=dpsql"
    with psycopg.connect(given, autocommit=True) as connection:
        notices: list[str] = []
        connection.add_notice_handler(lambda told: notices.append(told.message_primary or ""))

        def ask(sql: str) -> Told:
            notices.clear()
            try:
                rows = connection.execute(sql.encode()).fetchall()
            except psycopg.Error as error:
                code = re.search(r"DPSQL-\d+", str(error))
                raise Failed(code[0] if code else str(error)) from None
            cost = re.match(r"privacy: ε = ([\d.]+)", "".join(notices))
            free = cost is None or "(a repeat" in notices[0]
            return Told(Fraction(0) if free else Fraction(cost[1]), len(rows))  # type: ignore[index]

        def explain(sql: str) -> Told:
            text = str(connection.execute(f"EXPLAIN {sql}".encode()).fetchall())
            return Told(Fraction(0), 3 if "Neighbouring data" in text else 0)

        yield Client("postgres", who, ask, explain)
