"""Measurements: what a release asks of its rows, as a union of seven types. Each is a vector of integer totals over groups.

A total is Σ w·p: p an integer piece of each row (or of each unit's rows in a group), w its unit's weight (plan/balls.py).
How far one unit moves it is said once for each type, in privacy/sensitivity.py, and printed by plan/render/.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal as OneOf
from typing import assert_never

from dpsql.ir.expr import Expr
from dpsql.ir.nodes import Field
from dpsql.plan.balls import Per
from dpsql.plan.candidates import Candidates, Ends, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A measured expression on its value grid: integers x_h from low to high, x ≈ x_h·step."""

    arg: Expr
    step: Fraction
    low: int
    high: int

    @property
    def width(self) -> int:
        return self.high - self.low

    @property
    def most_centred(self) -> int:
        """The most that z = 2·x_h − low − high is; at least 1, to divide by."""
        return max(1, self.width)


@dataclass(frozen=True, slots=True)
class One:
    """Each row counts one."""


@dataclass(frozen=True, slots=True)
class OnAxis:
    """x_h, the row's integer on an axis."""

    axis: Axis


@dataclass(frozen=True, slots=True)
class Product:
    """z·z′, both centred; on the grid step·step′/4."""

    axis: Axis
    second: Axis


Piece = One | OnAxis | Product


def most(piece: Piece) -> int:
    """The largest |p|."""
    match piece:
        case One():
            return 1
        case OnAxis(axis=axis):
            return max(abs(axis.low), abs(axis.high))
        case Product(axis=axis, second=second):
            return axis.width * second.width
        case _:
            assert_never(piece)


def step_of(piece: Piece) -> Fraction:
    """One integer in the user's units."""
    match piece:
        case One():
            return Fraction(1)
        case OnAxis(axis=axis):
            return axis.step
        case Product(axis=axis, second=second):
            return axis.step * second.step / 4
        case _:
            assert_never(piece)


def axes_of(piece: Piece) -> tuple[Axis, ...]:
    match piece:
        case One():
            return ()
        case OnAxis(axis=axis):
            return (axis,)
        case Product(axis=axis, second=second):
            return (axis, second)
        case _:
            assert_never(piece)


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A released number: as a real in the user's units, and rounded to its type's own unit (an integer, or a decimal)."""

    real: Field
    whole: Field


@dataclass(frozen=True, slots=True)
class Slice:
    """The rows whose `number` is `which`, of 0 … of − 1; a row is in one at most. Those of one number are one vector."""

    number: Expr
    which: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTotal:
    """Σ p over rows: a count, a sum, a sum of products. A row enters when `where` is true and neither an axis nor anything
    in `needs` is NULL. within: instead of by how many rows it has, a unit is limited by its Σ|p| over all groups."""

    name: str
    piece: Piece
    needs: tuple[Expr, ...] = ()
    where: Expr | None = None
    slice: Slice | None = None
    within: int | None = None
    answer: Number
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowMoments:
    """Count, sum and (degree 2) sum of squares of one axis, over the rows that enter.

    With z = 2·x_h − low − high and H = max(1, high − low), |z| ≤ H:
    centred: Σ w, Σ w·z and Σ w·(2z² − H²), each a total with noise of its own;
    by ends: Σ w·(H+z) and Σ w·(H−z), or the three Bernstein polynomials (H−z)², 2(H²−z²), (H+z)², none of them negative:
    their sum is 2H (or 4H²) in every row, so all of them together pay once.

    first: Σ z·step/2, the sum less the middle of the bounds times the count. second: Σ (z² − H²/2)·step²/4.
    """

    name: str
    axis: Axis
    degree: int
    needs: tuple[Expr, ...] = ()
    where: Expr | None = None
    slice: Slice | None = None
    count: Number
    total: Number
    first: Field
    second: Field | None = None
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTotal:
    """Σ over units of what a unit's rows in a group add up to, within `clamp`; 0 where none enters. One within (0, 1) counts
    units."""

    name: str
    piece: One | OnAxis
    clamp: tuple[int, int]
    needs: tuple[Expr, ...] = ()
    where: Expr | None = None
    answer: Number
    because: str = ""

    @property
    def counts_units(self) -> bool:
        return isinstance(self.piece, One) and self.clamp == (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctCount:
    """How many different values of `parts` a group has, or (axis) what those there add up to, each once; a unit gives at
    most `most`, over all groups, and at most `in_group` to one of them. largest: what one adds at most."""

    name: str
    parts: tuple[Expr, ...]
    most: int
    in_group: int
    axis: Axis | None = None
    where: Expr | None = None
    answer: Number
    because: str = ""

    @property
    def largest(self) -> int:
        """At least 1: noise needs a scale where every value is 0, too."""
        return 1 if self.axis is None else max(1, abs(self.axis.low), abs(self.axis.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Candidates are chosen by their weights: the rows that lie nearest to each. axis or part: what a row is compared by."""

    name: str
    question: Question
    candidates: Candidates
    axis: Axis | None = None
    part: Expr | None = None
    where: Expr | None = None
    answers: tuple[Field, ...]
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many rows each candidate has, one noisy total each."""

    name: str
    candidates: Candidates
    axis: Axis | None = None
    part: Expr | None = None
    where: Expr | None = None
    answers: tuple[Field, ...]
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopGroups:
    """Which `count` groups are released: a choice by how many rows (or units) each has."""

    name: str
    count: int
    per: Per
    groups: int  # among how many
    needs: tuple[Expr, ...] = ()
    where: Expr | None = None
    because: str = ""


Summed = RowTotal | RowMoments | UnitTotal | DistinctCount
Counted = Choice | Histogram  # per candidate
Measurement = Summed | Counted | TopGroups


def limited_by(one: Measurement) -> Per | OneOf["votes"]:
    """What of a unit is limited: its rows, the groups in which it counts as one, or the sizes of its values; nothing where
    it has one vote."""
    match one:
        case Choice(question=Ends()):
            return "votes"
        case RowTotal(within=within) if within is not None:
            return "values"
        case UnitTotal():
            return "groups"
        case TopGroups(per=per):
            return per
        case _:
            return "rows"


def shares(one: Measurement) -> int:
    """How many parts of an equally split ε it takes: one, or one for each choice that is made after the other."""
    match one:
        case Choice(question=question):
            return question.rounds
        case TopGroups(count=count):
            return count
        case _:
            return 1


def is_chosen(one: Measurement) -> bool:
    """Whether a choice among candidates answers it: no number with noise."""
    return isinstance(one, Choice | TopGroups)


def axes(one: Measurement) -> tuple[Axis, ...]:
    """The axes it is measured on, the first of which its bounds are said of."""
    match one:
        case RowTotal() | UnitTotal():
            return axes_of(one.piece)
        case RowMoments():
            return (one.axis,)
        case Choice() | Histogram() | DistinctCount():
            return () if one.axis is None else (one.axis,)
        case TopGroups():
            return ()
        case _:
            assert_never(one)


def answers(one: Measurement) -> tuple[Field, ...]:
    """The columns that expressions over it read."""
    match one:
        case RowTotal() | UnitTotal() | DistinctCount():
            return one.answer.real, one.answer.whole
        case RowMoments():
            numbers = (one.count.real, one.count.whole, one.total.real, one.total.whole, one.first)
            return numbers if one.second is None else (*numbers, one.second)
        case Choice() | Histogram():
            return one.answers
        case TopGroups():
            return ()
        case _:
            assert_never(one)
