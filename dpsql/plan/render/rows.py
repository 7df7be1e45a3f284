"""The rows of a stage: their unit u, their group g, and for each measurement an integer p, NULL where it does not enter."""

from __future__ import annotations

from collections.abc import Container, Sequence

from dpsql.domain.types import Kind
from dpsql.ir.expr import Expr
from dpsql.plan.measurements import Measurement, axes
from dpsql.plan.ready import Ready
from dpsql.plan.render.keys import Joins, group
from dpsql.plan.render.pieces import enters_all, piece, placed, placed_real, scaled, tests
from dpsql.plan.render.relation import Relations

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
    columns = [f"{relations.expr(ready.stage.source.unit)} AS u", f"{group(ready, relations, joins)} AS g"]
    outer = ["u", "CAST(g AS BIGINT) AS g", *(name for name, _ in extra)]
    columns += [f"{text} AS {name}" for name, text in extra]
    filters: dict[Expr, str] = {}
    for j, one in measured:
        if enters_all(one):
            continue
        places: list[str] = []
        for i, axis in enumerate(axes(one)):
            x, z = f"x{j}_{i}", f"z{j}_{i}"
            columns.append(f"{relations.expr(axis.arg)} AS {x}")
            if axis.arg.type.kind is Kind.REAL:
                places.append(placed_real(x, axis))
                continue
            columns.append(f"{scaled(relations.expr(axis.arg), axis)} AS {z}")
            places.append(placed(x, z, axis))
        conditions: list[str] = []
        needed = tests(one, relations)
        if needed:
            columns.append(f"{' AND '.join(needed)} AS t{j}")
            conditions.append(f"t{j}")
        if one.where is not None:
            if one.where not in filters:
                filters[one.where] = f"w{len(filters)}"
                columns.append(f"{relations.expr(one.where)} AS {filters[one.where]}")
            conditions.append(filters[one.where])
        outer.append(f"{_where(conditions, piece(one, places))} AS p{j}")
        if j in present:
            outer.append(f"{_presence(j, len(places), conditions)} AS h{j}")
    inner = f"SELECT {', '.join(columns)} FROM ({relations.render(ready.stage.source.node)}) AS t"
    inner += joins.text
    # no row is without its unit, as the kernel has proved; where no weight is joined by it, it is not even read
    there = "" if ready.stage.source.single else " WHERE u IS NOT NULL"
    return f"SELECT {', '.join(outer)} FROM ({inner}) AS v{there}"


def _where(conditions: list[str], value: str) -> str:
    return f"CASE WHEN {' AND '.join(conditions)} THEN {value} END" if conditions else value


def _presence(j: int, axes_: int, conditions: list[str]) -> str:
    """p is NULL where a condition is not true or an axis' argument is NULL: without looking at the places."""
    if axes_ == 1 and not conditions:
        return f"x{j}_0"
    return _where([*conditions, *(f"x{j}_{i} IS NOT NULL" for i in range(axes_))], "TRUE")
