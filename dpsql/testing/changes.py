"""What removing a unit changed in the totals of a stage, beside what the plan declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from dpsql.plan.stages import NoisyStage
from dpsql.privacy.parts import KEYS
from dpsql.testing.measurements import (
    Reach,
    Totals,
    by_group,
    cumulative,
    max_groups,
    measured,
    reaches,
    size,
    wrong_own_keys,
)

SALT = 20_261_118


class Declared(dict[str, int]):
    """What the plan declares: by measurement the most that one unit changes over all groups, in its norm; in how many
    groups at most."""

    def __init__(self, reaches: Mapping[str, Reach], *, max_groups: int, stage: int) -> None:
        super().__init__({name: reach.most for name, reach in reaches.items()})
        self.max_groups = max_groups
        self.stage = stage


class Replayed(NamedTuple):
    """What removing one unit changed: in how many groups, and each measurement over all of them, in its norm.

    changes and declared are in the plan's noise-grid integers, by measurement name. failure: what went wrong besides: an
    error on one side, another plan, totals that show an order or an orphan. unit is None where it concerns nobody alone.
    """

    unit: object
    changed_groups: int
    changes: Mapping[str, int]
    declared: Declared
    failure: str = ""

    @property
    def holds(self) -> bool:
        """Whether the run kept what the plan declares."""
        return (
            not self.failure
            and self.changed_groups <= self.declared.max_groups
            and all(self.changes[name] <= most for name, most in self.declared.items())
        )


def compare(unit: object, stage: NoisyStage, full: Totals, without: Totals, salt: int = SALT) -> Replayed:
    """What differs between the totals on two neighbouring databases."""
    declared, along = reaches(measured(stage, salt)), cumulative(stage)
    changes: dict[str, int] = {}
    groups = full.groups ^ without.groups
    failure = wrong_own_keys(stage, full, without, groups) if groups else ""
    for name, reach in declared.items():
        before, after = full.named[name], without.named[name]
        if (
            name.startswith(KEYS) or full.by_key
        ):  # keys of one side alone are withheld by the threshold, not hidden by the noise
            alone = full.groups ^ without.groups
            before, after = ({cell: n for cell, n in side.items() if cell[0] not in alone} for side in (before, after))
        changes[name] = size(before, after, reach.norm)
        moved = by_group(before, after)
        groups |= moved.keys() if name not in along else set()
        if reach.each is not None and max(moved.values(), default=0) > reach.each:
            failure = f"{name} changes by {max(moved.values())} in one group, declared are {reach.each}"
    return Replayed(
        unit=unit,
        changed_groups=len(groups),
        changes=changes,
        declared=Declared(declared, max_groups=max_groups(stage), stage=stage.number),
        failure=failure,
    )


def failure_of(unit: object, stage: NoisyStage, what: str) -> Replayed:
    declared = Declared(reaches(stage), max_groups=max_groups(stage), stage=stage.number)
    return Replayed(unit, 0, dict.fromkeys(declared, 0), declared, what)


def first_difference(one: Totals, other: Totals) -> str:
    """The first thing in which two runs differ that should not."""
    if one.groups != other.groups:
        return "other groups"
    for name, totals in one.named.items():
        cells = totals.keys() | other.named[name].keys()
        moved = {cell: (totals.get(cell), other.named[name].get(cell)) for cell in cells}
        different = {cell: pair for cell, pair in moved.items() if pair[0] != pair[1]}
        if different:
            return f"{name} differs: {dict(list(different.items())[:3])}"
    return "nothing"
