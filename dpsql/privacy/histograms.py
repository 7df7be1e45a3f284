"""What an aggregate may ask of candidates that are counted one by one: the bins of a histogram."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain.facts import Atom
from dpsql.domain.types import BIGINT
from dpsql.errors import Refused, Span, SqlError
from dpsql.functions.sets import count_bins
from dpsql.ir.expr import Expr, place
from dpsql.plan.candidates import Candidates
from dpsql.plan.measurements import Axis, Histogram
from dpsql.privacy.candidates import atom_at, axis_of, because_of, public_values
from dpsql.privacy.measuring import MeasurementCollector

MOST_BINS = 1000


def each_value(
    collector: MeasurementCollector, arg: Expr, where: Expr | None
) -> tuple[tuple[Atom, ...], tuple[Expr, ...]]:
    """A histogram over every public value: (values, counts)."""
    values, axis = public_values(collector, arg)
    if values is None:
        assert axis is not None
        shown: tuple[Atom, ...] = tuple(atom_at(axis.low + n, axis) for n in range(min(axis.width, MOST_BINS) + 1))
    else:
        shown = values
    if len(shown) > MOST_BINS:
        raise _too_many_bins(collector, arg)
    candidates = Candidates(count=len(shown), values=values)
    part = None if values is None else arg
    name = f"histogram({collector.describe(arg)})"
    return shown, _counted(collector, name, candidates, where, axis=axis, part=part, at=place(arg))


def bins(
    collector: MeasurementCollector, arg: Expr, where: Expr | None, edges: tuple[Fraction, ...]
) -> tuple[Expr, ...]:
    """Rows up to each edge (and above the one before); then those above the last."""
    axis = axis_of(collector, arg)
    on_axis = tuple(
        _among_places(edge.numerator * axis.step.denominator // (edge.denominator * axis.step.numerator), axis)
        for edge in edges
    )
    if not 1 <= len(edges) < MOST_BINS or list(edges) != sorted(set(edges)):
        raise SqlError(
            f"bins must be 1 to {MOST_BINS - 1} numbers in ascending order",
            code=105,
            at=place(arg),
            fix="Write [10, 20, 50].",
        )
    count = len(edges) + 1
    candidates = Candidates(count=count, edges=on_axis)
    shown = ", ".join(f"{float(edge):g}" for edge in edges)
    return _counted(
        collector, f"histogram({collector.describe(arg)}, [{shown}])", candidates, where, axis=axis, at=place(arg)
    )


def _among_places(edge: int, axis: Axis) -> int:
    """Lemma: places up to it are those up to the edge. Proof: they lie from low to high. (An edge beyond 127 bits is of a
    type with which DuckDB fails to compare: only the rows above the edge before would be compared with it.)"""
    return max(axis.low - 1, min(axis.high, edge))


def equal_bins(collector: MeasurementCollector, arg: Expr, count: int) -> tuple[Fraction, ...]:
    """The upper ends of `count` bins of one width over the bounds; all but the last, which takes what is above them."""
    axis = axis_of(collector, arg)
    low, high = axis.low * axis.step, axis.high * axis.step
    if not 1 < count <= MOST_BINS or low >= high:
        raise _too_many_bins(collector, arg)
    return tuple(low + (high - low) * n / count for n in range(1, count))


def _too_many_bins(collector: MeasurementCollector, arg: Expr) -> Refused:
    return Refused(
        f"{collector.describe(arg)} has more public values than a histogram has bins",
        code=131,
        at=place(arg),
        why=f"Each bin gets its own noise; there may be at most {MOST_BINS}.",
        fix="Name the bins, HISTOGRAM(x, [10, 20, 50]), or how many, HISTOGRAM(x, 20).",
    )


def _counted(
    collector: MeasurementCollector,
    name: str,
    candidates: Candidates,
    where: Expr | None,
    *,
    axis: Axis | None,
    part: Expr | None = None,
    at: Span | None,
) -> tuple[Expr, ...]:
    """The counts' columns; those there are, if they were asked for before."""
    for old in collector.measurements:
        if isinstance(old, Histogram) and (old.candidates, old.axis, old.part, old.where) == (
            candidates, axis, part, where
        ):  # fmt: skip
            return tuple(f.column() for f in old.answers)
    count_bins(candidates.count, at)
    answers = tuple(collector.ids.field("", BIGINT) for _ in range(candidates.count))
    new = Histogram(
        name=name + collector.filter(where),
        candidates=candidates,
        axis=axis,
        part=part,
        where=where,
        answers=answers,
        because=because_of(collector, axis, part),
    )
    collector.add(new)
    return tuple(f.column() for f in answers)
