"""TPC-H: each of the 22 queries is answered, and then says what DuckDB says, or is refused with a reason; removing one
customer changes no more than the plan declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql import testing
from tests.conformance.tpch_data import catalog, create, query

pytestmark = pytest.mark.slow

CUSTOMERS = (1, 4, 100, 298)
REFUSED = {10: "DPSQL-112", 18: "DPSQL-112"}
EMPTY = {3: "DPSQL-139"}  # by order: each has one customer, and is withheld
PUBLIC = (2, 11, 16)
EXACTLY = [number for number in range(1, 23) if number not in REFUSED]
ANSWERED = [number for number in EXACTLY if number not in EMPTY]
ROOMY = "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_groups_contributed=100000, max_rows_per_group=100000)"


@dataclass(frozen=True, slots=True)
class Instance:
    oracle: duckdb.DuckDBPyConnection
    files: dict[str, Path]


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    folder = tmp_path_factory.mktemp("tpch")
    with duckdb.connect() as oracle:
        yield Instance(oracle, create(oracle, folder))


@pytest.fixture(scope="module")
def exact(instance: Instance) -> Iterator[dpsql.Connection]:
    with testing.exact(catalog(), source=instance.files) as connection:
        connection.execute("SET max_groups_contributed = 100000")
        connection.execute("SET max_rows_per_group = 100000")
        yield connection


@pytest.fixture(scope="module")
def replayer(instance: Instance) -> Iterator[testing.Replayer]:
    with testing.Replayer(catalog(), instance.files) as replayer:
        yield replayer


def plain(cell: object) -> object:
    return float(cell) if isinstance(cell, Decimal) else cell


def same(actual: list[tuple[object, ...]], expected: list[tuple[object, ...]]) -> bool:
    if len(actual) != len(expected):
        return False
    for one, other in zip(actual, expected, strict=True):
        for a, b in zip(map(plain, one), map(plain, other), strict=True):
            if isinstance(a, float) and isinstance(b, float | int):
                if a != pytest.approx(b, rel=1e-9, abs=1e-9):
                    return False
            elif a != b:
                return False
    return True


@pytest.mark.parametrize("number", EXACTLY)
def test_exact_mode_equals_duckdb(number: int, exact: dpsql.Connection, instance: Instance) -> None:
    rows = exact.execute(query(number)).fetchall()
    expected = instance.oracle.execute(query(number)).fetchall()
    assert expected, "this instance does not exercise the query"
    assert same(rows, expected)


@pytest.mark.parametrize("number", sorted(REFUSED))
def test_refused_with_a_reason(number: int, exact: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Error) as refusal:
        exact.execute(query(number))
    reasoned(refusal.value, REFUSED[number])


@pytest.mark.parametrize("number", sorted(EMPTY))
def test_refused_where_nothing_could_be_released(number: int, instance: Instance, tmp_path: Path) -> None:
    with dpsql.connect(catalog(), source=instance.files, ledger=tmp_path / "l.ledger") as connection:
        with pytest.raises(dpsql.Error) as refusal:
            connection.execute(query(number))
        assert connection.budget.spent.epsilon == 0
    reasoned(refusal.value, EMPTY[number])


def reasoned(refusal: dpsql.Error, code: str) -> None:
    assert refusal.code == code
    assert refusal.line is not None
    assert refusal.why and refusal.fix


@pytest.mark.parametrize("number", ANSWERED)
def test_a_noisy_answer_costs_what_was_asked(number: int, instance: Instance, tmp_path: Path) -> None:
    with dpsql.connect(catalog(), source=instance.files, ledger=tmp_path / "l.ledger") as connection:
        connection.execute(query(number)).fetchall()
        assert connection.budget.spent.epsilon == (0 if number in PUBLIC else 1)


@pytest.mark.parametrize("number", [n for n in ANSWERED if n not in PUBLIC])
def test_replay(number: int, replayer: testing.Replayer) -> None:
    """With the catalog's caps, which bite here. A handful of customers stand for all."""
    lines = replayer.replay(query(number), units=CUSTOMERS)
    assert len(lines) >= len(CUSTOMERS) and all(line.holds for line in lines), lines
