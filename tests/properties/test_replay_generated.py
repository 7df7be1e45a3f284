"""Promise 1: on D and on D without any one unit, at most L0 groups differ, each by at most the declared amount."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpsql
from dpsql.testing import Replayer
from tests.properties.generated import queries, worlds

SHARDS = 4
WORLDS = 26  # a shard: together about 20,000 pairs


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_unit_changes_more_than_the_plan_declares(shard: int) -> None:
    occurred: Counter[str] = Counter()
    pairs = 0
    rng = np.random.default_rng(1000 + shard)
    for world in worlds(WORLDS, seed=shard):
        with Replayer(world.catalog, {"t": world.frame}) as replayer:
            for sql in queries(18, rng):
                try:
                    lines = replayer.replay(sql)
                except dpsql.Refused as refused:
                    assert refused.code in ("DPSQL-117", "DPSQL-115", "DPSQL-134"), f"{sql}\n{refused}"
                    continue
                pairs += len(lines)
                plan = replayer.plan(sql)
                for line in lines:
                    assert line.holds, f"{world.name}\n{sql}\n{line}"
                _count(occurred, plan, lines, sql)
    assert pairs >= 4_000
    for what in (
        "laplace",
        "gaussian",
        "units",
        "rows",
        "sum",
        "centred",
        "public key",
        "private key",
        "groups bit",
        "rows bit",
    ):
        assert occurred[what] >= 25, f"{what} occurred {occurred[what]} times only"


def _count(occurred: Counter[str], plan: Any, lines: list[Any], sql: str) -> None:
    for stage in plan.stages:
        occurred.update(noise.mechanism for noise in stage.noises)
        occurred.update(measure.kind for measure in stage.measures)
        occurred.update("private key" if key.values is None else "public key" for key in stage.keys)
    for line in lines:
        if line.changed_groups == line.declared.max_groups and line.changed_groups:
            occurred["groups bit"] += 1
        if any(
            line.changes[name] == most > 0 for name, most in line.declared.items() if name.startswith(("count", "sum"))
        ):
            occurred["rows bit"] += 1
