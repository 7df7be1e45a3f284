"""NULL in clamps: LEAST and GREATEST make a bound of it. What is advised keeps it, and what makes a bound of it is noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

import dpsql
from dpsql import testing
from dpsql.plan.stages import Stage
from tests.worlds import bounded, people

CATALOG = people(
    {
        "pulse": bounded("real", 0, 300),
        "raw": "real",
        "age": bounded("integer", 0, 99, nullable=False),
        "ill": "boolean",
    },
    unit="person",
    rows_per_unit=1,
    budget={"epsilon": 1000},
)
DATA = pd.DataFrame(
    {
        "person": range(90),
        "pulse": [[70.0, 200.0, None][i % 3] for i in range(90)],
        "raw": [[70.0, 200.0, None][i % 3] for i in range(90)],
        "age": [i % 50 for i in range(90)],
        "ill": [[True, False, None][i % 3] for i in range(90)],
    }
)


@pytest.fixture
def exact() -> Iterator[dpsql.Connection]:
    with testing.exact(CATALOG, source={"t": DATA}) as connection:
        yield connection


@pytest.fixture
def noisy(tmp_path: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(CATALOG, source={"t": DATA}, ledger=tmp_path / "l.ledger", epsilon=1) as connection:
        yield connection


def one(connection: dpsql.Connection, sql: str) -> object:
    row = connection.execute(sql).fetchone()
    assert row is not None
    return row[0]


def test_the_advised_clamp_keeps_null(exact: dpsql.Connection) -> None:
    """The advice of the refusal, as it stands there, in the query: NULLs are no values, so the mean is that of the rest."""
    with pytest.raises(dpsql.Error) as refused:
        exact.execute("SELECT AVG(raw) FROM t")
    advised = re.search(r"clip it: (.*)\.$", refused.value.fix)
    assert advised is not None
    assert one(exact, f"SELECT AVG({advised[1]}) FROM t") == pytest.approx((70 + 100) / 2)
    assert one(exact, f"SELECT COUNT({advised[1]}) FROM t") == 60


def test_what_cannot_be_null_is_advised_the_plain_clamp(exact: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Error, match=r"clip it: LEAST\(GREATEST\(raw, 0\), 100\)\."):
        exact.execute("SELECT AVG(raw) FROM t WHERE raw > 1")


MAKES_A_BOUND = [
    "AVG(LEAST(GREATEST(pulse, 40), 180)) FROM t",
    "SUM(LEAST(pulse, 180)) FROM t",
    "SUM(pulse) FROM t WHERE GREATEST(pulse, 40) > 50",
    "AVG(y) FROM (SELECT LEAST(pulse * 2, 180) AS y FROM t) AS q",
    "AVG(y) FROM (SELECT person, MAX(GREATEST(pulse, 40)) AS y FROM t GROUP BY person) AS q",
    "AVG(LEAST(GREATEST(pulse, 40), 180)) FROM t WHERE pulse > 50 OR age > 3",
    "AVG(CASE WHEN age > 3 THEN LEAST(pulse, 180) END) FROM t",
    "AVG(LEAST(pulse, 180)) FROM t GROUP BY ROLLUP (ill)",
]
KEEPS_NULL = [
    "AVG(CASE WHEN pulse IS NOT NULL THEN LEAST(GREATEST(pulse, 40), 180) END) FROM t",
    "AVG(CASE WHEN pulse >= 0 THEN LEAST(pulse, 180) END) FROM t",
    "AVG(LEAST(GREATEST(pulse, 40), 180)) FROM t WHERE pulse IS NOT NULL",
    "AVG(LEAST(pulse, 180)) FILTER (WHERE pulse IS NOT NULL) FROM t",
    "AVG(LEAST(GREATEST(age, 18), 60)) FROM t",
    "AVG(LEAST(COALESCE(pulse, 60), 180)) FROM t",
    "AVG(GREATEST(pulse, age)) FROM t",
    "SUM(pulse) FROM t",
]


@pytest.mark.parametrize("asked", MAKES_A_BOUND)
def test_a_bound_made_of_null_is_noted(noisy: dpsql.Connection, asked: str) -> None:
    explained = noisy.explain(f"SELECT {asked}")
    assert "makes a bound of NULL" in str(explained)
    (note,) = explained.to_dict()["notes"]
    cursor = noisy.execute(f"SELECT {asked}")
    assert cursor.privacy is not None and cursor.privacy.notes == (note,)


@pytest.mark.parametrize("asked", KEEPS_NULL)
def test_no_note_without_need(noisy: dpsql.Connection, asked: str) -> None:
    assert noisy.explain(f"SELECT {asked}").to_dict()["notes"] == []


def test_a_note_is_no_part_of_what_is_released(noisy: dpsql.Connection) -> None:
    """Notes do not make another plan of equal releases."""
    assert not next(f for f in Stage.__dataclass_fields__.values() if f.name == "notes").compare


def test_sums_and_means_of_conditions(exact: dpsql.Connection) -> None:
    """True is 1, as in DuckDB's SUM; NULL is none."""
    assert exact.execute("SELECT SUM(ill), AVG(ill), COUNT_IF(ill), SUM(age > 24) FROM t").fetchone() == (
        30,
        0.5,
        30,
        40,
    )
    assert (
        one(
            exact,
            "SELECT SUM(n) FROM (SELECT person, LEAST(SUM(ill), 3) AS n FROM t WHERE ill IS NOT NULL GROUP BY person)",
        )
        == 30
    )
    exact.execute("CREATE TABLE own AS SELECT x > 1 AS big FROM (VALUES (1), (2), (3)) AS v(x)")
    assert exact.execute("SELECT SUM(big), AVG(big) FROM own").fetchone() == (2, pytest.approx(2 / 3))
