"""Workers: what ends them costs one statement, says nothing, and never ends the server."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dpsql.session import open_session
from tests.server.kills import charges, rounds
from tests.server.load import KINDS, MIX, load
from tests.server.started import Reply, started, wait_until

pytestmark = pytest.mark.slow

MANY = [f"t{i}" for i in range(22)]
LONG = (
    f"SELECT SUM({' + '.join(f'{t}.floor' for t in MANY)}) AS s FROM {', '.join(f'specialties AS {t}' for t in MANY)}"
)


def in_background(ask: object) -> tuple[threading.Thread, list[Reply]]:
    replies: list[Reply] = []
    thread = threading.Thread(target=lambda: replies.append(ask()))  # type: ignore[operator]
    thread.start()
    return thread, replies


def test_the_deadline_is_the_servers(visits: Path) -> None:
    with started(visits, "--deadline", "2") as server:
        began = time.monotonic()
        late = server.query(LONG)
        assert (late.status, late.code) == (500, "DPSQL-500") and time.monotonic() - began < 40
        assert "time" not in late.tree["error"]["message"]
        assert server.query("SELECT 1 AS a").tree["rows"] == [[1]]
        wait_until(lambda: server.audit()[-1]["outcome"] == "ok")
        assert "deadline" in [line.get("outcome") for line in server.audit()]
        assert "dpsql_worker_deaths_total 1" in server.request("GET", "/metrics", who="olga").body.decode()


def test_a_killed_worker_costs_one_statement_and_says_the_same(visits: Path) -> None:
    with started(visits) as server:
        session = server.request("POST", "/v1/sessions").tree["session"]
        path = f"/v1/sessions/{session}/query"
        assert server.query("SET epsilon = 0.5", path=path).status == 200
        thread, replies = in_background(lambda: server.query(LONG, path=path))
        time.sleep(0.5)
        for pid in server.workers():
            os.kill(pid, signal.SIGKILL)
        thread.join()
        (killed,) = replies
        assert (killed.status, killed.code) == (500, "DPSQL-500")
        assert server.query("SELECT COUNT(*) AS n FROM visits", path=path).tree["privacy"]["cost"]["epsilon"] == 1
        with_deadline = {"what", "why", "fix", "code"}
        assert with_deadline <= set(killed.tree["error"])


def test_a_statement_can_be_stopped_and_the_session_goes_on(visits: Path) -> None:
    with started(visits) as server:
        session = server.request("POST", "/v1/sessions").tree["session"]
        path = f"/v1/sessions/{session}/query"
        server.query("CREATE TABLE mine (a INTEGER)", path=path)
        thread, replies = in_background(lambda: server.query(LONG, path=path))
        time.sleep(1)
        assert server.request("POST", f"/v1/sessions/{session}/stop").status == 200
        thread.join()
        assert replies[0].code == "DPSQL-503"
        assert server.query("SELECT * FROM mine", path=path).tree["rows"] == []


def test_memory_has_a_limit(visits: Path) -> None:
    with started(visits, "--memory-limit", "200MB") as server:
        wide = "SELECT " + " || ".join(["REPEAT(name, 100000000)"] * 3) + " AS a FROM specialties"
        reply = server.query(wide)
        assert reply.status in (400, 500) and reply.code in ("DPSQL-502", "DPSQL-504", "DPSQL-500", "DPSQL-107"), (
            reply.body
        )
        assert server.query("SELECT 1 AS a").status == 200


def test_the_others_hear_busy(visits: Path) -> None:
    with started(visits, "--running", "1", "--waiting", "0", "--deadline", "4") as server:
        thread, replies = in_background(lambda: server.query(LONG))
        time.sleep(1)
        busy = server.query("SELECT COUNT(*) AS n FROM visits")
        assert (busy.status, busy.code) == (503, "DPSQL-702") and busy.headers["retry-after"] == "1"
        thread.join()
        assert server.query("SELECT 1 AS a").status == 200
        assert charges(visits) == ()


def test_one_account_cannot_take_all_places(visits: Path) -> None:
    with started(visits, "--running", "2", "--deadline", "6") as server:
        session = server.request("POST", "/v1/sessions").tree["session"]
        path = f"/v1/sessions/{session}/query"
        asking = [in_background(lambda: server.query(LONG, path=path)) for _ in range(18)]
        time.sleep(2)
        assert server.query("SELECT COUNT(*) AS n FROM visits", who="ben").status == 200
        for thread, _ in asking[-2:]:
            thread.join(1)
        assert any(replies and replies[0].code == "DPSQL-702" for _, replies in asking)
        server.request("DELETE", f"/v1/sessions/{session}")
        for thread, _ in asking:
            thread.join()


def test_too_many_sessions(visits: Path) -> None:
    with started(visits, "--sessions", "2") as server:
        opened = [server.request("POST", "/v1/sessions").tree["session"] for _ in range(2)]
        assert server.request("POST", "/v1/sessions").code == "DPSQL-702"
        assert server.query("SELECT 1 AS a").code == "DPSQL-702"
        server.request("DELETE", f"/v1/sessions/{opened[0]}")
        assert server.query("SELECT 1 AS a", who="ben").status == 200
        assert server.query("SELECT 1 AS a", who="ana").status == 200  # in ben's place: an idle worker goes
        assert len(server.workers()) <= 2


def test_it_stops_gracefully_and_resumes_with_the_ledgers_truth(visits: Path) -> None:
    sql = "SELECT SUM(cost) AS s FROM visits"
    with started(visits) as server:
        first = server.query(sql).tree
        workers = server.workers()
        assert server.stop() == 0
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))
    with started(visits) as server:
        again = server.query(sql).tree
        assert again["rows"] == first["rows"] and again["privacy"]["repeated"]
        assert server.request("GET", "/v1/budget").tree["budget"]["spent"]["epsilon"] == 1
        assert [line["event"] for line in server.audit()].count("stopped") == 1


def test_revoked_access_ends_open_sessions(visits: Path) -> None:
    from dpsql.server.accounts import Accounts

    with started(visits) as server:
        session = server.request("POST", "/v1/sessions").tree["session"]
        server.query("SELECT 1 AS a", path=f"/v1/sessions/{session}/query")
        Accounts(visits.with_name(visits.name + ".ledger.users")).revoke("ana")
        assert server.query("SELECT 1 AS a", path=f"/v1/sessions/{session}/query").status == 401
        wait_until(lambda: server.workers() == [])


def test_changed_metadata_needs_a_restart(visits: Path) -> None:
    with started(visits) as server:
        visits.write_text(visits.read_text().replace("upper: 500", "upper: 5000"))
        assert server.query("SELECT 1 AS a").code == "DPSQL-300"


def test_other_machines_need_tls(visits: Path) -> None:
    from dpsql.errors import InterfaceError
    from dpsql.server.serve import check
    from dpsql.server.settings import Settings

    for host in ("0.0.0.0", "::", "10.0.0.1", "example.org"):
        with pytest.raises(InterfaceError) as raised:
            check(Settings(metadata=visits, host=host))
        assert raised.value.code == "DPSQL-708"
        check(Settings(metadata=visits, host=host, insecure=True))
        check(Settings(metadata=visits, host=host, certificate=visits, key=visits))
    for host in ("127.0.0.1", "::1", "localhost"):
        check(Settings(metadata=visits, host=host))


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.deep)])
def test_kills_under_load(tmp_path: Path, count: int) -> None:
    tally = rounds(tmp_path, count)
    assert len(tally.answered) >= 10 and tally.kills["worker"] > 10 and tally.outcomes["DPSQL-500"] > 0
    assert {"ok", "DPSQL-500", "no answer", "DPSQL-702"} >= set(tally.outcomes), tally.outcomes


def test_many_clients_of_all_doors(tmp_path: Path) -> None:
    """It checks itself that no charge is lost or counted twice."""
    seen, _ = load(tmp_path, 9, 5)
    assert {(door, kind) for door, kind, _ in seen.outcomes} == {(door, kind) for door in KINDS for kind in MIX}


def test_the_check_sees_what_was_not_charged(visits: Path) -> None:
    """The check of the kill rounds can fail."""
    from tests.server.kills import Tally, check

    with started(visits) as server:
        server.query("SELECT COUNT(*) AS n FROM visits", query_id="q1")
    check(visits, Tally(answered=["q1"]))
    with pytest.raises(AssertionError):
        check(visits, Tally(answered=["q1", "q2"]))


def test_answers_at_full_intervals(visits: Path) -> None:
    with started(visits, "--every", "1") as server:
        server.query("SELECT 1 AS a")
        began = time.monotonic()
        server.query("SELECT 1 AS a")
        assert 0.98 <= time.monotonic() - began < 1.5


def test_the_same_twice_at_the_same_time_is_charged_once(visits: Path) -> None:
    """A second click, and a retry under the same query id before the first has answered."""
    sql = "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty"
    with started(visits) as server:
        asking = [in_background(lambda: server.query(sql)) for _ in range(4)]
        asking += [in_background(lambda: server.query("SELECT SUM(cost) AS s FROM visits", query_id="x")) for _ in "12"]
        asking += [
            in_background(lambda: server.query("SELECT  SUM(cost) AS s FROM visits", query_id="x")) for _ in "12"
        ]
        for thread, _ in asking:
            thread.join()
        rows = {str(replies[0].tree["rows"]) for _, replies in asking}
        assert len(rows) == 2 and len(charges(visits)) == 2


def test_what_workers_wrote_down_goes_with_them(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temp = visits.parent / "temp"
    monkeypatch.setenv("DPSQL_TEMP_FOLDER", str(temp))
    with started(visits) as server:
        assert server.query("SELECT COUNT(*) AS n FROM visits").status == 200
        (folder,) = temp.glob("dpsql-*")
        os.kill(server.workers()[0], signal.SIGKILL)
        wait_until(lambda: not folder.exists())
        assert server.query("SELECT COUNT(*) AS n FROM visits").tree["privacy"]["repeated"]
        assert list(temp.glob("dpsql-*"))
        server.stop()
        assert not list(temp.glob("dpsql-*"))


def test_the_disk_of_a_session_has_a_limit(visits: Path) -> None:
    """For each of its engines: what reads private rows, scratch, and the process that public text runs in."""
    setting = "SELECT current_setting('max_temp_directory_size')"
    with contextlib.closing(open_session(visits, analyst="ana", restricted=True, disk=200_000_000)) as session:
        databases: list[Any] = [session.scratch._database, session.vault()._backend]
        told = [getattr(one, "_database", one).connection.execute(setting).fetchone() for one in databases]
        assert told == [("190.7 MiB",)] * 2
        assert "SET GLOBAL max_temp_directory_size = '200MB'" in [*session.apart._settings(visits.parent)]
