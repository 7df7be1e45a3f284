"""A measurement with its noise: a part of what stages are made of (plan/stages.py)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf

from dpsql.mechanisms.prefix_sums import Strategy
from dpsql.plan.balls import FULL, Norm
from dpsql.plan.measurements import Measurement
from dpsql.plan.vault_query import total_name

GRID_LIMIT = 62  # totals and noise fit in 62 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How one vector of totals is made noisy, all its groups together.

    Totals (integers on the weighted value grid, 2^-20 of a piece) go to the noise grid, 2^shift of those. There one unit
    moves the vector by at most `reach` in `norm`, and `scale` (b or σ) is an integer too. epsilon or rho: what it costs.
    parts: more than 1 where the grid is whole pieces (privacy/whole_numbers.py): there b or σ is scale/parts.
    mechanism "none": reach 0, the constant 0; "summed": nothing is drawn of this level of grouping sets, it is the sum of
    its leaves (dpsql/release/consistency.py); "exact": no noise at all (testing.exact alone makes it);
    "permute-and-flip", under zcdp "exponential": no number is added, choices are made, each with epsilon ÷ shares; rank is
    how far from the end MIN and MAX look, in weights.
    """

    mechanism: OneOf["laplace", "gaussian", "none", "summed", "exact", "permute-and-flip", "exponential"]
    shift: int = 0
    norm: Norm = 1
    reach: int = 0
    scale: int = 0
    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    rank: int = 0
    parts: int = 1

    @property
    def steps(self) -> Fraction:
        """b or σ in noise-grid integers."""
        return Fraction(self.scale, self.parts)

    @property
    def grid(self) -> int:
        """Weighted integers in one noise-grid integer."""
        return 1 << self.shift


Form = OneOf["plain", "ends", "centred"]


@dataclass(frozen=True, slots=True)
class After:
    """The noise of a level's answers once levels are made consistent: `ratio` times the variance of its leaves' own."""

    draws: tuple[Draw, ...]
    ratio: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A total that is measured for its cumulative sums along an order (mechanisms/prefix_sums.py). lengths: how many values
    each of the stage's keys has. order: the keys it runs along, the first one first, each with the places of its values in
    that order; for each combination of the other keys it starts anew. shift: totals go to 2^shift weighted integers before
    the strategy's matrix is applied; the draw's own shift is of what the matrix makes of them."""

    strategy: Strategy
    lengths: tuple[int, ...]
    order: tuple[tuple[int, tuple[int, ...]], ...]
    shift: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Noised:
    """A measurement and its noise: a Draw for each of its totals. form: what the totals of moments are; by ends they are
    one vector, whose cost is the first draw's. after: in levels that are made consistent (privacy/levels.py). running: where
    its cumulative sums are measured; what is released of each group is then a whole number of pieces."""

    measurement: Measurement
    form: Form
    draws: tuple[Draw, ...]
    after: After | None = dataclasses.field(default=None, compare=False)
    running: Running | None = None

    @property
    def draw(self) -> Draw:
        return self.draws[0]

    @property
    def ball(self) -> Norm:
        """In which norm a unit is limited: what a matrix is applied to in norm 1, whatever the noise is."""
        return self.draw.norm if self.running is None else 1

    @property
    def asked(self) -> tuple[Draw, ...]:
        """The grids on which the vault answers."""
        if self.running is None:
            return self.draws
        return tuple(dataclasses.replace(draw, shift=self.running.shift) for draw in self.draws)

    def pieces(self, draw: Draw) -> Fraction:
        """One integer of the draw's grid, in pieces."""
        if self.running is None:
            return Fraction(draw.grid, FULL)
        return Fraction(draw.grid << self.running.shift, FULL * self.running.strategy.one)

    def columns(self, j: int, count: int | None = None) -> tuple[str, ...]:
        """The names of its columns in the noisy table, j its position in the stage; count: of answers that are no totals."""
        return tuple(total_name(j, i) for i in range(len(self.draws) if count is None else count))


def limited_in(measured: Iterable[Noised]) -> Norm:
    """The norm in which a unit's rows are limited, where one limit is for several measurements: the narrower one."""
    noises = list(measured)
    if any(one.running is not None for one in noises):
        return 1
    return max((one.draw.norm for one in noises), default=1)
