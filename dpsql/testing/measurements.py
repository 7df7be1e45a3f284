"""What one run of a stage measured, as plain numbers, and how much of it one unit may change.

The only place of the judge that knows the shapes of stages and of exact totals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Literal

import numpy as np

from dpsql.errors import InternalError
from dpsql.plan.stages import Stage
from dpsql.release import Exact, apart_of, columns_of

Group = tuple[object, ...]
Cell = tuple[Group, int]  # a group and a candidate in it; 0 where there are no candidates


@dataclass(frozen=True, slots=True)
class Totals:
    """groups: those that occur. named: each measurement's integers on the noise grid, by group and candidate; what is not
    there is 0."""

    groups: frozenset[Group]
    named: Mapping[str, Mapping[Cell, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one unit may change: over all groups and candidates together, in norm 1 or 2 (squared: of that), and in one
    group (in sum over its candidates), where that has a limit of its own."""

    norm: Literal[1, 2]
    squared: int
    each: int | None = None

    @property
    def most(self) -> int:
        """Over all groups, rounded up: norms of integers are compared with it after rounding up as well, which keeps the
        order."""
        return _root(self.squared)


def measured(exact: Exact, stage: Stage) -> Totals:
    columns = columns_of(exact)
    keys = [name for name in columns if name == "g" or name.startswith("k")]
    values = {name: np.ma.asarray(column).tolist() for name, column in columns.items()}
    groups: list[Group] = [tuple(values[name][row] for name in keys) for row in range(len(columns["here"]))]
    if len(set(groups)) < len(groups):
        raise InternalError("the vault answered twice for one group")
    named: dict[str, Mapping[Cell, int]] = {}
    for j, (name, measure) in enumerate(zip(names(stage), stage.measures, strict=True)):
        if measure.summed:
            named[name] = {(group, 0): int(m) for group, m in zip(groups, values[f"m{j}"], strict=True)}
        elif measure.apart:
            named[name] = _apart(exact, stage, j, groups)
        else:
            named[name] = {}  # TopGroups measures nothing of its own
    return Totals(frozenset(groups), named)


def _apart(exact: Exact, stage: Stage, j: int, groups: list[Group]) -> dict[Cell, int]:
    """A measure with a query of its own: groups by their place in the stage's answer, or by their public ordinal."""
    answer = {name: column.tolist() for name, column in apart_of(exact)[j].items()}
    by_ordinal = stage.public_keys and bool(stage.keys)
    places = {group[0] if by_ordinal else row: group for row, group in enumerate(groups)}
    candidates = answer.get("v", [0] * len(answer["i"]))
    return {(places[i], v): int(m) for i, v, m in zip(answer["i"], candidates, answer["m"], strict=True) if i in places}


def reaches(stage: Stage) -> dict[str, Reach]:
    """A unit's rows are in at most max_groups groups, and change each by at most the noise's sensitivity; where groups
    are chosen (top_k) in all of them: the choice weighs what one unit changes in each, and only the chosen are measured."""
    found: dict[str, Reach] = {}
    for name, noise in zip(names(stage), stage.noises, strict=True):
        if noise.mechanism == "gaussian":
            squared = max_groups(stage) * noise.sensitivity**2
            found[name] = Reach(norm=2, squared=squared, each=noise.sensitivity)
        else:
            squared = (max_groups(stage) * noise.sensitivity) ** 2
            found[name] = Reach(norm=1, squared=squared, each=noise.sensitivity)
    return found


def max_groups(stage: Stage) -> int:
    """In how many groups one unit's totals may differ."""
    return stage.bounding.max_groups if stage.top is None else stage.combinations


def numbering_shows(stage: Stage) -> bool:
    """Whether totals depend on which unit is which: hashes of unit and group choose the groups that are kept. Then rows
    as units may not be renumbered between two runs."""
    return not stage.bounding.skip_b or any(measure.kind == "distinct" for measure in stage.measures)


def size(before: Mapping[Cell, int], after: Mapping[Cell, int], norm: Literal[1, 2]) -> int:
    """The norm of the difference, rounded up."""
    differences = [abs(before.get(cell, 0) - after.get(cell, 0)) for cell in before.keys() | after.keys()]
    return sum(differences) if norm == 1 else _root(sum(d * d for d in differences))


def by_group(before: Mapping[Cell, int], after: Mapping[Cell, int]) -> dict[Group, int]:
    """What differs in each group, in sum over its candidates; groups without a difference are left out."""
    found: dict[Group, int] = {}
    for cell in before.keys() | after.keys():
        difference = abs(before.get(cell, 0) - after.get(cell, 0))
        if difference:
            found[cell[0]] = found.get(cell[0], 0) + difference
    return found


def names(stage: Stage) -> list[str]:
    """The measurements' names, told apart where two are called the same."""
    found: list[str] = []
    for measure in stage.measures:
        twins = sum(name.split(" #")[0] == measure.name for name in found)
        found.append(f"{measure.name} #{twins + 1}" if twins else measure.name)
    return found


def _root(square: int) -> int:
    root = isqrt(square)
    return root + (root * root < square)
