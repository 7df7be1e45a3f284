"""How many different values a group has, of which a unit gives only so many; or what they add up to."""

from __future__ import annotations

from dpsql.domain.types import BIGINT
from dpsql.plan.balls import FULL
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import DistinctCount
from dpsql.plan.render.printer import Printer
from dpsql.plan.render.sums import on_noise_grid
from dpsql.plan.vault_query import GROUP, Question, Step, total


def distinct(printer: Printer, j: int, one: DistinctCount) -> Question:
    """Of a unit's different values at most in_group of one group and `most` in all are kept; then each value of a group
    counts once. On an axis a value is its integer there."""
    dialect = printer.dialect
    extra = [(f"d{n}", printer.relations.expr(part)) for n, part in enumerate(one.parts)]
    types = {f"d{n}": part.type for n, part in enumerate(one.parts)} if one.axis is None else {f"p{j}": BIGINT}
    values = ", ".join(types)
    columns = f"u, g, {values}"
    entered = dialect.by_unit(f"rows WHERE p{j} IS NOT NULL", printer.stage.limit.rows.most)
    steps = [
        Step("rows", printer.rows(((j, one),), extra=extra)),
        Step("d", dialect.different(columns, entered), stored=None if dialect.sorts else True),
    ]
    shuffled = dialect.shuffled({"g": BIGINT, **types}, printer.salt)
    order = shuffled, f"g, {values}"
    kept = "d"
    if not printer.one_group and one.in_group < one.most:
        kept = _capped(steps, kept, ("u", "g"), one.in_group, columns, order, dialect)
    kept = _capped(steps, kept, ("u",), one.most, columns, order, dialect)
    g, by = (f"{dialect.bigint('0')} AS g", "") if printer.one_group else ("g", " GROUP BY g")
    full = dialect.integer(FULL)
    added = "count(*)" if one.axis is None else dialect.wide(dialect.sum(f"p{j}"))
    counted = f"SELECT {g}, {added} * {full} AS n FROM (SELECT DISTINCT g, {values} FROM {kept}) AS each{by}"
    column = total(j, 0, exact=printer.exact)
    shown = dialect.as_text("n") if printer.exact else on_noise_grid("n", printer.stage.noised[j].draw, dialect)
    select = f"SELECT g, {shown} AS {column.name} FROM ({counted}) AS z"
    return Question(steps=tuple(steps), select=select, columns=(GROUP, column), answers=(j,))


def _capped(
    steps: list[Step],
    source: str,
    by: tuple[str, ...],
    at_most: int,
    columns: str,
    order: tuple[str, str],
    dialect: Dialect,
) -> str:
    """Of the rows that share `by` at most so many: the first in that order. Each row has beside it how many they are, by a
    window or an INNER join: what was not counted is not kept.

    Equal places are told apart by the values themselves, so no order of the engine's decides."""
    name, sizes, shared = f"{source}{len(by)}", f"n_{source}{len(by)}", ", ".join(by)
    shuffled, rest = order
    if dialect.adds_first:  # in one place: of n ≤ at_most all are among the first, in whatever order
        steps.append(Step(sizes, f"SELECT {columns}, count(*) OVER (PARTITION BY {shared}) AS n FROM {source}"))
        first = f"CASE WHEN n > {at_most} THEN {shuffled} END, {rest}"
        numbered = f"SELECT {columns}, row_number() OVER (PARTITION BY {shared} ORDER BY {first}) AS nth FROM {sizes}"
        steps.append(Step(name, f"SELECT {columns} FROM ({numbered}) AS numbered WHERE nth <= {at_most}"))
        return name
    if dialect.sorts:
        counted = f"SELECT {columns}, count(*) OVER (PARTITION BY {shared}) AS n FROM {source}"
        steps.append(Step(sizes, counted, stored=True))
        sized = f"FROM {sizes}"
    else:
        steps.append(Step(sizes, f"SELECT {shared}, count(*) AS n FROM {source} GROUP BY {shared}"))
        sized = f"FROM {source} JOIN {sizes} USING ({shared})"
    nth = f"row_number() OVER (PARTITION BY {shared} ORDER BY {shuffled}, {rest}) AS nth"
    many = f"SELECT {columns}, {nth} {sized} WHERE n > {at_most}"
    few = f"SELECT {columns} {sized} WHERE n <= {at_most}"
    steps.append(Step(name, f"{few} UNION ALL SELECT {columns} FROM ({many}) AS many WHERE nth <= {at_most}"))
    return name
