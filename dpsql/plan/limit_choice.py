"""What a limit that the data chose makes of a stage."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import MappingProxyType

from dpsql.plan.balls import radius
from dpsql.plan.measurements import DistinctCount, Measurement, RowTotal, limited_by
from dpsql.plan.stages import Chosen, Limit, LimitChoice

BY_DATA = "chosen by the data"


def dependents(of: Chosen, measurements: Sequence[Measurement]) -> tuple[int, ...]:
    """The positions of the measurements that are limited by it."""
    if isinstance(of, int):
        return (of,)
    return tuple(j for j, one in enumerate(measurements) if limited_by(one) == of)


def with_limit(limit: Limit, choice: LimitChoice, chosen: int) -> Limit:
    """The stage's limit after the choice."""
    if isinstance(choice.of, int):
        return limit
    said, auto = MappingProxyType({**limit.said, choice.of: chosen}), limit.auto - {choice.of}
    if choice.of == "rows":
        return dataclasses.replace(limit, rows=radius("rows", chosen), auto=auto, said=said, because=BY_DATA)
    return dataclasses.replace(limit, groups=radius("groups", chosen, chosen), auto=auto, said=said)


def within_limit(one: Measurement, j: int, choice: LimitChoice, chosen: int) -> Measurement:
    """The measurement at j after the choice: its own radius, or how many different values of a unit are kept."""
    if isinstance(one, RowTotal) and choice.of == j:
        return dataclasses.replace(one, within=chosen)
    if isinstance(one, DistinctCount) and choice.of == "rows":
        return dataclasses.replace(one, most=chosen, in_group=chosen)
    return one
