"""Totals of units: how many a group has, and sums of what each adds up to, within a clamp."""

from __future__ import annotations

from dpsql.plan.balls import Norm
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import Measurement, UnitTotal, axes
from dpsql.plan.render.ball import weights
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.printer import Parts, Printer
from dpsql.plan.render.sums import Sums, Total, Weighing, shown_totals, summed, weighed
from dpsql.plan.vault_query import Question, Step


def of_units(printer: Printer, parts: Parts, norm: Norm) -> Question:
    """Each unit's share of a group first, within its clamp; then these are weighed like rows."""
    weighing, ball = Weighing.of(parts, apart=False), printer.ball(False, norm)
    shares = [f"{_share(j, one, printer.dialect)} AS p{j}" for j, one in parts if not enters_all(one) or _is_sum(one)]
    pairs = f"SELECT {', '.join(['u', 'g', *shares])} FROM rows GROUP BY u, g"
    steps = [Step("rows", printer.rows(parts)), Step("pairs", pairs, stored=None if ball is None else True)]
    if ball is not None:
        steps.append(Step("weights", weights(ball, weighing.counts, "pairs", printer.dialect, by_group=False)))
    sums = Sums(printer.dialect, weighing, "full" if ball is None else "of rows")
    totals = {j: [_unit_total(j, one, sums)] for j, one in parts}
    pairs_ = "pairs" if ball is None else weighed("pairs")
    return summed(printer, steps, pairs_, sums, shown_totals(printer, parts, totals, sums), parts)


def _is_sum(one: Measurement) -> bool:
    return isinstance(one, UnitTotal) and not one.counts_units


def _share(j: int, one: Measurement, dialect: Dialect) -> str:
    entered = "count(*)" if enters_all(one) else f"count(p{j})"
    if not isinstance(one, UnitTotal) or one.counts_units:
        return f"CASE WHEN {entered} > 0 THEN {dialect.integer(1)} END"
    low, high = (dialect.wide(dialect.integer(end)) for end in one.clamp)
    value = dialect.sum(f"p{j}") if axes(one) else dialect.wide(entered)
    return f"CASE WHEN {entered} > 0 THEN {dialect.narrow(f'greatest(least({value}, {high}), {low})')} END"


def _unit_total(j: int, one: Measurement, sums: Sums) -> Total:
    if isinstance(one, UnitTotal) and not one.counts_units:
        return Total(sums.sum(j, f"p{j}", max(abs(end) for end in one.clamp)), counts=not axes(one))
    return Total(sums.count(j, all_rows=enters_all(one)), counts=True)
