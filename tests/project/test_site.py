"""The website of the help topics: every topic has a place, links lead somewhere, and no other host is asked."""

from __future__ import annotations

import importlib.util
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dpsql.help import site
from dpsql.help.topics import HERE, TOPICS

BUILT = importlib.util.find_spec("furo") is not None and importlib.util.find_spec("myst_parser") is not None


def test_every_topic_is_in_one_group() -> None:
    grouped = [name for names in site.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(TOPICS)


def test_what_a_browser_needs_is_changed_and_no_more() -> None:
    text = "# DPSQL-103 in a heading\nSee `dpsql help sql` and `dpsql help TOPIC`, DPSQL-103, `DPSQL-103`, DPSQL-999.\n"
    code = "```session noisy\nhospital> `dpsql help sql` DPSQL-103\n```\n"
    made = site.page(f"{text}\n{code}\n## DPSQL-103  no bounds\n", frozenset({"103"}))
    assert "# DPSQL-103 in a heading\n" in made
    assert "[`dpsql help sql`](sql.md) and `dpsql help TOPIC`, [DPSQL-103](#dpsql-103), `DPSQL-103`, DPSQL-999." in made
    assert "```text\nhospital> `dpsql help sql` DPSQL-103\n```\n" in made
    assert "(dpsql-103)=\n## DPSQL-103  no bounds" in made


def test_nothing_of_a_topic_is_lost() -> None:
    for name in TOPICS:
        text = (HERE / f"{name}.md").read_text(encoding="utf-8")
        assert len(site.page(text).splitlines()) >= len(text.splitlines())


class Loaded(HTMLParser):
    """What a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        wanted = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
        if tag in wanted and given.get("rel") not in ("search", "next", "prev", "index", "canonical"):
            self.addresses += [given.get(wanted[tag]) or ""]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")  # Sphinx's extensions
@pytest.mark.skipif(not BUILT, reason="needs the extra docs; `make docs` runs it")
def test_the_site_asks_no_other_host_and_can_be_searched(tmp_path: Path) -> None:
    site.build(tmp_path, [])
    pages = list(tmp_path.glob("*.html"))
    assert {f"{name}.html" for name in TOPICS} <= {path.name for path in pages}
    for path in pages:
        loaded = Loaded()
        loaded.feed(path.read_text(encoding="utf-8"))
        assert loaded.addresses
        for address in filter(None, loaded.addresses):
            assert not re.match(r"(\w+:)?//", address), (path.name, address)
            assert (tmp_path / address.partition("?")[0]).is_file(), (path.name, address)
    styles = "\n".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.css"))
    assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", styles)
    assert "prefers-color-scheme" in styles or "prefers-color-scheme" in pages[0].read_text(encoding="utf-8")
    assert "median" in (tmp_path / "searchindex.js").read_text(encoding="utf-8")
