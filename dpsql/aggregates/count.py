"""COUNT(*), COUNT(x), COUNT(DISTINCT …), COUNT_IF(condition)."""

from __future__ import annotations

from dpsql import functions
from dpsql.aggregates.aggregate import Aggregate, contribution_bounds
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.errors import Refused, SqlError
from dpsql.ir.expr import AggregateCall, Expr, place
from dpsql.privacy.measuring import MeasurementCollector

COUNTED = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.DATE, Kind.TIMESTAMP, Kind.TEXT)


def _result(args: tuple[Expr, ...]) -> Type:
    return BIGINT


def _measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    if call.distinct:
        return _distinct(call, collector)
    if len(call.args) > 1:
        raise Refused("COUNT takes one argument", code=105, at=call.at, fix="Write COUNT(x) or COUNT(*).")
    return collector.rows(*call.args, where=call.where, at_most=_at_most(call)).whole.column()


def _at_most(call: AggregateCall) -> int | None:
    bounds = contribution_bounds(call)
    if bounds is None:
        return None
    low, high = bounds
    if low > 0 or high < 1:
        raise Refused(
            "COUNT needs bounds from 0 to at least 1",
            code=119,
            at=call.at,
            why="A unit without rows adds 0, and a unit with rows adds at least 1.",
            fix="Write COUNT(x, contribution_bounds_per_group => (0, 5)).",
        )
    return int(high)


def _distinct(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    if len(call.args) == 1 and collector.is_unit(call.args[0]):
        return collector.units(call.where).whole.column()
    for arg in call.args:
        if arg.type.kind not in COUNTED:
            raise SqlError(f"{arg.type} cannot be counted", code=105, at=place(arg) or call.at, fix="Name a column.")
    return collector.distinct(call.args, call.where).whole.column()


def _condition(args: tuple[Expr, ...]) -> Type:
    if len(args) != 1 or args[0].type.kind not in (Kind.BOOLEAN, Kind.NULL, Kind.ANY):
        raise functions.TypeProblem("COUNT_IF takes one condition", 0 if args else None, "Write COUNT_IF(x > 10).")
    return BIGINT


def _count_if(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    (condition,) = call.args
    if call.distinct:
        raise Refused("COUNT_IF(DISTINCT …) has no meaning", code=132, at=call.at, fix="Write COUNT_IF(x > 10).")
    where = condition if call.where is None else functions.make("and", (call.where, condition), at=None)
    return collector.rows(where=where).whole.column()


COUNT = Aggregate(
    name="count",
    signature="COUNT(*), COUNT(x), COUNT(DISTINCT x, …)",
    doc="Rows, rows where x is not NULL, or different values. At most rows_per_unit rows or values of one person count, "
    "over all groups; COUNT(DISTINCT unit) counts people.",
    result=_result,
    measure=_measure,
)

COUNT_IF = Aggregate(
    name="count_if",
    signature="COUNT_IF(condition)",
    doc="The number of rows for which the condition is true, like COUNT(*) FILTER (WHERE condition).",
    result=_condition,
    measure=_count_if,
)
