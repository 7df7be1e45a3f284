"""dpsql.connect("http://…"): the driver's conformance tests, over a really started server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

import dpsql
from dpsql.dbapi.remote import OF_SERVER
from dpsql.dbapi.sent_rows import held_rows
from dpsql.engine.scratch import Scratch
from dpsql.help.topics import topic_text
from tests.conformance.dbapi import test_pep249
from tests.conformance.dbapi.test_cursor_machine import Cursors
from tests.server.started import COMMAND, Started, started
from tests.server.test_workers import LONG
from tests.unit.dbapi.test_cursor import (
    DATA,
    catalog,
    test_a_connection_keeps_its_errors_and_its_cursor_its_connection,
    test_a_connection_may_move_to_another_thread,
    test_a_prompt_is_told_what_a_cursor_holds,
    test_closed,
    test_executemany_is_for_changes,
    test_html_is_escaped_and_short,
    test_rollback_never_refunds,
    test_row_factories,
    test_rownumber_and_arraysize,
    test_values_of_many_rows,
)

pytestmark = pytest.mark.slow

SHARED = (
    test_a_connection_keeps_its_errors_and_its_cursor_its_connection,
    test_a_connection_may_move_to_another_thread,
    test_a_prompt_is_told_what_a_cursor_holds,
    test_closed,
    test_executemany_is_for_changes,
    test_html_is_escaped_and_short,
    test_rollback_never_refunds,
    test_row_factories,
    test_rownumber_and_arraysize,
    test_values_of_many_rows,
)
OF_THE_BUDGET = ("may_move", "executemany", "rollback")  # these look at what was spent: they get a server of their own


def at(server: Started, who: str = "ana", **given: Any) -> Any:
    return dpsql.connect(f"http://127.0.0.1:{server.port}", token=server.tokens.get(who, who), **given)


def written(folder: Path) -> Path:
    """The world of tests/unit/dbapi as a file."""
    tree = catalog()
    (name,) = tree["tables"]
    tree["tables"][name]["source"] = "t.parquet"
    pd.DataFrame(DATA).to_parquet(folder / "t.parquet")
    (folder / "t.yaml").write_text(yaml.safe_dump(tree))
    return folder / "t.yaml"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with started(written(tmp_path_factory.mktemp("people"))) as running:
        yield running


@pytest.fixture
def connection(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if any(word in request.node.name for word in OF_THE_BUDGET):
        with started(written(tmp_path)) as fresh, at(fresh) as opened:
            yield opened
    else:
        with at(request.getfixturevalue("people")) as opened:
            yield opened


class TestComplianceOverAServer(test_pep249.TestCompliance):
    @pytest.fixture(autouse=True)
    def _at_server(self, people: Started) -> None:
        self.connect_args = (f"http://127.0.0.1:{people.port}",)
        self.connect_kw_args = {"token": people.tokens["ana"]}

    def setUp(self) -> None:
        """The fixture has done it."""


def test_cursors_behave_as_sqlite3s(server: Started) -> None:
    class OverAServer(Cursors):
        def connect(self) -> Any:
            return at(server)

    run_state_machine_as_test(OverAServer, settings=settings(max_examples=8, stateful_step_count=20, deadline=None))


VALUES = """SELECT 1 AS i, CAST(1.5 AS DOUBLE) AS r, CAST('NaN' AS DOUBLE) AS nan, CAST(1.50 AS DECIMAL(9, 2)) AS d,
    DATE '2020-01-01' AS day, TIMESTAMP '2020-01-01 01:02:03.000004' AS t, TRUE AS b, 'a''b"c\\' AS s, NULL AS n,
    CAST(170141183460469231731687303715884105727 AS HUGEINT) AS wide, INTERVAL 5 DAY AS span, '' AS empty"""


def test_values_types_and_frames_are_those_of_the_embedded_engine(server: Started) -> None:
    with at(server) as there, dpsql.connect(catalog(), source=DATA) as here:
        ours, theirs = there.execute(VALUES), here.execute(VALUES)
        assert ours.description == theirs.description
        assert repr(ours.fetchall()) == repr(theirs.fetchall())
        pd.testing.assert_frame_equal(ours.df().drop(columns="n"), theirs.df().drop(columns="n"))
        assert there.execute("SELECT 1.5 AS x").arrow() == here.execute("SELECT 1.5 AS x").arrow()


NESTED = [
    *("[1, 2, NULL]", "['a, b', '\"c\"', 'd\\e', NULL, 'NULL', '']", "{'a': 1, 'b': 'x, y'}", "MAP {'k': 1}"),
    *("MAP {1: 'a=b'}", "[{'a': 1.5}]", "'\\x00\\xFF'::BLOB", "TIME '01:02:03'", "[]::INTEGER[]", "-0.0::DOUBLE"),
    *("'-infinity'::DOUBLE", "INTERVAL '-1 day 2 seconds'", "'é'", "NULL::DATE"),
]


@pytest.mark.parametrize("value", NESTED)
def test_sent_rows_are_the_rows(value: str) -> None:
    scratch = Scratch()
    there = scratch.query(f"SELECT {value} AS x, {value} AS x", shown=True)
    rows = there.fetchall()
    here = held_rows(scratch, [(column.name, column.type) for column in there.columns], rows)
    assert here.columns == there.columns and repr(here.fetchall()) == repr(rows)


def test_the_report_is_the_same(server: Started) -> None:
    sql = "SELECT specialty, AVG(cost) AS mean, COUNT(*) AS n FROM visits WHERE duration > -2 GROUP BY specialty ORDER BY 1"
    with at(server) as connection:
        cursor = connection.execute(sql)
        rows = cursor.fetchall()
        assert cursor.privacy is not None and cursor.cost is not None and cursor.cost.epsilon == 1
        assert set(cursor.privacy.intervals) == {"mean", "n"}
        assert cursor.privacy.intervals.of_row(rows[0])["mean"] <= cursor.privacy.intervals["mean"]
        assert "laplace" in str(cursor.privacy) and "95 %" in str(cursor._repr_html_())
        assert connection.execute(sql).privacy.repeated
        assert connection.would_charge(sql).epsilon == 0 and connection.cost(sql).epsilon == 1
        explained = connection.explain(sql)
        assert "Neighbouring data" in str(explained) and explained.to_dict()["dataset"] == "visits"
        assert connection.budget.spent.epsilon >= 1 and connection.catalog.dataset == "visits"
        assert connection.catalog.table("visits").column("cost").interval is not None
        assert connection.analyst == "ana" and connection.ledger_head is None


def test_errors_are_the_same(server: Started) -> None:
    with at(server) as connection:
        with pytest.raises(dpsql.SqlError) as raised:
            connection.execute("SELECT AVG(cots) FROM visits")
        assert raised.value.code == "DPSQL-102" and raised.value.column == 12 and "^^^^" in str(raised.value)
        with pytest.raises(dpsql.Refused):
            connection.execute("SELECT referrer FROM visits")
        for parameters in (5, "x", [object()], [1, 2]):
            with pytest.raises(dpsql.Error):
                connection.execute("SELECT ? AS a", parameters)
        assert connection.execute("SELECT ? AS a", [Decimal("1.5")]).fetchone() == (Decimal("1.5"),)


def test_options(server: Started) -> None:
    with at(server, epsilon=0.5, max_rows_contributed=1) as connection:
        assert connection.cost("SELECT COUNT(*) FROM visits").epsilon == 0.5
        connection.execute("SET confirm_above = 0.25")
        assert connection.confirm_above == 0.25
        with pytest.raises(dpsql.NotSupportedError):
            connection.sub_budget(epsilon=1)
    for given in ({"source": DATA}, {"analyst": "ben"}, {"budget": 5}, {"ledger": "x"}, {"memory_limit": "1GB"}):
        with pytest.raises(dpsql.InterfaceError) as raised:
            at(server, **given)
        assert raised.value.code == "DPSQL-610"


REFUSED = {
    "load": lambda connection: connection.load("x", {"a": [1]}),
    "beside": lambda connection: connection.beside(),
    "sub_budget": lambda connection: connection.sub_budget(epsilon=1),
}
NOT_THE_SAME = {*REFUSED, "ledger_head", "working"}
THE_SAME = set(
    """analyst autocommit budget catalog close closed commit confirm_above cost cursor execute explain in_transaction
    interrupt kind_of restricted rollback sql would_charge""".split()
)


def test_whatever_a_connection_has_works_at_a_server_or_is_listed(server: Started) -> None:
    """What is refused says so by its name, and what to do instead."""
    public = {name for name in dir(dpsql.Connection) if name[0] != "_" and not name[0].isupper()}  # not the errors
    assert public == THE_SAME | NOT_THE_SAME
    listed = topic_text("server").partition("What is not the same")[2].partition("##")[0]
    assert all(f"`conn.{name}" in listed for name in NOT_THE_SAME) and all(f"`{name}=`" in listed for name in OF_SERVER)
    with at(server) as connection:
        for name, called in REFUSED.items():
            with pytest.raises(dpsql.NotSupportedError) as raised:
                called(connection)
            assert f"{name}() does not work over a server" in str(raised.value) and raised.value.fix
        assert connection.ledger_head is None
        for sql, kind in (("SELECT 1 AS a", "query"), ("BEGIN", "transaction"), ("SHOW TABLES", "show_tables")):
            assert connection.kind_of(sql) == kind


@pytest.mark.parametrize(
    ("address", "token", "code"),
    [
        *(("http://example.org", "t", "DPSQL-709"), ("http://127.0.0.1:1", "t", "DPSQL-709")),
        *(("https://127.0.0.1:1/path", "t", "DPSQL-709"), ("https://a:b@127.0.0.1:1", "t", "DPSQL-709")),
        *(("http://127.0.0.1:1", "", "DPSQL-700"), ("http://127.0.0.1:1", "a\nb", "DPSQL-700")),
        *(("http://", "t", "DPSQL-709"), ("http://127.0.0.1:99999", "t", "DPSQL-709")),
    ],
)
def test_wrong_addresses(monkeypatch: pytest.MonkeyPatch, address: str, token: str, code: str) -> None:
    monkeypatch.delenv("DPSQL_TOKEN", raising=False)
    with pytest.raises(dpsql.Error) as raised:
        dpsql.connect(address, token=token)
    assert raised.value.code == code


def test_a_wrong_token(server: Started) -> None:
    with pytest.raises(dpsql.ProgrammingError) as raised:
        at(server, "wrong")
    assert raised.value.code in ("DPSQL-700", "DPSQL-706") or raised.value.number == 706


def test_interrupt_from_another_thread(server: Started) -> None:
    with at(server) as connection:
        timer = threading.Timer(1.5, connection.interrupt)
        timer.start()
        began = time.monotonic()
        with pytest.raises(dpsql.Error) as raised:
            connection.execute(LONG)
        assert raised.value.code == "DPSQL-503" and time.monotonic() - began < 30
        assert connection.execute("SELECT 1 AS a").fetchone() == (1,)


def test_a_closed_connection_has_no_session_left(server: Started) -> None:
    connection = at(server)
    name = connection._session.name
    connection.close()
    assert server.query("SELECT 1 AS a", path=f"/v1/sessions/{name}/query").code == "DPSQL-704"


def test_the_shell(server: Started) -> None:
    environment = {**os.environ, "DPSQL_TOKEN": server.tokens["ana"], "PYTHONPATH": str(Path(__file__).parents[2])}
    script = "SET epsilon = 0.5; SELECT COUNT(*) AS n FROM visits;\n.schema\nSHOW TABLES;"
    address = f"http://127.0.0.1:{server.port}"
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, address, "-m", "csv"],
        input=script,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("n\n") and "specialties,public" in done.stdout and "2 rows of a unit" in done.stdout
    assert "cost ε = 0.5" in done.stderr or "ε = 0.5" in done.stderr


@pytest.mark.parametrize("name", ["n", "N", "c0", "c1", "dpsql_sent", "dpsql_sent.n"])
def test_rows_keep_their_order_whatever_columns_are_called(name: str) -> None:
    rows = [("x", 3), ("z", 1), ("y", 2), (None, 0)]
    scratch = Scratch()
    try:
        held = held_rows(scratch, [("k", "VARCHAR"), (name, "INTEGER")], rows)
        assert held.fetchall() == rows
    finally:
        scratch.close()
