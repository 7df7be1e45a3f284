"""Centred first and second moments of one or two measured expressions, as finishing expressions.

Everything here is post-processing of measurements; each result is brought into its legal range.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.domain.types import NULL
from dpsql.ir.expr import Expr, Literal
from dpsql.plan.stages import Axis, Measure
from dpsql.privacy.measuring import Measuring, number, real
from dpsql.sql import functions


def call(function: str, *args: Expr) -> Expr:
    return functions.make(function, args, at=None)


def between(value: Expr, low: Expr, high: Expr) -> Expr:
    return call("least", call("greatest", value, low), high)


def null_unless(condition: Expr, value: Expr) -> Expr:
    return call("case", condition, value, Literal(None, NULL))


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """One expression's: count n, first = Σ z, second = Σ (z² − range²/8), z the distance from the middle of its bounds.

    In exact mode a sum over no rows is NULL, and so is every result.
    """

    axis: Axis
    count: Measure
    first: Measure
    second: Measure

    @property
    def range(self) -> Fraction:
        return self.axis.width * self.axis.step

    @property
    def middle(self) -> Fraction:
        return (self.axis.low + self.axis.high) * self.axis.step / 2

    @property
    def rows(self) -> Expr:
        """At least 1, to divide by."""
        return call("greatest", real(self.count), number(Fraction(1)))

    @property
    def offset(self) -> Expr:
        """Mean less the middle of the bounds."""
        return call("divide", real(self.first), self.rows)

    @property
    def mean(self) -> Expr:
        low, high = self.axis.low * self.axis.step, self.axis.high * self.axis.step
        return between(call("add", number(self.middle), self.offset), number(low), number(high))

    @property
    def variance(self) -> Expr:
        """Of the population: mean square less squared mean, within 0 and range²/4 (Popoviciu)."""
        mean_square = call("add", call("divide", real(self.second), self.rows), number(self.range**2 / 8))
        found = call("subtract", mean_square, call("multiply", self.offset, self.offset))
        return between(found, number(Fraction(0)), number(self.range**2 / 4))

    @property
    def present(self) -> Expr:
        return call("is_not_null", real(self.first))


def of_sample(value: Expr, count: Expr) -> Expr:
    """A population's moment as a sample's: times n/(n − 1), NULL for one row or none."""
    less = call("subtract", count, number(Fraction(1)))
    scaled = call("divide", call("multiply", value, count), less)
    return null_unless(call("greater", count, number(Fraction(1))), scaled)


def moments(ask: Measuring, arg: Expr, *needs: Expr, where: Expr | None) -> Moments:
    """Of the rows where arg and `needs` are there."""
    axis = ask.moment_axis(arg)
    return Moments(
        axis=axis,
        count=ask.rows(arg, *needs, where=where),
        first=ask.centred_on(axis, *needs, where=where),
        second=ask.square(axis, *needs, where=where),
    )


def covariance(ask: Measuring, x: Expr, y: Expr, *, where: Expr | None) -> tuple[Expr, Expr]:
    """(the population's covariance, its row count), within ±range·range′/4; no squares are measured."""
    one, other = ask.moment_axis(x), ask.moment_axis(y)
    count = ask.rows(x, y, where=where)
    first, second = ask.centred_on(one, y, where=where), ask.centred_on(other, x, where=where)
    both = ask.product(one, other, where)
    rows = call("greatest", real(count), number(Fraction(1)))
    means = call("multiply", call("divide", real(first), rows), call("divide", real(second), rows))
    found = call("subtract", call("divide", real(both), rows), means)
    most = one.width * one.step * other.width * other.step / 4
    bounded = between(found, number(-most), number(most))
    return null_unless(call("is_not_null", real(both)), bounded), real(count)
