"""Private keys and their totals of one relation: pairs of a unit and a group, with what is measured of them added up. Votes
are counted of it, and then totals of those groups that are released; an engine that keeps it reads the rows once."""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.domain.types import BIGINT, TEXT
from dpsql.plan.balls import Ball
from dpsql.plan.measurements import RowMoments, RowTotal, limited_by
from dpsql.plan.ready import Listed, Occurring, Ready
from dpsql.plan.render.ball import weighed_pairs
from dpsql.plan.render.keys import Joins, private_keys, released_keys
from dpsql.plan.render.printer import NOT_ASKED, Parts, Printer
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.row_totals import totals_of_rows
from dpsql.plan.render.rows import rows
from dpsql.plan.render.sums import Sums, Total, Weighing, shown_totals, summed
from dpsql.plan.stages import NoisyStage
from dpsql.plan.vault_query import Question, Step, VaultColumn

# Spark knows of what it keeps how it lies (by unit, in order) only where it has the unit under a name that no file has.
UNIT = "unit_"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPairs:
    """step: a relation of the unit, its private `keys`, what `sums` and `counts` add up of its rows there, and n, how many
    groups the unit has."""

    step: Step
    keys: tuple[VaultColumn, ...]
    parts: Parts
    ball: Ball
    sums: Sums
    totals: dict[int, list[Total]]
    counts: dict[str, str]


def kept_pairs(stage: NoisyStage, relations: Relations) -> KeptPairs | None:
    """None where the dialect does not add up pairs first, where something else than rows is measured, or where more is
    asked than one round of votes and then totals."""
    dialect, parts = relations.dialect, row_parts(stage)
    asked_more = len(stage.selections) != 1 or stage.choices or stage.over or not parts
    if asked_more or stage.source.single or not dialect.adds_first or any(k.values is not None for k in stage.keys):
        return None
    printer = Printer(ready=Ready(stage=stage, groups=Occurring()), relations=relations, exact=False, kept=True, salt=0)
    (norm,) = {stage.noised[j].ball for j, _ in parts}
    ball, weighing = printer.ball(True, norm), Weighing.of(parts, apart=False)
    assert ball is not None  # the source is not single
    sums = Sums(dialect, weighing, "of units", reach=ball.reach(1))
    totals = {j: totals_of_rows(printer, j, one, sums) for j, one in parts}
    counts = {name: sums.inner.setdefault(text, f"n_{name}") for name, text in weighing.counts.items()}
    joins = Joins(dialect, printer.tables, single=False)
    private = private_keys(stage, relations, joins)
    rows_ = rows(printer.ready, relations, joins, parts, extra=[(column.name, text) for column, text in private])
    keys = ", ".join(column.name for column, _ in private)
    added = ", ".join(f"{text} AS {name}" for text, name in sums.inner.items())
    named = dialect.by_unit(f"(SELECT *, u AS {UNIT} FROM ({rows_}) AS rows) AS rows", stage.limit.rows.most, UNIT)
    pairs = f"SELECT {UNIT}, {keys}, {added} FROM {named} GROUP BY {UNIT}, {keys}"
    step = Step(
        f"pairs_{stage.number}",
        f"SELECT *, count(*) OVER (PARTITION BY {UNIT}) AS n FROM ({pairs}) AS pairs",
        kept=True,
    )
    return KeptPairs(
        step=step,
        keys=tuple(column for column, _ in private),
        parts=parts,
        ball=ball,
        sums=sums,
        totals=totals,
        counts=counts,
    )


def of_kept_pairs(printer: Printer, listed: Listed, pairs: KeptPairs) -> Question:
    """Totals of the groups that were released.

    Lemma: they are those of `row_totals.of_rows`. Proof: a row is in the pair of its unit and its keys, as they travel, and
    among the released groups each of these keys is once. So joining pairs to groups leaves of each unit one pair for each
    group of its that was released, with what `of_rows` adds up there; it is weighed and summed in the same way."""
    groups = f"groups_{printer.stage.number}"
    printer.tables[groups] = released_keys(listed)
    name, dialect = pairs.step.name, printer.dialect
    on = " AND ".join(
        dialect.same(f"{name}.{key.name}", f"{groups}.{key.name}", TEXT if key.type == "VARCHAR" else BIGINT)
        for key in pairs.keys
    )
    columns = ", ".join([f"{UNIT} AS u", f"{groups}.ordinal AS g", *pairs.sums.inner.values()])
    joined = Step("pairs", f"SELECT {columns} FROM {name} JOIN {groups} ON {on}")
    steps = [pairs.step, joined, *weighed_pairs(pairs.ball, pairs.counts, dialect)]
    outs = shown_totals(printer, pairs.parts, pairs.totals, pairs.sums)
    return summed(printer, steps, "weighed", pairs.sums, outs, pairs.parts)


def row_parts(stage: NoisyStage) -> Parts:
    """What is measured, where all of it is totals of rows, limited in one norm."""
    drawn = [(j, n) for j, n in enumerate(stage.noised) if n.draw.mechanism not in NOT_ASKED]
    alike = len({n.ball for _, n in drawn}) == 1
    same = all(
        isinstance(n.measurement, RowTotal | RowMoments) and limited_by(n.measurement) == "rows" for _, n in drawn
    )
    return [(j, n.measurement) for j, n in drawn] if alike and same else []
