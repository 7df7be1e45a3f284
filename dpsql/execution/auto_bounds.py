"""Bounds that are left to the data (`bounds: auto`): chosen before the query that needs them, with a part of its ε.

A choice is a release of its own: charged, on record, and public afterwards, so later queries use it at no cost. The
query is then planned as if the owner had declared what was chosen, for the rest of ε: together they cost what was asked.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from dpsql.catalog.model import Catalog, ColumnSpec, fold
from dpsql.domain.interval import Interval
from dpsql.errors import InternalError
from dpsql.ir.nodes import Noisy
from dpsql.mechanisms.choice import Chooser, rho_of
from dpsql.plan.balls import FULL
from dpsql.plan.candidates import Candidates, Ends
from dpsql.plan.dialects.literals import identifier
from dpsql.plan.measurements import Choice, OnAxis, RowTotal
from dpsql.plan.stages import Draw, Noised, NoisyStage, ReleasePlan
from dpsql.privacy.auto import doublings
from dpsql.privacy.contribution_limit import tables_read
from dpsql.privacy.settings import Released

SHARE = Fraction(1, 10)
WIDEST = 2**20  # bounds are at most so many times a typical size
Column = tuple[str, str]
Bounds = Mapping[Column, Interval]


def columns_left_to_data(catalog: Catalog) -> tuple[Column, ...]:
    return tuple((t.name, c.name) for t in catalog.tables if not t.public for c in t.columns if c.bounds_auto)


def placeholders(catalog: Catalog, columns: Iterable[Column], times: int = WIDEST) -> dict[Column, Interval]:
    """Bounds until some are chosen: the widest there can be, where a plan has to be possible with any and for exact answers,
    or so many times a typical size."""
    intervals: dict[Column, Interval] = {}
    for table, column in columns:
        far = _like(_column(catalog, table, column)) * times
        intervals[table, column] = Interval(-far, far)
    return intervals


def with_bounds(catalog: Catalog, bounds: Bounds) -> Catalog:
    """The catalog, as if these had been declared."""
    if not bounds:
        return catalog

    def column(table: str, spec: ColumnSpec) -> ColumnSpec:
        interval = bounds.get((table, spec.name))
        return spec if interval is None else dataclasses.replace(spec, interval=interval)

    tables = tuple(
        dataclasses.replace(table, columns=tuple(column(table.name, spec) for spec in table.columns))
        for table in catalog.tables
    )
    return dataclasses.replace(catalog, tables=tables)


def question(table: str, column: str) -> str:
    """A query over the rows and the values that bounds are chosen of."""
    return f"SELECT SUM({identifier(column)}) FROM {identifier(table)}"


def ladder(asked: ReleasePlan, column: str, epsilon: Fraction) -> ReleasePlan:
    """The plan of a choice, made of the plan of `question`: the same certified rows, one vote a unit."""
    (stage,) = asked.stages
    (one,) = stage.measurements
    if not isinstance(one, RowTotal) or not isinstance(one.piece, OnAxis) or one.within is None:
        raise InternalError("bounds are chosen of a sum without bounds")
    axis = one.piece.axis
    limits = (0, *(limit for limit in doublings(one.within) if limit <= axis.high))
    low = dataclasses.replace(one.answer.real, name="lower", type=axis.arg.type)
    high = dataclasses.replace(one.answer.whole, name="upper", type=axis.arg.type)
    choice = Choice(
        name=f"bounds of {column}",
        question=Ends(limits=limits),
        candidates=Candidates(count=2 * (len(limits) + 1)),
        axis=axis,
        answers=(low, high),
    )
    by: Chooser = "exponential" if asked.accounting == "zcdp" else "permute-and-flip"
    draw = Draw(mechanism=by, reach=FULL, epsilon=epsilon, rho=rho_of(by, epsilon))
    made = dataclasses.replace(
        stage,
        measurements=(choice,),
        choices=(),
        noised=(Noised(measurement=choice, form="plain", draws=(draw,)),),
        outputs=((low, low.column()), (high, high.column())),
        notes=(),
    )
    cost = dataclasses.replace(asked.cost, epsilon=epsilon, delta=Fraction(0), rho=draw.rho, delta_keys=Fraction(0))
    final = Noisy(stage.number, (low, high))
    return dataclasses.replace(asked, stages=(made,), final=final, cost=cost, narrow=None, confidence=None)


def chosen_of(stage: NoisyStage, low: int, high: int) -> Interval:
    """Released places as bounds in the user's units."""
    (one,) = stage.measurements
    assert isinstance(one, Choice) and one.axis is not None
    return Interval(low * one.axis.step, high * one.axis.step)


LOWER, UPPER = "lower bound of ", "upper bound of "


def recorded(table: str, column: str, bounds: Interval) -> Iterator[dict[str, object]]:
    """For the ledger, beside other limits that the data chose."""
    low, high = bounds.ends()
    for of, end in ((LOWER, low), (UPPER, high)):
        yield {"tables": [table], "of": of + fold(column), "chosen": str(end)}


def released_before(released: Released, table: str, column: str) -> Interval | None:
    released_ends = released.get(tables_read([table]), {})
    ends = [released_ends.get(of + fold(column)) for of in (LOWER, UPPER)]
    return None if None in ends else Interval(*ends)


def _column(catalog: Catalog, table: str, column: str) -> ColumnSpec:
    spec = catalog.table(table)
    column_spec = None if spec is None else spec.column(column)
    if column_spec is None:
        raise InternalError("bounds of a column that is not there")
    return column_spec


def _like(spec: ColumnSpec) -> Fraction:
    return Fraction(1) if spec.like is None else spec.like
