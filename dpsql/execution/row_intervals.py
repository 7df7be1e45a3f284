"""The 95 % intervals of a result whose columns are made of several measurements, computed when somebody looks.

They depend on the released values, so they are not in the plan: the released rows are finished once more, in a scratch of
their own, with the ends of every interval beside them. That is post-processing, and it works after the connection is closed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from dpsql.engine.hardening import Limits
from dpsql.engine.scratch import Scratch
from dpsql.execution.plan_sql import PlanSql
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Node
from dpsql.plan.stages import ReleasePlan
from dpsql.privacy.intervals import Widened, branches, has_one_source, widened
from dpsql.release.released_rows import ReleasedRows
from dpsql.report.half_widths import CONFIDENCE, intervals, unnamed
from dpsql.report.privacy import Intervals, Reckoned, row_key

At = tuple[int, int, int]  # positions of a column and of its ends
Row = tuple[Any, ...]
FAR = 10**9  # ids from here on are not the plan's
MOST_ROWS = 10_000  # of a result whose rows are told apart


def interval_report(plan: ReleasePlan, released: Sequence[ReleasedRows]) -> Intervals:
    """Privacy.intervals of released rows: of plain measurements at once, of the rest when it is asked for."""
    plain = intervals(plan)
    left_out = unnamed(plan)
    settled = all(f.name in plain or f.id in left_out for f in plan.final.fields)
    sides = branches(plan.final)
    if plan.exact or settled or not all(has_one_source(plan.stages, side) for side in sides):
        return Intervals(plain)
    return Intervals(plain, lambda: _together(_each(plan, sides, released, frozenset(plain))))


def _together(reckonings: list[Reckoned]) -> Reckoned:
    """Of all rows; a column without an interval, or with an open one, in one of them has none."""
    widest: dict[str, float] = {}
    rows: dict[str, dict[str, float]] | None = {}
    for one in reckonings:
        for name, half in one.widest.items():
            widest[name] = max(half, widest.get(name, 0.0))
        if rows is None or one.rows is None:
            rows = None
            continue
        for key, halves in one.rows.items():
            held = rows.setdefault(key, {})
            held.update({name: max(half, held.get(name, 0.0)) for name, half in halves.items()})
    return Reckoned(widest={name: half for name, half in widest.items() if half < math.inf}, rows=rows)


def _each(
    plan: ReleasePlan, sides: list[Node], released: Sequence[ReleasedRows], plain: frozenset[str]
) -> list[Reckoned]:
    with Scratch(Limits(threads=1)) as scratch:
        return [_reckon(scratch, n, plan, side, released, plain) for n, side in enumerate(sides)]


def _reckon(
    scratch: Scratch,
    number: int,
    plan: ReleasePlan,
    final: Node,
    released: Sequence[ReleasedRows],
    plain: frozenset[str],
) -> Reckoned:
    """Infinite where an interval is open, or a column has none."""
    known = frozenset(f.id for f in final.fields if f.name in plain) | unnamed(plan)
    widened_plan = widened(plan.stages, final, CONFIDENCE, Ids(FAR), skip=known)
    numbers = () if widened_plan is None else tuple(at for at in widened_plan.shown if widened_plan.closed(at))
    without = {f.name: math.inf for f in final.fields if f.id not in known}
    if widened_plan is None or not numbers:
        return Reckoned(widest=without)
    for at in numbers:
        del without[widened_plan.final.fields[at[0]].name]
    wide = dataclasses.replace(plan, stages=widened_plan.stages, final=widened_plan.final)
    sql = PlanSql(wide, {}, {}, number)
    sql.load(scratch, wide.stages, released)
    with closing(scratch.query(sql.final())) as result:
        if len(result) <= MOST_ROWS:
            some = _of_rows(result.fetchall(), widened_plan, numbers)
            return Reckoned(widest={**without, **some.widest}, rows=some.rows)
    return Reckoned(widest={**without, **_widest(scratch, sql, widened_plan, numbers)}, rows=None)


def _of_rows(rows: list[Row], widened_plan: Widened, numbers: tuple[At, ...]) -> Reckoned:
    """Of each row, by the row as the result shows it: the wider ones where two look the same."""
    hidden = {i for at in widened_plan.shown for i in at[1:]}
    names = {at: widened_plan.final.fields[at[0]].name for at in numbers}
    halves: dict[str, dict[str, float]] = {}
    widest: dict[str, float] = {}
    for row in rows:
        held = halves.setdefault(row_key(v for i, v in enumerate(row) if i not in hidden), {})
        for at, name in names.items():
            half = _half_of(*(row[i] for i in at))
            if half is None:
                continue
            widest[name] = max(half, widest.get(name, 0.0))
            if half < math.inf:
                held[name] = max(half, held.get(name, 0.0))
    return Reckoned(widest=widest, rows=halves)


def _half_of(value: Any, low: float | None, high: float | None) -> float | None:
    """None for a NULL; infinite where the interval is open."""
    if value is None:
        return None
    return math.inf if low is None or high is None else max(high - float(value), float(value) - low)


def _widest(scratch: Scratch, sql: PlanSql, widened_plan: Widened, numbers: tuple[At, ...]) -> dict[str, float]:
    """For each column the widest half over the rows; infinite where a row's interval is open."""
    columns = ", ".join(f"c{i}" for i in range(len(widened_plan.final.fields)))
    items = (f"CASE WHEN bool_or({_open(*at)}) THEN 'Infinity'::DOUBLE ELSE max({_half(*at)}) END" for at in numbers)
    text = f"SELECT {', '.join(items)} FROM ({sql.final()}) AS t({columns})"
    with closing(scratch.query(text)) as result:
        (values,) = result.fetchall()
    names = (widened_plan.final.fields[value].name for value, _, _ in numbers)
    return {name: half for name, half in zip(names, values, strict=True) if half is not None}


def _half(value: int, low: int, high: int) -> str:
    return f"greatest(c{high} - CAST(c{value} AS DOUBLE), CAST(c{value} AS DOUBLE) - c{low})"


def _open(value: int, low: int, high: int) -> str:
    return f"c{value} IS NOT NULL AND (c{low} IS NULL OR c{high} IS NULL)"
