"""What an aggregate may ask to be measured of a stage's groups. Equal questions are one measurement, paid for once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.domain.facts import Domain
from dpsql.domain.types import BIGINT, REAL, Kind, Type, decimal
from dpsql.errors import Refused, SqlError
from dpsql.ir.expr import Column, Expr, Literal, place, walk
from dpsql.plan.stages import Measure, MeasureKind
from dpsql.privacy import sensitivity
from dpsql.sql import functions
from dpsql.sql.bind.context import Ids

PIECE_LIMIT = 2**62  # one row's integer fits a BIGINT
SHARE_LIMIT = 2**86  # one unit's share; 2^40 of them add up within a HUGEINT


@dataclass(slots=True)
class Measuring:
    """The measurements of one stage. `describe` prints an expression as the analyst would know it."""

    ids: Ids
    domains: Mapping[int, Domain]
    max_rows: int
    describe: Callable[[Expr], str]
    same_unit: frozenset[int] = frozenset()
    measures: list[Measure] = field(default_factory=list)

    def units(self, where: Expr | None = None) -> Measure:
        """How many units have a row that enters."""
        name = "units" if where is None else f"units where {self.describe(where)}"
        return self._add("units", None, where, name, row_bound=1, changes_by=sensitivity.units())

    def rows(self, arg: Expr | None = None, where: Expr | None = None) -> Measure:
        """How many rows enter; the unit count serves where every unit counts at most one row anyway."""
        if arg is not None and not self.domain(arg).nullable:
            arg = None
        if self.max_rows == 1 and arg is None:
            return self.units(where)
        name = f"count({'*' if arg is None else self.describe(arg)})" + self._filter(where)
        return self._add("rows", arg, where, name, row_bound=1, changes_by=sensitivity.rows(self.max_rows))

    def total(self, arg: Expr, where: Expr | None = None) -> Measure:
        """Σ arg."""
        grid = self.grid(arg)
        return self._add(
            "sum",
            arg,
            where,
            f"sum({self.describe(arg)}){self._filter(where)}",
            step=grid.step,
            grid=grid,
            row_bound=max(abs(grid.low), abs(grid.high)),
            changes_by=sensitivity.total(grid, self.max_rows),
        )

    def centred(self, arg: Expr, where: Expr | None = None) -> Measure:
        """Σ (arg − mid), mid the middle of arg's bounds."""
        grid = self.grid(arg)
        return self._add(
            "centred",
            arg,
            where,
            f"centred sum({self.describe(arg)}){self._filter(where)}",
            step=grid.step / 2,
            grid=grid,
            row_bound=grid.high - grid.low,
            changes_by=sensitivity.centred(grid, self.max_rows),
        )

    def is_unit(self, expr: Expr) -> bool:
        return isinstance(expr, Column) and expr.id in self.same_unit

    def has(self, kind: MeasureKind, arg: Expr | None, where: Expr | None) -> bool:
        return any(m.kind == kind and m.arg == arg and m.where == where for m in self.measures)

    def domain(self, expr: Expr) -> Domain:
        return functions.infer(expr, self.domains)[1]

    def grid(self, arg: Expr) -> sensitivity.ValueGrid:
        """The argument's value grid; refused without finite bounds, with the two ways to mend it."""
        domain = self.domain(arg)
        if domain.type.kind not in (Kind.INTEGER, Kind.DECIMAL, Kind.REAL, Kind.BOOLEAN):
            raise SqlError(f"{domain.type} cannot be summed", code=105, at=place(arg), fix="Sum a number.")
        if not domain.interval.is_finite:
            raise self._unbounded(arg)
        grid = sensitivity.value_grid(domain.type, domain.interval)
        row_bound = max(abs(grid.low), abs(grid.high), grid.high - grid.low)
        if row_bound >= PIECE_LIMIT or row_bound * self.max_rows >= SHARE_LIMIT:
            raise Refused(
                f"the bounds of {self.describe(arg)} are too wide to sum exactly",
                code=131,
                at=place(arg),
                why="Sums are exact 128-bit integers; these bounds and caps do not fit.",
                fix="Narrow the bounds, or clamp: LEAST(GREATEST(x, low), high).",
            )
        return grid

    def _unbounded(self, arg: Expr) -> Refused:
        columns = dict.fromkeys(
            part.name
            for part in walk(arg)
            if isinstance(part, Column) and part.id in self.domains and not self.domains[part.id].interval.is_finite
        )
        names = " and ".join(f'"{name}"' for name in columns if name)
        shown = self.describe(arg)
        return Refused(
            f"column {names} has no bounds" if names and len(columns) == 1 else f"{shown} has no bounds",
            code=103,
            at=place(arg),
            why="A sum or average needs to know how much one row can add.",
            fix=f"Add `lower:` and `upper:` to {names or 'its columns'} in the metadata, "
            f"or clamp it: LEAST(GREATEST({shown}, 0), 100).",
        )

    def _filter(self, where: Expr | None) -> str:
        return "" if where is None else f" where {self.describe(where)}"

    def _add(
        self,
        kind: MeasureKind,
        arg: Expr | None,
        where: Expr | None,
        name: str,
        *,
        row_bound: int,
        changes_by: int,
        step: Fraction = Fraction(1),
        grid: sensitivity.ValueGrid | None = None,
    ) -> Measure:
        for old in self.measures:
            if (old.kind, old.arg, old.where) == (kind, arg, where):
                return old
        because = "" if arg is None or grid is None else self.domain(arg).because
        measure = Measure(
            kind=kind,
            name=name,
            real=self.ids.field("", REAL),
            whole=self.ids.field("", self._whole_type(arg, grid)),
            arg=arg,
            where=where,
            step=step,
            grid=Fraction(1) if grid is None else grid.step,
            low=0 if grid is None else grid.low,
            high=1 if grid is None else grid.high,
            row_bound=row_bound,
            sensitivity=changes_by,
            because=because,
        )
        self.measures.append(measure)
        return measure

    def _whole_type(self, arg: Expr | None, grid: sensitivity.ValueGrid | None) -> Type:
        if arg is not None and grid is not None and arg.type.kind is Kind.DECIMAL:
            return decimal(38, arg.type.scale)
        if arg is not None and grid is not None and arg.type.kind is Kind.REAL:
            return REAL
        return BIGINT


def real(measure: Measure) -> Expr:
    """The measurement in the user's units, as a real."""
    return measure.real.column()


def whole(measure: Measure) -> Expr:
    """The measurement rounded to an integer (or to its decimal scale); a real stays as it is."""
    return measure.whole.column()


def number(value: Fraction) -> Literal:
    """A constant of a finishing expression."""
    return Literal(float(value), REAL)


__all__ = ["Measuring", "number", "real", "whole"]
