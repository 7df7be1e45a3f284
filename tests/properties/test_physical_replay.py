"""Replay by removal over worlds and statements that try what inference may get wrong (generator/grim.py).

On the data and on a copy without a unit the totals differ by no more than the plan declares; the plan is the same; an error
on one side is a failure; a copy that keeps the rows that only the unit reached answers the same, in another order and with
two threads. 2,000 pairs in SHARDS parts, in half of which each statement is grim; each of the seven modes is met at least
100 times in all.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from dpsql.dbapi.user_tables import load_frame
from dpsql.errors import Error
from dpsql.testing import Copies, Replayer
from tests.properties.generator.draws import fixed_noise
from tests.properties.generator.grim import MODES, GrimStatements
from tests.properties.generator.grim_tables import TYPES, grim_tables
from tests.properties.generator.tables import Tables, arrow, source

SHARDS = 4
PAIRS = 2_000 // SHARDS
EACH = 100 // SHARDS  # of a mode
STATEMENTS = 24  # for each world
UNITS = 3  # for each statement


@pytest.mark.parametrize("shard", range(SHARDS))
def test_replay_by_removal(shard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_noise(monkeypatch, shard)
    seen = replayed(random.Random(1112 + shard), PAIRS, lambda one: opened(one, tmp_path))
    assert not {mode: seen[mode] for mode in MODES if seen[mode] < EACH}
    assert seen["grim"] > seen["pairs"] / 4 and seen["refused"] < seen["asked"] * 0.6, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 108))
def test_much_replay_by_removal(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed_noise(monkeypatch, seed)
    replayed(random.Random(seed), int(os.environ.get("DPSQL_PAIRS", "20000")), lambda one: opened(one, tmp_path))


def replayed(
    draw: random.Random,
    pairs: int,
    opens: Callable[[Tables], Replayer],
    each: int = EACH,
    *,
    statements: int = STATEMENTS,
    units: int = UNITS,
) -> Counter[object]:
    """How many pairs were compared, in all and of each mode. Goes on for a while where a mode is missing.

    statements: for each world. units: for each statement."""
    seen: Counter[object] = Counter()
    used: Counter[str] = Counter()
    while seen["pairs"] < pairs or (any(seen[m] < each for m in MODES) and seen["pairs"] < pairs * 3):
        one = grim_tables(draw)
        drawn = GrimStatements(draw, used=used)
        with opens(one) as replayer:
            chosen = some(replayer.copies, draw, units)
            for _ in range(statements):
                _one(replayer, drawn.statement(), chosen, one, seen, drawn.modes)
    return seen


def _one(
    replayer: Replayer, sql: str, units: list[int | str], one: Tables, seen: Counter[object], modes: set[int]
) -> None:
    seen["asked"] += 1
    try:
        lines = replayer.replay(sql, units=units)
    except Error as refused:
        assert refused.code < "DPSQL-2", (sql, refused)  # a refusal is a matter of SQL, never a surprise
        seen["refused"] += 1
        return
    broken = [line for line in lines if not line.holds]
    assert not broken, f"{sql}\n{one}\n{broken}"
    seen["pairs"] += len(lines)
    seen["grim"] += len(lines) if modes else 0
    for mode in modes:
        seen[mode] += len(lines)


def opened(one: Tables, folder: Path) -> Replayer:
    given = source(one.rows, one.form, folder, TYPES)
    return Replayer(
        one.catalog, given, prepare=lambda session: load_frame(session, "mine", arrow(one.mine)), folder=folder
    )


def some(copies: Copies, draw: random.Random, units: int = UNITS) -> list[int | str]:
    """The unit with most rows, and a few others."""
    rows = Counter(unit for whose in copies.reach.values() for row in whose for unit in row)
    most = max(rows, key=lambda unit: rows[unit], default=1)
    others = sorted(rows.keys() - {most})
    return [most, *draw.sample(others, min(units - 1, len(others)))]
