"""The fingerprint of a plan: equal for plans that ask the same of the same data."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from dpsql.ir.expr import Column
from dpsql.ir.nodes import Field, Noisy, UserTable, walk
from dpsql.plan.measurements import Choice, DistinctCount, Histogram, RowMoments, RowTotal, TopGroups, UnitTotal
from dpsql.plan.proof import Source
from dpsql.plan.stages import Key, Limit, ReleasePlan, Stage

MEASUREMENTS = (RowTotal, RowMoments, UnitTotal, DistinctCount, Choice, Histogram, TopGroups)
WORDS: Mapping[type, tuple[str, ...]] = {
    **dict.fromkeys(MEASUREMENTS, ("name", "because")),
    Key: ("because",),
    Limit: ("because", "said"),
    Source: ("proof", "ranges"),
}
"""Fields that are words for the reader, or follow from others: they decide nothing."""


def plan_fingerprint(plan: ReleasePlan, contents: Mapping[str, str] | None = None) -> str:
    """SHA-256 of the canonical form of the stages: inputs, keys, measures, caps, noise, cost.

    What scratch does with the released rows is not part of it, nor are names and aliases: two statements with one
    fingerprint release the same, so the rows of one serve the other. contents: a digest of each user's table that a
    stage reads.
    """
    form = Canonical(read=_stages_read(plan)).of(
        (plan.dataset, plan.unit, plan.accounting, plan.exact, plan.cost, plan.stages)
    )
    text = json.dumps([form, sorted((contents or {}).items())], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def user_tables_of(plan: ReleasePlan) -> tuple[str, ...]:
    """The user's tables whose rows the vault is handed."""
    loads = (node for stage in plan.stages for load in stage.loads for node in walk(load))
    return tuple(dict.fromkeys(node.table for node in loads if isinstance(node, UserTable)))


def _stages_read(plan: ReleasePlan) -> frozenset[int]:
    """The stages whose outputs a later stage reads; those of the others concern scratch alone."""
    loads = (node for stage in plan.stages for load in stage.loads for node in walk(load))
    return frozenset(node.stage for node in loads if isinstance(node, Noisy))


@dataclass(slots=True)
class Canonical:
    """Plain lists in which different stages stay different, and only ids and names do not count.

    Lemma: with ids replaced by the number of their first occurrence, in one fixed order of walking, two plans have the
    same form exactly when one becomes the other by renaming ids one to one. Proof: equal forms pair the ids occurring at
    equal places, and a first occurrence on one side is one on the other, so the pairing is a bijection.
    """

    read: frozenset[int]
    numbers: dict[int, int] = field(default_factory=dict)

    def of(self, value: object) -> object:
        match value:
            case None | bool() | str():
                return value
            case int() | float() | Fraction():
                return [type(value).__name__, repr(value)]
            case Enum():
                return [type(value).__name__, value.name]
            case Field() | Column():
                return [type(value).__name__, self._number(value.id), self.of(value.type)]
            case UserTable():
                fields = [[f.name, self.of(f)] for f in value.fields]  # its columns are read by name
                return ["UserTable", value.table, fields]
            case tuple() if set(map(type, value)) == {int}:  # key sets may have a million values
                return ["int", repr(value)]
            case tuple() | list():
                return [self.of(item) for item in value]
            case frozenset():
                return sorted(json.dumps(self.of(item)) for item in value)
            case Mapping():
                return [[self.of(key), self.of(item)] for key, item in value.items()]
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
                return [type(value).__name__, *self._fields(value)]
            case _:
                raise TypeError(f"a plan holds no {type(value).__name__}")

    def _fields(self, value: object) -> list[object]:
        left_out = WORDS.get(type(value), ())
        if isinstance(value, Stage) and value.number not in self.read:
            left_out = ("outputs", "steps", "nonnegative")
        names = [f.name for f in dataclasses.fields(value) if f.compare and f.name not in left_out]  # type: ignore[arg-type]  # it is one
        return [[name, self.of(getattr(value, name))] for name in names]

    def _number(self, id_: int) -> int:
        return self.numbers.setdefault(id_, len(self.numbers))
