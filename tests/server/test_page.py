"""The page of a really started server, in Chromium."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dpsql.server import page as files
from dpsql.server.accounts import Accounts
from tests.server import browser as chromium
from tests.server.browser import opened, sign_in
from tests.server.started import Started, started, write_data

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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """With nothing released, and nobody who has to wait after too many wrong tokens."""
    with started(write_data(tmp_path_factory.mktemp("page"))) as running:
        yield running


@pytest.fixture
def page(browser: Browser, server: Started) -> Iterator[Page]:
    """Signed in as ana."""
    with opened(browser, server) as page:
        sign_in(page, server)
        yield page


def spent(server: Started) -> float:
    return float(server.request("GET", "/v1/budget", who="olga").tree["budget"]["spent"]["epsilon"])


def ask(page: Page, sql: str) -> None:
    page.get_by_label("Query").fill(sql)
    page.get_by_role("button", name="Run", exact=True).click()


def cells(page: Page) -> list[list[str]]:
    table = page.locator("table.data:visible")
    table.wait_for()
    return [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]


def test_the_files_have_the_headers_and_name_no_other_host(server: Started) -> None:
    for route in files.routes():
        reply = server.request("GET", route.path, who=None)
        assert reply.status == 200 and b"://" not in reply.body.replace(b"http://www.w3.org/2000/svg", b"")
        assert reply.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert (reply.headers["x-content-type-options"], reply.headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert reply.headers["cache-control"] == "no-store"
    private = [
        server.query("SELECT 1 AS a"),
        server.request("GET", "/v1/releases"),
        server.request("GET", "/v1/releases/1-x"),
    ]
    assert {reply.headers["cache-control"] for reply in private} == {"no-store"}
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
        page.get_by_label("Query").fill("SELECT COUNT(*) AS mine FROM visits")
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Your token").wait_for()
        assert page.evaluate("sessionStorage.length") == 0 and page.locator("#sql").input_value() == ""
        assert [page.locator(f"#{place}").text_content() for place in ("tables", "budget", "answer")] == ["", "", ""]


def test_a_token_that_is_revoked_ends_the_visit(browser: Browser, server: Started) -> None:
    accounts = Accounts(server.metadata.with_name(server.metadata.name + ".ledger.users"))
    server.tokens["short"], token = accounts.new_token("ben", 600)
    with opened(browser, server) as page:
        sign_in(page, server, "short")
        accounts.revoke("ben", token.name)
        ask(page, "SELECT 1 AS a")
        page.get_by_role("alert").filter(has_text="DPSQL-700").wait_for()
        assert page.locator("#ask").is_hidden() and page.evaluate("sessionStorage.length") == 0
        page.wait_for_timeout(700)  # longer than the pause after which the cost is asked for
        assert [page.locator(f"#{place}").text_content() for place in ("tables", "budget", "answer")] == ["", "", ""]


def test_what_it_would_cost_while_one_types(page: Page, server: Started) -> None:
    before = spent(server)
    page.get_by_label("Query").fill("SELECT specialty, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY specialty")
    told = page.get_by_role("region", name="What it would cost")
    told.get_by_text("Costs ε = 1").wait_for()
    assert "n ± 12.5" in told.inner_text() and "mean ± about" in told.inner_text()
    page.get_by_text("This query would take ε = 1.").wait_for()
    page.get_by_label("Query").fill("SELECT referrer, COUNT(*) AS n FROM visits GROUP BY referrer")
    told.get_by_text("patients are withheld").wait_for()
    page.get_by_label("Query").fill("SELECT * FROM specialties")
    told.get_by_text("nothing private is read").wait_for()
    assert spent(server) == before
    assert page.locator("#answer").inner_text() == ""


def test_a_query_its_chart_and_its_file(page: Page, server: Started) -> None:
    sql, before = COUNT.replace("-2", "-3"), spent(server)
    ask(page, sql)
    rows = cells(page)
    assert sorted(row[0] for row in rows) == ["cardiology", "oncology", "surgery"]
    assert all("±" in row[1] and "±" in row[2] for row in rows)
    said = page.locator(".said").inner_text()
    assert "3 rows; cost ε = 1" in said and "95 % confidence interval" in said
    assert page.locator("svg .bar").count() == page.locator("svg .whisker").count() == 3
    page.get_by_label("Column of the chart").select_option("mean")
    page.get_by_role("img", name="Chart: mean by specialty").wait_for()
    page.get_by_text("Free: it repeats a release of yours.").wait_for()
    gauge = page.get_by_role("meter", name="The dataset's budget, spent")
    assert gauge.get_attribute("aria-valuenow") == f"{before + 1:g}" and spent(server) == before + 1
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    lines = Path(download.value.path()).read_text("utf-8").splitlines()
    assert lines[0] == "specialty,n,mean,n ± 95 %,mean ± 95 %" and len(lines) == 4
    assert [line.split(",")[1] for line in lines[1:]] == [row[1].split(" ")[0].replace(",", "") for row in rows]
    ask(page, sql)
    page.get_by_text("3 rows; a repeat, nothing charged").wait_for()
    assert cells(page) == rows and spent(server) == before + 1


def test_small_numbers_are_marked_and_what_has_an_order_is_a_line(page: Page) -> None:
    ask(
        page, "SELECT date_trunc('month', visited_on) AS month, COUNT(*) AS n FROM visits GROUP BY month ORDER BY month"
    )
    rows = cells(page)
    assert rows[0][0] == "2020-01-01" and "noise" not in rows[0][1]
    assert any(row[1].endswith("noise") for row in rows[10:])  # two months without a row: one may be far off
    page.get_by_text("the noise is larger than n in").wait_for()
    assert page.locator("svg.line .dot").count() == 12


def test_an_error_is_marked_at_its_place(page: Page) -> None:
    sql = "SELECT '🩺' AS a,\n  AVG(cots) AS mean FROM visits"
    ask(page, "SELECT 1 AS a")
    page.get_by_role("table", name="Result").wait_for()
    assert page.locator("#answer-of").is_hidden()
    page.get_by_label("Query").fill(sql)
    page.get_by_text("there is no column").wait_for()
    assert page.locator("#answer-of").inner_text() == "The answer to SELECT 1 AS a"
    assert page.locator("#problem strong").inner_text() == "DPSQL-102"
    assert "(line 2, column 7)" in page.locator("#problem").inner_text()
    assert page.get_by_label("Query").get_attribute("aria-invalid") == "true"
    marked = page.evaluate("[...CSS.highlights.get('wrong')].map((one) => [one.startOffset, one.endOffset])")
    assert [sql.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le") for start, end in marked] == ["cots"]
    page.get_by_label("Query").fill(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 5000) COUNT(*) AS n FROM visits"
    )
    page.get_by_text("The budget would refuse it (DPSQL-400).").wait_for()
    assert page.locator("#problem").inner_text() == "" and page.locator(".gauge .over").count() == 1
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#problem strong", has_text="DPSQL-400").wait_for()


def test_an_earlier_release_by_its_link(page: Page, browser: Browser, server: Started) -> None:
    ask(page, COUNT.replace("-2", "-2.5"))
    rows, before = sorted(cells(page)), spent(server)
    page.get_by_role("link", name="Releases").click()
    page.get_by_role("link", name="Open release").first.click()
    page.locator("#release-shown").get_by_text("Opening it was free.").wait_for()
    assert sorted(cells(page)) == rows
    link = page.url
    assert "SELECT" not in link and server.tokens["ana"] not in link
    with opened(browser, server, link.partition("/#")[2].join(("#", ""))) as other:
        assert other.locator("#release").is_hidden()
        sign_in(other, server, "ben")
        other.get_by_text("to ana").wait_for()
        assert sorted(cells(other)) == rows and spent(server) == before
        other.goto(link[:-1])
        other.get_by_text("there is no such release").wait_for()
        other.goto(link)
        other.get_by_role("button", name="Ask again or change it").click()
        assert other.get_by_label("Query").input_value() == COUNT.replace("-2", "-2.5")
    assert spent(server) == before


def test_the_side_of_the_owner(page: Page, browser: Browser, server: Started) -> None:
    ask(page, COUNT)
    cells(page)
    assert page.get_by_role("link", name="Owner").is_hidden()
    page.goto(f"{page.url.partition('#')[0]}#/owner")
    page.get_by_label("Query").wait_for()
    with opened(browser, server) as reports:
        sign_in(reports, server, "olga")
        reports.get_by_role("link", name="Owner").click()
        reports.get_by_role("heading", name="Audit log").wait_for()
        names = reports.get_by_role("table", name="Accounts").locator("tbody td:first-child").all_inner_texts()
        assert names == ["ana", "ben", "olga"]
        assert "\tno cap" in reports.get_by_role("table", name="Accounts").inner_text()
        reports.get_by_text("Every entry is as it was written.").wait_for()
        assert COUNT in reports.get_by_role("table", name="Audit log").inner_text()
        with reports.expect_download() as download:
            reports.get_by_role("button", name="Download the table to publish").click()
        assert Path(download.value.path()).read_text("utf-8").startswith("# Differentially private releases of visits")
        reports.get_by_role("link", name="Releases").click()
        reports.get_by_text("Releases to everybody, the newest first.").wait_for()
        reports.get_by_role("link", name="Open release").first.wait_for()


def test_with_the_keyboard_alone(browser: Browser, server: Started) -> None:
    with opened(browser, server) as page:
        page.locator("#token:focus").wait_for()
        page.keyboard.insert_text(server.tokens["ana"])
        page.keyboard.press("Enter")
        page.locator("#sql:focus").wait_for()
        page.keyboard.type("SELECT COUNT(*) AS n FROM vis")
        offer = page.get_by_role("option", name="visits")
        offer.wait_for()
        page.keyboard.press("ArrowDown")
        assert page.locator("#sql").get_attribute("aria-activedescendant") == offer.get_attribute("id")
        page.keyboard.press("Enter")
        assert page.locator("#sql").input_value() == "SELECT COUNT(*) AS n FROM visits" and offer.count() == 0
        page.keyboard.press("Enter")
        page.keyboard.type("WHERE co")
        page.keyboard.press("Control+Space")
        page.keyboard.press("Tab")
        assert page.locator("#sql").input_value().endswith("visits\nWHERE cost")
        page.keyboard.type(" > 3")
        page.keyboard.press("Control+Enter")
        assert "±" in cells(page)[0][0]
        assert "The answer has 1 row" in page.locator("#status").inner_text()
        page.keyboard.press("Tab")  # no trap
        page.locator("#run:focus").wait_for()
        page.get_by_role("link", name="Releases").focus()
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Open release").first.press("Enter")
        page.get_by_role("heading", name="Release ").and_(page.locator(":focus")).wait_for()


def test_a_narrow_screen_in_the_dark(browser: Browser, server: Started) -> None:
    with opened(browser, server, viewport={"width": 340, "height": 700}, color_scheme="dark") as page:
        sign_in(page, server, "olga")
        ask(page, COUNT)
        cells(page)
        for view in ("Ask", "Releases", "Owner"):
            page.get_by_role("link", name=view).click()
            page.locator("main table:visible").first.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= 340, view
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 16, 19)"


HOSTILE = "<img src=x onerror=alert(1)>"


def test_what_cells_names_and_statements_say_is_text(page: Page, server: Started) -> None:
    dialogs: list[object] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog), dialog.dismiss()))
    key = f"CASE WHEN specialty = 'surgery' THEN '{HOSTILE}' ELSE specialty END"
    ask(page, f'SELECT {key} AS "<b>key</b>", COUNT(*) AS "<script>n</script>" FROM visits GROUP BY 1')
    assert HOSTILE in [row[0] for row in cells(page)]
    assert page.locator("table.data th").all_inner_texts() == ["<b>key</b>", "<script>n</script>"]
    assert any(HOSTILE[:20] in text for text in page.locator("svg text").all_text_contents())
    page.get_by_label("Query").fill(f'SELECT "{HOSTILE}" FROM visits')
    page.locator("#problem", has_text=HOSTILE).wait_for()
    page.get_by_role("link", name="Releases").click()
    page.get_by_role("link", name="Open release").first.click()
    page.locator("#release-shown").get_by_text("Opening it was free.").wait_for()
    assert HOSTILE in page.locator("#release-shown pre.statement").inner_text()
    assert page.locator("main img, main script, main b").count() == 0 and dialogs == []


def test_colours_can_be_read() -> None:
    """WCAG's contrast of at least 4.5, in the light and in the dark, of every text on what lies behind it."""
    text = (resources.files(files) / "page.css").read_text("utf-8")
    pairs = dict(re.findall(r"--([\w-]+): light-dark\((#\w+, #\w+)\);", text))
    colours = {name: [_luminance(one) for one in pair.split(", ")] for name, pair in pairs.items()}
    on = [(name, back) for name in ("ink", "quiet", "accent", "wrong") for back in ("paper", "back")]
    on += [
        ("on-accent", "accent"),
        ("wrong", "wrong-back"),
        *((name, "paper") for name in ("keyword", "quoted", "digit")),
    ]
    for name, back in on:
        for front, behind in zip(colours[name], colours[back], strict=True):
            assert (max(front, behind) + 0.05) / (min(front, behind) + 0.05) >= 4.5, (name, back)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
