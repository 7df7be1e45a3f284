"""AVG(x)."""

from __future__ import annotations

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate
from dpsql.domain.types import REAL, Kind, Type
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy import moments
from dpsql.privacy.measuring import MeasurementCollector


def result(args: tuple[Expr, ...]) -> Type:
    if len(args) != 1:
        raise functions.TypeProblem("AVG takes one argument", None, "Write AVG(x).")
    if not (args[0].type.is_numeric or args[0].type.kind in (Kind.NULL, Kind.ANY)):
        raise functions.TypeProblem(f"{args[0].type} has no average", 0, "Average a number.")
    return REAL


def _measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    """clamp(mid + noisy centred sum / greatest(noisy count, 1), low, high): both from one measurement."""
    if call.distinct:
        raise Refused(
            "AVG(DISTINCT …) is not answered",
            code=132,
            at=call.at,
            why="One person's row can change which values are distinct for everybody.",
            fix="Write AVG(x).",
        )
    (arg,) = call.args
    if call.options:
        raise Refused(
            "AVG has no bounds per unit",
            code=132,
            at=call.at,
            why="It is a centred sum over a count, and each has its own bound.",
            fix="Write SUM(x, contribution_bounds_per_group => (low, high)) / COUNT(x).",
        )
    return moments.Moments(collector.mean(arg, call.where)).mean


AVG = Aggregate(
    name="avg",
    signature="AVG(x)",
    doc="Mean of a bounded number, or the share of rows for which a condition is "
    "true. Values are clipped to the bounds; sum and count are one measurement.",
    result=result,
    measure=_measure,
    order=0,
)
