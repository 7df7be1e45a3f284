"""AVG(x)."""

from __future__ import annotations

from fractions import Fraction

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate
from dpsql.domain.types import NULL, REAL, Kind, Type
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Expr, Literal
from dpsql.privacy import moments
from dpsql.privacy.measuring import MeasurementCollector, ends, number


def result(args: tuple[Expr, ...]) -> Type:
    if len(args) != 1:
        raise functions.TypeProblem("AVG takes one argument", None, "Write AVG(x).")
    if not (args[0].type.is_numeric or args[0].type.kind in (Kind.NULL, Kind.ANY)):
        raise functions.TypeProblem(f"{args[0].type} has no average", 0, "Average a number.")
    return REAL


def _measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    """clamp(mid + noisy centred sum / greatest(noisy count, 1), low, high): both from one measurement."""
    (arg,) = call.args
    if call.options:
        raise Refused(
            "AVG has no bounds per unit",
            code=132,
            at=call.at,
            why="It is a centred sum divided by a count, and each of these has its own bound.",
            fix="Write SUM(x, contribution_bounds_per_group => (low, high)) / COUNT(x).",
        )
    return (
        _of_distinct(arg, call, collector) if call.distinct else moments.Moments(collector.mean(arg, call.where)).mean
    )


def _of_distinct(arg: Expr, call: AggregateCall, collector: MeasurementCollector) -> Expr:
    """The sum of the different values, each once, divided by their number: two measurements."""
    low, high = ends(collector.axis(arg))
    total = collector.distinct((arg,), call.where, added=True).real.column()
    count = collector.distinct((arg,), call.where).real.column()
    one = functions.call("greatest", count, number(Fraction(1)))
    mean = functions.call("divide", total, one)
    held = functions.call("greatest", functions.call("least", mean, number(high)), number(low))
    return functions.call("case", functions.call("is_not_null", total), held, Literal(None, NULL))


AVG = Aggregate(
    name="avg",
    signature="AVG(x), AVG(DISTINCT x)",
    doc="Mean of a bounded number, or the share of rows for which a condition is "
    "true. Values are clipped to the bounds; sum and count are one measurement, of DISTINCT values "
    "two.",
    result=result,
    measure=_measure,
    order=0,
)
