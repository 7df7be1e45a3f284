"""tests/cases/sql/*.sql: statements over the clinic, each followed by what becomes of it.

`-- ok`: accepted; exact mode equals DuckDB in the clean world, an answer comes in the dirty and the empty one, and
replay holds for every unit of all. `-- ok, as SELECT …`: DuckDB is asked that instead. `-- ok, not compared: why` leaves
DuckDB out. `-- DPSQL-114 at 1:30: what`: refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import duckdb
import pytest

import dpsql
from dpsql import testing
from dpsql.execution.known import check
from dpsql.execution.planning import plan_of
from dpsql.execution.planning import read as read_statement
from dpsql.query import in_text
from tests.cases.reading import FOLDER, Case, read, refusal
from tests.worlds import clinic

ROOMY = 10_000
WORLDS = {"dirty": clinic.dirty, "empty": clinic.empty, "clean": clinic.clean}


CASES = [case for path in sorted((FOLDER / "sql").glob("*.sql")) for case in read(path)]
ACCEPTED = [case for case in CASES if case.outcome.startswith("ok")]
REFUSED = [case for case in CASES if not case.outcome.startswith("ok")]
AS = "ok, as "
COMPARED = [case for case in ACCEPTED if case.outcome == "ok" or case.outcome.startswith(AS)]


@pytest.fixture(scope="module")
def planner() -> Iterator[testing.Replayer]:
    with clinic.replayer() as replayer:
        yield replayer


@pytest.fixture(scope="module")
def replayers() -> Iterator[dict[str, testing.Replayer]]:
    open_ = {name: testing.Replayer(clinic.CATALOG, clinic.source(world())) for name, world in WORLDS.items()}
    yield open_
    for replayer in open_.values():
        replayer.close()


@pytest.fixture(scope="module")
def exacts() -> Iterator[dict[str, dpsql.Connection]]:
    open_ = {name: testing.exact(clinic.CATALOG, source=clinic.source(world())) for name, world in WORLDS.items()}
    for connection in open_.values():
        connection.execute(f"SET max_groups_contributed = {ROOMY}")
        connection.execute(f"SET max_rows_per_group = {ROOMY}")
    yield open_
    for connection in open_.values():
        connection.close()


@pytest.fixture(scope="module")
def oracle() -> Iterator[duckdb.DuckDBPyConnection]:
    with clinic.oracle(clinic.clean()) as connection:
        yield connection


def outcome(planner: testing.Replayer, sql: str) -> str:
    """What dpsql's own planner says, also of what DuckDB would be asked."""
    try:
        with in_text(sql):
            check(planner.session, plan_of(planner.session, read_statement(sql)))
    except dpsql.Error as error:
        return refusal(error)
    return "ok"


def test_the_corpus_is_large_and_balanced() -> None:
    assert len(CASES) >= 300
    assert len(REFUSED) >= 150
    assert len({case.text for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_outcome(case: Case, planner: testing.Replayer, golden: Callable[[Case, str], None]) -> None:
    actual = outcome(planner, case.text)
    golden(case, case.outcome if actual == "ok" and case in ACCEPTED else actual)
    assert " at nowhere:" not in actual


def plain(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(float(cell) if isinstance(cell, Decimal) else cell for cell in row)


def equal(actual: list[tuple[object, ...]], expected: list[tuple[object, ...]]) -> bool:
    return len(actual) == len(expected) and all(
        a == pytest.approx(b, rel=1e-9, abs=1e-9) if isinstance(a, float) and isinstance(b, float | int) else a == b
        for one, other in zip(actual, expected, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def in_order(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    def rounded(cell: object) -> tuple[str, object]:
        return type(cell).__name__ if not isinstance(cell, int | float) else "n", (
            round(float(cell), 6) if isinstance(cell, int | float) else str(cell)
        )

    return sorted((plain(row) for row in rows), key=lambda row: [rounded(cell) for cell in row])


@pytest.mark.parametrize("case", COMPARED, ids=str)
def test_exact_mode_equals_duckdb(
    case: Case, exacts: dict[str, dpsql.Connection], oracle: duckdb.DuckDBPyConnection
) -> None:
    rows = exacts["clean"].execute(case.text).fetchall()
    expected = oracle.execute(case.outcome.removeprefix(AS) if case.outcome.startswith(AS) else case.text).fetchall()
    assert equal(in_order(rows), in_order(expected))


@pytest.mark.slow
@pytest.mark.parametrize("world", ["dirty", "empty"])
@pytest.mark.parametrize("case", ACCEPTED, ids=str)
def test_no_data_makes_it_fail(case: Case, world: str, exacts: dict[str, dpsql.Connection]) -> None:
    exacts[world].execute(case.text).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("world", ["dirty", "clean"])
@pytest.mark.parametrize("case", ACCEPTED, ids=str)
def test_replay(case: Case, world: str, replayers: dict[str, testing.Replayer]) -> None:
    """With the catalog's caps, which bite: one unit changes no more groups, and none by more, than the plan declares."""
    few = slice(None) if world == "dirty" else slice(2)
    for line in replayers[world].replay(case.text, units=lambda units: units[few]):
        assert line.holds, line


@pytest.fixture(scope="module")
def shuffled() -> Iterator[dpsql.Connection]:
    frames = {name: frame.sample(frac=1, random_state=3) for name, frame in clinic.dirty().items()}
    with testing.exact(clinic.CATALOG, source=clinic.source(frames)) as connection:
        connection.execute(f"SET max_groups_contributed = {ROOMY}")
        connection.execute(f"SET max_rows_per_group = {ROOMY}")
        yield connection


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in ACCEPTED if case.path.stem == "per_person"], ids=str)
def test_the_order_of_the_rows_does_not_matter(
    case: Case, exacts: dict[str, dpsql.Connection], shuffled: dpsql.Connection
) -> None:
    """What a person's rows say is a function of them as a multiset, to the bit."""
    assert shuffled.execute(case.text).fetchall() == exacts["dirty"].execute(case.text).fetchall()


@pytest.mark.slow
def test_statements_are_read_once(planner: testing.Replayer) -> None:
    """A plan is a function of the statement: planning it again gives the same."""
    for case in ACCEPTED[:40]:
        assert read_statement(case.text) is not None
        assert planner.plan(case.text) == planner.plan(case.text)
