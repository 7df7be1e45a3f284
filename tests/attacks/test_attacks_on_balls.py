"""What an attack on the balls found, each in its smallest form: bounds past 64 bits, keys that travel alike, and what the
tight total may believe of several numbers with one noise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import dpsql
from dpsql.errors import Refused
from dpsql.report.release_record import release_record
from dpsql.testing import Replayer, exact
from tests.worlds import ASKED, again, bounded, dataset, keys, private

COLUMNS: dict[str, Any] = {
    "n": "integer",
    "x": bounded("integer", 0, 2**61),
    "c": bounded("decimal(9, 2)", 0, 9),
    "k": keys("a", "b"),
}
PEOPLE = dataset({"t": private(COLUMNS, unit="pid", rows_per_unit=100)}, per_query=ASKED)
ROWS = dataset({"r": private(COLUMNS, unit=None)}, per_query=ASKED)
BOB = 9


def source() -> pa.Table:
    """Bob's 40 rows add up to more than 64 bits."""
    pids = [0, 1, 2, *[BOB] * 40]
    return pa.table(
        {
            "pid": pids,
            "n": [2**62 if pid == BOB else pid for pid in pids],
            "x": [2**61 if pid == BOB else pid for pid in pids],
            "c": pa.array([pid % 3 for pid in pids], pa.decimal128(9, 2)),
            "k": ["ab"[pid % 2] for pid in pids],
        }
    )


@pytest.fixture(scope="module")
def people() -> Iterator[Replayer]:
    with Replayer(PEOPLE, {"t": source()}) as opened:
        yield opened


@pytest.fixture(scope="module")
def rows() -> Iterator[Replayer]:
    with Replayer(ROWS, {"r": source().drop_columns(["pid"]).slice(0, 8)}) as opened:
        yield opened


# A unit's sum was clamped to these bounds and cast to 64 bits: DPSQL-500 where somebody's sum, or the low end, did not fit.
@pytest.mark.parametrize("column", ["n", "x", "n * 2", "c"])
@pytest.mark.parametrize("bounds", ["(0, 1e20)", "(-1e20, 0)", "(1e34, 2e34)", f"(0, {2**62})", f"(0, {2**62 - 1})"])
@pytest.mark.parametrize("where", ["", " WHERE pid = 9", " WHERE pid = 8", " GROUP BY k"])
def test_bounds_of_a_units_sum_beyond_64_bits(people: Replayer, column: str, bounds: str, where: str) -> None:
    sql = f"SELECT SUM({column}, contribution_bounds_per_group => {bounds}) FROM t{where}"
    try:
        replayed = people.replay(sql)
    except Refused as refused:  # for its text alone
        assert refused.code == "DPSQL-131"
        return
    assert replayed and all(line.holds for line in replayed), [line for line in replayed if not line.holds]


def test_bounds_within_64_bits_are_answered(people: Replayer) -> None:
    sql = f"SELECT SUM(n, contribution_bounds_per_group => (0, {2**61})) FROM t"
    replayed = people.replay(sql)
    assert max(sum(line.changes.values()) for line in replayed) > 0
    assert all(line.holds for line in replayed)


@pytest.mark.parametrize("bounds", [[0, 10**20], [10**34, 2 * 10**34]])
@pytest.mark.parametrize("where", ["", " WHERE pid = 9", " WHERE pid = 8"])
def test_max_sum_beyond_64_bits(bounds: list[int], where: str) -> None:
    table = {**PEOPLE["tables"]["t"], "max_sum": {"n": bounds}}
    with (
        Replayer(again(PEOPLE, tables={"t": table}), {"t": source()}) as opened,
        pytest.raises(Refused, match="unit's sum of n are too wide"),
    ):
        opened.replay(f"SELECT SUM(n) FROM t{where}")


# 1.001 is no value of a decimal(9, 2), but was a key of its own, which travelled as 1.00: rows met two groups.
ALIKE = (
    "c IN (1.00, 1.001, 1.002)",
    "c = 1.00 OR c = 1.001",
    "c IS NOT DISTINCT FROM 1.001 OR c = 1",
    "c IN (0, 1, 2, 0.999, 1.0001)",
)
ASKED = (
    "SELECT c, COUNT(*) FROM r WHERE {} GROUP BY c",
    "SELECT c, k, COUNT(*), SUM(x) FROM r WHERE {} GROUP BY c, k",
    "SELECT c, n, COUNT(*) FROM r WHERE {} GROUP BY c, n",
    "SELECT MODE(c) FROM r WHERE {}",
    "SELECT HISTOGRAM(c) FROM r WHERE {}",
)


@pytest.mark.parametrize("where", ALIKE)
@pytest.mark.parametrize("sql", ASKED)
def test_keys_that_travel_alike(rows: Replayer, sql: str, where: str) -> None:
    try:
        replayed = rows.replay(sql.format(where))
    except Refused as refused:
        assert refused.code == "DPSQL-132"  # MODE and HISTOGRAM: no public values
        return
    assert replayed and all(line.holds for line in replayed), [line for line in replayed if not line.holds]


@pytest.mark.parametrize("where", ALIKE)
def test_no_key_is_a_value_that_its_column_cannot_have(rows: Replayer, where: str) -> None:
    (stage,) = rows.plan(f"SELECT c, COUNT(*) FROM r WHERE {where} GROUP BY c").stages
    (key,) = stage.keys
    assert key.values is None or all(
        (value * 100) % 1 == 0 for value in key.values if not isinstance(value, str | None)
    )


def test_a_histogram_is_not_one_number_to_the_tight_total(people: Replayer) -> None:
    """Its noise is on several numbers, over which a unit's rows may be spread: nothing is proved of those but ε."""
    with_bins = people.plan("SELECT HISTOGRAM(k) FROM t")
    assert [event["mechanism"] for event in release_record(with_bins, version=None)["noise"]] == ["pure"]  # type: ignore[index,attr-defined]
    with_one = people.plan("SELECT COUNT(*) FROM t")
    assert [event["mechanism"] for event in release_record(with_one, version=None)["noise"]] == ["laplace"]  # type: ignore[index,attr-defined]


def test_who_is_there_does_not_decide_whether_it_is_answered() -> None:
    """The attack as an analyst would run it."""
    sql = "SELECT SUM(n, contribution_bounds_per_group => (1e34, 2e34)) FROM t WHERE pid = 9"
    outcomes = set()
    for frame in (source(), source().slice(0, 3)):
        with dpsql.connect(PEOPLE, source={"t": frame}) as connection, pytest.raises(dpsql.Error) as error:
            connection.execute(sql)
        outcomes.add(str(error.value).split("\n")[0])
    assert len(outcomes) == 1 and "DPSQL-131" in outcomes.pop()


# An edge of 2^127 and more was printed in a type that fails to compare, and compared only with rows above the edge before:
# whether somebody's n is above 10 decided whether the query was answered.
@pytest.mark.parametrize("edges", ["[10, 2e38]", "[10, 1e40]", "[-1e40, 10]", "[-2e38, 10, 1e300]", f"[10, {2**127}]"])
@pytest.mark.parametrize("pid", [0, 2, BOB])
def test_edges_beyond_every_integer(people: Replayer, edges: str, pid: int) -> None:
    replayed = people.replay(f"SELECT HISTOGRAM(x, {edges}) FROM t WHERE pid = {pid}")
    assert replayed and all(line.holds for line in replayed), [line for line in replayed if not line.holds]
    assert any(sum(line.changes.values()) > 0 for line in replayed)


def test_edges_beyond_the_bounds_leave_the_bins_as_they_are() -> None:
    rows = "(SELECT pid, LEAST(n, 100) AS y FROM t WHERE n BETWEEN 0 AND 100)"
    sql = f"SELECT HISTOGRAM(y, [-1e40, -7, 0, 1, 100, 101, 2e38]) FROM {rows}"
    with exact(PEOPLE, source={"t": source()}) as connection:
        ((bins,),) = connection.execute(sql).fetchall()
    assert [count for count in bins.values() if count] == [1, 1, 1]
