"""What takes a share of a query's ε, and the noise of a selection of keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from dpsql.plan.balls import Norm
from dpsql.plan.measurements import Measurement
from dpsql.plan.stages import Draw, Stage

Accounting = OneOf["approx", "zcdp"]
Additive = OneOf["laplace", "gaussian"]
KEYS = "keys"
VOTES = 1024  # a unit with more groups does not vote


@dataclass(frozen=True, slots=True)
class Part:
    """Something that takes a share of ε: a measurement of a stage, or (None) the selection of its keys. norm, rounds: of its
    votes."""

    stage: int
    position: int | None
    norm: Norm = 1
    rounds: int = 1

    def measured(self, stages: Sequence[Stage]) -> Measurement | None:
        return None if self.position is None else stages[self.stage].measurements[self.position]

    def name(self, stages: Sequence[Stage]) -> str:
        one = self.measured(stages)
        return KEYS if one is None else one.name


@dataclass(frozen=True, slots=True)
class Votes:
    """A selection's noise, one draw for each round: votes are multiples of 2^-bits of a unit, which is the draw's reach."""

    draws: tuple[Draw, ...]
