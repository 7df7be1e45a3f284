"""The rows of a stage: their unit u, their group g, and for each measurement an integer p, NULL where it does not enter."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.plan.measurements import Measurement
from dpsql.plan.ready import Ready
from dpsql.plan.render.keys import Joins, group
from dpsql.plan.render.pieces import axis_values, enters_all, piece, tests
from dpsql.plan.render.relation import Relations

Extra = Sequence[tuple[str, str]]


def rows(
    ready: Ready, relations: Relations, joins: Joins, measured: Sequence[tuple[int, Measurement]], *, extra: Extra = ()
) -> str:
    """SELECT u, g, p<j> for each measurement that not every row enters, and extra columns, printed over the source.

    A row is there when its unit is (the source has it so, and it is asked again) and its keys are among the groups."""
    columns = [f"{relations.expr(ready.stage.source.unit)} AS u", f"{group(ready, relations, joins)} AS g"]
    outer = ["u", "CAST(g AS BIGINT) AS g", *(name for name, _ in extra)]
    columns += [f"{text} AS {name}" for name, text in extra]
    for j, one in measured:
        if enters_all(one):
            continue
        values = [f"z{j}_{i}" for i in range(len(axis_values(one, relations)))]
        columns += [f"{text} AS {name}" for name, text in zip(values, axis_values(one, relations), strict=True)]
        conditions = [f"({test})" for test in tests(one, relations)]
        if conditions:
            columns.append(f"{' AND '.join(conditions)} AS w{j}")
        value = piece(one, values)
        outer.append(f"{f'CASE WHEN w{j} THEN {value} END' if conditions else value} AS p{j}")
    inner = f"SELECT {', '.join(columns)} FROM ({relations.render(ready.stage.source.node)}) AS t"
    inner += "".join(f" {clause}" for clause in joins.clauses)
    return f"SELECT {', '.join(outer)} FROM ({inner}) AS v WHERE u IS NOT NULL AND g IS NOT NULL"
