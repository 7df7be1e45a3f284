"""Chromium without a window: Debian's package, driven by playwright; nothing is downloaded."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tests.server.started import Started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MISSING = "there is no Chromium with playwright: make engines; pip install playwright"
SECONDS = 20  # until something must be there; the machine may be busy


def chromium() -> str | None:
    return os.environ.get("CHROMIUM") or shutil.which("chromium")


def available() -> bool:
    return importlib.util.find_spec("playwright") is not None and chromium() is not None


@contextlib.contextmanager
def running() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium())
        yield browser
        browser.close()


@contextlib.contextmanager
def opened(browser: Browser, server: Started, view: str = "", **context: Any) -> Iterator[Page]:
    """The page in a context of its own. Afterwards the browser must have complained about nothing: a breach of the
    content security policy is an error of the console, too. What the server refused is logged there, too, and fine."""
    made = browser.new_context(**context)
    page = made.new_page()
    page.set_default_timeout(SECONDS * 1000)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"http://127.0.0.1:{server.port}/{view}")
    try:
        yield page
        complaints = [text for text in said if not text.startswith("Failed to load resource: the server responded")]
        assert complaints == [], complaints
    finally:
        made.close()


FAULTS = """() => {
  const shown = (one) => one.checkVisibility(), textOf = (id) => document.getElementById(id)?.textContent ?? "";
  const name = (one) => one.getAttribute("aria-label") ?? textOf(one.getAttribute("aria-labelledby"));
  const twice = (all) => all.filter((one, i) => all.indexOf(one) !== i);
  const landmarks = [...document.querySelectorAll("section[aria-labelledby], [role=region], form, nav, aside")];
  const labelled = [...document.querySelectorAll("a[aria-label], button[aria-label]")].filter(shown);
  return [
    ...twice([...document.querySelectorAll("[id]")].map((one) => one.id)).map((id) => `two elements are #${id}`),
    ...twice(landmarks.filter(shown).map(name).filter(Boolean)).map((one) => `two landmarks are called ${one}`),
    ...labelled.filter((one) => !name(one).includes(one.textContent.trim())).map((one) => `${name(one)} is not read`),
    ...[...document.querySelectorAll("input, select, textarea")].filter(shown)
      .filter((one) => !one.labels.length && !name(one)).map((one) => `no label: ${one.outerHTML}`),
  ];
}"""


def faults(page: Page) -> list[str]:
    """What screen readers and users of speech would stumble on: ids and landmarks that are there twice, names that are not
    what is read, controls without a label."""
    there: list[str] = page.evaluate(FAULTS)
    return there


def sign_in(page: Page, server: Started, who: str = "ana") -> None:
    page.get_by_label("Your token").fill(server.tokens[who])
    page.get_by_role("button", name="Sign in").click()
    page.locator("#account").wait_for()
