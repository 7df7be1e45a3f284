"""Where the budget ends, every door refuses in the same words, charges nothing, and still repeats for free."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
import pytest

import dpsql
from dpsql.server.accounts import Accounts
from tests.server.browser import opened, sign_in
from tests.server.kills import charges
from tests.server.started import Started, started, write_data
from tests.server.test_page import ask, browser, cells  # noqa: F401  (a fixture)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

PASSWORD = "password of ana"
FIRST = "SELECT specialty, COUNT(*) AS n FROM visits GROUP BY specialty ORDER BY specialty"
DELTA = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.01, delta = 0.5) referrer, COUNT(*) FROM visits GROUP BY 1"
)
NEXT = "SELECT specialty, SUM(cost) AS s FROM visits GROUP BY specialty"
DEAR = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 3) COUNT(*) AS n FROM visits"
CASES = {
    "the dataset's ε": (1, "", NEXT, "DPSQL-400"),
    "one query's δ": (10, "", DELTA, "DPSQL-405"),
    "the analyst's ε": (10, "analysts: {ana: {epsilon: 1}, ben: {}}", NEXT, "DPSQL-400"),
    "one query's": (10, "max_per_query: {epsilon: 2}", DEAR, "DPSQL-401"),
}
Said = tuple[str, str, str, str]


class Case(NamedTuple):
    server: Started
    refused: str
    expected: Said
    rows: list[Any]


@pytest.fixture(scope="module", params=CASES)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Started, str, str]]:
    """A server where FIRST was released and the next statement is refused."""
    epsilon, more, refused, code = CASES[request.param]
    metadata = write_data(tmp_path_factory.mktemp("end"), epsilon=epsilon, analysts=more)
    with started(metadata, "--postgres-port", "0") as server:
        Accounts(metadata.with_name(metadata.name + ".ledger.users")).set_password("ana", PASSWORD)
        assert server.query(FIRST).status == 200
        expected, rows = embedded(server, refused), embedded(server, FIRST)
        assert expected[0] == code and expected[1] and len(rows) == 3
        yield Case(server, refused, expected, rows)


def of_error(error: dpsql.Error) -> Said:
    return error.code, error.what, error.why, error.fix


def of_http(server: Started, sql: str) -> Any:
    reply = server.query(sql)
    if reply.status == 200:
        return [tuple(row) for row in reply.tree["rows"]]
    assert reply.status == 403
    return tuple(reply.tree["error"][name] for name in ("code", "what", "why", "fix"))


def of_driver(server: Started, sql: str) -> Any:
    with dpsql.connect(f"http://127.0.0.1:{server.port}", token=server.tokens["ana"]) as connection:
        return of_connection(connection, sql)


def embedded(server: Started, sql: str) -> Any:
    with dpsql.connect(server.metadata, analyst="ana") as connection:
        return of_connection(connection, sql)


def of_connection(connection: Any, sql: str) -> Any:
    try:
        return connection.execute(sql).fetchall()
    except dpsql.Error as error:
        return of_error(error)


def wire(way: Callable[[Any, str], Any]) -> Callable[[Started, str], Any]:
    def asked(server: Started, sql: str) -> Any:
        given: dict[str, Any] = {"host": "127.0.0.1", "port": server.postgres, "user": "ana", "password": PASSWORD}
        with psycopg.connect(**given, dbname="dpsql", autocommit=True) as connection:
            try:
                return way(connection, sql)
            except psycopg.Error as error:
                told = error.diag
                assert error.sqlstate == "53400"
                code, _, what = (told.message_primary or "").partition(": ")
                return code, what, told.message_detail or "", told.message_hint or ""

    return asked


def copied(connection: Any, sql: str) -> Any:
    with connection.cursor().copy(f"COPY ({sql}) TO STDOUT") as copy:
        return [(name, int(n)) for name, n in copy.rows()]


def declared(connection: Any, sql: str) -> Any:
    connection.execute(f"DECLARE c CURSOR FOR {sql}")
    return connection.execute("FETCH ALL FROM c").fetchall()


WAYS: dict[str, Callable[[Started, str], Any]] = {
    "http": of_http,
    "driver": of_driver,
    "simple": wire(lambda connection, sql: psycopg.ClientCursor(connection).execute(sql).fetchall()),
    "extended": wire(lambda connection, sql: connection.execute(sql, prepare=True).fetchall()),
    "copy": wire(copied),
    "cursor": wire(declared),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_door_says_what_the_engine_says(case: Case, way: str) -> None:
    before = charges(case.server.metadata)
    for _ in range(2):
        assert WAYS[way](case.server, case.refused) == case.expected
        assert WAYS[way](case.server, FIRST) == case.rows
    assert charges(case.server.metadata) == before


def test_the_page_says_it_too(case: Case, browser: Browser) -> None:  # noqa: F811
    server, refused, (code, what, why, fix), _ = case
    before = charges(server.metadata)
    with opened(browser, server) as page:
        sign_in(page, server)
        page.get_by_label("Query").fill(refused)
        if refused != DELTA:  # nothing is planned that asks for such a δ
            page.get_by_text(f"The budget would refuse it ({code}).").wait_for()
        page.get_by_role("button", name="Run", exact=True).click()
        page.locator("#problem").filter(has_text=what).wait_for()
        said = page.locator("#problem").inner_text()
        assert all(text in said for text in (code, what, why, fix) if text)
        ask(page, FIRST)
        assert len(cells(page)) == 3
        page.get_by_text("3 rows; a repeat, nothing charged").wait_for()
    assert charges(server.metadata) == before


def test_a_stranger_hears_the_same_over_each_door(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whom the metadata does not list: with an account that was made before."""
    metadata = write_data(tmp_path_factory.mktemp("stranger"), analysts="analysts: {ben: {}}")
    with started(metadata, "--postgres-port", "0") as server:
        Accounts(metadata.with_name(metadata.name + ".ledger.users")).set_password("ana", PASSWORD)
        assert server.query(FIRST, who="ben").status == 200
        expected = embedded(server, FIRST)
        assert expected[0] == "DPSQL-403"
        for name in ("http", "driver"):
            assert WAYS[name](server, FIRST) == expected
        with contextlib.suppress(AssertionError):
            WAYS["simple"](server, FIRST)  # its state is another
            raise RuntimeError("53400 is of a budget's end")
        assert {one.analyst for one in charges(metadata)} == {"ben"}
