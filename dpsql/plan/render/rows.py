"""The rows of a stage: their unit u, their group g, and for each measurement an integer p, NULL where it does not enter."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from dpsql.domain.types import Kind
from dpsql.ir.expr import Expr
from dpsql.plan.measurements import Measurement, RowMoments, axes
from dpsql.plan.ready import Ready
from dpsql.plan.render.keys import Joins, group
from dpsql.plan.render.pieces import enters_all, piece, tests
from dpsql.plan.render.relation import Relations
from dpsql.plan.slices import slice_of

Extra = Sequence[tuple[str, str]]


def rows(
    ready: Ready,
    relations: Relations,
    joins: Joins,
    measured: Sequence[tuple[int, Measurement]],
    *,
    present: Container[int] = (),
    extra: Extra = (),
) -> str:
    """SELECT u, g, p<j> for each measurement that not every row enters, and extra columns, printed over the source; h<j> for
    those that are `present`: something that is not NULL wherever p<j> is not, and cheaper to make.

    A row is there when its unit is (the source has it so, and it is asked again) and its keys are among the groups."""
    dialect, source = relations.dialect, f"({relations.render(ready.stage.source.node)}) AS t"
    outer = ["u", f"{dialect.bigint('g')} AS g", *(name for name, _ in extra)]
    with dialect.levels() as levels:
        unit = f"{relations.expr(ready.stage.source.unit)} AS u"
        named = [f"{text} AS {name}" for name, text in extra]
        inner = Inner(relations, [unit, f"{group(ready, relations, joins)} AS g", *named])
        for j, one in measured:
            if enters_all(one):
                continue
            places, conditions = inner.places(j, one), inner.conditions(j, one)
            outer.append(f"{_where(conditions, piece(one, places, dialect))} AS p{j}")
            if j in present:
                outer.append(f"{_presence(j, len(places), conditions)} AS h{j}")
    select = f"SELECT {', '.join(inner.columns)} FROM {levels.over(source)}{joins.text}"
    # no row is without its unit, as the kernel has proved; where no weight is joined by it, it is not even read
    there = "" if ready.stage.source.single else " WHERE u IS NOT NULL"
    made = f"SELECT {', '.join(outer)} FROM ({dialect.once(select)}) AS v{there}"
    squared = any(isinstance(one, RowMoments) and one.degree == 2 for _, one in measured)  # which say p more than once
    return dialect.once(made) if squared else made


@dataclass(slots=True)
class Inner:
    """Columns over the source, each expression once: arguments x<j>_<i>, on their grid z<j>_<i>, tests t<j>, and w<n> for
    each WHERE or number of a slice, which several measurements may share."""

    relations: Relations
    columns: list[str]
    filters: dict[Expr, str] = field(default_factory=dict)

    def places(self, j: int, one: Measurement) -> list[str]:
        """The integers of a measurement's axes, over these columns."""
        made: list[str] = []
        dialect = self.relations.dialect
        for i, axis in enumerate(axes(one)):
            x, z = f"x{j}_{i}", f"z{j}_{i}"
            self.columns.append(f"{self.relations.expr(axis.arg)} AS {x}")
            if axis.arg.type.kind is Kind.REAL:
                made.append(dialect.placed_real(x, axis))
                continue
            self.columns.append(f"{dialect.scaled(self.relations.expr(axis.arg), axis)} AS {z}")
            made.append(dialect.placed(x, z, axis))
        return made

    def conditions(self, j: int, one: Measurement) -> list[str]:
        """What must be true for a row to enter, beside that its places are not NULL."""
        tested: list[str] = []
        needed = tests(one, self.relations)
        if needed:
            self.columns.append(f"{' AND '.join(needed)} AS t{j}")
            tested.append(f"t{j}")
        if one.where is not None:
            tested.append(self._filter(one.where))
        mine = slice_of(one)
        if mine is not None:
            tested.append(f"{self._filter(mine.number)} = {self.relations.dialect.integer(mine.which)}")
        return tested

    def _filter(self, expr: Expr) -> str:
        if expr not in self.filters:
            self.filters[expr] = f"w{len(self.filters)}"
            self.columns.append(f"{self.relations.expr(expr)} AS {self.filters[expr]}")
        return self.filters[expr]


def _where(conditions: list[str], value: str) -> str:
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value} END" if conditions else value


def _presence(j: int, axes_: int, conditions: list[str]) -> str:
    """p is NULL where a condition is not true or an axis' argument is NULL: without looking at the places."""
    if axes_ == 1 and not conditions:
        return f"x{j}_0"
    return _where([*conditions, *(f"x{j}_{i} IS NOT NULL" for i in range(axes_))], "TRUE")
