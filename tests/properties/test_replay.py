"""Replay: on D and on D without one unit the noiseless totals differ by no more than the plan declares.

Each statement for the unit with most rows and a few more; 2,400 pairs (6,000 in the deep profile) in SHARDS parts, each of
which asserts its share of the coverage.
"""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.errors import Error
from dpsql.execution.known import check
from dpsql.execution.plan_sql import PlanSql
from dpsql.functions import FUNCTIONS, unchecked
from dpsql.ir.expr import AggregateCall, Call, Expr
from dpsql.ir.expr import walk as walk_expr
from dpsql.ir.nodes import walk
from dpsql.ir.scoping import exprs_of
from dpsql.plan.balls import radius
from dpsql.plan.stages import NoisyStage, ReleasePlan, Stage
from dpsql.plan.what_is_read import exprs
from dpsql.testing import Copies, Replayer
from tests.profile import drawn
from tests.properties.generator.queries import Queries, Query
from tests.properties.generator.worlds import World, source, world

SHARDS = 2
PAIRS = drawn(1_200, deep=6_000) // SHARDS
EACH = drawn(8, deep=40) // SHARDS
QUERIES = 12  # for each world
UNITS = 3  # for each query
NO_LIMIT = 10**6

MUST_OCCUR = (
    *(f"function {name}" for name in FUNCTIONS),
    *(f"node {name}" for name in ("Scan", "Filter", "Project")),
    *(f"measure {kind}" for kind in ("RowTotal", "RowMoments", "UnitTotal", "DistinctCount", "Choice")),
    *(f"mechanism {name}" for name in ("laplace", "gaussian", "permute-and-flip")),
    *(f"keys {kind}" for kind in ("none", "declared", "inferred", "private", "mixed")),
    *(f"source {form}" for form in ("arrow", "pandas", "parquet", "duckdb")),
    *("rows bit", "groups bit", "filtered aggregate", "row is unit"),
)


@pytest.mark.parametrize("shard", range(SHARDS))
def test_replay(shard: int, tmp_path: Path) -> None:
    draw = random.Random(20261118 + shard)
    seen: Counter[str] = Counter()
    used: Counter[str] = Counter()
    pairs = 0
    while pairs < PAIRS or (_missing(seen) and pairs < PAIRS * 5 // 4):
        one = world(draw)
        queries = Queries(draw, used=used)
        with Replayer(one.catalog, source(one.rows, one.form, tmp_path), folder=tmp_path) as replayer:
            units = _some(replayer.copies, draw)
            for _ in range(QUERIES):
                query = queries.query(unit=None if one.row_is_unit else "u")
                pairs += _replay(replayer, one, query, units, seen, used)
    assert not _missing(seen)


def _missing(seen: Counter[str]) -> dict[str, int]:
    return {what: seen[what] for what in MUST_OCCUR if seen[what] < EACH}


def _some(copies: Copies, draw: random.Random) -> list[int | str]:
    """The unit with most rows, and a few others."""
    rows = Counter(unit for row in copies.reach["t"] for unit in row)
    most = max(rows, key=lambda unit: rows[unit])
    others = sorted(rows.keys() - {most})
    return [most, *draw.sample(others, min(UNITS - 1, len(others)))]


def _replay(
    replayer: Replayer,
    one: World,
    query: Query,
    units: list[int | str],
    seen: Counter[str],
    used: Counter[str],
) -> int:
    """The number of pairs compared; 0 where the query is refused."""
    try:
        plan = replayer.plan(query.sql, query.parameters or None)
    except Error as refused:
        assert refused.code < "DPSQL-2", refused  # a refusal is a matter of SQL, never a surprise
        return 0
    lines = replayer.replay(query.sql, query.parameters or None, units=units)
    broken = [line for line in lines if not line.holds]
    assert not broken, f"{query.sql}\n{query.parameters}\n{one.catalog}\n{one.rows}\n{broken}"
    plan_sql = check(replayer.session, plan)
    for stage in plan.stages:
        _count_limits(replayer, stage, plan_sql, seen)
    _count(plan, seen, used)
    seen[f"source {one.form}"] += 1
    seen["row is unit"] += one.row_is_unit
    return len(lines)


def _count(plan: ReleasePlan, seen: Counter[str], used: Counter[str]) -> None:
    for stage in plan.stages:
        seen.update(f"node {type(node).__name__}" for node in walk(stage.source.node))
        names = {unchecked(part.function) for expr in _exprs(stage) for part in walk_expr(expr) if _is_call(part)}
        seen.update(f"function {name}" for name in names)
        used.update(names)  # the generator writes next what occurred least
        seen.update(f"measure {type(m).__name__}" for m in stage.measurements)
        seen.update(f"mechanism {draw.mechanism}" for noised in stage.noised for draw in noised.draws)
        seen["filtered aggregate"] += any(m.where is not None for m in stage.measurements)
        seen[f"keys {_keys(stage)}"] += 1


def _is_call(part: Expr) -> bool:
    return isinstance(part, Call) and not isinstance(part, AggregateCall)


def _exprs(stage: Stage) -> Iterator[Expr]:
    for node in walk(stage.source.node):
        yield from exprs_of(node)
    yield from (key.expr for key in stage.keys)
    for measurement in stage.measurements:
        yield from exprs(measurement)


def _keys(stage: Stage) -> str:
    kinds = {
        ("private" if k.values is None else "declared" if "declared" in k.because else "inferred") for k in stage.keys
    }
    if not kinds:
        return "none"
    if "private" in kinds and len(kinds) > 1:
        return "mixed"
    return "declared" if "declared" in kinds else kinds.pop()


def _count_limits(replayer: Replayer, stage: NoisyStage, plan_sql: PlanSql, seen: Counter[str]) -> None:
    """A limit bit where the totals would be others without it."""
    limited = replayer.totals(stage, plan_sql)
    for what, limit in (
        ("rows", dataclasses.replace(stage.limit, rows=radius("rows", NO_LIMIT))),
        ("groups", dataclasses.replace(stage.limit, groups=radius("groups", NO_LIMIT))),
    ):
        seen[f"{what} bit"] += replayer.totals(dataclasses.replace(stage, limit=limit), plan_sql) != limited
