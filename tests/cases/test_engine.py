"""The engine's width, statement by statement: what each kind of key, filter, function and option gives, or why not.

cases/engine/accepted.sql: `-- keys: 3`; keys is `free`, `none`, `private`, or the number of public combinations.
cases/engine/refused.sql: `-- DPSQL-112 at 1:8: what`, and where a rewrite is suggested `-- instead: statement that passes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import dpsql
from tests.cases.reading import Case, read, refusal
from tests.worlds import bounded, dataset, private, public, through

ACCEPTED, REFUSED = read("engine/accepted.sql"), read("engine/refused.sql")
ROWS = 400


def catalog() -> dict[str, object]:
    date = bounded("date", "2020-01-01", "2020-12-31", nullable=False)
    span = bounded("timestamp", "2020-01-01", "2020-01-31 23:59:59", nullable=False)
    visits = {
        "v": "integer",
        "u": "integer",
        "age": bounded("integer", 0, 99, nullable=False),
        "kids": bounded("integer", 0, 9),
        "pay": bounded("real", 0, 1000),
        "free_pay": "real",
        "code": bounded("integer", 0, 999_999),
        "flag": "boolean",
        "sure": {"type": "boolean", "nullable": False},
        "kind": {"type": "text", "keys": ["a", "b", "c"], "nullable": False},
        "site": {"type": "text", "keys": {"from": "sites.name"}},
        "tag": "text",
        "grade": {"type": "integer", "keys": {"from": 1, "to": 9}},
        "day": {"type": "date", "keys": {"from": "2020-01-01", "to": "2020-01-31"}},
        "price": bounded("decimal(5, 2)", 0, 100),
        "tier": {"type": "decimal(4, 1)", "keys": [1.5, 2, None]},
        "d": date,
        "ts": span,
    }
    items = {"v": "integer", "cost": bounded("decimal(6, 2)", 0, 500), "colour": "text"}
    path = through("visits", v="v")
    return dataset(
        {
            "visits": private(visits, max_groups=4, max_rows=5),
            "items": private(items, unit=path, max_groups=4, max_rows=5),
            "sites": public({"name": "text", "floor": "integer"}),
        },
        per_query={"epsilon": 1, "delta": 1e-9},
        views={"adults": "SELECT * FROM visits WHERE age >= 18"},
    )


def frames() -> dict[str, dict[str, object]]:
    rng = np.random.default_rng(20261118)
    n = ROWS

    def words(*choices: str) -> object:
        return rng.choice(np.array(choices, dtype=object), n)

    def days(count: int) -> object:
        return (np.datetime64("2020-01-01") + rng.integers(0, count, n)).astype("datetime64[us]")

    visits: dict[str, object] = {
        "v": np.arange(n),
        "u": rng.integers(0, 60, n),
        "age": rng.integers(0, 100, n),
        "kids": rng.integers(0, 10, n),
        "pay": rng.uniform(0, 1000, n),
        "free_pay": rng.normal(0, 1e6, n),
        "code": rng.integers(0, 10**6, n),
        "flag": rng.random(n) < 0.5,
        "sure": rng.random(n) < 0.5,
        "kind": words("a", "b", "c", "unheard"),
        "site": words("north", "south"),
        "tag": words("x", "y"),
        "grade": rng.integers(0, 12, n),
        "day": days(40),
        "price": np.round(rng.uniform(0, 100, n), 2),
        "tier": rng.choice([1.5, 2.0, 3.0], n),
        "d": days(366),
        "ts": np.datetime64("2020-01-01", "us") + rng.integers(0, 10**12, n),
    }
    items: dict[str, object] = {"v": rng.integers(0, n, n), "cost": rng.uniform(0, 500, n), "colour": words("red")}
    sites: dict[str, object] = {"name": np.array(["north", "south", "west"], dtype=object), "floor": np.arange(3)}
    return {"visits": visits, "items": items, "sites": sites}


@pytest.fixture(scope="module")
def width() -> Iterator[dpsql.Connection]:
    connection = dpsql.connect(catalog(), source=frames())
    yield connection
    connection.close()


def keys_of(connection: dpsql.Connection, sql: str) -> str:
    stages = connection.explain(sql).to_dict()["stages"]
    if not stages:
        return "free"
    keys = stages[-1]["keys"]
    if not keys:
        return "none"
    return "private" if any(not key["public"] for key in keys) else str(stages[-1]["combinations"])


@pytest.mark.parametrize("case", ACCEPTED, ids=str)
def test_accepted(width: dpsql.Connection, case: Case, golden: Callable[[Case, str], None]) -> None:
    before = width.budget.spent.epsilon
    keys = keys_of(width, case.text)
    golden(case, f"keys: {keys}")
    answer = width.execute(case.text)
    if keys.isdigit() and not re.search(r"HAVING|LIMIT", case.text):
        assert len(answer.fetchall()) == int(keys)
    repeated = answer.privacy is not None and answer.privacy.repeated
    assert width.budget.spent.epsilon == before + (0 if repeated else width.cost(case.text).epsilon)


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_refused(width: dpsql.Connection, case: Case, golden: Callable[[Case, str], None]) -> None:
    before = width.budget.spent
    with pytest.raises(dpsql.Error) as caught:
        width.execute(case.text)
    golden(case, "\n".join([refusal(caught.value), *case.more]))
    assert caught.value.fix
    assert width.budget.spent == before
    for line in case.more:
        width.execute(line.removeprefix("instead: ")).fetchall()


def test_there_are_enough() -> None:
    accepted, refused = ({case.text for case in cases} for cases in (ACCEPTED, REFUSED))
    assert len(accepted) + len(refused) >= 150
    assert len(refused) >= 75
