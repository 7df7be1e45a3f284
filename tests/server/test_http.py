"""The HTTP door of a really started server."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow
import pytest

from tests.server.started import SENTINEL, Started, started, write_data

COUNT = """SELECT specialty, COUNT(*) AS n, AVG(cost) AS mean FROM visits WHERE duration > -3
    GROUP BY specialty ORDER BY specialty"""


@pytest.mark.slow
def test_a_query_and_its_free_repeat(server: Started) -> None:
    first, again = server.query(COUNT), server.query(COUNT + " DESC")
    assert first.status == again.status == 200
    tree = first.tree
    assert tree["columns"] == [["specialty", "VARCHAR"], ["n", "BIGINT"], ["mean", "DOUBLE"]]
    assert [row[0] for row in tree["rows"]] == ["cardiology", "oncology", "surgery"]
    assert all(1200 < row[1] < 1500 for row in tree["rows"])
    assert tree["privacy"]["cost"]["epsilon"] == 1 and not tree["privacy"]["repeated"]
    assert set(tree["privacy"]["intervals"]) == {"n", "mean"} and len(tree["privacy"]["intervals_of_rows"]) == 3
    assert again.tree["privacy"]["repeated"] and again.tree["rows"] == tree["rows"][::-1]


def test_parameters_and_what_is_free(server: Started) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits WHERE cost > ? AND visited_on < ?"
    asked = {"sql": sql, "parameters": [100, {"date": "2020-06-01"}]}
    assert server.request("POST", "/v1/cost", asked).tree["would_charge"]["epsilon"] == 1
    assert server.request("POST", "/v1/query", asked).status == 200
    assert server.request("POST", "/v1/cost", asked).tree["would_charge"]["epsilon"] == 0
    assert "Neighbouring data" in server.request("POST", "/v1/explain", asked).tree["text"]
    assert server.request("GET", "/v1/budget").tree["budget"]["spent"]["epsilon"] >= 1
    tables = server.request("GET", "/v1/tables").tree["tables"]
    assert [(t["name"], t["kind"]) for t in tables] == [("visits", "private"), ("specialties", "public")]


def test_csv_and_arrow(server: Started) -> None:
    sql = {"sql": COUNT}
    text = server.request("POST", "/v1/query", sql, accept="text/csv")
    assert text.body.decode().splitlines()[0] == "specialty,n,mean" and len(text.body.splitlines()) == 4
    arrow = server.request("POST", "/v1/query", sql, accept="application/vnd.apache.arrow.stream")
    table = pyarrow.ipc.open_stream(io.BytesIO(arrow.body)).read_all()
    rows = [",".join(map(str, row.values())) for row in table.to_pylist()]
    assert rows == text.body.decode().splitlines()[1:]


def test_cells(server: Started) -> None:
    sql = "SELECT DATE '2026-01-01' AS d, CAST(1.50 AS DECIMAL(9,2)) AS m, CAST('NaN' AS DOUBLE) AS r"
    plain, tagged = server.query(sql).tree["rows"], server.query(sql, cells="tagged").tree["rows"]
    assert plain == [["2026-01-01", "1.50", None]]
    assert tagged == [[{"date": "2026-01-01"}, {"decimal": "1.50"}, {"real": "nan"}]]


def test_errors_have_code_and_place(server: Started) -> None:
    reply = server.query("SELECT AVG(cots) FROM visits")
    assert (reply.status, reply.code) == (400, "DPSQL-102")
    assert "^^^^" in reply.tree["error"]["message"] and reply.tree["error"]["at"] == [11, 15]
    assert server.query("SELECT referrer FROM visits").status == 400
    assert server.query("SET epsilon = 2").code == "DPSQL-704"


def test_a_session_keeps_what_is_its_own(server: Started) -> None:
    session = server.request("POST", "/v1/sessions").tree["session"]
    path = f"/v1/sessions/{session}/query"
    assert server.query("SET epsilon = 0.5", path=path).status == 200
    assert server.query("CREATE TABLE mine (a INTEGER)", path=path).status == 200
    many = {"sql": "INSERT INTO mine VALUES (?)", "many": [[1], [2]]}
    assert server.request("POST", f"/v1/sessions/{session}/many", many).tree["changed"] == 2
    assert server.query("SELECT SUM(a) AS s FROM mine", path=path).tree["rows"] == [[3]]
    cost = server.request("POST", f"/v1/sessions/{session}/cost", {"sql": "SELECT COUNT(*) FROM visits"}).tree
    assert cost["cost"]["epsilon"] == 0.5
    assert server.query("SELECT * FROM mine").code == "DPSQL-101"
    assert server.query("SELECT * FROM mine", path=path, who="ben").code == "DPSQL-704"
    assert server.request("DELETE", f"/v1/sessions/{session}").status == 200
    assert server.query("SELECT 1", path=path).code == "DPSQL-704"


def test_the_side_of_the_data_owner(server: Started) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits WHERE duration > -9"
    server.query(sql)
    server.query(sql, who="ben")
    mine = server.request("GET", "/v1/releases").tree["releases"]
    assert {one["analyst"] for one in mine} == {"ana"}
    everybody = server.request("GET", "/v1/releases", who="olga").tree
    assert {"ana", "ben"} <= {one["analyst"] for one in everybody["releases"]} and "odds" in everybody["meaning"]
    ledger = server.request("GET", "/v1/ledger", who="olga").tree
    assert ledger["ok"] and ledger["wrong"] is None and ":" in ledger["head"]
    spending = server.request("GET", "/v1/spending", who="olga").tree
    assert {one["analyst"] for one in spending["plans"]} >= {"ana", "ben"}
    assert spending["accounts"][0]["account"] == "visits"
    accounts = server.request("GET", "/v1/accounts", who="olga")
    assert [one["name"] for one in accounts.tree["accounts"]] == ["ana", "ben", "olga"]
    assert b"digest" not in accounts.body and b"SCRAM" not in accounts.body
    asked = [
        one["sql"]
        for one in server.request("GET", "/v1/audit", who="olga").tree["entries"]
        if one.get("ask") == "query"
    ]
    assert asked[:2] == [sql, sql]
    table = server.request("GET", "/v1/releases", who="olga", accept="text/markdown")
    assert table.headers["content-type"].startswith("text/markdown")
    assert table.body.startswith(b"# Differentially private releases of visits") and b"duration > -9" not in table.body
    assert "dpsql_workers" in server.request("GET", "/metrics", who="olga").body.decode()


def name_of(release: dict[str, Any]) -> str:
    return f"{release['id']}-{release['plan'][:32]}"


def spent(server: Started) -> float:
    return float(server.request("GET", "/v1/budget", who="olga").tree["budget"]["spent"]["epsilon"])


@pytest.mark.slow
def test_a_release_is_opened_by_its_name_free_of_charge(server: Started) -> None:
    rows = server.query("SELECT specialty, SUM(cost) AS s FROM visits WHERE duration > -8 GROUP BY specialty").tree[
        "rows"
    ]
    session = f"/v1/sessions/{server.request('POST', '/v1/sessions').tree['session']}"
    server.query("SET epsilon = 0.5", path=f"{session}/query")
    half = server.query("SELECT COUNT(*) AS n FROM visits WHERE duration > -7", path=f"{session}/query")
    server.query("SELECT COUNT(*) AS n FROM visits WHERE duration > ?", parameters=[-6])
    releases = server.request("GET", "/v1/releases").tree["releases"][-3:]
    before = spent(server)
    opened = [server.request("GET", f"/v1/releases/{name_of(one)}", who="ben") for one in releases]
    assert [one.status for one in opened] == [200, 200, 404] and opened[2].code == "DPSQL-710"
    assert [one.tree["rows"] for one in opened[:2]] == [rows, half.tree["rows"]]
    assert [one.tree["privacy"]["cost"]["epsilon"] for one in opened[:2]] == [0, 0]
    assert opened[1].tree["privacy"]["intervals"]["n"] == pytest.approx(half.tree["privacy"]["intervals"]["n"])
    assert opened[0].tree["privacy"]["repeated"] and set(opened[0].tree["privacy"]["intervals"]) == {"s"}
    assert opened[0].tree["release"]["sql"] == releases[0]["sql"] and opened[0].tree["release"]["analyst"] == "ana"
    csv = server.request("GET", f"/v1/releases/{name_of(releases[0])}", accept="text/csv")
    assert csv.body.splitlines()[0] == b"specialty,s"
    assert spent(server) == before
    server.request("DELETE", session)


@pytest.mark.parametrize(
    "change",
    [lambda n: n[:-1], lambda n: f"9{n}", lambda n: n[:-1] + ("0" if n[-1] != "0" else "1"), lambda n: n.split("-")[0]],
)
def test_a_name_that_is_not_complete_opens_nothing(server: Started, change: Any) -> None:
    server.query("SELECT COUNT(*) AS n FROM visits WHERE duration > -5")
    name = name_of(server.request("GET", "/v1/releases").tree["releases"][-1])
    assert server.request("GET", f"/v1/releases/{name}").status == 200
    assert server.request("GET", f"/v1/releases/{change(name)}").code == "DPSQL-710"


@pytest.mark.slow
def test_releases_that_the_data_chose_limits_and_bounds_for(tmp_path: Path) -> None:
    """What was chosen came before, in charges of its own to whoever asked. Another analyst gets the same from it."""
    data = write_data(tmp_path)
    text, limits = data.read_text(), "    rows_per_unit: 2\n    groups_per_unit: 2\n"
    assert limits in text
    data.write_text(
        text.replace(limits, "").replace("type: integer, lower: 0, upper: 500", "type: integer, bounds: auto")
    )
    with started(data) as server:
        bounds = "SELECT AVG(cost) AS mean, COUNT(*) AS n FROM visits WHERE duration > 3"
        limit = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(accuracy = 60) COUNT(*) AS n FROM visits"
        asked = [server.query(sql).tree["rows"] for sql in (bounds, limit)]
        before = spent(server)
        names = [name_of(one) for one in server.request("GET", "/v1/releases").tree["releases"]]
        opened = [server.request("GET", f"/v1/releases/{name}", who="ben") for name in names]
        assert [one.status for one in opened] == [404, 200, 404, 200]
        assert [one.tree["rows"] for one in opened if one.status == 200] == asked
        assert spent(server) == before


def test_functions_have_a_signature_and_a_sentence(server: Started) -> None:
    told = server.request("GET", "/v1/functions").tree
    assert {"count", "sum"} <= {one["name"] for one in told["aggregates"]}
    assert all(one["signature"] and one["doc"] for part in ("aggregates", "functions") for one in told[part])


def test_health_says_nothing_else(server: Started) -> None:
    reply = server.request("GET", "/health", who=None)
    assert reply.tree == {"status": "ok"}
    assert "default-src 'none'" in reply.headers["content-security-policy"] and "server" not in reply.headers


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[", b"[]", b"5", b"null", b"{}", b'{"sql": 5}', b'{"sql": null}', b"\xff\xfe", b"[" * 100_000),
        *(
            b'{"sql": "SELECT 1", "parameters": 5}',
            b'{"sql": "SELECT ?", "parameters": [{"x": 1}]}',
            b'{"sql": "\\ud800"}',
        ),
        *(b'{"sql": "SELECT 1 AS a", "query_id": 5}', b'{"sql": "SELECT 1", "stop": 1}', b"{" * 9_000_000),
        *(
            b'{"sql": "SELECT ?", "parameters": [[[[[1]]]]]}',
            b'{"sql": "SELECT $a", "parameters": {"a": {"bytes": "AA=="}}}',
        ),
    ],
    ids=lambda body: repr(body[:40]),
)
def test_malformed_bodies(server: Started, body: bytes) -> None:
    reply = server.request("POST", "/v1/query", body)
    assert reply.status in (200, 400), reply.body
    if reply.status == 400:
        assert reply.code != "DPSQL-001"
    assert server.query("SELECT 1 AS a").tree["rows"] == [[1]]


@pytest.mark.slow
def test_another_analysts_cap(tmp_path: Path) -> None:
    data = write_data(tmp_path, analysts="analysts: {ana: {epsilon: 2}, ben: {}}")
    with started(data, names=("ana", "ben", "olga", "eve")) as server:
        sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1.5) COUNT(*) AS n FROM visits"
        assert server.query(sql).status == 200
        over = server.query(sql.replace("COUNT(*)", "SUM(cost)"))
        assert (over.status, over.code) == (403, "DPSQL-400")
        assert server.query(sql.replace("COUNT(*)", "SUM(cost)"), who="ben").status == 200
        assert server.query(sql, who="olga").code == "DPSQL-403"
        name = name_of(server.request("GET", "/v1/releases").tree["releases"][0])
        assert server.request("GET", f"/v1/releases/{name}", who="ben").status == 200
        assert server.request("GET", f"/v1/releases/{name}", who="olga").status == 200
        assert server.request("GET", f"/v1/releases/{name}", who="eve").code == "DPSQL-403"
        assert list(server.request("GET", "/v1/budget").tree["budget"]["per_analyst"]) == ["ana"]


def test_logs_have_no_secret_and_no_cell(server: Started) -> None:
    server.query("SELECT referrer, COUNT(*) AS n FROM visits GROUP BY referrer")
    server.query("SELECT COUNT(*) AS n FROM visits WHERE CAST(referrer AS INTEGER) > 1")
    files = [p for p in server.metadata.parent.iterdir() if p.suffix in (".log", ".jsonl", ".users")]
    kept = "".join(path.read_text() for path in files)
    assert SENTINEL not in kept and not any(token in kept for token in server.tokens.values())
    command = Path(f"/proc/{server.process.pid}/cmdline").read_text()
    assert not any(token in command for token in server.tokens.values())
    lines = server.audit()
    assert {"asked", "started", "refused"} <= {line["event"] for line in lines} or lines[0]["event"] == "started"
    assert any(line.get("account") == "ana" and line.get("outcome") == "ok" for line in lines)


def test_the_server_said_nothing_of_bugs(server: Started) -> None:
    assert "Traceback" not in server.log() and "a bug" not in server.log()
