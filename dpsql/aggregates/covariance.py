"""COVAR_POP, COVAR_SAMP, CORR."""

from __future__ import annotations

from fractions import Fraction

from dpsql.aggregates.aggregate import Aggregate, numbers, plain
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy import moments
from dpsql.privacy.measuring import MeasurementCollector, number


def _population(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    plain(call)
    return moments.covariance(collector, *call.args, where=call.where)[0]


def _sample(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    plain(call)
    return moments.of_sample(*moments.covariance(collector, *call.args, where=call.where))


def correlation(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    """Covariance over the root of both variances, within −1 and 1; NULL where a variance is 0."""
    y, x = call.args
    one = moments.moments(collector, y, x, where=call.where)
    other = moments.moments(collector, x, y, where=call.where)
    both = moments.covariance(collector, y, x, where=call.where)[0]
    product = moments.call("multiply", one.variance, other.variance)
    ratio = moments.call("divide", both, moments.call("sqrt", product))
    bounded = moments.between(ratio, number(Fraction(-1)), number(Fraction(1)))
    spread = moments.call("greater", product, number(Fraction(0)))
    return moments.null_unless(moments.call("and", spread, one.present), bounded)


def _corr(call: AggregateCall, collector: MeasurementCollector) -> Expr:
    plain(call)
    return correlation(call, collector)


COVAR_POP = Aggregate(
    name="covar_pop",
    signature="COVAR_POP(y, x)",
    doc="Covariance of the population, over the rows where both have values.",
    result=numbers("covar_pop", 2),
    measure=_population,
    order=-1,
)
COVAR_SAMP = Aggregate(
    name="covar_samp",
    signature="COVAR_SAMP(y, x)",
    doc="Covariance of the sample, over the rows where both have values.",
    result=numbers("covar_samp", 2),
    measure=_sample,
    order=-1,
)
CORR = Aggregate(
    name="corr",
    signature="CORR(y, x)",
    doc="Correlation, between −1 and 1; NULL where a variance is 0 (after the noise).",
    result=numbers("corr", 2),
    measure=_corr,
    order=-1,
)
COVARIANCES = (COVAR_POP, COVAR_SAMP, CORR)
