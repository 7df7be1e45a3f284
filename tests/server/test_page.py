"""The page of a really started server, in Chromium."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dpsql.server import page as files
from tests.server import browser as chromium
from tests.server.browser import opened, sign_in
from tests.server.started import Started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
COUNT = "SELECT specialty, COUNT(*) AS n, AVG(cost) AS mean FROM visits WHERE duration > -2 GROUP BY specialty"


# Of the module, not of the session: as long as playwright runs, asyncio.run() is refused in this thread.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not chromium.available() and os.environ.get("CI") != "true":
        pytest.skip(chromium.MISSING)
    with chromium.running() as running:
        yield running


@pytest.fixture
def page(browser: Browser, server: Started) -> Iterator[Page]:
    """Signed in as ana."""
    with opened(browser, server) as page:
        sign_in(page, server)
        yield page


def ask(page: Page, sql: str) -> None:
    page.get_by_label("Query").fill(sql)
    page.get_by_role("button", name="Run", exact=True).click()


def cells(page: Page) -> list[list[str]]:
    page.locator("table.data").wait_for()
    return [row.locator("td").all_inner_texts() for row in page.locator("table.data tbody tr").all()]


def test_the_files_have_the_headers_and_name_no_other_host(server: Started) -> None:
    for route in files.routes():
        reply = server.request("GET", route.path, who=None)
        assert reply.status == 200 and b"://" not in reply.body.replace(b"http://www.w3.org/2000/svg", b"")
        assert reply.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert (reply.headers["x-content-type-options"], reply.headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert reply.headers["cache-control"] == "no-store"
    assert server.request("GET", "/page/__init__.py", who=None).status == 404
    assert server.request("GET", "/page/../http.py", who=None).status == 404


def test_in_and_out(browser: Browser, server: Started) -> None:
    with opened(browser, server) as page:
        page.get_by_label("Your token").fill("dpsql_wrong")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("alert").filter(has_text="DPSQL-700").wait_for()
        assert page.locator("#ask").is_hidden()
        sign_in(page, server)
        assert page.locator("#who").inner_text() == "ana" and page.locator("#dataset").inner_text() == "visits"
        assert server.tokens["ana"] not in page.url and page.get_by_label("Your token").input_value() == ""
        page.reload()
        page.get_by_label("Query").wait_for()
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Your token").wait_for()
        assert page.evaluate("sessionStorage.length") == 0 and page.locator("#tables").inner_text() == ""


def test_a_query_and_its_answer(page: Page) -> None:
    ask(page, COUNT)
    rows = cells(page)
    assert sorted(row[0] for row in rows) == ["cardiology", "oncology", "surgery"]
    assert all("±" in row[1] and "±" in row[2] for row in rows)
    assert "cost ε = 1" in page.locator(".said").inner_text()
