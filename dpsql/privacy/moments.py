"""Centred first and second moments of one or two measured expressions, as finishing expressions.

Everything here is post-processing of measurements; each result is brought into its legal range.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql import functions
from dpsql.domain.types import NULL
from dpsql.ir.expr import Expr, Literal
from dpsql.plan.measurements import RowMoments
from dpsql.privacy.measuring import MeasurementCollector, ends, number


def call(function: str, *args: Expr) -> Expr:
    return functions.call(function, *args)


def between(value: Expr, low: Expr, high: Expr) -> Expr:
    return call("least", call("greatest", value, low), high)


def null_unless(condition: Expr, value: Expr) -> Expr:
    return call("case", condition, value, Literal(None, NULL))


@dataclass(frozen=True, slots=True)
class Moments:
    """One expression's: count n, first = Σ z, second = Σ (z² − range²/8), z the distance from the middle of its bounds.

    In exact mode a sum over no rows is NULL, and so is every result.
    """

    of: RowMoments

    @property
    def range(self) -> Fraction:
        return self.of.axis.most_centred * self.of.axis.step

    @property
    def count(self) -> Expr:
        return self.of.count.real.column()

    @property
    def rows(self) -> Expr:
        """At least 1, to divide by."""
        return call("greatest", self.count, number(Fraction(1)))

    @property
    def offset(self) -> Expr:
        """Mean less the middle of the bounds."""
        return call("divide", self.of.first.column(), self.rows)

    @property
    def mean(self) -> Expr:
        """Within the bounds; NULL where there is nothing to average, which LEAST and GREATEST would swallow."""
        low, high = ends(self.of.axis)
        mean = between(call("add", number((low + high) / 2), self.offset), number(low), number(high))
        return call("case", call("is_null", self.of.first.column()), Literal(None, NULL), mean)

    @property
    def variance(self) -> Expr:
        """Of the population: mean square less squared mean, within 0 and range²/4 (Popoviciu)."""
        assert self.of.second is not None
        mean_square = call("add", call("divide", self.of.second.column(), self.rows), number(self.range**2 / 8))
        difference = call("subtract", mean_square, call("multiply", self.offset, self.offset))
        return between(difference, number(Fraction(0)), number(self.range**2 / 4))

    @property
    def present(self) -> Expr:
        return call("is_not_null", self.of.first.column())


def of_sample(value: Expr, count: Expr) -> Expr:
    """A population's moment as a sample's: times n/(n − 1), NULL for one row or none."""
    less = call("subtract", count, number(Fraction(1)))
    scaled = call("divide", call("multiply", value, count), less)
    return null_unless(call("greater", count, number(Fraction(1))), scaled)


def moments(collector: MeasurementCollector, arg: Expr, *needs: Expr, where: Expr | None) -> Moments:
    """Of the rows where arg and `needs` are there."""
    return Moments(collector.moments_on(collector.moment_axis(arg), *needs, degree=2, where=where))


def mean_beside(collector: MeasurementCollector, arg: Expr, *needs: Expr, where: Expr | None) -> Moments:
    """Count and sum on the axis of second moments, of the rows where arg and `needs` are there."""
    return Moments(collector.moments_on(collector.moment_axis(arg), *needs, degree=1, where=where))


def covariance(collector: MeasurementCollector, x: Expr, y: Expr, *, where: Expr | None) -> tuple[Expr, Expr]:
    """(the population's covariance, its row count), within ±range·range′/4; no squares are measured for it."""
    one, other = mean_beside(collector, x, y, where=where), mean_beside(collector, y, x, where=where)
    both = collector.product(one.of.axis, other.of.axis, where).real.column()
    means = call("multiply", one.offset, other.offset)
    product = call("subtract", call("divide", both, one.rows), means)
    most = one.of.axis.width * one.of.axis.step * other.of.axis.width * other.of.axis.step / 4
    bounded = between(product, number(-most), number(most))
    return null_unless(call("is_not_null", both), bounded), one.count
