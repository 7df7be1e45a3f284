"""A query has a size once the names in it are written out; planning takes work in proportion, and there is a limit."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from benchmarks._large_queries import LARGE
from benchmarks.planning import largest
from dpsql.domain.facts import Values
from dpsql.engine.scratch import Scratch
from dpsql.execution.key_values import computed
from dpsql.functions.sets import KeyQuestion
from dpsql.samples.prepare import prepare
from dpsql.sql.limits import SIZE_LIMIT
from tests.worlds import bounded, people

# What the weights of ir/size.py, the tokens or the depth let through; a change here changes what analysts may write.
LEAST = {"WHENs": 250, "IN of numbers": 2500, "IN of texts": 2500, "sums": 80, "averages": 80, "joins by unit": 40,
         "CTE after CTE": 50, "UNION of counts": 40, "rows of VALUES": 600, "columns": 300, "CUBE": 5}  # fmt: skip
MOST = {"WHENs": 320, "IN of numbers": 3000, "sums": 110, "intervals": 30, "CTE of two": 6, "bins": 160}


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    with dpsql.connect(prepare("hospital", tmp_path_factory.mktemp("hospital"))) as connection:
        connection.explain("SELECT COUNT(*) FROM visits JOIN specialties ON specialty = name")
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*LEAST, *MOST}))
def test_how_much_a_query_may_hold(hospital: dpsql.Connection, name: str) -> None:
    most = largest(hospital, name)
    assert LEAST.get(name, 0) <= most <= MOST.get(name, 10**6)


@pytest.mark.parametrize(
    ("name", "n"),
    [("WHENs", 380), ("sums", 380), ("IN of sums", 380), ("CTE after CTE", 150), ("EXISTS", 60), ("columns", 450),
     ("intervals", 40), ("CTE of two", 12), ("CTE of two", 60)],
)  # fmt: skip
def test_too_large_has_its_code_and_place(hospital: dpsql.Connection, name: str, n: int) -> None:
    with pytest.raises(dpsql.SqlError) as caught:
        hospital.explain(LARGE[name](n))
    assert caught.value.code == "DPSQL-138"
    assert caught.value.line is not None


def _work(connection: dpsql.Connection, sql: str) -> int:
    """Calls of Python functions while a statement is planned: a time that no other process changes."""
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        connection.explain(sql)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n"),
    [("WHENs", 130), ("WHENs of a key", 130), ("sums", 40), ("averages", 40), ("FILTERs", 40), ("sums of terms", 90),
     ("IN of numbers", 1200), ("CTE after CTE", 25), ("UNION of rows", 40), ("rows of VALUES", 300), ("keys", 110),
     ("joins by unit", 22), ("EXISTS", 18), ("columns", 150), ("CTEs not used", 150)],
)  # fmt: skip
def test_work_is_in_proportion(hospital: dpsql.Connection, name: str, n: int) -> None:
    """Twice as many are twice the work, not four times: CASE with 1,500 WHENs took 30 s."""
    one, two = (_work(hospital, LARGE[name](count)) for count in (n, 2 * n))
    assert two < 2.8 * one, (one, two)


def test_a_cube_is_counted_before_it_is_written_out(hospital: dpsql.Connection) -> None:
    with pytest.raises(dpsql.SqlError, match="grouping sets are too many|too many grouping sets") as caught:
        hospital.explain(LARGE["CUBE"](60))
    assert caught.value.code == "DPSQL-111"


def test_a_release_that_several_names_mean_is_counted_once(hospital: dpsql.Connection) -> None:
    sums = ", ".join(f"SUM(LEAST(duration, {i})) AS s{i}" for i in range(1, 51))
    uses = " UNION ALL ".join(f"SELECT s{i} FROM w" for i in range(1, 6))
    hospital.explain(f"WITH w AS (SELECT {sums} FROM visits) {uses}")  # 50 aggregates of 24 parts, named 5 times


@pytest.mark.slow
def test_rows_that_are_inserted_are_no_plan(hospital: dpsql.Connection) -> None:
    hospital.execute("CREATE TABLE ids (i INTEGER)")
    rows = SIZE_LIMIT + 1
    hospital.execute(f"INSERT INTO ids VALUES {', '.join(f'({i})' for i in range(rows))}")
    assert hospital.execute("SELECT COUNT(*), MIN(i), MAX(i) FROM ids").fetchall() == [(rows, 0, rows - 1)]


def test_values_keep_their_types_and_order(tmp_path: Path) -> None:
    with dpsql.connect(prepare("hospital", tmp_path)) as connection:
        rows = connection.execute(
            "SELECT * FROM (VALUES (1, 'a', NULL), (2.50, 'b', DATE '2020-01-31'), (-3, NULL, NULL)) AS v(n, t, d)"
        ).fetchall()
    assert [(str(n), t, str(d)) for n, t, d in rows] == [
        ("1.00", "a", "None"), ("2.50", "b", "2020-01-31"), ("-3.00", None, "None")
    ]  # fmt: skip


@pytest.mark.slow
def test_public_keys_are_not_worked_out_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Expressions over a million public keys: each is computed for each key before the query runs. Here over 20 years, with
    a smaller limit."""
    monkeypatch.setattr("dpsql.functions.sets.WORK_LIMIT", 100_000)
    days = {"type": "date", "keys": {"from": "2000-01-01", "to": "2020-01-01"}}
    described = people({"d": days}, rows_per_unit=1, per_query={"epsilon": 1})
    centuries = [f"date_trunc('century', d + {i})" for i in range(8)]
    whens = " ".join(f"WHEN d + INTERVAL {i} DAY > DATE '2020-01-01' THEN {i}" for i in range(160))
    with dpsql.connect(described, ledger=tmp_path / "keys.ledger") as connection:
        connection.explain("SELECT date_trunc('month', d), COUNT(*) FROM t GROUP BY 1")  # one is what keys are for
        connection.explain(f"SELECT SUM(CASE {whens} END) FROM t")  # nobody asks for the keys of d + INTERVAL 1 DAY
        with pytest.raises(dpsql.SqlError, match="100,000 calls") as caught:
            connection.explain(f"SELECT {', '.join(centuries)}, COUNT(*) FROM t GROUP BY ALL")
        assert caught.value.code == "DPSQL-138" and caught.value.line is not None


@pytest.mark.parametrize("digits", ["1" + "0" * 5000, "9" * 4400, "0" * 6000 + "1", "0." + "0" * 5000 + "1"])
@pytest.mark.parametrize(
    "sql",
    ["SELECT {}", "SELECT SUM(duration * {}) FROM visits", "SELECT specialty, COUNT(*) FROM visits GROUP BY {}",
     "SELECT COUNT(*) FROM visits ORDER BY {}", "SELECT specialty, COUNT(*) FROM visits GROUP BY 1 LIMIT {}",
     "SELECT HISTOGRAM(duration, {}) FROM visits", "SELECT COUNT(*) FROM visits WHERE visit_id IN ({})"],
)  # fmt: skip
def test_a_number_of_thousands_of_digits_is_refused(hospital: dpsql.Connection, sql: str, digits: str) -> None:
    """Python reads no integer of more than 4,300 digits: it was a bug in dpsql."""
    with pytest.raises(dpsql.SqlError, match="more than 600 digits") as caught:
        hospital.execute(sql.format(digits))
    assert caught.value.code == "DPSQL-100" and caught.value.line == 1


@pytest.mark.slow
def test_bins_are_work_in_proportion(hospital: dpsql.Connection) -> None:
    """1,000 bins took 3.6 s: each answer was made of the totals of all."""
    one, two = (_work(hospital, f"SELECT HISTOGRAM(duration, {n}) FROM visits") for n in (480, 960))
    assert two < 2.4 * one, (one, two)


@pytest.mark.slow
def test_bins_of_all_histograms_are_counted(hospital: dpsql.Connection) -> None:
    some = ", ".join(f"HISTOGRAM(duration, {n})" for n in (300, 301, 302))
    hospital.explain(f"SELECT {some}, HISTOGRAM(duration, 302) FROM visits")
    with pytest.raises(dpsql.SqlError, match="more than 1,000 bins") as caught:
        hospital.explain(f"SELECT {some} FROM visits UNION ALL SELECT HISTOGRAM(duration, 303), NULL, NULL FROM visits")
    assert caught.value.code == "DPSQL-138" and caught.value.line == 1


def test_keys_of_expressions_are_computed_when_somebody_groups_by_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[KeyQuestion] = []

    def noted(scratch: Scratch, question: KeyQuestion) -> Values | None:
        asked.append(question)
        return computed(scratch, question)

    monkeypatch.setattr("dpsql.execution.key_values.computed", noted)
    number = bounded("integer", 0, 300)
    described = people({"x": number, "y": number}, rows_per_unit=1, per_query={"epsilon": 1})
    with dpsql.connect(described, ledger=tmp_path / "pairs.ledger") as connection:
        connection.explain("SELECT SUM((x + 1) * (y + 2)), AVG(x // 3) FROM t WHERE x % 2 = 1")
        assert asked == []
        for _ in range(2):
            connection.explain("SELECT (x // 100) * (y // 100), COUNT(*) FROM t GROUP BY 1")
        assert [len(one.sets) for one in asked] == [1, 2]  # the hundreds, of either column, and their products: once
        assert math.prod(map(len, asked[-1].sets)) == 5 * 5  # NULL is one of each
