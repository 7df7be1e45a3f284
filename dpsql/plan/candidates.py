"""What is asked of a group's candidates: an order statistic, the most frequent values, or a histogram.

The vault answers a weight for each candidate; permute-and-flip (or, for bins, additive noise) does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.domain.facts import Atom

WEIGHT = 2**20  # a row's weight: the grid that a unit's scaled rows are counted on
CANDIDATE_LIMIT = 2**16
WORD = 2**63  # the vault and release hold a place on the axis in 64 bits
PLACES = 2**62  # ends of an axis lie below, so a double rounds none of them to more than 64 bits


Rule = OneOf["between", "lower", "upper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """The values below which `fractions` of the rows lie.

    rules: for each, what exact mode answers where it falls between two rows.
    levels: rounds of recursive halving, each of which pays for itself. spread: cells that one candidate is split into, so
    that equal values can be divided between the halves.
    """

    fractions: tuple[Fraction, ...]
    rules: tuple[Rule, ...]
    spread: int = 1

    @property
    def levels(self) -> int:
        return len(set(self.fractions)).bit_length()

    @property
    def answers(self) -> int:
        return len(self.fractions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """The least (or greatest) candidate; noisily the one with about `rank` rows beyond it, see Noise.rank."""

    greatest: bool

    @property
    def levels(self) -> int:
        return 1

    @property
    def answers(self) -> int:
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MostFrequent:
    """The `count` candidates with the most rows, one choice after the other."""

    count: int

    @property
    def levels(self) -> int:
        return self.count

    @property
    def answers(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """How many rows each candidate has; additive noise, one draw for each bin."""

    count: int

    @property
    def levels(self) -> int:
        return 1

    @property
    def answers(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class TopGroups:
    """The `count` groups of the stage with the most rows or units: a choice among groups, by the totals of a measure."""

    count: int
    measure: int

    @property
    def levels(self) -> int:
        return self.count

    @property
    def answers(self) -> int:
        return 0


Question = Quantiles | Extreme | MostFrequent | Bins | TopGroups


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The public values among which one is chosen.

    values: an explicit set, or None: `count` values low, low + cell, … on the value grid, the last one no more than high
    (a row counts for the nearest). edges: bins by their upper ends, on the value grid; the last holds what is above.
    """

    question: Question
    count: int
    cell: int = 1
    values: tuple[Atom, ...] | None = None
    edges: tuple[int, ...] | None = None
