"""What an aggregate may ask to be measured of a stage's groups. Equal questions are one measurement, paid for once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from dpsql.domain.types import BIGINT, REAL, Kind, Type, decimal
from dpsql.errors import Span
from dpsql.ir.expr import Column, Expr, Literal
from dpsql.ir.nodes import Field
from dpsql.plan.stages import Axis, Measure, MeasureKind
from dpsql.privacy import sensitivity
from dpsql.privacy.axes import Axes
from dpsql.sql.bind.context import Ids

Sums = Mapping[int, tuple[Fraction, Fraction]]


@dataclass(slots=True, kw_only=True)
class Measuring(Axes):
    """The measurements of one stage.

    groups: the number of public groups, None where keys are private. max_sum: the owner's bounds on what a unit's rows of
    a column add up to in a group, by column id. one_count: the unit count may serve as a count of rows.
    """

    ids: Ids
    same_unit: frozenset[int] = frozenset()
    groups: int | None = 1
    one_count: bool = True
    max_sum: Sums = field(default_factory=lambda: MappingProxyType({}))
    measures: list[Measure] = field(default_factory=list)

    def units(self, where: Expr | None = None) -> Measure:
        """How many units have a row that enters."""
        name = "units" if where is None else f"units where {self.describe(where)}"
        return self.add("units", name, where=where, row_bound=1, sensitivity=sensitivity.units())

    def rows(self, *needs: Expr, where: Expr | None = None, at_most: int | None = None) -> Measure:
        """How many rows enter, at most max_rows (or at_most) of a unit; the unit count serves where every unit counts at
        most one row anyway."""
        needs = self.nullable(*needs)
        cap = self.max_rows if at_most is None else min(at_most, self.max_rows)
        if cap == 1 and not needs and self.one_count:
            return self.units(where)
        name = f"count({', '.join(map(self.describe, needs)) or '*'}){self.filter(where)}"
        bound = "" if cap == self.max_rows else "contribution bounds of the query"
        return self.add(
            "rows",
            name,
            needs=needs,
            where=where,
            row_cap=cap,
            row_bound=1,
            sensitivity=sensitivity.rows(cap),
            because=bound,
        )

    def total(
        self,
        arg: Expr,
        where: Expr | None = None,
        bounds: tuple[Fraction, Fraction] | None = None,
        at: Span | None = None,
    ) -> Measure:
        """Σ arg. Of max_rows·bound and the bounds on a unit's whole sum (the query's, else the owner's) the one with the
        smaller sensitivity."""
        whole, because = bounds, "contribution bounds of the query"
        if whole is None and isinstance(arg, Column):
            whole, because = self.max_sum.get(arg.id), "max_sum declared in the metadata"
        name = f"sum({self.describe(arg)}){self.filter(where)}"
        if whole is None or self.domain(arg).interval.is_finite:
            axis = self.axis(arg)
            by_rows = sensitivity.total(axis, self.max_rows)
            clamp = None if whole is None else _clamp(whole, axis)
            if clamp is None or by_rows <= sensitivity.clamped(*clamp):
                return self.add(
                    "sum",
                    name,
                    axis=axis,
                    where=where,
                    step=axis.step,
                    row_bound=max(abs(axis.low), abs(axis.high)),
                    sensitivity=by_rows,
                    because=self.domain(arg).because + ("" if whole is None else ", less noise than the unit's sum"),
                )
        else:
            axis = self.axis_of_sum(arg, whole, at)
            clamp = _clamp(whole, axis)
        return self.add(
            "sum",
            name,
            axis=axis,
            where=where,
            step=axis.step,
            clamp=clamp,
            row_bound=max(1, sensitivity.clamped(*clamp)),  # of a unit: its rows are clamped together
            sensitivity=sensitivity.clamped(*clamp),
            because=because,
        )

    def centred(self, arg: Expr, where: Expr | None = None) -> Measure:
        """Σ (arg − mid), mid the middle of arg's bounds."""
        coarse = self.find("centred", self.squared_axis(arg), where)
        if coarse is not None and arg.type.kind is Kind.REAL:  # a variance has it: rows·step away from the finer one
            return coarse
        return self.centred_on(self.axis(arg), where=where)

    def centred_on(self, axis: Axis, *needs: Expr, where: Expr | None = None) -> Measure:
        return self.add(
            "centred",
            f"centred sum({self.describe(axis.arg)}){self._with(needs)}{self.filter(where)}",
            axis=axis,
            needs=self.nullable(*needs),
            where=where,
            step=axis.step / 2,
            row_bound=axis.width,
            sensitivity=sensitivity.centred(axis, self.max_rows),
            because=self.domain(axis.arg).because,
        )

    def square(self, axis: Axis, *needs: Expr, where: Expr | None = None) -> Measure:
        """Σ (z² − range²/8), z = arg − mid, range the width of arg's bounds."""
        return self.add(
            "square",
            f"centred squares({self.describe(axis.arg)}){self._with(needs)}{self.filter(where)}",
            axis=axis,
            needs=self.nullable(*needs),
            where=where,
            step=axis.step**2 / 8,
            row_bound=axis.width**2,
            sensitivity=sensitivity.square(axis, self.max_rows),
            because=self.domain(axis.arg).because,
        )

    def product(self, axis: Axis, second: Axis, where: Expr | None = None) -> Measure:
        """Σ z·z′, both centred; the same whichever comes first."""
        axis, second = sorted((axis, second), key=lambda one: self.describe(one.arg))
        return self.add(
            "product",
            f"centred product({self.describe(axis.arg)}, {self.describe(second.arg)}){self.filter(where)}",
            axis=axis,
            second=second,
            where=where,
            step=axis.step * second.step / 4,
            row_bound=max(1, axis.width * second.width),
            sensitivity=sensitivity.product(axis, second, self.max_rows),
            because=self.domain(axis.arg).because,
        )

    def distinct(self, parts: tuple[Expr, ...], where: Expr | None = None) -> Measure:
        """How many different values; NULL alone is none, as in SQL."""
        name = f"count(distinct {', '.join(map(self.describe, parts))}){self.filter(where)}"
        return self.add(
            "distinct", name, parts=parts, where=where, row_bound=1, sensitivity=sensitivity.distinct(self.max_rows)
        )

    def is_unit(self, expr: Expr) -> bool:
        return isinstance(expr, Column) and expr.id in self.same_unit

    def has(self, kind: MeasureKind, arg: Expr, where: Expr | None) -> bool:
        return any(
            m.kind == kind and m.axis is not None and m.axis.arg == arg and m.where == where and not m.needs
            for m in self.measures
        )

    def find(self, kind: MeasureKind, axis: Axis | None, where: Expr | None) -> Measure | None:
        found = (m for m in self.measures if (m.kind, m.axis, m.where, m.needs) == (kind, axis, where, ()))
        return next(found, None)

    def nullable(self, *exprs: Expr) -> tuple[Expr, ...]:
        """Those that may be NULL, once each, in an order of their own: (x, y) and (y, x) ask for the same rows."""
        return tuple(sorted((e for e in dict.fromkeys(exprs) if self.domain(e).nullable), key=self.describe))

    def filter(self, where: Expr | None) -> str:
        return "" if where is None else f" where {self.describe(where)}"

    def _with(self, needs: tuple[Expr, ...]) -> str:
        return f" beside {', '.join(map(self.describe, needs))}" if needs else ""

    def add(
        self,
        kind: MeasureKind,
        name: str,
        *,
        row_bound: int,
        sensitivity: int,
        axis: Axis | None = None,
        second: Axis | None = None,
        needs: tuple[Expr, ...] = (),
        parts: tuple[Expr, ...] = (),
        where: Expr | None = None,
        step: Fraction = Fraction(1),
        clamp: tuple[int, int] | None = None,
        row_cap: int = 0,
        because: str = "",
    ) -> Measure:
        """The measurement; the one there is, if it was asked for before."""
        new = Measure(
            kind=kind,
            name=name,
            real=Field(-1, "", REAL),
            whole=Field(-1, "", _whole_type(kind, axis)),
            axis=axis,
            second=second,
            needs=needs,
            parts=parts,
            where=where,
            step=step,
            clamp=clamp,
            row_cap=row_cap,
            row_bound=row_bound,
            sensitivity=sensitivity,
            because=because,
        )
        for old in self.measures:
            if dataclasses.replace(old, name=name, real=new.real, whole=new.whole) == new:
                return old
        measure = dataclasses.replace(
            new, real=self.ids.field("", new.real.type), whole=self.ids.field("", new.whole.type)
        )
        self.measures.append(measure)
        return measure


def _clamp(whole: tuple[Fraction, Fraction], axis: Axis) -> tuple[int, int]:
    """A unit's bounds on the axis, never wider than asked for; 0 is what a unit without rows adds."""
    low, high = math.ceil(whole[0] / axis.step), math.floor(whole[1] / axis.step)
    return min(low, high), high


def _whole_type(kind: MeasureKind, axis: Axis | None) -> Type:
    """What the measurement is when it is rounded: a sum of decimals is a decimal, of reals a real, the rest integers."""
    if kind in ("square", "product"):
        return REAL
    if axis is not None and axis.arg.type.kind is Kind.DECIMAL:
        return decimal(38, axis.arg.type.scale)
    if axis is not None and axis.arg.type.kind is Kind.REAL:
        return REAL
    return BIGINT


def real(measure: Measure) -> Expr:
    """The measurement in the user's units, as a real."""
    return measure.real.column()


def whole(measure: Measure) -> Expr:
    """The measurement rounded to an integer (or to its decimal scale); a real stays as it is."""
    return measure.whole.column()


def ends(measure: Measure) -> tuple[Fraction, Fraction]:
    """The bounds of a measured expression, as they are enforced."""
    assert measure.axis is not None
    return measure.axis.low * measure.axis.step, measure.axis.high * measure.axis.step


def number(value: Fraction) -> Literal:
    """A constant of a finishing expression."""
    return Literal(float(value), REAL)


__all__ = ["Measuring", "ends", "number", "real", "whole"]
