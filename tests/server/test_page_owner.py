"""The owner's side of the page in Chromium, stopping, and names and texts that are hostile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.server.browser import faults, opened, sign_in
from tests.server.kills import charges
from tests.server.started import Started, started, write_data
from tests.server.test_page import ask, browser  # noqa: F401  (a fixture)
from tests.server.test_workers import LONG

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    with started(
        write_data(tmp_path_factory.mktemp("page-owner"), analysts="analysts: {ana: {epsilon: 1}, ben: {}, carl: {}}")
    ) as one:
        yield one


def test_an_owner_lets_somebody_in_and_out_again(browser: Browser, server: Started) -> None:  # noqa: F811
    with opened(browser, server, "#/owner") as page:
        sign_in(page, server, "olga")
        add = page.get_by_role("form", name="Add an account")
        add.get_by_label("Name").fill("eve")
        add.get_by_role("button", name="Add").click()
        add.get_by_role("alert").filter(has_text="does not list").wait_for()
        add.get_by_label("Name").fill("carl")
        add.get_by_role("button", name="Add").click()
        page.locator(".done").filter(has_text="carl is added").wait_for()
        log = page.get_by_role("region", name="Audit log")
        log.filter(has_text="carl, analyst").wait_for()  # without a reload
        make = page.get_by_role("form", name="Make a token")
        make.get_by_label("Account").select_option("carl")
        make.get_by_label("Days").fill("3")
        make.get_by_role("button").click()
        token = page.get_by_label("New token of carl").input_value()
        assert faults(page) == []
        assert server.request("GET", "/v1/me", who=token).tree == {"name": "carl", "role": "analyst"}
        take = page.get_by_role("form", name="Take access away")
        take.get_by_label("Account").select_option("carl")
        take.get_by_role("button", name="Take away").click()
        assert server.request("GET", "/v1/me", who=token).status == 200  # it asks again
        take.get_by_role("button", name="Yes, take it away from carl").click()
        page.locator(".done").filter(has_text="carl cannot get in any more").wait_for()
        assert server.request("GET", "/v1/me", who=token).status == 401
        assert page.evaluate("sessionStorage.length") == 1 and token not in page.content()


def test_an_owner_raises_and_limits_a_cap(browser: Browser, server: Started) -> None:  # noqa: F811
    over = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1.5) COUNT(*) AS n FROM visits"
    assert server.query(over).code == "DPSQL-400"
    with opened(browser, server, "#/owner") as page:
        sign_in(page, server, "olga")
        change = page.get_by_role("form", name="Change the budget")
        change.get_by_label("Whose").select_option("ana")
        change.get_by_label("ε").fill("x")
        change.get_by_role("button").click()
        change.get_by_role("alert").filter(has_text="DPSQL-703").wait_for()
        change.get_by_label("ε").fill("1")
        change.get_by_label("Why").fill(HOSTILE)
        change.get_by_role("button").click()
        page.locator(".done").filter(has_text="The budget is changed").wait_for()
        assert HOSTILE in page.get_by_role("region", name="Changes of the budget").inner_text()
        page.get_by_role("region", name="Audit log").filter(has_text="ε = 1").wait_for()
        page.get_by_role("table", name="Accounts").get_by_role("cell", name="ε = 2", exact=True).wait_for()
        assert page.title() == "Owner · dpsql"
    assert server.query(over).status == 200


def test_an_analyst_sees_nothing_of_it(browser: Browser, server: Started) -> None:  # noqa: F811
    with opened(browser, server, "#/owner") as page:
        assert faults(page) == []
        sign_in(page, server)
        page.get_by_label("Query").wait_for()
        assert page.get_by_role("link", name="Owner").is_hidden() and page.locator("#owner").is_hidden()
        assert page.locator("#owner-shown").text_content() == ""


def test_what_runs_can_be_stopped(browser: Browser, server: Started) -> None:  # noqa: F811
    before = charges(server.metadata)
    with opened(browser, server) as page:
        sign_in(page, server, "ben")
        assert page.get_by_role("button", name="Stop").is_hidden()
        ask(page, LONG)
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("status").filter(has_text="DPSQL-503").wait_for()
        assert page.get_by_role("button", name="Stop").is_hidden()
        ask(page, "SELECT 1 AS a")
        page.locator("table.data").wait_for()
    assert charges(server.metadata) == before


def test_hostile_names_and_cells_are_texts(browser: Browser, server: Started) -> None:  # noqa: F811
    quoted = HOSTILE.replace('"', '""')
    text = HOSTILE.replace("'", "''")
    with opened(browser, server) as page:
        sign_in(page, server, "ben")
        ask(page, f'SELECT name || \'{text}\' AS "{quoted}", floor AS "n{quoted}" FROM specialties')
        page.locator("table.data").wait_for()
        assert page.locator("table.data img, table.data script, .chart script, .chart img").count() == 0
        assert HOSTILE in page.locator("table.data th").first.inner_text()
        assert page.locator("table.data td").first.inner_text().endswith(HOSTILE)
        ask(page, f"SELECT COUNT(*) AS \"{quoted}\" FROM visits WHERE specialty = '{text}' AND nope > 1")
        page.get_by_role("status").filter(has_text="DPSQL-102").wait_for()
        ask(
            page,
            f'SELECT specialty AS "k{quoted}", COUNT(*) AS "{quoted}" FROM visits WHERE cost > 3 GROUP BY specialty',
        )
        page.get_by_text("3 rows; cost").wait_for()
        assert faults(page) == []
        page.get_by_role("link", name="Releases").click()
        page.locator("#releases-list table").wait_for()
        assert HOSTILE.replace('"', '""') in page.locator("#releases-list").inner_text()
        assert faults(page) == []
        assert page.title() == "Releases · dpsql" and page.locator("#releases-list img").count() == 0
    with opened(browser, server, "#/owner") as page:
        sign_in(page, server, "olga")
        page.get_by_role("heading", name="Audit log").wait_for()
        assert page.title() == "Owner · dpsql" and page.locator("#owner-shown img").count() == 0
