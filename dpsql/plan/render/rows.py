"""The rows of a stage: their unit u, their group g, and for each measurement an integer p, NULL where it does not enter."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.ir.expr import Expr
from dpsql.plan.measurements import Measurement, axes
from dpsql.plan.ready import Ready
from dpsql.plan.render.keys import Joins, group
from dpsql.plan.render.pieces import enters_all, piece, placed, scaled, tests
from dpsql.plan.render.relation import Relations

Extra = Sequence[tuple[str, str]]


def rows(
    ready: Ready, relations: Relations, joins: Joins, measured: Sequence[tuple[int, Measurement]], *, extra: Extra = ()
) -> str:
    """SELECT u, g, w<n> for each FILTER, p<j> for each measurement that not every row enters, and extra columns, printed
    over the source.

    A row is there when its unit is (the source has it so, and it is asked again) and its keys are among the groups."""
    columns = [f"{relations.expr(ready.stage.source.unit)} AS u", f"{group(ready, relations, joins)} AS g"]
    outer = ["u", "CAST(g AS BIGINT) AS g", *(name for name, _ in extra)]
    columns += [f"{text} AS {name}" for name, text in extra]
    filters = filters_of(measured)
    columns += [f"{relations.expr(where)} AS {name}" for where, name in filters.items()]
    outer += filters.values()
    for j, one in measured:
        if enters_all(one):
            continue
        places: list[str] = []
        for i, axis in enumerate(axes(one)):
            x, z = f"x{j}_{i}", f"z{j}_{i}"
            columns += [f"{relations.expr(axis.arg)} AS {x}", f"{scaled(relations.expr(axis.arg), axis)} AS {z}"]
            places.append(placed(x, z, axis))
        conditions = []
        needed = tests(one, relations)
        if needed:
            columns.append(f"{' AND '.join(needed)} AS t{j}")
            conditions.append(f"t{j}")
        if one.where is not None:
            conditions.append(filters[one.where])
        value = piece(one, places)
        if conditions:
            value = f"CASE WHEN {' AND '.join(conditions)} THEN {value} END"
        outer.append(f"{value} AS p{j}")
    inner = f"SELECT {', '.join(columns)} FROM ({relations.render(ready.stage.source.node)}) AS t"
    inner += "".join(f" {clause}" for clause in joins.clauses)
    # no row is without its unit, as the kernel has proved; where no weight is joined by it, it is not even read
    tests_ = "g IS NOT NULL" if ready.stage.source.single else "u IS NOT NULL AND g IS NOT NULL"
    return f"SELECT {', '.join(outer)} FROM ({inner}) AS v WHERE {tests_}"


def filters_of(measured: Sequence[tuple[int, Measurement]]) -> dict[Expr, str]:
    """The columns of FILTER conditions: w0, w1, …, in the order of the measurements."""
    found: dict[Expr, str] = {}
    for _, one in measured:
        if one.where is not None:
            found.setdefault(one.where, f"w{len(found)}")
    return found
