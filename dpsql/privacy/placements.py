"""Where the values of a group may lie, and so how far an expression over noisy totals may be off at the worst."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpsql.ir.expr import Expr
from dpsql.plan.measurements import (
    Axis,
    DistinctCount,
    Histogram,
    Measurement,
    OnAxis,
    Product,
    RowMoments,
    RowTotal,
    UnitTotal,
    axes,
)
from dpsql.plan.stages import Noised
from dpsql.privacy.error_estimate import Estimating, answered

MOST = 12  # placements that are tried, where there are more: the most even ones
LOW, HIGH, MIDDLE = (-1.0,) * 4, (1.0,) * 4, (0.0,) * 4
APART, ACROSS = (1.0, 1.0, -1.0, -1.0), (1.0, -1.0, 1.0, -1.0)
Pattern = tuple[float, ...]  # where four equal parts of the rows lie, between the bounds at -1 and 1


@dataclass(frozen=True, slots=True)
class Placement:
    """Where values lie, of each measured expression, and which conditions hold of all rows; else of none."""

    of: Mapping[Expr, Pattern]
    holds: Mapping[int, bool]

    def answers(self, rows: float, j: int, one: Measurement) -> Sequence[float] | None:
        """What a measurement would answer without noise, in a group with so many rows that count."""
        count = rows if self.holds.get(j, True) else 0.0
        match one:
            case RowTotal(piece=OnAxis(axis=axis)):
                return [count * self._mean(axis)]
            case RowTotal(piece=Product(axis=axis, second=other)):
                halves = float(axis.width * axis.step / 2), float(other.width * other.step / 2)
                both = zip(self.of[axis.arg], self.of[other.arg], strict=True)
                return [count * halves[0] * halves[1] * math.fsum(x * y for x, y in both) / 4]
            case UnitTotal(piece=OnAxis(axis=axis), clamp=(low, high)):
                ends = float((low + high) * axis.step / 2), float((high - low) * axis.step / 2)
                return [count * (ends[0] + ends[1] * math.fsum(self.of[axis.arg]) / 4)]
            case RowTotal() | UnitTotal() | DistinctCount():
                return [count]
            case RowMoments(axis=axis):
                half = float(axis.width * axis.step / 2)
                pattern = self.of[axis.arg]
                first = half * math.fsum(pattern) / 4
                second = half**2 * (math.fsum(x * x for x in pattern) / 4 - 0.5)
                return [rows, rows * self._mean(axis), rows * first, rows * second]
            case _:
                return None

    def _mean(self, axis: Axis) -> float:
        middle, half = float((axis.low + axis.high) * axis.step / 2), float(axis.width * axis.step / 2)
        return middle + half * math.fsum(self.of[axis.arg]) / 4


def placements(noised: Mapping[int, Noised]) -> Iterator[Placement]:
    """Where errors are largest. Those of sums, means and ratios are convex in where values lie, so they are largest at the
    ends; of second moments also with half of the rows at each end, and in the middle."""
    ones = {j: each.measurement for j, each in noised.items()}
    squared = {
        axis.arg
        for one in ones.values()
        for axis in axes(one)
        if isinstance(one, RowMoments)
        and one.degree == 2
        or isinstance(one, RowTotal)
        and isinstance(one.piece, Product)
    }
    args = list(dict.fromkeys(axis.arg for one in ones.values() for axis in axes(one)))
    options = [(LOW, HIGH, APART, ACROSS, MIDDLE)[: 5 if arg in squared else 2] for arg in args]
    filtered = [j for j, one in ones.items() if _may_be_none(one)]
    holding = [*itertools.product((True, False), repeat=len(filtered))]
    combined: Iterable[tuple[Pattern, ...]] = itertools.product(*options)
    if math.prod(map(len, options)) * len(holding) > MOST:
        combined = [(pattern,) * len(args) for pattern in (LOW, HIGH, APART, MIDDLE)]
        combined += [tuple((APART, ACROSS)[n % 2] for n in range(len(args)))]
        holding = [(True,) * len(filtered), (False,) * len(filtered)][: 1 + bool(filtered)]
    for patterns, holds in itertools.product(combined, holding):
        yield Placement(dict(zip(args, patterns, strict=True)), dict(zip(filtered, holds, strict=True)))


def _may_be_none(one: Measurement) -> bool:
    """Whether it may be of fewer rows than count: none, at the least."""
    if isinstance(one, DistinctCount):
        return True
    return isinstance(one, RowTotal | UnitTotal) and one.where is not None


def worst_width(expr: Expr, noised: Mapping[int, Noised], rows: float, confidence: float) -> float | None:
    """The width of an expression's error in a group with so many rows that count, wherever their values lie between their
    bounds; None where it has none. A condition that holds of no row leaves out what divides by how many it holds of."""
    if any(isinstance(each.measurement, Histogram) for each in noised.values()):
        return None
    worst: float | None = None
    for placement in placements(noised):
        values = {j: placement.answers(rows, j, each.measurement) for j, each in noised.items()}
        estimate = Estimating(answered(noised, values), confidence).of(expr)
        if estimate is None and all(placement.holds.values()):
            return None
        if estimate is not None:
            worst = max(estimate.width(confidence), worst or 0.0)
    return worst if worst is not None and math.isfinite(worst) else None
