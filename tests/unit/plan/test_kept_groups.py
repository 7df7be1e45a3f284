"""Stage B keeps, of each unit's groups, those below its (max_groups+1)-th smallest hash: in every form, against Python."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import duckdb
import numpy as np
import pytest

from dpsql.plan.render.rows import MANY, kept_groups

LARGEST = 2**64 - 1
EIGHTH, QUARTER = 2**61, 2**62


class Stage:
    """What kept_groups reads of a stage."""

    def __init__(self, keep: int, combinations: int, public: bool) -> None:
        self.bounding = type("Bounding", (), {"keep_groups": keep})
        self.combinations = combinations
        self.public_keys = public


def expected(rows: list[tuple[int, int, int]], keep: int) -> set[tuple[int, int]]:
    groups: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for unit, group, h in rows:
        groups[unit].append((h, group))
    kept = set()
    for unit, held in groups.items():
        cut = sorted(h for h, _ in held)[keep] if len(held) > keep else None
        kept |= {(unit, group) for h, group in held if cut is None or h < cut}
    return kept


def answered(rows: list[tuple[int, int, int]], stage: Any) -> list[tuple[int, int]]:
    steps, kept = kept_groups(stage, ["g", "t0"])
    with duckdb.connect() as connection:
        u, g = (np.array([row[i] for row in rows]) for i in (0, 1))
        h = np.array([h for _, _, h in rows], dtype=np.uint64)
        connection.register("frame", {"u": u, "g": g, "h": h, "t0": 10_000 * u + g})
        connection.execute("CREATE TABLE a AS SELECT * FROM frame")
        text = f"WITH {', '.join(steps)} SELECT g, t0 FROM {kept}"
        return [((t0 - g) // 10_000, g) for g, t0 in connection.execute(text).fetchall()]


def world(seed: int) -> list[tuple[int, int, int]]:
    """Units with 1 to 40 groups; hashes of all sizes, some equal, some at the ends of the parts and of the range."""
    rng = random.Random(seed)
    ends = (0, *(end + k for end in (EIGHTH, QUARTER) for k in (-1, 0, 1)), LARGEST)
    rows = []
    for unit in range(40):
        wide = [rng.randrange(2**64) >> rng.choice((0, 0, 2, 3, 4)) for _ in range(40)]
        pool = [rng.choice(ends) if rng.random() < 0.2 else h for h in wide]
        if rng.random() < 0.3:
            pool = pool[: rng.randint(1, 4)] * 20  # many collisions
        rows += [(unit, group, rng.choice(pool)) for group in range(rng.randint(1, 40))]
    return rows


@pytest.mark.parametrize("keep", [1, 2, 4, 33, 100, 10**6])
@pytest.mark.parametrize("form", ["few public keys", "many public keys", "private keys"])
def test_each_form_keeps_the_same_groups(keep: int, form: str) -> None:
    stage = Stage(keep, MANY * keep + (form == "many public keys"), form != "private keys")
    for seed in range(8):
        rows = world(seed)
        found = answered(rows, stage)
        assert len(found) == len(set(found))
        assert set(found) == expected(rows, keep)
