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
    cases = reading.read(path)
    assert [(str(case), case.title, case.text) for case in cases] == [
        ("some:2", "a title", "SELECT 1,\n  2"),
        ("some:9", "", "SELECT 3"),
        ("some:12", "another", "SELECT 4"),
    ]
    assert [case.outcome for case in cases] == ["one\n  two\n\nthree", "ok", "DPSQL-1"]
    assert (cases[0].first, cases[0].more) == ("one", ["  two", "", "three"])


def test_what_is_written_is_what_is_read(path: Path) -> None:
    reading.write({case: case.outcome for case in reading.read(path)})
    assert path.read_text(encoding="utf-8") == TEXT
    first, second, third = reading.read(path)
    reading.write({first: "shorter", third: "longer\nthan before"})
    assert [case.outcome for case in reading.read(path)] == ["shorter", second.outcome, "longer\nthan before"]
    assert [case.text for case in reading.read(path)] == [first.text, second.text, third.text]


def test_one_outcome_for_each_line(path: Path) -> None:
    path.write_text("-- # title\n-- # each line: ok\na\nb\n-- # each line: no\nc\n", encoding="utf-8")
    assert [(case.text, case.line, case.outcome) for case in reading.read(path)] == [
        ("a", 3, "ok"),
        ("b", 4, "ok"),
        ("c", 6, "no"),
    ]


def test_a_document_is_a_case(path: Path) -> None:
    path = path.with_suffix(".yaml")
    path.write_text(
        "# # a title\na:\n\n  b: 1\n# c.yaml:3: no\n#     write 2\n\n# # next\nx: 1\n# no\n", encoding="utf-8"
    )
    assert [(case.title, case.text, case.outcome) for case in reading.read(path)] == [
        ("a title", "a:\n\n  b: 1", "c.yaml:3: no\n    write 2"),
        ("next", "x: 1", "no"),
    ]
    first, second = reading.read(path)
    reading.write({first: "other", second: second.outcome})
    assert path.read_text(encoding="utf-8") == "# # a title\na:\n\n  b: 1\n# other\n\n# # next\nx: 1\n# no\n"


@pytest.mark.parametrize("text", ["SELECT 1\n", "-- ok\n", "SELECT 1\n-- # comment\n-- ok\n", "-- # each line:\n"])
def test_what_is_no_case(text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    if "each" in text:
        path.write_text("SELECT 1\n-- # each line: ok\n", encoding="utf-8")
    with pytest.raises(AssertionError):
        reading.read(path)


def test_every_file_is_in_this_format() -> None:
    files = [path for path in sorted(reading.FOLDER.rglob("*")) if path.is_file() and path.suffix[:3] != ".py"]
    assert len(files) >= 18 and {path.suffix for path in files} == {".sql", ".yaml"}
    assert all(reading.read(file) for file in files)
