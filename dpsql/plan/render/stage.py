"""A ready stage as statements of the vault, one module for each kind: totals of rows, totals of units, distinct values,
weights of candidates. Each evaluates the stage's rows, weighs units by the rows it sees, and answers groups and integers:
totals already on their noise grids, or weights of candidates.

    rows      u, g, p<j>: the certified source's rows in the stage's groups (rows.py)
    pairs     u, g, p<j>: what a unit adds to a group, where units are counted or their sums are bounded
    weights   u, e<n>: one weight for each set of rows that enter something (ball.py)
"""

from __future__ import annotations

from dpsql.plan.balls import Norm
from dpsql.plan.measurements import (
    Choice,
    DistinctCount,
    Histogram,
    Measurement,
    RowMoments,
    RowTotal,
    TopGroups,
    UnitTotal,
    limited_by,
)
from dpsql.plan.ready import Listed, Ready
from dpsql.plan.render.candidate_weights import candidate_weights
from dpsql.plan.render.distinct_values import distinct
from dpsql.plan.render.kept_pairs import kept_pairs, of_kept_pairs
from dpsql.plan.render.printer import NOT_ASKED, Parts, Printer
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.row_totals import of_rows, of_values
from dpsql.plan.render.unit_totals import of_units
from dpsql.plan.vault_query import GROUP, Question, VaultQuery


def statements(ready: Ready, relations: Relations, *, salt: int, exact: bool = False, kept: bool = True) -> VaultQuery:
    """All that the vault is asked for a stage whose groups are public."""
    printer = Printer(ready=ready, relations=relations, exact=exact, kept=kept, salt=salt)
    left_out = TopGroups if exact else ()
    noised = [
        (j, n)
        for j, n in enumerate(ready.stage.noised)
        if n.draw.mechanism not in NOT_ASKED and not isinstance(n.measurement, left_out)
    ]
    questions: list[Question] = [_groups(printer)] if exact else []
    for norm in (1, 2):
        in_norm = [(j, n.measurement) for j, n in noised if n.ball == norm]
        by_rows = [(j, m) for j, m in in_norm if _per_rows(m)]
        by_units = [(j, m) for j, m in in_norm if _per_groups(m)]
        questions += [_of_rows(printer, by_rows, norm)] if by_rows else []
        questions += [of_units(printer, by_units, norm)] if by_units else []
    by_values = [(j, n.measurement) for j, n in noised if limited_by(n.measurement) == "values"]
    questions += [of_values(printer, by_values)] if by_values else []
    for j, n in noised:
        match n.measurement:
            case DistinctCount():
                questions.append(distinct(printer, j, n.measurement))
            case Choice() | Histogram():
                questions.append(candidate_weights(printer, j, n.measurement, n.draw))
            case _:
                pass
    return VaultQuery(questions=tuple(questions), tables=printer.tables)


def _of_rows(printer: Printer, parts: Parts, norm: Norm) -> Question:
    groups = printer.ready.groups
    if isinstance(groups, Listed) and not printer.exact:
        pairs = kept_pairs(printer.stage, printer.relations)
        if pairs is not None:
            return of_kept_pairs(printer, groups, pairs)
    return of_rows(printer, parts, norm)


def _per_rows(one: Measurement) -> bool:
    return isinstance(one, RowTotal | RowMoments | TopGroups) and limited_by(one) == "rows"


def _per_groups(one: Measurement) -> bool:
    return isinstance(one, UnitTotal | TopGroups) and limited_by(one) == "groups"


def _groups(printer: Printer) -> Question:
    """Without noise: the groups that occur."""
    return Question(select=f"SELECT DISTINCT g FROM ({printer.rows(())}) AS rows", columns=(GROUP,))
