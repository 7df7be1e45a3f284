"""The public values among which an order statistic, a mode or a bin is found, and what is asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.domain.types import Atom

CANDIDATE_LIMIT = 2**16
WORD = 2**63  # the vault and release hold a place on the axis in 64 bits
PLACES = 2**62  # ends of an axis lie below, so a double rounds none of them to more than 64 bits


Rule = OneOf["between", "lower", "upper"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """The values below which `fractions` of the rows lie.

    rules: for each, what exact mode answers where it falls between two rows.
    rounds: of recursive halving, each of which pays for itself. spread: cells that one candidate is split into, so
    that equal values can be divided between the halves.
    """

    fractions: tuple[Fraction, ...]
    rules: tuple[Rule, ...]
    spread: int = 1

    @property
    def rounds(self) -> int:
        return len(set(self.fractions)).bit_length()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extreme:
    """The least (or greatest) candidate; noisily the one with about `rank` rows beyond it, see Draw.rank."""

    greatest: bool

    @property
    def rounds(self) -> int:
        return 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MostFrequent:
    """The `count` candidates with the most rows, one choice after the other."""

    count: int

    @property
    def rounds(self) -> int:
        return self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """Bounds of what units have: the least and the greatest, each a power of two times a typical size, or 0 where hardly
    anybody is on that side. limits: places on the axis, ascending, the first of them 0.

    A unit votes once, on the side of its value that is farthest from 0; candidates are the places of its vote: the first
    limit it is not beyond (or one more) on the positive side, then the same on the negative.
    """

    limits: tuple[int, ...]

    @property
    def rounds(self) -> int:
        return 1


Question = Quantiles | Extreme | MostFrequent | Ends


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """values: an explicit set, or None: `count` values low, low + cell, … on the value grid, the last one no more than high
    (a row counts for the nearest). edges: bins by their upper ends, on the value grid; the last holds what is above.
    """

    count: int
    cell: int = 1
    values: tuple[Atom, ...] | None = None
    edges: tuple[int, ...] | None = None
