"""Replay over several tables: joins, unions, per-unit summaries, windows, paths with dirty keys, several stages.

As test_replay.py: on D and on D without one unit the noiseless totals differ by no more than the plan declares. What a
stage reads of an earlier one is released once, and is the same on both sides. 2,500 pairs, or 5,000 in the deep profile.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.dbapi.user_tables import load_frame
from dpsql.errors import Error
from dpsql.ir.expr import WindowCall
from dpsql.ir.expr import walk as walk_expr
from dpsql.ir.nodes import Aggregate, Join, Node, Noisy, PublicText, SemiJoin, Window, walk
from dpsql.ir.scoping import exprs_of
from dpsql.plan.slices import slice_of
from dpsql.plan.stages import ReleasePlan
from dpsql.testing import Copies, Replayer
from tests.profile import drawn
from tests.properties.generator.draws import fixed_noise
from tests.properties.generator.statements import ADDITIVE, OTHERS, Statements
from tests.properties.generator.tables import Tables, arrow, source, tables

SHARDS = drawn(1, deep=2)
PAIRS = drawn(1_500, deep=2_500)
FEW = drawn(2, deep=4)
QUERIES = 30  # for each world
UNITS = 3  # for each statement
WINDOWS = (
    *("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "lag", "lead", "first_value"),
    *("last_value", "nth_value", "sum", "count", "min", "max"),
)
INNER = ("count", "sum", "min", "max", "bool_or", "bool_and", "quantile_cont", "quantile_disc", "first")

# what must occur, and how often in a shard
MUST_OCCUR = {
    **{
        f"node {name}": 20 for name in ("Scan", "Filter", "Project", "Join", "SemiJoin", "Aggregate", "Window", "SetOp")
    },
    **{f"{kind} join {with_}": FEW for kind in ("inner", "left", "right") for with_ in ("public", "private")},
    "node Loaded": 20,
    "full join private": FEW,
    "cross join public": FEW,
    **{f"{kind} join {with_}": FEW for kind in ("semi", "anti", "mark") for with_ in ("public", "private")},
    **{f"window {name}": 3 for name in WINDOWS},
    **{f"summary {name}": 3 for name in INNER},
    **{f"asked {name.split('(')[0]}": FEW for name in (*ADDITIVE, *OTHERS)},
    "summary by grouping sets": 3,
    "grouping sets": 10,
    "several stages": 20,
    "reads a stage": 10,
    "user's table": 10,
    "parts as slices": 5,
    "parts as groups": 1,
    "lifted": 5,
    "read by a text": 5,
    "looked up": 5,
    "public keys": 50,
    "private keys": 50,
    "refused": 1,
}


@pytest.mark.parametrize("shard", range(SHARDS))
def test_replay_of_relations(shard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_noise(monkeypatch, shard)
    draw = random.Random(411 + shard)
    seen: Counter[str] = Counter()
    used: Counter[str] = Counter()
    pairs = 0
    while pairs < PAIRS or (_missing(seen) and pairs < PAIRS * 5 // 4):
        one = tables(draw)
        statements = Statements(draw, used=used)
        with opened(one, one.rows, tmp_path) as replayer:
            units = some(replayer.copies, draw)
            for _ in range(QUERIES):
                pairs += _replay(replayer, one, statements.statement(), units, seen)
    assert not _missing(seen), pairs


def _missing(seen: Counter[str]) -> dict[str, int]:
    return {what: seen[what] for what, least in MUST_OCCUR.items() if seen[what] < least}


def opened(one: Tables, rows: object, folder: Path) -> Replayer:
    """With the user's table in every session."""
    given = source(rows, one.form, folder)  # type: ignore[arg-type]
    return Replayer(
        one.catalog, given, prepare=lambda session: load_frame(session, "mine", arrow(one.mine)), folder=folder
    )


def some(copies: Copies, draw: random.Random) -> list[int | str]:
    """The unit with most rows, and a few others."""
    rows = Counter(unit for whose in copies.reach.values() for row in whose for unit in row)
    if not rows:
        return []
    most = max(rows, key=lambda unit: rows[unit])
    others = sorted(rows.keys() - {most})
    return [most, *draw.sample(others, min(UNITS - 1, len(others)))]


def _replay(replayer: Replayer, one: Tables, sql: str, units: list[int | str], seen: Counter[str]) -> int:
    """The number of pairs compared; 0 where the statement is refused."""
    try:
        plan = replayer.plan(sql)
        lines = replayer.replay(sql, units=units)
    except Error as refused:
        assert refused.code < "DPSQL-2", (sql, refused)  # a refusal is a matter of SQL, never a surprise
        seen["refused"] += 1
        return 0
    broken = [line for line in lines if not line.holds]
    assert not broken, f"{sql}\n{one}\n{broken}"
    _count(plan, sql, seen)
    return len(lines)


def _count(plan: ReleasePlan, sql: str, seen: Counter[str]) -> None:
    seen["several stages"] += len(plan.stages) > 1
    seen["grouping sets"] += any(stage.level is not None for stage in plan.stages)
    seen["user's table"] += "mine AS" in sql
    seen.update(f"asked {name.split('(')[0]}" for name in {*ADDITIVE, *OTHERS} if name.split("(")[0] + "(" in sql)
    if isinstance(plan.final, PublicText):
        seen["read by a text" if "AS r" in plan.final.text else "lifted"] += 1
    for stage in plan.stages:
        seen["parts as slices"] += any(slice_of(one) is not None for one in stage.measurements)
        seen["parts as groups"] += any("groups of one measurement" in note for note in stage.notes)
        seen["looked up"] += any(isinstance(node, Join) and node.single for node in walk(stage.source.node))
        seen["reads a stage"] += any(isinstance(leaf, Noisy) for load in stage.loads for leaf in walk(load))
        if stage.keys:
            seen["public keys" if stage.public_keys else "private keys"] += 1
        seen.update(set(_parts(stage.source.node)))


def _parts(relation: Node) -> Iterator[str]:
    for node in walk(relation):
        yield f"node {type(node).__name__}"
        match node:
            case Join():
                yield f"{node.kind} join {_with(node)}"
            case SemiJoin():
                kind = "mark" if node.mark is not None else "anti" if node.anti else "semi"
                yield f"{kind} join {_with(node)}"
            case Aggregate():
                yield from (f"summary {call.function}" for call in node.calls)
                if node.sets is not None:
                    yield "summary by grouping sets"
            case Window():
                calls = (part for expr in exprs_of(node) for part in walk_expr(expr))
                yield from (f"window {call.function}" for call in calls if isinstance(call, WindowCall))


def _with(node: Join | SemiJoin) -> str:
    """Whether private rows meet private ones: then both sides read tables."""
    sides = [any(type(leaf).__name__ == "Scan" for leaf in walk(side)) for side in (node.left, node.right)]
    return "private" if all(sides) else "public"
