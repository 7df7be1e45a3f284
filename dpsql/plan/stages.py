"""The ReleasePlan and its Stages: everything that will happen to private data, as inert, comparable values.

No backend's SQL is in here. Golden tests, the audit log and free repeats are built on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf

from dpsql.accounting.loss import Cost
from dpsql.domain.facts import Atom
from dpsql.domain.types import Type
from dpsql.errors import Span
from dpsql.ir.expr import Column, Expr
from dpsql.ir.nodes import Field, Node
from dpsql.plan.candidates import Bins, Candidates

GRID_LIMIT = 62  # totals and noise fit in 62 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One group key. values: its public key set in release order, or None when the key is private."""

    field: Field
    expr: Expr
    values: tuple[Atom, ...] | None
    integral: bool
    because: str


MeasureKind = OneOf["units", "rows", "sum", "centred", "square", "product", "distinct", "candidates", "groups"]
SUMS: tuple[MeasureKind, ...] = ("sum", "centred", "square", "product")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One integer measurement: what a unit adds to a group's total, and how much that can be.

    units:      1 if any of the unit's rows enters.
    rows:       the number of rows that enter, at most row_cap.
    sum:        Σ x_h, x_h the argument on its axis; scaled down past max_rows rows, or clamped as a whole to `clamp`.
    centred:    Σ z, z = 2·x_h − low − high; on the grid axis.step/2.
    square:     Σ (2·z² − width²), on the grid axis.step²/8.
    product:    Σ z·z′, z′ of the second axis; on the grid step·step′/4.
    distinct:   the number of different values of `parts` in the group; a unit contributes at most max_rows of them.
    groups:     nothing of its own: which groups are released at all (TopGroups).
    candidates: a weight for each candidate (2^-20 of a row); a unit's add up to at most max_rows rows.

    A row enters when `where` is true, `axis` is not NULL and neither is anything in `needs`. step is the value of one
    integer in the user's units. row_bound is the most one row adds; sensitivity the most one unit adds to one group
    (candidates: in sum over them), both in integers.
    """

    kind: MeasureKind
    name: str
    real: Field  # the released value in the user's units, as a real
    whole: Field  # the same, rounded to the type's own unit: an integer, or a decimal
    axis: Axis | None = None
    second: Axis | None = None  # product's other factor
    needs: tuple[Expr, ...] = ()  # what must not be NULL either
    parts: tuple[Expr, ...] = ()  # distinct's expressions
    candidates: Candidates | None = None
    more: tuple[Field, ...] = ()  # what candidates with several answers release
    where: Expr | None = None
    step: Fraction = Fraction(1)
    clamp: tuple[int, int] | None = None
    row_cap: int = 0
    row_bound: int
    sensitivity: int
    because: str = ""

    @property
    def chosen(self) -> bool:
        """Whether permute-and-flip answers it: no number with noise."""
        return self.candidates is not None and not isinstance(self.candidates.question, Bins)

    @property
    def apart(self) -> bool:
        """Whether it has a vault query of its own."""
        return self.kind in ("distinct", "candidates")

    @property
    def summed(self) -> bool:
        """Whether the stage's own query answers it."""
        return not self.apart and self.kind != "groups"

    @property
    def answers(self) -> int:
        return 1 if self.candidates is None else self.candidates.question.answers

    @property
    def weight(self) -> int:
        """How many shares of an equally split ε it takes."""
        if self.candidates is None or self.kind == "groups":
            return 1
        return self.candidates.question.levels

    def columns(self, j: int) -> tuple[str, ...]:
        """The names of its columns in the noisy table, j its position in the stage."""
        return (f"m{j}",) if self.candidates is None else tuple(f"m{j}_{i}" for i in range(self.answers))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How one measurement is made noisy.

    The total (an integer on the value grid) goes to the noise grid step·2^shift; its sensitivity there is `sensitivity`
    per group, and `scale` (b or σ) is an integer there too. epsilon or rho is this measurement's share.
    mechanism "none": sensitivity 0, the constant 0; "exact": no noise at all (testing.exact alone makes it);
    "permute-and-flip": no number is added, one candidate is chosen for each of the measure's levels, each with
    epsilon ÷ levels; rank is how far from the end MIN and MAX look, in weights.
    """

    mechanism: OneOf["laplace", "gaussian", "none", "exact", "permute-and-flip"]
    shift: int
    sensitivity: int
    scale: int
    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    rank: int = 0

    @property
    def grid(self) -> Fraction:
        """Value-grid integers in one noise-grid integer."""
        return Fraction(2) ** self.shift


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Release a private key when its noisy unit count, in grid integers, is at least `at_least`."""

    measure: int  # position of the unit count among the stage's measures
    at_least: int
    units: Fraction  # the same in units
    delta: Fraction
    min_units: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounding:
    """What is enforced of one unit: which steps of A and B are needed, and the caps."""

    max_groups: int  # L0: what the noise pays for
    max_rows: int
    keep_groups: int  # stage B keeps at most this many; equals max_groups unless B is skipped
    skip_a: bool
    skip_b: bool
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One grouping set of several: family is the number of the first one's stage, keys the positions of its keys."""

    family: int
    keys: tuple[int, ...]


FAN_OUT_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class FanOut:
    """How many rows of loads[index] one private row can meet in a join, at most FAN_OUT_LIMIT: those with equal keys."""

    index: int
    keys: tuple[Expr, ...]
    at: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One release: input rows, group keys, measures, noise; then `outputs`, expressions over key and measure columns.

    noises and threshold are filled in by step 7 (measure)."""

    number: int
    input: Node
    unit: Column
    loads: tuple[Node, ...]  # public relations that scratch computes and the vault holds, by Loaded.index
    tables: tuple[str, ...]
    keys: tuple[Key, ...]
    bounding: Bounding
    measures: tuple[Measure, ...]
    outputs: tuple[tuple[Field, Expr], ...]  # what Noisy(number) shows: the keys, then the aggregates
    min_units: int = 0
    level: Level | None = None
    fan_outs: tuple[FanOut, ...] = ()
    # values that outputs are made of beside the measures: levels, each reading those before it
    steps: tuple[tuple[tuple[Field, Expr], ...], ...] = ()
    noises: tuple[Noise, ...] = ()  # one for each measure
    threshold: Threshold | None = None

    @property
    def public_keys(self) -> bool:
        return all(key.values is not None for key in self.keys)

    @property
    def top(self) -> int | None:
        """The position of the measure that decides which groups are released, if one does."""
        return next((j for j, m in enumerate(self.measures) if m.kind == "groups"), None)

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
class ReleasePlan:
    """Stages in order, then one query over their noisy tables.

    columns: the result's names and types where they are known before scratch has seen the query.
    settings: ε, δ, mechanism … as they were asked for. ends: columns of the result that are ends of others' intervals.
    """

    stages: tuple[Stage, ...]
    final: Node
    cost: Cost
    dataset: str
    unit: str
    accounting: str
    settings: Mapping[str, Atom] = field(default_factory=lambda: MappingProxyType({}))
    ends: frozenset[int] = frozenset()
    exact: bool = False

    @property
    def columns(self) -> tuple[tuple[str, Type], ...]:
        return tuple((f.name, f.type) for f in self.final.fields)
