"""A column that is only measured is not clamped at the scan: the axes see to it, on whatever a column may hold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from dpsql.catalog.model import ColumnSpec
from dpsql.domain.interval import interval
from dpsql.domain.types import BIGINT, REAL, Type
from dpsql.ir.expr import Column
from dpsql.ir.nodes import Scan, walk
from dpsql.plan.render.clean import kept
from dpsql.plan.render.measured import clamped_by, only_measured
from dpsql.plan.render.pieces import on_axis
from dpsql.plan.stages import Axis
from dpsql.query import check
from dpsql.testing import Replayer

INF, NAN = math.inf, math.nan
BOUNDS = {"x": (0.1, 0.7), "y": (-1.0, 2.5), "n": (-5, 7)}
REALS = [0.1, 0.7, 2.5, -1.0]
HOSTILE: list[float | None] = [None, NAN, INF, -INF, 0.0, -0.0, 5e-324, 1e308, -1e308, 2.0**62, -(2.0**63), *REALS]
HOSTILE += [math.nextafter(end, way) for end in REALS for way in (INF, -INF)]
WHOLE = [None, 0, -5, 7, -6, 8, -(2**63), 2**63 - 1]


def catalog() -> dict[str, Any]:
    columns: dict[str, Any] = {"u": "integer", "k": {"type": "text", "keys": ["a", "b"]}}
    for name, (lower, upper) in BOUNDS.items():
        columns[name] = {"type": "integer" if name == "n" else "real", "lower": lower, "upper": upper}
    columns["m"] = {"type": "real", "lower": 0, "upper": 1, "nullable": False}
    columns["open"] = "real"
    shared = {"unit": "u", "max_groups": 2, "max_rows": 1000}
    return {
        "dataset": "measured",
        "unit": "person",
        "budget": {"epsilon": 100, "delta": 0.1},
        "per_query": {"epsilon": 1, "delta": 1e-6},
        "tables": {
            "t": {**shared, "columns": columns},
            "o": {**shared, "columns": {"u": "integer", "z": {"type": "real", "lower": 0, "upper": 3}}},
        },
    }


def source() -> dict[str, pa.Table]:
    rows = [
        (i % 7, "ab"[i % 2], x, y, WHOLE[i % len(WHOLE)], y, x)
        for i, (x, y) in enumerate(itertools.product(HOSTILE, HOSTILE))
    ]
    names = ("u", "k", "x", "y", "n", "m", "open")
    table = {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    return {"t": pa.table(table), "o": pa.table({"u": list(range(7)), "z": [NAN, INF, None, 0.5, 9.0, -1.0, 3.0]})}


LOOSE = {
    "SELECT SUM(x) FROM t": "x",
    "SELECT COUNT(x), COUNT(n), COUNT(m) FROM t": "x n",
    "SELECT AVG(x), VAR_POP(x), SUM(y) FROM t": "x y",
    "SELECT k, COVAR_POP(x, y), REGR_SLOPE(y, n) FROM t GROUP BY k": "x y n",
    "SELECT k, SUM(x), SUM(n) FROM t WHERE y > 0.5 GROUP BY k": "x n",
    "SELECT n, SUM(x), SUM(m) FROM t GROUP BY n": "x m",
    "SELECT COUNT(*), SUM(x), SUM(y) FROM t WHERE x > 0.2": "y",
    "SELECT COUNT(*), SUM(z), SUM(n) FROM t JOIN o ON t.n = o.u AND t.u = o.u": "z",
    "SELECT SUM(x) FILTER (WHERE x > 0.2), SUM(y) FILTER (WHERE n = 7) FROM t": "y",
    "SELECT SUM(x), AVG(ABS(x)), SUM(-n), SUM(y) FROM t": "y",
    "SELECT COUNT(DISTINCT x), SUM(x), MEDIAN(y), SUM(y) FROM t": "y",
    "SELECT AVG(x), SUM(z) FROM t JOIN o ON t.u = o.u": "x z",
    "SELECT k, AVG(x) FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.u = t.u AND o.z > t.y) GROUP BY k": "x",
    "SELECT SUM(x, contribution_bounds_per_group => (0, 0.5)), SUM(n) FROM t": "x n",
    "SELECT SUM(LEAST(GREATEST(open, 0), 1)), COUNT(open) FROM t": "",
    "SELECT SUM(v) FROM (SELECT x AS v FROM t UNION ALL SELECT y FROM t) AS q": "",
    "SELECT SUM(v) FROM (SELECT u, MAX(x) AS v FROM t GROUP BY u) AS q": "",
}


@pytest.fixture(scope="module")
def replayer() -> Any:
    with Replayer(catalog(), source()) as found:
        yield found


@pytest.mark.parametrize("sql", LOOSE)
def test_totals_are_those_of_cleaned_columns(replayer: Replayer, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (stage,) = replayer.plan(sql).stages
    names = {f.id: f.name for node in walk(stage.input) if isinstance(node, Scan) for f in node.fields}
    assert {names[i] for i in only_measured(stage)} == set(LOOSE[sql].split())
    lazily = replayer_totals(replayer, sql)
    monkeypatch.setattr("dpsql.vault_sql.only_measured", lambda stage: {})
    assert lazily == replayer_totals(replayer, sql)


def replayer_totals(replayer: Replayer, sql: str) -> Mapping[Any, Any]:
    plan = replayer.plan(sql)
    scratch = check(replayer.session, plan)
    try:
        return replayer.totals(plan.stages[0], scratch)
    finally:
        scratch.drop(replayer.session.scratch)


ENDS = (-1.0, -0.3, 0.0, 0.1, 0.5, 0.7, 2.0)
STEPS = (Fraction(1), Fraction(1, 4), Fraction(1, 2**30))


def _axes(bounds: tuple[float, float], type_: Type) -> Iterator[Axis]:
    """The axis of these bounds, as the planner makes it, and others on its grid: wider, narrower, beside it."""
    for step in STEPS if type_ == REAL else STEPS[:1]:
        low, high = (round(Fraction(end) / step) for end in bounds)
        for down, up in itertools.product((-2, -1, 0, 1), repeat=2):
            yield Axis(arg=Column(0, type_, "v"), step=step, low=low - down, high=max(high + up, low - down))


@pytest.mark.parametrize("type_", [REAL, BIGINT], ids=str)
def test_one_clamp_is_enough_where_it_is_said(type_: Type) -> None:
    """Cleaned or raw, an axis makes the same integers; and where it does not, `clamped_by` says so."""
    values: list[Any] = list(WHOLE)
    if type_ == REAL:
        values = [*HOSTILE, *(math.nextafter(end, way) for end in ENDS for way in (INF, -INF)), *ENDS]
        values += [float(Fraction(end) + k * step / 2) for end in ENDS for step in STEPS for k in range(-3, 4)]
    said = {True: 0, False: 0}
    different = 0
    with duckdb.connect() as con:
        con.execute("SET ieee_floating_point_ops=true")
        con.execute(f"CREATE TABLE t (v {type_.sql})")
        con.executemany("INSERT INTO t VALUES (?)", [[value] for value in values])
        for bounds in itertools.combinations(ENDS if type_ == REAL else (-6.0, -5.0, 0.0, 7.0), 2):
            declared = interval(*bounds)
            spec = ColumnSpec(name="v", type=type_, interval=declared)
            for axis in _axes(bounds, type_):
                apart = f"SELECT count(*) FROM (SELECT v, {kept('v', spec)} AS c FROM t) AS t "
                found = con.execute(
                    f"{apart} WHERE {on_axis('v', axis)} IS DISTINCT FROM {on_axis('c', axis)}"
                ).fetchone()
                assert found is not None
                enough = clamped_by((axis,), declared, type_.kind)
                assert not (enough and found[0]), (bounds, axis)
                said[enough] += 1
                different += found[0] > 0
    assert all(said.values()) and different > said[False] / 2
