"""What an aggregate may ask to be measured of a stage's groups. Equal questions are one measurement, paid for once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import TypeVar

from dpsql.domain.types import BIGINT, REAL, Kind, Type, decimal
from dpsql.errors import Span
from dpsql.ir.expr import Column, Expr, Literal
from dpsql.ir.ids import Ids
from dpsql.plan.measurements import (
    Axis,
    Choice,
    DistinctCount,
    Histogram,
    Measurement,
    Number,
    OnAxis,
    One,
    Product,
    RowMoments,
    RowTotal,
    UnitTotal,
)
from dpsql.plan.stages import Limit
from dpsql.plan.what_is_read import entering
from dpsql.privacy.auto import doublings
from dpsql.privacy.axes import PIECE_LIMIT, Axes

OF_VALUES = 40  # a sum's largest limit is 2^40 times the smallest
Sums = Mapping[int, tuple[Fraction, Fraction]]
Asked = TypeVar("Asked", RowTotal, UnitTotal, DistinctCount, Choice, Histogram)


@dataclass(slots=True, kw_only=True)
class MeasurementCollector(Axes):
    """The measurements of one stage.

    groups: the number of public groups, None where keys are private. max_sum: the owner's bounds on what a unit's rows of
    a column add up to in a group, by column id. candidates: of sums that are limited by Σ|x| of a unit, by position, the
    limits that the data choose from. released: those that they chose for an earlier query, by the sum's name.
    """

    ids: Ids
    limit: Limit
    same_unit: frozenset[int] = frozenset()
    groups: int | None = 1
    max_sum: Sums = field(default_factory=lambda: MappingProxyType({}))
    released: Mapping[str, Fraction] = field(default_factory=lambda: MappingProxyType({}))
    measurements: list[Measurement] = field(default_factory=list)
    candidates: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def units(self, where: Expr | None = None) -> Number:
        """How many units have a row that enters: their rows, where those of a unit count one in all."""
        if self.limit.rows.most == 1 and not self.limit.auto:
            return self.rows(where=where)
        name = "units" if where is None else f"units where {self.describe(where)}"
        new = UnitTotal(name=name, piece=One(), clamp=(0, 1), where=where, answer=self._number(BIGINT))
        return self.asked(new).answer

    def rows(self, *needs: Expr, where: Expr | None = None, at_most: int | None = None) -> Number:
        """How many rows enter; where moments of the same rows are measured, their count. at_most: of a unit in a group."""
        needs = self.nullable(*needs)
        name = f"count({', '.join(map(self.describe, needs)) or '*'}){self.filter(where)}"
        if at_most is not None and self._by_group(at_most, 1):
            because = "contribution bounds of the query"
            bounded = UnitTotal(
                name=name,
                piece=One(),
                clamp=(0, at_most),
                needs=needs,
                where=where,
                answer=self._number(BIGINT),
                because=because,
            )
            return self.asked(bounded).answer
        for old in self.measurements:
            if isinstance(old, RowMoments) and self._rows_of(old) == (frozenset(needs), where):
                return old.count
        new = RowTotal(name=name, piece=One(), needs=needs, where=where, answer=self._number(BIGINT))
        return self.asked(new).answer

    def total(
        self,
        arg: Expr,
        where: Expr | None = None,
        bounds: tuple[Fraction, Fraction] | None = None,
        at: Span | None = None,
    ) -> Number:
        """Σ arg. Of the rows' bounds and the bounds on a unit's whole sum in a group (the query's, else the owner's) those
        with the smaller reach. Where the same rows are counted too, both are measured by the ends of one axis."""
        beside = self._mean_of(arg, where) if bounds is None else None
        if beside is not None:  # AVG(x) has it: no share of ε of its own
            return beside.total
        whole, because = bounds, "contribution bounds of the query"
        if whole is None and isinstance(arg, Column):
            whole, because = self.max_sum.get(arg.id), "max_sum declared in the metadata"
        if whole is None and not self.domain(arg).interval.is_finite:
            axis, smallest = self.axis_of_values(arg)
            return self._total_of_values(
                arg, axis, smallest, where, f"sum({self.describe(arg)}){self.filter(where)}", ""
            )
        name = f"sum({self.describe(arg)}){self.filter(where)}"
        clamp: tuple[int, int] | None = None
        if whole is None or self.domain(arg).interval.is_finite:
            axis = self.axis(arg)
            far = max(abs(axis.low), abs(axis.high))
            clamp = None if whole is None else _clamp(whole, axis)
            if clamp is None or not self._by_group(max(map(abs, clamp)), far):
                because = self.domain(arg).because + ("" if whole is None else ", less noise than the unit's sum")
                return self._total_of_rows(arg, axis, where, name, because)
        else:
            axis = self.axis_of_sum(arg, whole, at)
            clamp = _clamp(whole, axis)
        if max(map(abs, clamp)) >= PIECE_LIMIT:  # beyond 64 bits, one person's sum would decide whether it is answered
            raise self.sum_too_wide(arg, at)
        number = self._number(_sum_type(arg.type))
        new = UnitTotal(name=name, piece=OnAxis(axis), clamp=clamp, where=where, answer=number, because=because)
        return self.asked(new).answer

    def _total_of_rows(self, arg: Expr, axis: Axis, where: Expr | None, name: str, because: str) -> Number:
        if "rows" in self.limit.auto or name in self.released:
            return self._total_of_values(arg, axis, max(1, abs(axis.low), abs(axis.high)), where, name, because)
        counted = (frozenset(self.nullable(arg)), where)
        if any(isinstance(m, RowTotal) and m.piece == One() and self._rows_of(m) == counted for m in self.measurements):
            return self.moments_on(axis, degree=1, where=where).total
        new = RowTotal(
            name=name, piece=OnAxis(axis), where=where, answer=self._number(_sum_type(arg.type)), because=because
        )
        return self.asked(new).answer

    def _total_of_values(
        self, arg: Expr, axis: Axis, smallest: int, where: Expr | None, name: str, because: str
    ) -> Number:
        """Limited by what a unit's values add up to, whatever their sign: one large sum among small ones is all it takes
        for a limit on rows to be far too wide."""
        new = RowTotal(
            name=name,
            piece=OnAxis(axis),
            where=where,
            within=smallest,
            answer=self._number(_sum_type(arg.type)),
            because=because,
        )
        before = self.released.get(name)
        if before is not None:
            within = max(1, math.ceil(before / axis.step))
            return self.asked(dataclasses.replace(new, within=within, because="released before")).answer
        asked = self.asked(new)
        self.candidates[self.measurements.index(asked)] = doublings(smallest, count=OF_VALUES)
        return asked.answer

    def mean(self, arg: Expr, where: Expr | None = None) -> RowMoments:
        """Count and sum of one axis."""
        return self._mean_of(arg, where) or self.moments_on(self.axis(arg), degree=1, where=where)

    def _mean_of(self, arg: Expr, where: Expr | None) -> RowMoments | None:
        """Moments that are measured anyway. A variance of reals has the sum on its own axis: rows·step away from the finer
        one."""
        coarse = self.squared_axis(arg)
        fits = coarse is not None and (arg.type.kind is Kind.REAL or coarse == self.axis(arg))
        moments = self._moments_of(coarse, (), where) if fits else None
        if moments is None and any(isinstance(m, RowMoments) and m.axis.arg == arg for m in self.measurements):
            moments = self._moments_of(self.axis(arg), (), where)
        return moments

    def moments_on(self, axis: Axis, *needs: Expr, degree: int, where: Expr | None = None) -> RowMoments:
        """Moments of the rows where the axis and `needs` are there. A lone count of the same rows becomes theirs."""
        needs = tuple(need for need in self.nullable(*needs) if need != axis.arg)
        known = self._moments_of(axis, needs, where)
        if known is not None and known.degree >= degree:
            return known
        beside = f" beside {', '.join(map(self.describe, needs))}" if needs else ""
        word = "mean" if degree == 1 else "moments"
        count, total = self._number(BIGINT), self._number(_sum_type(axis.arg.type))
        new = RowMoments(
            name=f"{word} of {self.describe(axis.arg)}{beside}{self.filter(where)}",
            axis=axis,
            degree=degree,
            needs=needs,
            where=where,
            count=count,
            total=total,
            first=self.ids.field("", REAL),
            second=self.ids.field("", REAL) if degree == 2 else None,
            because=self.domain(axis.arg).because,
        )
        if known is not None:  # of a lower degree: its columns stay
            kept = dataclasses.replace(new, count=known.count, total=known.total, first=known.first)
            self.measurements[self.measurements.index(known)] = kept
            return kept
        for position, old in enumerate(self.measurements):
            if isinstance(old, RowTotal) and old.piece == One() and self._rows_of(old) == self._rows_of(new):
                kept = dataclasses.replace(new, count=old.answer)
                self.measurements[position] = kept
                return kept
        self.measurements.append(new)
        return new

    def product(self, axis: Axis, second: Axis, where: Expr | None = None) -> Number:
        """Σ z·z′, both centred; the same whichever comes first."""
        axis, second = sorted((axis, second), key=lambda one: self.describe(one.arg))
        name = f"centred product({self.describe(axis.arg)}, {self.describe(second.arg)}){self.filter(where)}"
        new = RowTotal(
            name=name,
            piece=Product(axis, second),
            where=where,
            answer=self._number(REAL),
            because=self.domain(axis.arg).because,
        )
        return self.asked(new).answer

    def distinct(self, parts: tuple[Expr, ...], where: Expr | None = None, *, added: bool = False) -> Number:
        """How many different values (NULL alone is none, as in SQL). added: what those of one expression add up to."""
        what = "sum" if added else "count"
        rows = self.limit.rows
        new = DistinctCount(
            name=f"{what}(distinct {', '.join(map(self.describe, parts))}){self.filter(where)}",
            parts=() if added else parts,
            most=rows.most,
            in_group=max(1, rows.squared // rows.most),  # of m groups x c rows: m·c² over m·c
            axis=self.axis(parts[0]) if added else None,
            where=where,
            answer=self._number(_sum_type(parts[0].type) if added else BIGINT),
        )
        return self.asked(new).answer

    def is_unit(self, expr: Expr) -> bool:
        return isinstance(expr, Column) and expr.id in self.same_unit

    def nullable(self, *exprs: Expr) -> tuple[Expr, ...]:
        """Those that may be NULL, once each, in an order of their own: (x, y) and (y, x) ask for the same rows."""
        return tuple(sorted((e for e in dict.fromkeys(exprs) if self.domain(e).nullable), key=self.describe))

    def filter(self, where: Expr | None) -> str:
        return "" if where is None else f" where {self.describe(where)}"

    def add(self, new: Measurement) -> None:
        self.measurements.append(new)

    def _rows_of(self, one: Measurement) -> tuple[frozenset[Expr], Expr | None]:
        """Which rows enter, in terms of what may be NULL."""
        read, where = entering(one)
        return frozenset(self.nullable(*read)), where

    def _by_group(self, of_group: int, of_row: int) -> bool:
        """Whether bounding what a unit adds to a group reaches less than bounding its rows; where the data choose how many
        rows count, a bound that somebody gave is taken."""
        return "rows" in self.limit.auto or self.limit.groups.most * of_group < self.limit.rows.most * of_row

    def _moments_of(self, axis: Axis | None, needs: tuple[Expr, ...], where: Expr | None) -> RowMoments | None:
        row_moments = (m for m in self.measurements if isinstance(m, RowMoments))
        return next((m for m in row_moments if (m.axis, m.needs, m.where) == (axis, needs, where)), None)

    def asked(self, new: Asked) -> Asked:
        """The measurement; the one there is, if it was asked for before."""
        parts = [part.name for part in dataclasses.fields(new) if part.name not in ("name", "answer", "answers")]
        for old in self.measurements:
            if isinstance(old, type(new)) and all(getattr(old, part) == getattr(new, part) for part in parts):
                return old
        self.measurements.append(new)
        return new

    def _number(self, type_: Type) -> Number:
        return Number(real=self.ids.field("", REAL), whole=self.ids.field("", type_))


def _clamp(whole: tuple[Fraction, Fraction], axis: Axis) -> tuple[int, int]:
    """A unit's bounds on the axis, never wider than asked for; 0 is what a unit without rows adds."""
    low, high = math.ceil(whole[0] / axis.step), math.floor(whole[1] / axis.step)
    return min(low, high), high


def _sum_type(type_: Type) -> Type:
    """A sum of decimals is a decimal, of reals a real, of the rest an integer."""
    match type_.kind:
        case Kind.DECIMAL:
            return decimal(38, type_.scale)
        case Kind.REAL:
            return REAL
        case _:
            return BIGINT


def ends(axis: Axis) -> tuple[Fraction, Fraction]:
    """The bounds of a measured expression, as they are enforced."""
    return axis.low * axis.step, axis.high * axis.step


def number(value: Fraction) -> Literal:
    """A constant of a finishing expression."""
    return Literal(float(value), REAL)
