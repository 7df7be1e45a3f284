"""One matrix: the case corpora on Spark and on DuckDB, with limits that bite and limits that do not. Keys and integers,
votes, weights and the numbers that limits are chosen by, on their noise grids, are the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql import testing
from dpsql.session import open_session
from tests.cases import test_engine
from tests.cases.reading import Case
from tests.cases.test_sql_cases import ACCEPTED
from tests.engines import hostile
from tests.engines.spark_data import stored
from tests.worlds import ASKED, clinic, dataset, mixed

SALT = 3  # which also says what limits are tried where the data would choose
REFUSAL = re.compile(r"this ([A-Z_]+) is not answered on Spark")
SPENDING: dict[str, Any] = {"budget": {"epsilon": 1_000_000, "delta": 0.5}, "per_query": ASKED}
# What Spark has no form of (plan/dialects/spark/refusals.py), and how many statements of a corpus ask for it.
IN_THE_CLINIC = {
    "CAST": 11,  # texts as numbers, moments, truth values
    "TRY_CAST": 1,
    "UPPER": 5,
    "REGEXP_MATCHES": 1,
    "QUANTILE_CONT": 4,  # of a person's rows
    "QUANTILE_DISC": 3,
    "MODE": 3,
    "COUNT": 3,  # frames of RANGE, GROUPS, EXCLUDE
    "ADD": 2,  # beyond 38 digits
}
IN_THE_ENGINES = {"UPPER": 1, "DATE_TRUNC": 1}


def compared(
    spark: Any,
    folder: Path,
    catalog: Mapping[str, Any],
    private: Mapping[str, object],
    public: Mapping[str, object],
    asked: Iterable[str],
    salts: Sequence[int] = (SALT,),
) -> dict[str, int]:
    """What is refused by name, before anything runs, in how many statements. Both engines answer all others, the same."""
    refusals: Counter[str] = Counter()
    given = {**stored(spark, folder, catalog, private), **public}
    with testing.Replayer(catalog, {**private, **public}) as here:
        there = open_session(catalog, source=given, charged=False)
        try:
            for sql in asked:
                try:
                    for salt in salts:
                        assert here.elsewhere(sql, there, salt=salt) == [], sql
                except dpsql.Error as refused:
                    name = REFUSAL.search(str(refused))
                    assert refused.code == "DPSQL-140" and name is not None, (sql, refused)
                    refusals[name[1]] += 1
        finally:
            there.close()
    return refusals


@pytest.mark.slow
def test_the_clinic(spark: Any, tmp_path: Path) -> None:
    asked = [case.text for case in ACCEPTED][::16]
    refused = compared(spark, tmp_path, clinic.CATALOG, clinic.dirty(), clinic.PUBLIC, asked)
    assert refused.keys() <= IN_THE_CLINIC.keys() and sum(refused.values()) * 10 < len(asked)


@pytest.mark.deep
@pytest.mark.parametrize("world", ["dirty", "clean", "empty"])
def test_all_of_the_clinic(world: str, spark: Any, tmp_path: Path) -> None:
    private = {"dirty": clinic.dirty, "clean": clinic.clean, "empty": clinic.empty}[world]()
    asked = [case.text for case in ACCEPTED]
    refused = compared(spark, tmp_path, clinic.CATALOG, private, clinic.PUBLIC, asked, (0, SALT))
    assert refused == IN_THE_CLINIC


def kinds_of_everything(spark: Any, folder: Path, every: int) -> dict[str, int]:
    frames = test_engine.frames()
    public = {"sites": frames.pop("sites")}
    asked = [case.text for case in test_engine.ACCEPTED][::every]
    return compared(spark, folder, test_engine.catalog(), frames, public, asked)


@pytest.mark.slow
def test_kinds_of_keys_filters_and_functions(spark: Any, tmp_path: Path) -> None:
    assert kinds_of_everything(spark, tmp_path, 4) == {"DATE_TRUNC": 1}


@pytest.mark.deep
def test_every_kind_of_key_filter_and_function(spark: Any, tmp_path: Path) -> None:
    assert kinds_of_everything(spark, tmp_path, 1) == IN_THE_ENGINES


def aggregates(public: bool, asked: Sequence[Case], limits: Mapping[str, int], spark: Any, folder: Path) -> None:
    key = "k" if public else "s"
    catalog = mixed.catalog(public=public, **limits, **SPENDING)
    questions = [f"SELECT {key}, {case.text} FROM t GROUP BY {key}" for case in asked]
    assert compared(spark, folder, catalog, {"t": mixed.table()}, {}, questions) == {}


# Each test asks the questions that the other leaves out.
@pytest.mark.slow
@pytest.mark.parametrize(("limit", "public"), [(2, True), (1, False)])
def test_aggregates(limit: int, public: bool, spark: Any, tmp_path: Path) -> None:
    limits = {"max_groups": limit, "max_rows": limit}
    aggregates(public, mixed.ANSWERED[limit - 1 :: 2], limits, spark, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("limits", [{"max_groups": 2, "max_rows": 2}, {}, {"max_groups": 1, "max_rows": 1}])
@pytest.mark.parametrize("public", [True, False])
def test_every_aggregate(limits: dict[str, int], public: bool, spark: Any, tmp_path: Path) -> None:
    aggregates(public, mixed.ANSWERED, limits, spark, tmp_path)


GAUSSIAN = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian', delta=1e-6)"


@pytest.mark.slow
def test_gaussian_noise(spark: Any, tmp_path: Path) -> None:
    """Weights in norm 2, of units over the limit and within it."""
    asked = [f"{GAUSSIAN} k, {case.text} FROM t GROUP BY k" for case in mixed.ANSWERED[::6]]
    catalog = mixed.catalog(public=True, max_groups=2, max_rows=2, **SPENDING)
    assert compared(spark, tmp_path, catalog, {"t": mixed.table()}, {}, asked) == {}


def hostile_values(limit: int, asked: Sequence[str], every: int, spark: Any, folder: Path) -> None:
    """every: one row of so many."""
    rows = hostile.table()
    private = {"v": rows.take(list(range(limit % every, rows.num_rows, every)))}
    catalog = dataset(hostile.tables(max_groups=limit, max_rows=limit), **hostile.OPTIONS)
    assert compared(spark, folder, catalog, private, {"m": hostile.WORDS}, asked) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "first"), [(2, 0), (5000, 2)])
def test_hostile_values(limit: int, first: int, spark: Any, tmp_path: Path) -> None:
    """NULL, NaN, zeros of both signs, infinities, 1e308 and 5e-324, 64-bit extremes, 38 digits, texts of several scripts,
    dates at both ends."""
    hostile_values(limit, hostile.questions()[first::5], 3, spark, tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("limit", [1, 2, 5000])
def test_all_questions_about_hostile_values(limit: int, spark: Any, tmp_path: Path) -> None:
    hostile_values(limit, hostile.questions(), 1, spark, tmp_path)
