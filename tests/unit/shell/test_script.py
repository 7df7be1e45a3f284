"""Text taken apart into statements and the shell's own lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.shell.script import complete, items_of, split


def texts(text: str) -> list[str]:
    return [item.text for item in items_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ; ;\n-- nothing\n/* at all */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' ; SELECT 'it''s;'", ["SELECT ';'", "SELECT 'it''s;'"]),
        ('SELECT 1 AS "a;""b"; SELECT 2', ['SELECT 1 AS "a;""b"', "SELECT 2"]),
        ("SELECT 1 -- no; not here\n; SELECT 2", ["SELECT 1 -- no; not here", "SELECT 2"]),
        ("SELECT /* ; */ 1; SELECT 4 / 2 - 1", ["SELECT /* ; */ 1", "SELECT 4 / 2 - 1"]),
        ("\\d visits\nSELECT 1;\n.mode csv", ["\\d visits", "SELECT 1", ".mode csv"]),
        ("SELECT 1; \\x\nSELECT 2", ["SELECT 1", "\\x", "SELECT 2"]),
        ("exit", ["exit"]),
        ("help bounds", ["help bounds"]),
        ("EXIT;\nSELECT 1", ["EXIT;", "SELECT 1"]),
        ("help;", ["help;"]),
        ("helpers", ["helpers"]),
        ("exit now", ["exit now"]),
        ("SELECT\n.5", ["SELECT\n.5"]),
        ("SELECT 'never closed; x", ["SELECT 'never closed; x"]),
        ("SELECT 1 /* never closed; x", ["SELECT 1 /* never closed; x"]),
    ],
)
def test_items(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_items_know_their_line_and_kind() -> None:
    items = items_of("-- one\n\nSELECT 1\nFROM t;\n.tables\nSELECT 2")
    assert [(item.line, item.command) for item in items] == [(3, False), (5, True), (6, False)]


def test_a_long_file_is_read_once() -> None:
    """Time grows with the length, not with its square: each of 10^5 statements would copy the rest of 2 MB."""
    items = items_of("SELECT 'a;b' /* c */\n;" * 100_000)
    assert len(items) == 100_000 and items[-1].line == 100_000


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT ';", False),
        ("SELECT 1; SELECT", False),
        (".tables", True),
        ("\\d", True),
        ("quit", True),
        ("", True),
        ("SELECT 1 -- ;", False),
    ],
)
def test_enter_runs_what_is_finished(text: str, finished: bool) -> None:
    assert complete(text) is finished


SAFE = st.lists(
    st.sampled_from(["SELECT", " ", "1", "';'", '";"', "--;\n", "/*;*/", "x", "\n", "'it''s'", "-", "/", "(", ")"]),
    min_size=1,
).map("".join)


@given(st.lists(SAFE.filter(lambda t: t.strip() and t[0] == "S"), max_size=4))
def test_semicolons_between_statements_are_the_only_cuts(statements: list[str]) -> None:
    joined = "\n;".join(statements)
    assert texts(joined) == [statement.rstrip() for statement in statements]


@given(st.text(alphabet="S';\"-/*\n \\.ax", max_size=40))
def test_nothing_is_lost_and_nothing_raises(text: str) -> None:
    items, rest = split(text)
    kept = "".join(item.text for item in items) + rest
    for character in "Sax":
        in_comments = text.count(character) - kept.count(character)
        assert in_comments >= 0
        assert in_comments == 0 or "--" in text or "/*" in text
