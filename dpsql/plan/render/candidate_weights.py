"""Weights of candidates: the rows that are nearest to each, for a choice among them or as a histogram."""

from __future__ import annotations

from dpsql.plan.balls import FULL
from dpsql.plan.candidates import WORD, Candidates, Ends
from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.measurements import Axis, Choice, Counted
from dpsql.plan.render.ball import weights_of_rows
from dpsql.plan.render.keys import Joins
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.printer import Printer
from dpsql.plan.render.sums import on_noise_grid, weighed
from dpsql.plan.stages import Draw
from dpsql.plan.vault_query import CANDIDATE, GROUP, WEIGHT, Question, Step, key_table

LARGEST = 2**62


def candidate_weights(printer: Printer, j: int, one: Counted, draw: Draw) -> Question:
    """Σ w of the rows nearest to each candidate."""
    if isinstance(one, Choice) and isinstance(one.question, Ends):
        return _votes_for_ends(printer, j, one, one.question)
    candidates, source, extra, dialect = one.candidates, "every", [], printer.dialect
    if candidates.values is None:
        assert one.axis is not None
        v = _ordinal(f"p{j}", one.axis, candidates, dialect)
    else:
        assert one.part is not None
        table = f"choices_{printer.stage.number}_{j}"
        columns = key_table(candidates.values, one.part.type)
        printer.tables[table] = columns
        choices = Joins(dialect, printer.tables, printer.stage.source.single).of(table, columns)
        extra = [("d", dialect.travelled(printer.relations.expr(one.part), one.part.type))]
        v, source = f"{table}.ordinal", f"every JOIN {choices} ON every.d = {table}.value"
    entered = "" if enters_all(one) else f" WHERE p{j} IS NOT NULL"
    placed = f"SELECT u, g, v FROM (SELECT u, g, {v} AS v FROM {source}{entered}) AS placed"
    placed += f" WHERE v BETWEEN 0 AND {candidates.count - 1}"
    steps = [Step("every", printer.rows(((j, one),), extra=extra)), printer.step("rows", placed)]
    ball = printer.ball(True, draw.norm)
    value, rows_ = f"{dialect.wide('count(*)')} * {dialect.integer(FULL)}", "rows"
    if ball is not None:
        steps += weights_of_rows(ball, {"e0": "count(*)"}, dialect)
        value, rows_ = dialect.sum("e0"), weighed("rows")
    choosing = isinstance(one, Choice) or printer.exact
    shown = dialect.at_most(value, LARGEST) if choosing else on_noise_grid(value, draw, dialect)
    select = f"SELECT g, v, {shown} AS w FROM {rows_} GROUP BY g, v"
    return Question(steps=tuple(steps), select=select, columns=(GROUP, CANDIDATE, WEIGHT), answers=(j,))


def _ordinal(p: str, axis: Axis, candidates: Candidates, dialect: Dialect) -> str:
    """The nearest candidate of a grid integer; for bins the first whose upper end is not below it."""
    if candidates.edges is not None:
        steps = " ".join(f"WHEN {p} <= {dialect.integer(edge)} THEN {n}" for n, edge in enumerate(candidates.edges))
        return dialect.bigint(f"CASE {steps} ELSE {len(candidates.edges)} END")
    wide = axis.width + candidates.cell >= WORD
    above = f"{dialect.wide(p) if wide else p} - {dialect.integer(axis.low)}"
    if candidates.cell == 1:
        return dialect.bigint(above)
    half, cell = dialect.integer(candidates.cell // 2), dialect.integer(candidates.cell)
    return dialect.bigint(dialect.quotient(f"({above} + {half})", cell, wide=wide))


def _votes_for_ends(printer: Printer, j: int, one: Choice, question: Ends) -> Question:
    """How many units vote for each place: one vote each, by its value that is farthest from 0."""
    places, dialect = len(question.limits) + 1, printer.dialect

    def place(size: str) -> str:
        cases = " ".join(f"WHEN {size} <= {dialect.integer(limit)} THEN {i}" for i, limit in enumerate(question.limits))
        return f"CASE {cases} ELSE {places - 1} END"

    zero = dialect.integer(0)
    sizes = f"SELECT greatest(max(p{j}), {zero}) AS up, greatest(-min(p{j}), {zero}) AS down FROM rows"
    sizes += f" WHERE p{j} IS NOT NULL GROUP BY u"
    voted = f"CASE WHEN up >= down THEN {place('up')} ELSE {places} + {place('down')} END"
    votes = dialect.at_most(f"{dialect.wide('count(*)')} * {dialect.integer(FULL)}", LARGEST)
    return Question(
        steps=(Step("rows", printer.rows(((j, one),))), Step("sizes", sizes)),
        select=f"SELECT {dialect.bigint('0')} AS g, {dialect.bigint(voted)} AS v, {votes} AS w FROM sizes GROUP BY v",
        columns=(GROUP, CANDIDATE, WEIGHT),
        answers=(j,),
    )
