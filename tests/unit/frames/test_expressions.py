"""Expressions given as text: wrong ones are refused where they are given, and errors point into what the user wrote."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.frames import PrivateFrame

numbers = itertools.count(1)


@pytest.fixture(scope="module")
def frame() -> PrivateFrame:
    data = pd.DataFrame({"person": np.arange(90) % 30, "kind": ["a", "b", "c"] * 30, "hours": 1.5, "score": 3})
    return PrivateFrame(
        data,
        unit="person",
        bounds={"hours": (0, 24)},
        keys={"kind": ["a", "b"]},
        max_groups=2,
        max_rows=3,
        budget=1000,
        epsilon=1,
        dataset=f"expressions-{next(numbers)}",
    )


# expression, code, what the caret stands under, words of the message
WRONG = [
    ("hors > 3", 102, "hors", 'Did you mean "hours"?'),
    ("hours > 3 AND\n  hors > 4", 102, "hors", 'Did you mean "hours"?'),
    ("kind > 3", 105, "3", "cannot be combined"),
    ("hours >", 100, ">", "ends too early"),
    ("hours > 3) OR (1 = 1", 100, ")", "cannot have )"),
    ("hours > 3; SELECT 1", 100, ";", "cannot have ;"),
    ("hours, score", 100, ",", "cannot have ,"),
    ("hours > 3 FROM df", 100, "FROM", "FROM"),
    ("SUM(hours) > 3", 105, "SUM", ""),
    ("'unclosed", 100, "'", "not closed"),
    ("hours > 3 /* unclosed", 100, "/*", "not closed"),
    ("-- nothing", 100, None, "empty"),
    ("hours AS h", 100, "hours", ""),
]
WAYS: dict[str, Callable[[PrivateFrame, str], Any]] = {
    "filter": lambda frame, text: frame.filter(text),
    "assign": lambda frame, text: frame.assign(made=text),
    "groupby": lambda frame, text: frame.groupby(made=text),
    "filtered before": lambda frame, text: frame.filter("hours > 1 -- hors").assign(x="score").filter(text),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("text", "code", "under", "words"), WRONG, ids=[wrong[0] for wrong in WRONG])
def test_a_wrong_expression(frame: PrivateFrame, way: str, text: str, code: int, under: str | None, words: str) -> None:
    with pytest.raises(dpsql.Error) as caught:
        WAYS[way](frame, text)
    error = caught.value
    assert error.number == code and words in str(error)
    assert "SELECT" not in str(error).replace("SELECT 1", "")  # nothing that the user has not written
    if under is not None:
        assert error.at is not None and text[error.at.start :].startswith(under)
        assert f"(line {text[: error.at.start].count(chr(10)) + 1}, column " in str(error)


def test_a_clock_is_not_read_for_rows(frame: PrivateFrame) -> None:
    with pytest.raises(dpsql.Error, match="NOW works on released results") as caught:
        frame.filter("now() > 3").count()
    assert caught.value.number == 107 and caught.value.at is not None and frame.budget.spent.epsilon == 0


RIGHT = [
    "hours > 3 -- a comment",
    "kind = ')' OR kind IN ('a', 'b;')",
    "hours BETWEEN 1 AND 3 AND NOT (score = 2)",
    "hours > 1 AND \"kind\" = 'a'",
    "hours > (SELECT AVG(hours) FROM df)",
    "RANK() OVER (PARTITION BY person ORDER BY hours) = 1",
]


@pytest.mark.parametrize("text", RIGHT)
def test_a_right_expression(frame: PrivateFrame, text: str) -> None:
    assigned = frame.assign(made=text).filter("made")
    assert assigned.explain("SELECT COUNT(*) FROM df").privacy.cost.epsilon == 1


LATE: dict[str, tuple[Callable[[PrivateFrame], object], int, str]] = {
    "a key without bounds": (lambda f: f.groupby(tens="FLOOR(score / 10)").size(), 117, "FLOOR(score / 10)"),
    "of an earlier step": (lambda f: f.filter("EXISTS (SELECT 1 FROM df d)").count(), 0, "EXISTS"),
    "the user's statement": (
        lambda f: f.filter("hours > 1").sql("SELECT AVG(hors) FROM df"),
        102,
        "SELECT AVG(hors) FROM df",
    ),
    "with WITH": (
        lambda f: f.filter("hours > 1").sql("WITH x AS (SELECT * FROM df) SELECT AVG(score) FROM x"),
        103,
        "WITH x AS (SELECT * FROM df) SELECT AVG(score) FROM x",
    ),
    "explained": (lambda f: f.filter("hours > 1").explain("SELECT score FROM df"), 112, "SELECT score FROM df"),
}


@pytest.mark.parametrize("case", LATE)
def test_what_shows_only_when_asked(frame: PrivateFrame, case: str) -> None:
    ask, code, text = LATE[case]
    with pytest.raises(dpsql.Error) as caught:
        ask(frame)
    assert caught.value.number == code or not code
    assert caught.value.text is not None and caught.value.text.startswith(text)
    assert caught.value.at is not None and caught.value.at.end <= len(caught.value.text)


@pytest.mark.parametrize("ask", [lambda f: f["hors"], lambda f: f.groupby("hors"), lambda f: f.mean("hors")])
def test_a_column_that_is_nearly_there(frame: PrivateFrame, ask: Callable[[PrivateFrame], object]) -> None:
    with pytest.raises(dpsql.InterfaceError, match="no column 'hors'") as caught:
        ask(frame)
    assert "Did you mean 'hours'?" in str(caught.value)


@pytest.mark.parametrize("sql", ["SET epsilon = 9", "CREATE TABLE t AS SELECT COUNT(*) AS n FROM df", "DROP TABLE t"])
def test_a_frame_runs_nothing_that_has_no_answer(frame: PrivateFrame, sql: str) -> None:
    before = frame.budget.spent.epsilon
    for asked in (frame, frame.filter("hours > 1")):
        with pytest.raises(dpsql.InterfaceError, match="answers only queries"):
            asked.sql(sql)
    assert frame.budget.spent.epsilon == before
    assert frame.explain("SELECT COUNT(*) FROM df").privacy.cost.epsilon == 1  # SET has not set


@pytest.mark.parametrize(
    "sql", ["EXPLAIN SELECT COUNT(*) FROM df", " explain WITH x AS (FROM df) SELECT COUNT(*) FROM x"]
)
def test_a_filtered_frame_explains(frame: PrivateFrame, sql: str) -> None:
    assert "Costs ε = 1" in str(frame.filter("hours > 1").sql(sql).fetchall())


@pytest.mark.parametrize("sql", ["SHOW TABLES", "DESCRIBE df", "SHOW BUDGET"])
def test_a_filtered_frame_shows_what_a_whole_one_shows(frame: PrivateFrame, sql: str) -> None:
    assert frame.filter("hours > 1").sql(sql).fetchall() == frame.sql(sql).fetchall() != []


def test_an_error_of_explain_points_into_it(frame: PrivateFrame) -> None:
    with pytest.raises(dpsql.SqlError) as caught:
        frame.filter("hours > 1").sql("EXPLAIN SELECT AVG(hors) FROM df")
    assert caught.value.text == "EXPLAIN SELECT AVG(hors) FROM df" and caught.value.column == 20


def test_types_are_pythons_or_sqls(frame: PrivateFrame) -> None:
    assert frame[frame["score"].astype(str) == "3"].explain("SELECT COUNT(*) FROM df")
    assert str(frame["score"].astype(float)) == str(frame["score"].astype("DOUBLE"))
    with pytest.raises(dpsql.InterfaceError, match="is not a type"):
        frame["score"].astype(list)


def test_agg_takes_no_unknown_name(frame: PrivateFrame) -> None:
    with pytest.raises(dpsql.InterfaceError, match="no statistic 'men'"):
        frame.groupby("kind").agg("men")


def test_a_unit_in_the_index() -> None:
    data = pd.DataFrame({"person": [1, 2], "x": [1, 2]}).set_index("person")
    with pytest.raises(dpsql.InterfaceError) as caught:
        PrivateFrame(data, unit="person", max_groups=1, max_rows=1, budget=1)
    assert "reset_index" in str(caught.value)


def test_a_frame_of_no_columns(frame: PrivateFrame) -> None:
    with pytest.raises(dpsql.InterfaceError, match="list of columns is empty"):
        frame[[]]
