"""Levels of grouping sets, as they stand to one another."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.plan.stages import Stage


def public_levels(stage: Stage, stages: Sequence[Stage]) -> list[Stage]:
    """The levels of the stage's family whose keys are all public: those that are made consistent."""
    if stage.level is None:
        return []
    return [s for s in stages if s.level is not None and s.level.family == stage.level.family and s.public_keys]


def runs(stage: Stage, stages: Sequence[Stage]) -> int:
    """Of how many runs of leaves, each rounded to less than 1, a level's groups are made; 0 where there are no levels."""
    levels = public_levels(stage, stages)
    if stage.level is None or not stage.public_keys or len(levels) == 1:
        return 0
    leaves = max(levels, key=lambda s: len(s.keys))
    assert leaves.level is not None
    kept = [number in stage.level.keys for number in leaves.level.keys]
    last = max((i for i, is_kept in enumerate(kept) if is_kept), default=0)
    return math.prod(
        len(key.values or ()) for key, is_kept in zip(leaves.keys[:last], kept, strict=False) if not is_kept
    )
