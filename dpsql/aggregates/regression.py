"""REGR_SLOPE, REGR_INTERCEPT, REGR_R2, REGR_COUNT, REGR_AVGX, REGR_AVGY, REGR_SXX, REGR_SXY, REGR_SYY of (y, x)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpsql.aggregates.aggregate import Aggregate, numbers, plain
from dpsql.aggregates.covariance import correlation
from dpsql.domain.types import BIGINT
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy import moments
from dpsql.privacy.measuring import MeasurementCollector, number

Measure = Callable[[AggregateCall, MeasurementCollector], Expr]


def _slope(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    y, x = call.args
    of_x = moments.moments(collector, x, y, where=call.where)
    both = moments.covariance(collector, y, x, where=call.where)[0]
    spread = moments.call("greater", of_x.variance, number(Fraction(0)))
    ratio = moments.call("divide", both, of_x.variance)
    return moments.null_unless(moments.call("and", spread, of_x.present), ratio)


def _intercept(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    y, x = call.args
    slope = _slope(call, collector)
    of_x = moments.moments(collector, x, y, where=call.where)
    return moments.call("subtract", _mean_of(collector, y, x, call), moments.call("multiply", slope, of_x.mean))


def _mean_of(collector: MeasurementCollector, arg: Expr, other: Expr, call: AggregateCall) -> Expr:
    """AVG over the rows where both have values."""
    return moments.mean_beside(collector, arg, other, where=call.where).mean


def _r2(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    correlated = correlation(call, collector)
    return moments.call("multiply", correlated, correlated)


def _count(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    return collector.rows(*call.args, where=call.where).whole.column()


def _avgx(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    return _mean_of(collector, call.args[1], call.args[0], call)


def _avgy(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    return _mean_of(collector, call.args[0], call.args[1], call)


def _squares(position: int) -> Measure:
    def measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
        row_moments = moments.moments(collector, call.args[position], call.args[1 - position], where=call.where)
        return moments.null_unless(
            row_moments.present, moments.call("multiply", row_moments.variance, row_moments.rows)
        )

    return measure


def _products(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    both, count = moments.covariance(collector, *call.args, where=call.where)
    return moments.call("multiply", both, moments.call("greatest", count, number(Fraction(1))))


def _plainly(measure: Measure) -> Measure:
    def checked(call: AggregateCall, collector: MeasurementCollector) -> Expr:
        plain(call)
        return measure(call, collector)

    return checked


_FAMILY: tuple[tuple[str, str, Measure], ...] = (
    ("regr_slope", "Slope of the least-squares line; NULL where x does not vary.", _slope),
    ("regr_intercept", "Where the least-squares line meets x = 0.", _intercept),
    ("regr_r2", "Square of the correlation.", _r2),
    ("regr_count", "The number of rows where both have values.", _count),
    ("regr_avgx", "Mean of x over the rows where both have values.", _avgx),
    ("regr_avgy", "Mean of y over the rows where both have values.", _avgy),
    ("regr_sxx", "Variance of x times the number of rows.", _squares(1)),
    ("regr_syy", "Variance of y times the number of rows.", _squares(0)),
    ("regr_sxy", "Covariance times the number of rows.", _products),
)

REGRESSIONS = tuple(
    Aggregate(
        name=name,
        signature=f"{name.upper()}(y, x)",
        doc=doc,
        result=numbers(name, 2, BIGINT) if name == "regr_count" else numbers(name, 2),
        measure=_plainly(measure),
        order=-1,
    )
    for name, doc, measure in _FAMILY
)
