"""Keys of which no value can be released, by `unique: true` and unit paths: refused before the charge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.samples.prepare import prepare
from tests.worlds import ASKED, dataset, private, public

LIMITS = {"rows_per_unit": 4}
UNIQUE = {"type": "integer", "unique": True}


def path(through: str, column: str) -> dict[str, Any]:
    return {"through": through, "on": {column: column}}


CATALOG: dict[str, Any] = dataset(
    {
        "visits": private(
            {"visit": UNIQUE, "who": "integer", "near": {**UNIQUE, "lower": 0, "upper": 10**8}, "word": "integer"},
            unit="who",
            **LIMITS,
        ),
        "items": private(
            {"item": UNIQUE, "visit": "integer", "code": "integer"}, unit=path("visits", "visit"), **LIMITS
        ),
        "parts": private({"item": "integer", "code": "integer"}, unit=path("items", "item"), **LIMITS),
        "loose": private({"own": UNIQUE, "word": "integer"}, unit=path("visits", "word"), **LIMITS),
        "codes": public({"code": UNIQUE, "name": UNIQUE}),
    },
    per_query=ASKED,
)
SOURCE = {name: {column: np.arange(3) for column in table["columns"]} for name, table in CATALOG["tables"].items()}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    ledger = tmp_path_factory.mktemp("lone") / "l.ledger"
    with dpsql.connect(CATALOG, source=SOURCE, ledger=ledger) as connection:
        yield connection


EMPTY = [
    "SELECT visit, COUNT(*) FROM visits GROUP BY visit",
    "SELECT DISTINCT visit FROM visits",
    "SELECT word, visit AS v, COUNT(*) FROM visits WHERE word > 3 GROUP BY word, v",
    "SELECT AVG(n) FROM (SELECT visit, COUNT(*) AS n FROM visits GROUP BY visit)",
    "SELECT visit, SUM(1) FROM items GROUP BY visit",
    "SELECT item, COUNT(*) FROM items GROUP BY item",
    "SELECT item, COUNT(*) FROM parts GROUP BY item",
    "SELECT v.visit, COUNT(*) FROM items i JOIN visits v ON i.visit = v.visit GROUP BY v.visit",
    "SELECT visit, word, COUNT(*) FROM visits GROUP BY ROLLUP (visit, word)",
]
ANSWERED = [
    "SELECT word, COUNT(*) FROM visits GROUP BY word",
    "SELECT near, COUNT(*) FROM visits GROUP BY near",  # bounds may make one value of several
    "SELECT AVG(LEAST(n, 9)) FROM (SELECT who, visit, COUNT(*) AS n FROM visits GROUP BY who, visit)",
    "SELECT code, COUNT(*) FROM parts GROUP BY code",
    "SELECT own, COUNT(*) FROM loose GROUP BY own",  # one row, but its word may be many visits'
    "SELECT name, COUNT(*) FROM visits JOIN codes ON word = codes.code GROUP BY name",  # a public table's
    "SELECT visit // 100, COUNT(*) FROM visits GROUP BY 1",
    "SELECT visit, COUNT(*) FROM visits WHERE visit IN (1, 2) GROUP BY visit",  # public keys
]


@pytest.mark.parametrize("sql", EMPTY)
def test_refused_before_the_charge(connection: dpsql.Connection, sql: str) -> None:
    before = connection.budget.spent.epsilon
    with pytest.raises(dpsql.Error) as refused:
        connection.execute(sql)
    assert refused.value.code == "DPSQL-139" and "coarser" in refused.value.fix
    assert refused.value.at is not None
    assert connection.budget.spent.epsilon == before


@pytest.mark.parametrize("sql", ANSWERED)
def test_not_certain_or_not_empty(connection: dpsql.Connection, sql: str) -> None:
    assert connection.execute(sql).privacy is not None


def test_says_which_unit_to_group_by(connection: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Error, match=r"also group by visits\.who in a subquery: .*GROUP BY who, item"):
        connection.execute("SELECT item, COUNT(*) FROM parts GROUP BY item")


def test_rows_that_are_units(tmp_path: Path) -> None:
    rows = private({"id": UNIQUE, "code": "integer"}, unit=None)
    source = {"rows": {"id": np.arange(3), "code": np.arange(3)}}
    with dpsql.connect(CATALOG | {"tables": {"rows": rows}}, source=source, ledger=tmp_path / "l.ledger") as connection:
        with pytest.raises(dpsql.Error, match="DPSQL-139"):
            connection.execute("SELECT id, COUNT(*) FROM rows GROUP BY id")
        assert connection.execute("SELECT code, COUNT(*) FROM rows GROUP BY code").privacy is not None


def test_the_sample_says_it(tmp_path: Path) -> None:
    with dpsql.connect(prepare("hospital", tmp_path)) as hospital, pytest.raises(dpsql.Error, match="DPSQL-139"):
        hospital.execute("SELECT visit_id, COUNT(*) FROM visits GROUP BY visit_id")
