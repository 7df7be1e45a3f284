"""Who runs, who waits and who hears "busy"; stopping what waits. Without workers, but for the last tests."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.errors import Error, OperationalError
from dpsql.server.asked import Asked, stopped_early
from dpsql.server.places import Places
from tests.server.kills import charges
from tests.server.started import Started, started, wait_until
from tests.server.test_workers import LONG, in_background


class Crowd:
    """Statements of accounts that hold their places until they are told to leave."""

    def __init__(self, **settings: Any) -> None:
        self.places = Places(**settings)
        self.running: list[str] = []
        self.refused: Counter[str] = Counter()
        self._leave: dict[str, list[asyncio.Event]] = {}
        self.tasks: dict[str, list[asyncio.Task[None]]] = {}

    async def ask(self, account: str) -> None:
        self.tasks.setdefault(account, []).append(asyncio.create_task(self._one(account)))
        await settled()

    async def _one(self, account: str) -> None:
        leave = asyncio.Event()
        try:
            async with self.places.one(account):
                self.running.append(account)
                self._leave.setdefault(account, []).append(leave)
                try:
                    await leave.wait()
                finally:
                    self.running.remove(account)
        except OperationalError as error:
            assert error.code == "DPSQL-702"
            self.refused[account] += 1

    async def leave(self, account: str) -> None:
        self._leave[account].pop(0).set()
        await settled()

    async def cancel(self, account: str) -> None:
        """The newest."""
        self.tasks[account].pop().cancel()
        await settled()


async def settled() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


def test_one_account_leaves_places_for_others() -> None:
    async def play() -> None:
        crowd = Crowd(running=4, of_account=2, waiting=10)
        for _ in range(4):
            await crowd.ask("greedy")
        assert crowd.running == ["greedy"] * 2
        await crowd.ask("late")
        assert crowd.running == ["greedy", "greedy", "late"]  # at once, behind two that wait

    asyncio.run(play())


def test_who_has_fewest_comes_next_then_whose_turn_is_longest_ago() -> None:
    async def play() -> None:
        crowd = Crowd(running=2, of_account=2, waiting=10)
        for account in ("a", "a", "a", "a", "b", "c"):
            await crowd.ask(account)
        await crowd.leave("a")
        assert sorted(crowd.running) == ["a", "b"]  # not the a that came before
        await crowd.leave("b")
        assert sorted(crowd.running) == ["a", "c"]
        await crowd.ask("b")
        await crowd.leave("c")
        assert sorted(crowd.running) == ["a", "b"]

    asyncio.run(play())


def test_a_full_room_is_shared() -> None:
    """Whoever has most of it hears "busy", newest first; a newcomer with as many does, too."""

    async def play() -> None:
        crowd = Crowd(running=1, of_account=1, waiting=4)
        for _ in range(5):
            await crowd.ask("greedy")
        assert not crowd.refused and crowd.places.waiting == 4
        await crowd.ask("greedy")
        await crowd.ask("b")
        await crowd.ask("b")
        assert crowd.refused == {"greedy": 3} and crowd.places.waiting == 4
        await crowd.ask("b")
        assert crowd.refused == {"greedy": 3, "b": 1}

    asyncio.run(play())


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["ask", "ask", "leave", "cancel"])), max_size=60),
    st.integers(1, 4),
    st.none() | st.integers(1, 4),
    st.integers(0, 5),
)
def test_places_are_never_lost_nor_given_twice(
    moves: list[tuple[str, str]], running: int, of_account: int | None, waiting: int
) -> None:
    """Whatever happens; and nobody waits for a place that is free for them."""

    async def play() -> None:
        crowd = Crowd(running=running, of_account=of_account, waiting=waiting)
        for account, move in moves:
            with contextlib.suppress(KeyError, IndexError):
                await getattr(crowd, move)(account)
            counts = Counter(crowd.running)
            assert crowd.places.running == len(crowd.running) <= running
            assert max(counts.values(), default=0) <= (of_account or (running + 1) // 2)
            assert crowd.places.waiting <= waiting
            if free := running - len(crowd.running):
                assert all(counts[name] >= (of_account or free) for name, _ in crowd.places._waiting)
        for task in itertools.chain(*crowd.tasks.values()):
            task.cancel()
        await settled()
        assert (crowd.places.running, crowd.places.waiting, crowd.places._free) == (0, 0, running)

    asyncio.run(play())


@pytest.mark.parametrize(
    ("running", "shares"),
    [(1, "a"), (2, "ab"), (3, "aab"), (4, "aabc"), (8, "aaaabbcd"), (9, "aaaaabbcd")],
)
def test_accounts_that_act_together_leave_a_place_each_time(running: int, shares: str) -> None:
    """One after the other asks for as many as it can get."""

    async def play() -> None:
        crowd = Crowd(running=running, of_account=None, waiting=100)
        for account in "abcdef":
            for _ in range(running):
                await crowd.ask(account)
        assert "".join(crowd.running) == shares
        await crowd.leave("a")
        assert crowd.running[-1] == chr(ord(max(shares)) + 1)  # who has none is next

    asyncio.run(play())


def refusal() -> Error:
    return OperationalError("x", code=700)


@pytest.mark.parametrize(
    ("end", "code", "why"),
    [
        (Asked.stop, "DPSQL-503", "Nothing was charged."),
        (Asked.withdraw, "DPSQL-503", "Nothing was charged."),
        (lambda asked: asked.refuse(refusal), "DPSQL-700", ""),
        (lambda asked: None, "DPSQL-702", ""),  # it waits for as long as it may run
    ],
)
def test_what_waits_ends_at_once(end: Callable[[Asked], None], code: str, why: str) -> None:
    async def play() -> Error:
        asked, lock = Asked(), asyncio.Lock()
        await lock.acquire()

        async def ask() -> None:
            async with asked.waits(0.2), lock:
                raise AssertionError("it ran")

        asking = asyncio.create_task(ask())
        await settled()
        end(asked)
        with pytest.raises(Error) as raised:
            await asking
        lock.release()
        assert not lock.locked()
        return raised.value

    error = asyncio.run(play())
    assert (error.code, error.why) == (code, why)


def test_what_runs_is_stopped_and_not_withdrawn() -> None:
    async def play() -> None:
        asked, stopped = Asked(), []
        async with asked.waits(10):
            pass
        asked.runs(lambda: stopped.append(1))
        asked.withdraw()
        asked.refuse(stopped_early)
        assert not stopped and not asked.told_to_stop.is_set()
        asked.stop()
        assert stopped == [1] and asked.told_to_stop.is_set()

    asyncio.run(play())


def test_what_was_stopped_before_it_waited_never_waits() -> None:
    async def play() -> None:
        asked = Asked()
        asked.stop()
        with pytest.raises(OperationalError, match="while it waited"):
            async with asked.waits(10):
                raise AssertionError("it began")

    asyncio.run(play())


# --- with a server

NEVER = "SELECT COUNT(*) AS n FROM visits WHERE duration > 123.25"
PASSWORD = "password of ana"


def waiting(server: Started, count: int) -> None:
    text = f"dpsql_waiting {count}\n"
    wait_until(lambda: text in server.request("GET", "/metrics", who="olga").body.decode())


def running(server: Started, count: int) -> None:
    text = f"dpsql_running {count}\n"
    wait_until(lambda: text in server.request("GET", "/metrics", who="olga").body.decode())


@pytest.mark.slow
def test_what_waits_is_stopped_over_every_door_and_never_charged(visits: Path) -> None:
    from dpsql.server.accounts import Accounts

    with started(visits, "--running", "1", "--deadline", "60", "--postgres-port", "0") as server:
        Accounts(visits.with_name(visits.name + ".ledger.users")).set_password("ana", PASSWORD)
        session = server.request("POST", "/v1/sessions", who="ben").tree["session"]
        blocking, _ = in_background(lambda: server.query(LONG, who="ben", path=f"/v1/sessions/{session}/query"))
        running(server, 1)
        told: dict[str, Any] = {}

        mine = server.request("POST", "/v1/sessions").tree["session"]
        thread, replies = in_background(lambda: server.query(NEVER, path=f"/v1/sessions/{mine}/query"))
        waiting(server, 1)
        server.request("POST", f"/v1/sessions/{mine}/stop")
        thread.join()
        told["session"] = replies[0].tree["error"]

        thread, replies = in_background(lambda: server.query(NEVER, query_id="mine"))
        waiting(server, 1)
        stop = {"query_id": "mine"}
        assert server.request("POST", "/v1/stop", stop, who="ben").tree == {"stopped": 0}  # of ben there is none
        assert server.request("POST", "/v1/stop", stop).tree == {"stopped": 1}
        thread.join()
        told["query id"] = replies[0].tree["error"]
        assert {(one["code"], one["why"]) for one in told.values()} == {("DPSQL-503", "Nothing was charged.")}

        given: dict[str, Any] = {"host": "127.0.0.1", "port": server.postgres, "user": "ana", "password": PASSWORD}
        with psycopg.connect(**given, dbname="dpsql", autocommit=True) as wire:
            errors: list[BaseException] = []

            def ask() -> None:
                try:
                    wire.execute(NEVER.encode())
                except psycopg.Error as error:
                    errors.append(error)

            thread, _ = in_background(ask)
            waiting(server, 1)
            wire.cancel_safe()
            thread.join()
            assert isinstance(errors[0], psycopg.errors.QueryCanceled) and "while it waited" in str(errors[0])

        gone(server, given)
        server.request("POST", f"/v1/sessions/{session}/stop", who="ben")
        blocking.join()
        time.sleep(0.3)
        assert charges(visits) == ()
        outcomes = [line["outcome"] for line in server.audit() if line.get("sql") == NEVER]
        assert outcomes == ["DPSQL-503"] * 5


def gone(server: Started, given: dict[str, Any]) -> None:
    """Connections that are closed while their statements wait."""
    import http.client
    import json

    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"authorization": f"Bearer {server.tokens['ana']}"}
    connection.request("POST", "/v1/query", json.dumps({"sql": NEVER}), headers)
    waiting(server, 1)
    connection.close()
    waiting(server, 0)
    wire = psycopg.connect(**given, dbname="dpsql", autocommit=True)
    wire.pgconn.send_query(NEVER.encode())
    waiting(server, 1)
    wire.close()
    waiting(server, 0)


@pytest.mark.slow
def test_four_sessions_of_one_account_leave_places(visits: Path) -> None:
    with started(visits, "--running", "2", "--deadline", "30") as server:
        sessions = [server.request("POST", "/v1/sessions").tree["session"] for _ in range(4)]
        asking = [
            in_background(lambda s=s: server.query(f"{LONG} WHERE t1.name <> '{s}'", path=f"/v1/sessions/{s}/query"))
            for s in sessions
        ]
        running(server, 1)
        waiting(server, 3)
        assert server.query("SELECT COUNT(*) AS n FROM visits", who="ben").status == 200
        for session in sessions:
            assert server.request("POST", f"/v1/sessions/{session}/stop").status == 200
        for thread, replies in asking:
            thread.join()
            assert replies[0].code == "DPSQL-503"


@pytest.mark.slow
def test_whoever_has_no_session_gets_one_where_others_have_many(visits: Path) -> None:
    with started(visits, "--sessions", "3") as server:
        mine = [server.request("POST", "/v1/sessions").tree["session"] for _ in range(3)]
        assert server.query("SELECT 1 AS a", path=f"/v1/sessions/{mine[0]}/query").status == 200
        assert server.request("POST", "/v1/sessions").code == "DPSQL-702"
        assert server.query("SELECT 1 AS a", who="ben").status == 200  # in the place of what was idle for longest
        codes = [server.query("SELECT 1 AS a", path=f"/v1/sessions/{one}/query").status for one in mine]
        assert codes == [200, 404, 200]


@pytest.mark.slow
def test_a_revoked_account_does_not_get_its_turn(visits: Path) -> None:
    from dpsql.server.accounts import Accounts

    with started(visits, "--running", "1", "--deadline", "60") as server:
        session = server.request("POST", "/v1/sessions", who="ben").tree["session"]
        blocking, _ = in_background(lambda: server.query(LONG, who="ben", path=f"/v1/sessions/{session}/query"))
        running(server, 1)
        thread, replies = in_background(lambda: server.query(NEVER))
        waiting(server, 1)
        Accounts(visits.with_name(visits.name + ".ledger.users")).revoke("ana")
        thread.join(15)  # the server notices by itself, while ben's still runs
        assert replies[0].code == "DPSQL-700"
        server.request("POST", f"/v1/sessions/{session}/stop", who="ben")
        blocking.join()
        assert charges(visits) == ()
