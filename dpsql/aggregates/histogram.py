"""HISTOGRAM(x), HISTOGRAM(x, n), HISTOGRAM(x, [10, 20, 50])."""

from __future__ import annotations

from fractions import Fraction

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate, plain
from dpsql.domain.types import ANY, REAL, Kind, Type
from dpsql.errors import SqlError
from dpsql.ir.expr import AggregateCall, Call, Expr, Literal
from dpsql.privacy import histograms
from dpsql.privacy.measuring import MeasurementCollector


def _result(args: tuple[Expr, ...]) -> Type:
    if len(args) not in (1, 2):
        raise functions.TypeProblem("HISTOGRAM takes a value and, optionally, bins", None, "Write HISTOGRAM(x, 20).")
    return ANY


def _measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    """A map from each bin's upper end (or value) to its number of rows; above the last edge lies infinity."""
    plain(call)
    arg = call.args[0]
    if len(call.args) == 1:
        values, counts = histograms.each_value(collector, arg, call.where)
        keys: tuple[Expr, ...] = tuple(Literal(value, arg.type) for value in values)
    else:
        edges = _edges(call, collector)
        counts = histograms.bins(collector, arg, call.where, edges)
        keys = tuple(Literal(edge, REAL) for edge in (*map(float, edges), float("inf")))
    listed = (functions.make("list_value", part, at=None) for part in (keys, counts))
    return functions.make("map", tuple(listed), at=None)


def _edges(call: AggregateCall, collector: MeasurementCollector) -> tuple[Fraction, ...]:
    given = call.args[1]
    if call.args[0].type.kind in (Kind.DATE, Kind.TIMESTAMP):
        raise SqlError("bins must be numbers", code=105, at=call.at, fix="Group by DATE_TRUNC('month', x) instead.")
    if isinstance(given, Literal) and isinstance(given.value, int) and not isinstance(given.value, bool):
        return histograms.equal_bins(collector, call.args[0], given.value)
    edges: list[Fraction] = []
    for item in given.args if isinstance(given, Call) and given.function == "list_value" else (given,):
        value = item.value if isinstance(item, Literal) else None
        if isinstance(value, bool) or not isinstance(value, int | Fraction | float):
            raise SqlError("bins must be constants", code=105, at=call.at, fix="Write HISTOGRAM(x, [10, 20, 50]).")
        edges.append(Fraction(value))
    return tuple(edges)


HISTOGRAM = Aggregate(
    name="histogram",
    signature="HISTOGRAM(x), HISTOGRAM(x, n), HISTOGRAM(x, [10, 20, 50])",
    doc="The number of rows for each public value, for n bins of equal width over the bounds, or up to each of "
    "the given numbers. A "
    "person's rows over all bins count at most rows_per_unit, so all bins together cost what one count costs.",
    result=_result,
    measure=_measure,
)
