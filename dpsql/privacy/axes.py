"""Expressions as integers on value grids, and the refusals where their bounds do not allow it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval
from dpsql.domain.types import Kind
from dpsql.errors import Refused, Span, SqlError
from dpsql.ir.expr import Column, Expr, place, walk
from dpsql.plan.clamps import clamp_that_keeps
from dpsql.plan.measurements import Axis
from dpsql.plan.tracked import Origin
from dpsql.privacy import sensitivity
from dpsql.privacy.sensitivity import ValueGrid

PIECE_LIMIT = 2**62  # one row's integer fits a BIGINT; weighted, 2^40 of them add up within a HUGEINT
COARSER = 2**10  # steps of reals without bounds: 2^-30 of a typical size
REACH = 2**32  # of 62 bits, in typical sizes
ROW_LIMIT = 2**20  # rows of an unbounded column are clamped to this many times their unit's bounds
NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.BOOLEAN)


@dataclass(slots=True)
class Axes:
    """`describe` prints an expression as the analyst would know it. origins: which columns are a table's own; others are
    computed, and no line of the metadata can give them bounds."""

    domains: Mapping[int, Domain]
    describe: Callable[[Expr], str]
    origins: Mapping[int, Origin]
    likes: Mapping[int, Fraction] = field(default_factory=lambda: MappingProxyType({}))

    # by id(); the expression is kept, so that no other gets its id
    inferred: dict[int, tuple[Expr, Domain]] = field(default_factory=dict, kw_only=True)

    def domain(self, expr: Expr) -> Domain:
        """What is expected of the expression: worked out once, for values of a key set are gone through one by one."""
        if id(expr) not in self.inferred:
            self.inferred[id(expr)] = functions.infer(expr, self.domains)
        return self.inferred[id(expr)][1]

    def axis(self, arg: Expr) -> Axis:
        """The argument on its value grid; refused without finite bounds, with the two ways to mend it."""
        domain = self._bounded(arg)
        grid = sensitivity.value_grid(domain.type, domain.interval)
        row_bound = max(abs(grid.low), abs(grid.high), grid.width)
        if row_bound >= PIECE_LIMIT:
            raise self.too_wide(arg)
        return _on(arg, grid)

    def moment_axis(self, arg: Expr) -> Axis:
        """The same, coarse enough for second moments."""
        axis = self.squared_axis(arg)
        if axis is None:
            self._bounded(arg)
            raise self.too_wide(arg)
        return axis

    def squared_axis(self, arg: Expr) -> Axis | None:
        domain = self.domain(arg)
        if not domain.interval.is_finite or domain.type.kind not in NUMBERS:
            return None
        if not sensitivity.representable(domain.type, domain.interval):
            return None
        grid = sensitivity.moment_grid(domain.type, domain.interval)
        far = max(abs(grid.low), abs(grid.high))  # twice a value is reckoned with, however narrow the bounds are
        return None if far >= PIECE_LIMIT else _on(arg, grid)

    def _bounded(self, arg: Expr) -> Domain:
        domain = self.domain(arg)
        if domain.type.kind not in NUMBERS:
            raise SqlError(f"{domain.type} cannot be summed", code=105, at=place(arg), fix="Sum a number.")
        if not domain.interval.is_finite:
            raise self.unbounded(arg, "A sum or average needs to know how much one row can add.")
        if not sensitivity.representable(domain.type, domain.interval):
            raise self.too_wide(arg)
        return domain

    def axis_of_sum(self, arg: Expr, whole: tuple[Fraction, Fraction], at: Span | None) -> Axis:
        """An axis for a column without bounds whose unit's sum has some: each row within ±2^20 times those."""
        type_ = self.domain(arg).type
        if type_.kind not in NUMBERS:
            raise SqlError(f"{type_} cannot be summed", code=105, at=place(arg), fix="Sum a number.")
        far = max(abs(end) for end in whole)
        if not sensitivity.representable(type_, Interval(-far * ROW_LIMIT, far * ROW_LIMIT)):
            raise self.too_wide(arg)
        step = sensitivity.value_grid(type_, Interval(-far, far)).step
        reach = min(int(far / step) * ROW_LIMIT, PIECE_LIMIT - 1)
        return Axis(arg=arg, step=step, low=-reach, high=reach)

    def axis_of_values(self, arg: Expr) -> tuple[Axis, int]:
        """An axis for a column without bounds, as wide as 62 bits are, and a typical size on it. Nothing is believed about
        the size: it is where the data's choice of a limit begins (and of reals, 2^30 steps)."""
        type_ = self.domain(arg).type
        if type_.kind not in NUMBERS:
            raise SqlError(f"{type_} cannot be summed", code=105, at=place(arg), fix="Sum a number.")
        like = self.likes.get(arg.id, Fraction(1)) if isinstance(arg, Column) else Fraction(1)
        if not sensitivity.representable(type_, Interval(-like * REACH, like * REACH)):
            raise self.too_wide(arg)
        step = sensitivity.value_grid(type_, Interval(-like, like)).step
        if type_.kind is Kind.REAL:
            step *= COARSER
        return Axis(arg=arg, step=step, low=1 - PIECE_LIMIT, high=PIECE_LIMIT - 1), max(1, math.ceil(like / step))

    def too_wide(self, arg: Expr) -> Refused:
        declared = self._declared(arg)
        narrow = f"Narrow the bounds of {' and '.join(declared)} in the metadata, or clip" if declared else "Clip"
        return Refused(
            f"the bounds of {self.describe(arg)} are too wide to sum exactly",
            code=131,
            at=place(arg),
            why="Sums are exact 128-bit integers (and their squares doubles); these bounds do not fit.",
            fix=f"{narrow} it: {self._clamp(arg, 'low', 'high')}.",
        )

    def sum_too_wide(self, arg: Expr, at: Span | None) -> Refused:
        return Refused(
            f"the bounds on a unit's sum of {self.describe(arg)} are too wide to sum exactly",
            code=131,
            at=at or place(arg),
            why="What one unit adds must fit 62 bits, in steps of its type.",
            fix="Narrow contribution_bounds_per_group, or max_sum in the metadata.",
        )

    def unbounded(self, arg: Expr, why: str) -> Refused:
        shown, declared = self.describe(arg), self._declared(arg, unbounded=True)
        clamp = f"lip it: {self._clamp(arg, '0', '100')}."
        if declared:
            fix = f"Add `lower:` and `upper:`, or `bounds: auto`, to {' and '.join(declared)} in the metadata, or c{clamp}"
        else:
            fix = f"It is computed, so no bounds can be declared for it. C{clamp}"
        column = isinstance(arg, Column) and arg.name
        what = f'column "{shown}"' if column else shown
        return Refused(f"{what} has no bounds", code=103, at=place(arg), why=why, fix=fix)

    def _clamp(self, arg: Expr, low: str, high: str) -> str:
        return clamp_that_keeps(self.describe(arg), low, high, nullable=self.domain(arg).nullable)

    def _declared(self, arg: Expr, *, unbounded: bool = False) -> tuple[str, ...]:
        """The tables' own columns in an expression (unbounded: those without bounds), as the catalog spells them."""
        ids = [part.id for part in walk(arg) if isinstance(part, Column) and part.id in self.origins]
        declared = [id_ for id_ in ids if not (unbounded and self.domains[id_].interval.is_finite)]
        return tuple(dict.fromkeys(str(self.origins[id_]) for id_ in declared))


def _on(arg: Expr, grid: ValueGrid) -> Axis:
    return Axis(arg=arg, step=grid.step, low=grid.low, high=grid.high)
