"""The judge itself: what is wrong on one side, or between two that should be equal, is a failure; engines made wrong on
purpose are found out, those among them that the replay before this one vouched for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dpsql
from dpsql import testing
from dpsql.catalog.model import Catalog
from dpsql.engine.sources import Database, Files, Frame
from dpsql.ir.nodes import Project
from dpsql.plan.proof import Proof, Rule, Source
from dpsql.plan.stages import NoisyStage
from dpsql.testing import physical
from dpsql.testing.measurements import Reach, Totals, by_group, reaches, size
from tests.attacks.test_unit_isolation import COMPOSITE, COMPOSITE_DATA, CROSSED, HOPS, HOPS_DATA, SHARED, frame
from tests.unit.testing.test_neighbour import FORMS
from tests.unit.testing.test_neighbour import HOPS as CHAIN
from tests.worlds import ASKED, bounded, keys, people, private

pytestmark = pytest.mark.slow

CATALOG: dict[str, Any] = people(
    {"k": keys("a", "b", "c"), "n": "text", "x": bounded("real", 0, 8)}, max_groups=2, max_rows=2, per_query=ASKED
)
ROWS = {
    "t": pa.table(
        {
            "u": [1, 1, 1, 1, 1, 2, 2, 3, None],
            "k": ["a", "b", "c", "a", "a", "a", "b", "c", "a"],
            "n": ["p", "q", "r", "p", "p", "p", "q", "z", "p"],
            "x": [8.0, 8.0, 8.0, 8.0, 8.0, 1.0, 2.0, 3.0, 4.0],
        }
    )
}
SQL = "SELECT k, COUNT(*), SUM(x), COUNT(DISTINCT n) FROM t GROUP BY k"
GAUSSIAN = SQL.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(mechanism='gaussian')", 1)


def failures(catalog: Any, sql: str, source: Any, **options: Any) -> list[str]:
    return [
        line.failure or "more than declared"
        for line in testing.replay(catalog, sql, source, **options)
        if not line.holds
    ]


@pytest.mark.parametrize(
    "sql", [SQL, GAUSSIAN, "SELECT n, COUNT(*), AVG(x) FROM t GROUP BY n", "SELECT MEDIAN(x) FROM t"]
)
def test_each_unit_of_each_stage_has_a_line(sql: str) -> None:
    lines = testing.replay(CATALOG, sql, ROWS)
    assert [line.unit for line in lines] == [1, 2, 3] and all(line.holds for line in lines)
    assert all(max(line.changes.values()) > 0 for line in lines)
    assert all(set(line.changes) == set(line.declared) for line in lines)


def test_a_row_of_a_unit_is_its_own() -> None:
    table = private(CATALOG["tables"]["t"]["columns"], unit=None)
    described = {**CATALOG, "tables": {"t": table}}
    for sql in (
        "SELECT k, COUNT(*), SUM(x) FROM t GROUP BY k",
        "SELECT COUNT(DISTINCT n) FROM t",
        "SELECT MAX(x) FROM t",
    ):
        lines = testing.replay(described, sql, ROWS)
        assert [line.unit for line in lines] == list(range(9)) and all(line.holds for line in lines)


def test_statements_without_a_release_have_no_lines() -> None:
    assert testing.replay(CATALOG, "SELECT 1", ROWS) == []


# --- what is wrong between two sides ---------------------------------------------------------------------------------


def wrapped(
    monkeypatch: pytest.MonkeyPatch, name: str, wrap: Callable[[Callable[..., Any], int], Callable[..., Any]]
) -> None:
    """A step of the judge's runs in place of the real one; it learns how often it was called."""
    real, calls = getattr(physical, name), [0]

    def called(*args: Any, **keywords: Any) -> Any:
        calls[0] += 1
        return wrap(real, calls[0])(*args, **keywords)

    monkeypatch.setattr(physical, name, called)


def stops(real: Callable[..., Any]) -> Callable[..., Any]:
    def stop(*args: Any, **keywords: Any) -> Any:
        raise dpsql.ExecutionError("the engine could not finish the query", code=500)

    return stop


@pytest.mark.parametrize(("call", "units"), [(1, 3), (2, 1), (3, 1), (4, 1), (5, 1)])
def test_an_error_on_any_side_is_a_failure(monkeypatch: pytest.MonkeyPatch, call: int, units: int) -> None:
    """Of the whole, again, of the first unit and its orphans, of the second unit."""
    wrapped(monkeypatch, "run", lambda real, n: stops(real) if n == call else real)
    lines = failures(CATALOG, SQL, ROWS)
    assert len(lines) == units and all("ExecutionError" in failure for failure in lines)


@pytest.mark.parametrize("error", [OverflowError("raw"), KeyError(1)])
def test_so_is_an_error_that_is_none_of_ours(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def raising(*args: Any, **keywords: Any) -> Any:
        raise error

    wrapped(monkeypatch, "run", lambda real, n: raising if n == 5 else real)
    (lines,) = failures(CATALOG, SQL, ROWS)
    assert repr(error) in lines


def test_another_plan_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args: dataclasses.replace(real(*args), dataset="another")

    wrapped(monkeypatch, "plan_of", lambda real, n: other(real) if n == 3 else real)
    assert failures(CATALOG, SQL, ROWS) == ["another plan than for the whole data"]


def test_rows_in_another_order_that_are_answered_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "dpsql.plan.render.clean.kept",
        lambda value, declared, dialect: f"first({value}) OVER ()" if declared.name == "n" else value,
    )
    lines = failures(CATALOG, "SELECT n, COUNT(*) FROM t GROUP BY n", ROWS)
    assert any("another order" in failure for failure in lines), lines


def test_what_a_unit_changes_beyond_the_declared() -> None:
    """Of one measurement over all groups, of one group, in the number of groups."""
    (line,) = [line for line in testing.replay(CATALOG, SQL, ROWS) if line.unit == 1]
    assert line.holds
    for name, most in line.declared.items():
        assert not line._replace(changes={**line.changes, name: most + 1}).holds
    assert not line._replace(changed_groups=line.declared.max_groups + 1).holds
    assert not line._replace(failure="anything").holds


# --- engines that are wrong ------------------------------------------------------------------------------------------


def source(described: dict[str, Any], data: Any) -> dict[str, pa.Table]:
    return {table: frame(described, table, rows) for table, rows in data.items()}


def caught(described: dict[str, Any], sql: str, data: Any) -> bool:
    """By the judge."""
    with testing.Replayer({**described, "per_query": {"epsilon": 1}}, source(described, data)) as replayer:
        return any(not line.holds for line in replayer.replay(sql, units=[99, 3]))


def caught_twice(monkeypatch: pytest.MonkeyPatch, described: dict[str, Any], sql: str, data: Any) -> bool:
    """By the kernel before anything runs; and with a kernel that believes whatever it is told, by the judge."""
    with pytest.raises(dpsql.Refused, match="137"):
        caught(described, sql, data)

    def believe(node: Project, catalog: Catalog) -> Source:
        return Source(node=node, unit=node.fields[0].column(), proof=Proof(rule=Rule.FILTER), single=False)

    monkeypatch.setattr("dpsql.privacy.bound.certify", believe)
    monkeypatch.setattr("dpsql.privacy.bound.is_single", lambda node, catalog: False)
    return caught(described, sql, data)


def without_units_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules before findings G4 and G5: a path's columns of any rows tie two units, whichever way it leads."""
    for module in ("joins", "semijoins"):
        rules = f"dpsql.privacy.rules.{module}"
        monkeypatch.setattr(f"{rules}.along_path", lambda *a: True)
        monkeypatch.setattr(f"{rules}.with_units_equal", lambda on, *a: on)
        monkeypatch.setattr(f"{rules}.serves_as_path", lambda on, left, right, *a: right.bare is not None)


@pytest.mark.parametrize("at", [0, 2, 4, 5])
def test_columns_of_two_rows_taken_for_a_path(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    without_units_equal(monkeypatch)
    assert caught_twice(monkeypatch, COMPOSITE, CROSSED[at], COMPOSITE_DATA)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_path_taken_the_wrong_way(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    without_units_equal(monkeypatch)
    assert caught_twice(monkeypatch, HOPS, SHARED[at], HOPS_DATA)


@pytest.mark.parametrize("sql", [SHARED[0], SHARED[2], CROSSED[0]])
def test_the_right_engine_passes(sql: str) -> None:
    described, data = (COMPOSITE, COMPOSITE_DATA) if sql == CROSSED[0] else (HOPS, HOPS_DATA)
    try:
        assert not caught(described, sql, data)
    except dpsql.Refused as refused:
        assert refused.code == "DPSQL-114"


# --- formats -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "kind"), [("csv", Files), ("parquet", Files), ("duckdb", Database), ("pandas", Frame)]
)
def test_copies_are_written_as_the_source_is(tmp_path: Path, form: str, kind: type) -> None:
    (tmp_path / "copies").mkdir()
    described = {**CHAIN, "per_query": {"epsilon": 1}}
    with testing.Replayer(described, FORMS[form](tmp_path), folder=tmp_path / "copies") as replayer:
        lines = replayer.replay("SELECT COUNT(*) FROM parts p JOIN items i ON p.iid = i.iid AND p.v = i.vid")
        assert [line.unit for line in lines] == [1, 2] and all(line.holds for line in lines)
        sides = {key: side.session for key, side in replayer._sides.items()}
    for unit in (1, 2):
        private = [given for name, given in sides["without", unit].engines.given.items() if name != "prices"]
        assert {type(given) for given in private} == {kind}
        assert sides["without", unit].engines.limits.threads == 1
        assert sides["orphans", unit].engines.limits.threads == 2


# --- norms -----------------------------------------------------------------------------------------------------------


def test_norms() -> None:
    one = {(("a",), 0): 5, (("a",), 1): -2, (("b",), 0): 7}
    other = {(("a",), 0): 2, (("b",), 0): 7, (("c",), 4): 1}
    assert size(one, other, 1) == 3 + 2 + 1
    assert size(one, other, 2) == 4  # √14, rounded up
    assert by_group(one, other) == {("a",): 5, ("c",): 1}
    assert Reach(norm=2, squared=14).most == 4 and Reach(norm=1, squared=36).most == 6
    assert size({}, {}, 2) == 0


def test_keys_of_one_side_alone() -> None:
    """There may be as many as a unit votes for, each with no more votes than so many leave it."""
    with testing.Replayer(CATALOG, ROWS) as replayer:
        (private,) = replayer.plan("SELECT n, COUNT(x) FROM t GROUP BY n").stages
        (public,) = replayer.plan("SELECT k, COUNT(x) FROM t GROUP BY k").stages
        options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=9, max_groups_contributed=9)"
        (several,) = replayer.plan(f"SELECT {options} n FROM t GROUP BY n").stages
    assert private.selection is not None
    votes = private.selection.votes

    def compared(stage: NoisyStage, held: int, each: int) -> testing.Replayed:
        keys = [(str(i),) for i in range(held)]
        named = {name: {} for name in reaches(stage)}
        here = Totals(frozenset(keys), {**named, "keys": {(key, 0): each for key in keys}})
        return testing.compare(1, stage, here, Totals(frozenset(), {**named, "keys": {}}))

    def second(held: int, each: int) -> testing.Replayed:
        """Of the keys that are on one side alone only some are left for the second round."""
        keys = [(str(i),) for i in range(held + 1)]
        named = {name: {} for name in reaches(several)}
        left = {(key, 0): each for key in keys[:held]}
        here = Totals(frozenset(keys), {**named, "keys, round 2": left})
        return testing.compare(1, several, here, Totals(frozenset(), named))

    rare = several.selections[1].votes
    for held in (1, 3):
        assert second(held, rare[held - 1]).holds
        assert "votes" in second(held, rare[held - 1] + 1).failure

    for held in (1, 2, len(votes)):
        assert compared(private, held, votes[held - 1]).holds and compared(private, held, 1).changed_groups == held
        assert "votes" in compared(private, held, votes[held - 1] + 1).failure
    assert "come and go" in compared(private, len(votes) + 1, 1).failure
    assert "come and go" in compared(public, 1, 1).failure
