"""VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.aggregates.aggregate import Aggregate, numbers, plain
from dpsql.ir.expr import AggregateCall, Expr
from dpsql.privacy import moments
from dpsql.privacy.measuring import MeasurementCollector


def _variance(*, sample: bool, root: bool) -> Callable[[AggregateCall, MeasurementCollector], Expr]:
    def measure(call: AggregateCall, collector: MeasurementCollector) -> Expr:
        plain(call)
        row_moments = moments.moments(collector, call.args[0], where=call.where)
        value = moments.null_unless(row_moments.present, row_moments.variance)
        if sample:
            value = moments.of_sample(value, row_moments.count)
        return moments.call("sqrt", value) if root else value

    return measure


def _aggregate(name: str, what: str, *, sample: bool, root: bool) -> Aggregate:
    return Aggregate(
        name=name,
        signature=f"{name.upper()}(x)",
        doc=f"{what} of a bounded number, from its centred first and second moments; never below 0.",
        result=numbers(name, 1),
        measure=_variance(sample=sample, root=root),
        order=-1,
    )


VAR_POP = _aggregate("var_pop", "Variance of the population", sample=False, root=False)
VAR_SAMP = _aggregate("var_samp", "Variance of the sample", sample=True, root=False)
STDDEV_POP = _aggregate("stddev_pop", "Standard deviation of the population", sample=False, root=True)
STDDEV_SAMP = _aggregate("stddev_samp", "Standard deviation of the sample", sample=True, root=True)
VARIANCES = (VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP)
