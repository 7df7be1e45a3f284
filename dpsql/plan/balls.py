"""Balls: what one unit may add to a release, over all its groups together.

A unit's rows (or its groups) share one weight, which is a function of that unit's rows alone and is printed beside the sum
it limits (plan/render/ball.py). Nothing else limits a unit: no key, no cap of a group, no fact about a column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal as OneOf

WEIGHT_BITS = 20
FULL: int = 2**WEIGHT_BITS  # the weight of a row, or of a group, that counts in full
ROWS_LIMIT = 2**40  # no unit has more rows, so no larger radius means anything

Per = OneOf["rows", "groups", "values"]
Norm = OneOf[1, 2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ball:
    """Radius √squared. per: what is weighed, a unit's rows, its groups (unit, group), or the sizes |p| of its rows. norm: in
    which the radius holds: 1 for Laplace noise and for choices, 2 for Gaussian noise. A ball of one norm says nothing of the
    other; but a vector within a radius in norm 1 is within it in norm 2."""

    per: Per
    norm: Norm
    squared: int

    def reach(self, most: int) -> int:
        """⌈√squared · most · 2^20⌉: by how much one unit moves Σ w·p over all groups, |p| ≤ most, in the ball's norm.

        Lemma (norm 1, radius T): w = min(2^20, ⌊T·2^20/n⌋), n the number of the unit's rows that enter. Removing the unit
        moves (Σ w·p)_g by at most T·most·2^20 in ℓ1. Proof: exactly the unit's own terms go, since every weight is a
        function of one unit's rows. They add up to at most n·w·most: for n ≤ T that is n·2^20·most ≤ T·2^20·most, else
        n·⌊T·2^20/n⌋·most ≤ T·2^20·most. Keys, NULLs and the grouping are not mentioned.

        Lemma (norm 2, radius √R): with n_g of the unit's rows in group g and q = Σ n_g², w is 2^20 if q ≤ R, else an integer
        with w²·q ≤ R·2^40, or 0. Then the ℓ2 norm of what goes is at most √R·most·2^20. Proof: in group g it is at most
        n_g·w·most, so the norm is at most w·√q·most.

        A weight over groups is the same with each of the unit's groups for a row: its piece there counts once.

        Lemma (values, norm 1, radius T): w = min(2^20, ⌊T·2^20/s⌋), s = Σ|p| over the unit's rows that enter (1 if that is
        0). Then what goes is at most T·2^20 in ℓ1: it is at most w·s. Here the radius is in pieces, so most is 1.
        """
        exact = self.squared * (most * FULL) ** 2
        root = math.isqrt(exact)
        return root if root * root == exact else root + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Radius:
    """A limit in both norms: `most` in norm 1; in norm 2 the root of `squared`, which is most² unless more is declared."""

    per: Per
    most: int
    squared: int

    def ball(self, norm: Norm) -> Ball:
        return Ball(per=self.per, norm=norm, squared=self.most**2 if norm == 1 else self.squared)


def radius(per: Per, most: int, squared: int | None = None) -> Radius:
    """Limits that no unit can pass are the largest that mean anything."""
    most = min(most, ROWS_LIMIT)
    return Radius(per=per, most=most, squared=min(most**2 if squared is None else squared, ROWS_LIMIT**2))
