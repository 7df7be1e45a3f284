"""What is told of a plan: a tree of values, which report/from_plan.py makes of a ReleasePlan. EXPLAIN, `cur.privacy`, the
release record and its exports are printed from it. Numbers are in the user's units."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any
from typing import Literal as OneOf

from dpsql.domain.interval import Interval
from dpsql.domain.types import DATE, TIMESTAMP, Atom, Kind, Type
from dpsql.ir.expr import Literal
from dpsql.plan.balls import Norm
from dpsql.plan.dialects.literals import literal
from dpsql.plan.stages import LimitChoice, NoisyStage, ReleasePlan


@dataclass(frozen=True, slots=True)
class Bounds:
    """Declared bounds, or those that values are clipped to."""

    type: Type
    interval: Interval

    def __str__(self) -> str:
        return f"{shown(self.type, self.interval.lower)} to {shown(self.type, self.interval.upper)}"


def bounds_text(type_: Type, interval: Interval) -> str | None:
    return None if interval.lower is None and interval.upper is None else str(Bounds(type_, interval))


def shown(type_: Type, value: Fraction | None) -> str:
    """A value of a type as a reader writes it; None: no bound."""
    if value is None:
        return "…"
    if type_ in (DATE, TIMESTAMP):
        return literal(Literal(int(value), type_)).split("'")[1]
    number: Atom = int(value) if value.denominator == 1 else float(value)
    return str(number) if type_.kind is not Kind.BOOLEAN else str(bool(number))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cumulative:
    """A total that is measured for its cumulative sums. along: the keys by which they are ordered; strategy: what is
    measured in its place; half_width, rmse: of such a sum; plain_rmse: what it would be of sums of plain groups."""

    along: tuple[str, ...]
    strategy: str
    half_width: float
    rmse: float
    plain_rmse: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenAmong:
    """What a choice is made among: so many groups, values or candidates (apart: from one to the next, as a reader says it),
    in `rounds`; inside: how far from the end it is chosen, in rows."""

    count: int
    of: OneOf["groups", "values", "candidates"]
    apart: str = ""
    rounds: int = 1
    inside: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementReport:
    """One vector of noisy numbers, or a choice among candidates, whose figures are in rows; or (name "keys", position None)
    the selection of private keys, in units.

    sensitivity: the most one unit moves it by, over all groups together, in `norm`; scale: b of Laplace or σ of Gaussian
    noise; half_width: of a number's 95 % interval (a choice: of its rank). All in the user's units. A mean is measured by
    two numbers, its ends: sensitivity and scale are theirs, half_width that of the sum less the middle of the bounds.
    rows: what a unit counts at most over all groups, in rows; groups: in how many it counts as one.
    agreeing: a level of grouping sets, whose half_width is what is left once the levels are made consistent.
    limited_by: what of a unit is limited, where it is measured; different values: at most so many.
    bounds: values are clipped to them; unit_bounds: what one unit adds to a group is clipped to them.
    ends: the degree of moments that are measured by their distances to both bounds.
    """

    name: str
    sensitivity: float
    mechanism: str
    scale: float
    half_width: float
    epsilon: float
    rows: int
    groups: int
    norm: Norm = 1
    because: str = ""
    stage: int = 0
    position: int | None = None
    agreeing: bool = False
    limited_by: OneOf["", "rows", "groups", "values", "votes", "different values"] = ""
    most_values: int = 0
    bounds: Bounds | None = None
    unit_bounds: Interval | None = None
    ends: int = 0
    among: ChosenAmong | None = None
    cumulative: Cumulative | None = None

    def common(self) -> dict[str, Any]:
        """What EXPLAIN and the release record say in the same words."""
        return {
            "name": self.name,
            "sensitivity": self.sensitivity,
            "norm": self.norm,
            "mechanism": self.mechanism,
            "scale": self.scale,
            "bounds": self.because,
            "cumulative_along": [] if self.cumulative is None else list(self.cumulative.along),
            "cumulative_strategy": None if self.cumulative is None else self.cumulative.strategy,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReport:
    """A limit that the data chose, or (chosen None) are to choose. of: "rows" or "groups" of a unit, or the name of a sum
    whose values are limited; chosen, smallest, largest: in rows, groups, or the sum's units."""

    of: str
    exactly: Fraction | None
    epsilon: float
    stage: int
    smallest: float
    largest: float
    choice: LimitChoice = field(repr=False)

    @property
    def chosen(self) -> float | None:
        return None if self.exactly is None else float(self.exactly)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """One release. selections: the rounds in which private keys are selected; over: units over its limits. What the plan
    says literally (tables, keys, limits) is read from the stage."""

    stage: NoisyStage
    selections: tuple[MeasurementReport, ...]
    choices: tuple[LimitReport, ...]
    over: tuple[MeasurementReport, ...]
    measured: tuple[MeasurementReport, ...]

    @property
    def measurements(self) -> tuple[MeasurementReport, ...]:
        return (*self.selections, *self.over, *self.measured)

    @property
    def threshold(self) -> float | None:
        """In units that have no other key, in the last round."""
        return None if self.stage.selection is None else float(self.stage.selection.units)

    @property
    def delta_keys(self) -> Fraction:
        """That a key which one unit alone has is released."""
        return sum((each.delta for each in self.stage.selections), Fraction(0))

    def common(self) -> dict[str, Any]:
        """What EXPLAIN and the release record say in the same words."""
        limit = self.stage.limit
        return {
            "tables": list(self.stage.tables),
            "rows": limit.rows.most,
            "groups": limit.groups.most,
            "limits": dict(limit.said),
            "because": limit.because,
            "keys": [
                {
                    "name": key.field.name,
                    "public": key.values is not None,
                    "count": None if key.values is None else len(key.values),
                    "because": key.because,
                }
                for key in self.stage.keys
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanReport:
    plan: ReleasePlan
    stages: tuple[StageReport, ...]

    @property
    def measurements(self) -> tuple[MeasurementReport, ...]:
        return tuple(one for stage in self.stages for one in stage.measurements)

    @property
    def threshold(self) -> float | None:
        """The largest of several releases'."""
        return max((stage.threshold for stage in self.stages if stage.threshold is not None), default=None)
