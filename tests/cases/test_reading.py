"""The format of case files: what is read, what is written back, and what is no case."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import reading

TEXT = """\
-- # a title
SELECT 1,
  2
-- one
--   two
--
-- three

SELECT 3
-- ok
-- # another
SELECT 4
-- DPSQL-1
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "some.sql"
    made.write_text(TEXT, encoding="utf-8")
    return made


def test_cases_are_read(path: Path) -> None:
    found = reading.read(path)
    assert [(str(case), case.title, case.sql) for case in found] == [
        ("some:2", "a title", "SELECT 1,\n  2"),
        ("some:9", "", "SELECT 3"),
        ("some:12", "another", "SELECT 4"),
    ]
    assert [case.outcome for case in found] == ["one\n  two\n\nthree", "ok", "DPSQL-1"]
    assert (found[0].first, found[0].more) == ("one", ["  two", "", "three"])


def test_what_is_written_is_what_is_read(path: Path) -> None:
    reading.write({case: case.outcome for case in reading.read(path)})
    assert path.read_text(encoding="utf-8") == TEXT
    first, second, third = reading.read(path)
    reading.write({first: "shorter", third: "longer\nthan before"})
    assert [case.outcome for case in reading.read(path)] == ["shorter", second.outcome, "longer\nthan before"]
    assert [case.sql for case in reading.read(path)] == [first.sql, second.sql, third.sql]


def test_one_outcome_for_each_line(path: Path) -> None:
    path.write_text("-- # title\n-- # each line: ok\na\nb\n-- # each line: no\nc\n", encoding="utf-8")
    assert [(case.sql, case.line, case.outcome) for case in reading.read(path)] == [
        ("a", 3, "ok"),
        ("b", 4, "ok"),
        ("c", 6, "no"),
    ]


@pytest.mark.parametrize("text", ["SELECT 1\n", "-- ok\n", "SELECT 1\n-- # comment\n-- ok\n", "-- # each line:\n"])
def test_what_is_no_case(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    if "each" in text:
        path.write_text("SELECT 1\n-- # each line: ok\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        reading.read(path)


def test_every_file_is_in_this_format() -> None:
    files = sorted(reading.FOLDER.rglob("*.sql"))
    assert len(files) >= 12
    assert all(reading.read(file) for file in files)
