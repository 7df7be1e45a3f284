"""One matrix: the case corpora on PostgreSQL and on DuckDB, with limits that bite and limits that do not. Keys and integers,
votes, weights and the numbers that limits are chosen by, on their noise grids, are the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

import dpsql
from dpsql import testing
from dpsql.session import open_session
from tests.cases import test_engine
from tests.cases.test_sql_cases import ACCEPTED
from tests.engines import hostile
from tests.engines.postgres import Server
from tests.engines.postgres_data import stored
from tests.profile import drawn
from tests.worlds import ASKED, clinic, dataset, mixed

SALTS = (0, 3)  # which also say what limits are tried where the data would choose
REFUSED = set(
    "QUANTILE_CONT QUANTILE_DISC MODE UPPER LOWER LAST_VALUE FIRST_VALUE DATE_TRUNC CAST TRY_CAST REGEXP_MATCHES".split()
)
SPENDING: dict[str, Any] = {"budget": {"epsilon": 1_000_000, "delta": 0.5}, "per_query": ASKED}


def compared(
    server: Server,
    catalog: Mapping[str, Any],
    private: Mapping[str, object],
    public: Mapping[str, object],
    asked: Iterable[str],
    salts: Sequence[int] = SALTS,
) -> int:
    """How many statements are answered by both engines. The others are refused by name, before anything runs."""
    answered = 0
    given = {**stored(server, catalog, private), **public}
    with testing.Replayer(catalog, {**private, **public}) as here:
        there = open_session(catalog, source=given, charged=False)
        try:
            for sql in asked:
                try:
                    for salt in salts:
                        assert here.elsewhere(sql, there, salt=salt) == [], sql
                except dpsql.Error as refused:
                    assert refused.code == "DPSQL-140", sql
                    assert any(f"this {name} is not answered on PostgreSQL" in str(refused) for name in REFUSED), sql
                else:
                    answered += 1
        finally:
            there.close()
    return answered


SOME = drawn(5, deep=1)
WORLDS = {"dirty": clinic.dirty, "clean": clinic.clean, "empty": clinic.empty}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "most", "salt", "every"),
    [("dirty", None, 0, 1), ("dirty", 1000, 3, 1), ("clean", None, 0, SOME), ("empty", None, 0, SOME)],
)
def test_the_clinic(world: str, most: int | None, salt: int, every: int, postgres: Server) -> None:
    """most: groups and rows of a unit that count; without it the catalog's, which several patients are over. every: one
    statement of so many."""
    private = WORLDS[world]()
    asked = [case.text for case in ACCEPTED][::every]
    catalog = clinic.CATALOG if most is None else _limited(clinic.CATALOG, most)
    assert compared(postgres, catalog, private, clinic.PUBLIC, asked, (salt,)) >= len(asked) * 0.9


def _limited(catalog: Mapping[str, Any], most: int) -> dict[str, Any]:
    limits = {"max_groups": most, "max_rows": most}
    tables = {name: {**spec, **limits} if "max_rows" in spec else spec for name, spec in catalog["tables"].items()}
    return {**catalog, "tables": tables}


def test_limits_that_bite_and_do_not() -> None:
    """Of the clinic's visits, the rows of the patient that has most."""
    (rows,) = clinic.dirty()["visits"]["patient_id"].value_counts().head(1)
    assert 4 < rows < 1000


@pytest.mark.slow
def test_every_kind_of_key_filter_and_function(postgres: Server) -> None:
    frames = test_engine.frames()
    public = {"sites": frames.pop("sites")}
    asked = [case.text for case in test_engine.ACCEPTED]
    assert compared(postgres, test_engine.catalog(), frames, public, asked) >= len(asked) - 3


@pytest.mark.slow
@pytest.mark.parametrize("limits", [{"max_groups": 2, "max_rows": 2}, {}, {"max_groups": 1, "max_rows": 1}])
@pytest.mark.parametrize("public", [True, False])
def test_every_aggregate(limits: dict[str, int], public: bool, postgres: Server) -> None:
    asked = [
        f"SELECT {'' if key == '' else f'{key}, '}{case.text} FROM t{'' if key == '' else f' GROUP BY {key}'}"
        for case in mixed.ANSWERED
        for key in ("", "k", "s")
    ]
    catalog = mixed.catalog(public=public, **limits, **SPENDING)
    assert compared(postgres, catalog, {"t": mixed.table()}, {}, asked) == len(asked)


GAUSSIAN = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian', delta=1e-6)"


@pytest.mark.slow
@pytest.mark.parametrize("most", [2, 5000])
def test_gaussian_noise(most: int, postgres: Server) -> None:
    """Weights in norm 2, of units over the limit and within it."""
    asked = [f"{GAUSSIAN} k, {case.text} FROM t GROUP BY k" for case in mixed.ANSWERED]
    catalog = mixed.catalog(public=True, max_groups=most, max_rows=most, **SPENDING)
    assert compared(postgres, catalog, {"t": mixed.table()}, {}, asked, (0,)) == len(asked)
    hostile_ = [sql.replace("SELECT", GAUSSIAN, 1) for sql in hostile.questions() if "GROUP BY" in sql[:-20]]
    tables = hostile.tables(max_groups=most, max_rows=most)
    catalog = dataset(tables, **hostile.OPTIONS)
    assert compared(postgres, catalog, {"v": hostile.table()}, {"m": hostile.WORDS}, hostile_, (0,)) == len(hostile_)


@pytest.mark.slow
@pytest.mark.parametrize(
    "limits",
    [{"max_groups": 1, "max_rows": 1}, {"max_groups": 2, "max_rows": 2}, {"max_groups": 5000, "max_rows": 5000}],
)
def test_hostile_values(limits: dict[str, int], postgres: Server) -> None:
    """NULL, NaN, zeros of both signs, infinities, 1e308 and 5e-324, 64-bit extremes, 38 digits, texts of several scripts,
    dates at both ends."""
    catalog = dataset(hostile.tables(**limits), **hostile.OPTIONS)
    asked = hostile.questions()
    assert compared(postgres, catalog, {"v": hostile.table()}, {"m": hostile.WORDS}, asked) == len(asked)
