"""The ReleasePlan and its Stages: everything that will happen to private data, as inert, comparable values.

No backend's SQL is in here. Golden tests, the audit log and free repeats are built on it.

    Stage       what is asked (step 6): certified rows, groups, radii, measurements
    NoisyStage  the same with the noise of each measurement, and how private keys are selected (step 7)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf

from dpsql.accounting.loss import Cost
from dpsql.domain.interval import Interval
from dpsql.domain.types import Atom, Type
from dpsql.errors import Span
from dpsql.ir.expr import Expr
from dpsql.ir.nodes import Field, Node
from dpsql.plan.balls import Norm, Radius
from dpsql.plan.measurements import Measurement
from dpsql.plan.noised import GRID_LIMIT as GRID_LIMIT
from dpsql.plan.noised import After as After
from dpsql.plan.noised import Draw as Draw
from dpsql.plan.noised import Form as Form
from dpsql.plan.noised import Noised as Noised
from dpsql.plan.noised import Running as Running
from dpsql.plan.proof import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One group key. values: its public key set in release order, or None when the key is private."""

    field: Field
    expr: Expr
    values: tuple[Atom, ...] | None
    integral: bool
    because: str
    at: Span | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """How private keys are selected: units vote, and a key is released when its noisy votes are at least `at_least`.

    A unit with g ≤ most groups gives each of them votes[g − 1] = ⌊2^bits/g⌋ (norm 1) or ⌊2^bits/√g⌋ (norm 2); one with more
    does not vote. Everything is in integers of 2^-bits of a unit. delta: that a key which one unit alone holds shows.
    """

    draw: Draw
    bits: int
    votes: tuple[int, ...]
    at_least: int
    delta: Fraction
    min_units: int = 0

    @property
    def units(self) -> Fraction:
        """The threshold in units that see no other group."""
        return Fraction(self.at_least, 2**self.bits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One grouping set of several: family is the number of the first one's stage, keys the positions of its keys."""

    family: int
    keys: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NonNegative:
    """A count that is shown as one of whole numbers from 0 on (release/nonnegative.py). position: of its measurement; count:
    the answer it is made of, which keeps its noise; shown: what the stage's outputs read instead. slack: by how many rows
    making levels consistent may have moved the count besides."""

    position: int
    count: Field
    shown: Field
    slack: int = 0

    @property
    def column(self) -> str:
        """Its name in the noisy table."""
        return f"w{self.position}"


FAN_OUT_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class FanOut:
    """How many rows of loads[index] one private row can meet in a join, at most FAN_OUT_LIMIT: those with equal keys."""

    index: int
    keys: tuple[Expr, ...]
    at: Span | None = dataclasses.field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What is enforced of one unit. rows, groups: its radii. said: the numbers they were made of. auto: those that the data
    choose, until they have."""

    rows: Radius
    groups: Radius
    auto: frozenset[OneOf["rows", "groups"]] = frozenset()
    said: Mapping[str, int] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    because: str = ""


Chosen = OneOf["rows", "groups"] | int


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitChoice:
    """One limit that is chosen. of: what is limited, a unit's rows or groups, or (a number) the sizes of the values of the
    stage's measurement there. candidates: the limits it is chosen from, ascending.

    A candidate's score is −max(0, N − tolerated) − step·i, N the number of units above the limit, i its position. Filled in
    by privacy/measure.py: the draw, `step`, and `tolerated`, a number of units for each group; fading: so many at the
    smallest candidate, half as many at one twice as large. norm: in which a unit's rows are limited. as_in: the stage whose
    choice of the same this one takes over (grouping sets have one limit), at no cost. chosen: the candidate, once it is
    released.
    """

    of: Chosen
    candidates: tuple[int, ...]
    draw: Draw = Draw(mechanism="none")
    step: int = 0
    tolerated: Fraction = Fraction(0)
    fading: bool = False
    norm: Norm = 1
    as_in: int | None = None
    chosen: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLimit:
    """How many units are over a limit of the stage, and how many are not: two whole numbers, each with the draw's noise. of:
    as in LimitChoice; norm: in which a unit's rows are limited."""

    of: Chosen
    draw: Draw
    norm: Norm = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One release: certified rows, group keys, measurements; then `outputs`, expressions over key and answer columns.

    choices: limits that the data choose; until then those of `limit` and of the measurements are the smallest candidates."""

    number: int
    source: Source
    loads: tuple[Node, ...]  # public relations that scratch computes and the vault holds, by Loaded.index
    tables: tuple[str, ...]
    keys: tuple[Key, ...]
    limit: Limit
    measurements: tuple[Measurement, ...]
    choices: tuple[LimitChoice, ...] = ()
    outputs: tuple[tuple[Field, Expr], ...]  # what Noisy(number) shows: the keys, then the aggregates
    min_units: int = 0
    level: Level | None = None
    fan_outs: tuple[FanOut, ...] = ()
    # values that outputs are made of beside the answers, in layers that each read those before
    steps: tuple[tuple[tuple[Field, Expr], ...], ...] = ()
    notes: tuple[str, ...] = dataclasses.field(default=(), compare=False)  # what a reader of the answer must know
    bounds: tuple[
        tuple[str, str, Interval], ...
    ] = ()  # of columns (table, column) that the data chose: scans clamp to them

    @property
    def unsettled(self) -> bool:
        """Whether a limit has still to be chosen."""
        return any(choice.chosen is None for choice in self.choices)

    @property
    def public_keys(self) -> bool:
        return all(key.values is not None for key in self.keys)

    @property
    def is_empty(self) -> bool:
        """A public key set without a single key (a contradictory filter): nothing can ever be released."""
        return self.combinations == 0

    @property
    def combinations(self) -> int:
        """Number of public key combinations (1 without keys); private keys count as one."""
        count = 1
        for key in self.keys:
            count *= 1 if key.values is None else len(key.values)
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyStage(Stage):
    """noised: one for each measurement. selections: where keys are private, the rounds in which they are selected; in each,
    units vote for those of their keys that were not released before. over: what is asked about units over its limits.
    nonnegative: what becomes of counts after release."""

    noised: tuple[Noised, ...]
    selections: tuple[Selection, ...] = ()
    over: tuple[OverLimit, ...] = ()
    nonnegative: tuple[NonNegative, ...] = ()

    @property
    def selection(self) -> Selection | None:
        """The last round: what rare keys need."""
        return self.selections[-1] if self.selections else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A measurement's (or the selection of keys') part of ε, where the query divides it, for these columns of the result."""

    name: str
    columns: tuple[str, ...]
    part: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """A release that comes before the query, and decides what its plan is: it chooses the bounds of a column (table,
    column), or, column None, the limits of the query's stages."""

    plan: ReleasePlan
    column: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """Stages in order, then one query over their noisy tables.

    columns: the result's names and types where they are known before scratch has seen the query.
    settings: ε, δ, mechanism … as they were asked for. ends: columns of the result that are ends of others' intervals.
    confidence: of these intervals, and narrow the same plan without them. before: what has to be chosen first.
    """

    stages: tuple[NoisyStage, ...]
    final: Node
    cost: Cost
    dataset: str
    unit: str
    accounting: str
    settings: Mapping[str, Atom] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    ends: frozenset[int] = frozenset()
    exact: bool = False
    proof: bool = False
    split: tuple[Share, ...] = ()
    confidence: Fraction | None = None
    narrow: ReleasePlan | None = None
    before: tuple[Before, ...] = ()

    @property
    def whole_cost(self) -> Cost:
        """With the choices that come first."""
        return sum((first.plan.cost for first in self.before), self.cost)

    @property
    def columns(self) -> tuple[tuple[str, Type], ...]:
        return tuple((f.name, f.type) for f in self.final.fields)
