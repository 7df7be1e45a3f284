"""Private keys and their totals in one statement."""

from __future__ import annotations

from dpsql.plan.ready import Occurring, Ready
from dpsql.plan.render.kept_pairs import row_parts
from dpsql.plan.render.keys import Joins, key_order, private_keys
from dpsql.plan.render.one_row import each_unit
from dpsql.plan.render.printer import Printer
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.row_totals import totals_of_rows
from dpsql.plan.render.rows import rows
from dpsql.plan.render.selection import voted_for, votes_shown
from dpsql.plan.render.sums import Sums, Weighing, shown_totals
from dpsql.plan.stages import NoisyStage
from dpsql.plan.vault_query import GROUP, VOTES, Question, Step, VaultQuery


def together(stage: NoisyStage, relations: Relations, *, kept: bool = True) -> VaultQuery | None:
    """Keys and votes as `selecting` asks them, and beside them the totals of every key that is voted for; None where that is
    not done: where more than one row of a unit counts, where something else than rows is measured, or more is asked of the
    stage than keys and totals.

    Lemma: over all keys together one unit moves the totals within their ball, and so over those that are released; which
    those are, votes with their own noise decide, and the totals of others are never looked at. Proof: a unit's weights are a
    function of its rows alone, counted over all its keys. Of one row, it votes for one group (`_each_unit`); others vote by
    the pairs of them and their groups, as in `selecting`.

    That rows of keys which are not released count, too, makes a unit's weight smaller only where it has more rows than the
    one that counts.
    """
    parts = row_parts(stage)
    if stage.public_keys or len(stage.selections) != 1 or stage.unsettled or stage.over or not parts:
        return None
    if not stage.source.single and stage.limit.rows.most != 1:
        return None
    printer = Printer(ready=Ready(stage=stage, groups=Occurring()), relations=relations, exact=False, kept=kept, salt=0)
    (norm,) = {stage.noised[j].ball for j, _ in parts}
    ball, weighing = printer.ball(True, norm), Weighing.of(parts, apart=True, shown=False)
    sums = Sums(relations.dialect, weighing, "full" if ball is None else "of rows")
    totals = {j: totals_of_rows(printer, j, one, sums) for j, one in parts}
    outs = shown_totals(printer, parts, totals, sums)
    joins = Joins(relations.dialect, printer.tables, stage.source.single)
    private = private_keys(stage, relations, joins)
    extra = [(column.name, text) for column, text in private]
    rows_ = rows(printer.ready, relations, joins, parts, present=() if ball is None else weighing.present, extra=extra)
    public = (GROUP,) if any(key.values is not None for key in stage.keys) else ()
    columns = (*public, *(column for column, _ in private))
    names = tuple(column.name for column in columns)
    keys = ", ".join(names)
    if ball is None:
        steps = [Step("rows", rows_)]
        counted = f"count(*) * {relations.dialect.integer(stage.selections[0].votes[0])} AS votes, count(*) AS units"
    else:
        steps = each_unit(printer, ball, rows_, names, weighing, parts, votes=True)
        counted = f"{relations.dialect.sum('votes')} AS votes, sum(units) AS units"
    inner = ", ".join([keys, counted, *(f"{text} AS {name}" for text, name in sums.names.items())])
    shown = ", ".join([keys, votes_shown(relations.dialect), *(f"{text} AS {column.name}" for column, text in outs)])
    select = f"SELECT {shown} FROM (SELECT {inner} FROM rows GROUP BY {keys}) AS z "
    select += f"WHERE {voted_for(stage)} ORDER BY {key_order(stage, 'z', relations.dialect)}"
    every = (*columns, VOTES, *(column for column, _ in outs))
    question = Question(steps=tuple(steps), select=select, columns=every, answers=tuple(j for j, _ in parts))
    return VaultQuery(questions=(question,), tables=printer.tables)
