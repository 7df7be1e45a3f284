"""SUM(x)."""

from __future__ import annotations

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate, contribution_bounds
from dpsql.domain.types import BIGINT, REAL, Kind, Type, decimal
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy.measuring import MeasurementCollector


def result(args: tuple[Expr, ...]) -> Type:
    """Of private rows BIGINT, which holds every released total, where DuckDB has HUGEINT."""
    (arg,) = args if len(args) == 1 else (None,)
    if arg is None:
        raise functions.TypeProblem("SUM takes one argument", None, "Write SUM(x).")
    match arg.type.kind:
        case Kind.INTEGER | Kind.BOOLEAN | Kind.NULL:
            return BIGINT
        case Kind.DECIMAL:
            return decimal(38, arg.type.scale)
        case Kind.REAL:
            return REAL
        case Kind.ANY:
            return arg.type
    raise functions.TypeProblem(f"{arg.type} cannot be summed", 0, "Sum a number.")


def _measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    (arg,) = call.args
    bounds = contribution_bounds(call)
    if call.distinct:
        if bounds is not None:
            raise Refused(
                "SUM(DISTINCT …) takes no bounds of a person",
                code=119,
                at=call.at,
                why="A value counts once, whoever has it.",
                fix="Leave contribution_bounds_per_group out.",
            )
        return collector.distinct((arg,), call.where, added=True).whole.column()
    return collector.total(arg, call.where, bounds, call.at).whole.column()


SUM = Aggregate(
    name="sum",
    signature="SUM(x), SUM(DISTINCT x), SUM(x, contribution_bounds_per_group => (low, high))",
    doc="Sum of a bounded number (true is 1). Values are clipped to "
    "the bounds; if a person has more than rows_per_unit rows, "
    "each counts less. Or bound what a person adds to a group in all: "
    "dpsql uses the form with less noise, and EXPLAIN shows which.",
    result=result,
    measure=_measure,
    order=2,
)
