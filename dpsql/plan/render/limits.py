"""How many units are above each limit that could be chosen (privacy/auto.py): the first question of a stage with 'auto'."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.plan.limit_choice import dependents
from dpsql.plan.measurements import RowTotal
from dpsql.plan.ready import AllRows, Ready
from dpsql.plan.render.keys import Joins
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.printer import Parts
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.row_totals import size_of_values
from dpsql.plan.render.rows import rows
from dpsql.plan.slices import slice_of
from dpsql.plan.stages import LimitChoice, OverLimit
from dpsql.plan.vault_query import CANDIDATE, WEIGHT, Columns, Question, Step, VaultQuery
from dpsql.plan.what_is_read import entering


def counting(ready: Ready, relations: Relations) -> VaultQuery:
    """For each choice the number of units by the first candidate that they are not above (or the number of candidates).

    A unit's size is a function of its own rows, and each unit is counted once: so one unit more adds one to one of these
    numbers, whatever the size is.
    """
    tables: dict[str, Columns] = {}
    asked = [_counting(ready, relations, choice, tables) for choice in ready.stage.choices if choice.as_in is None]
    return VaultQuery(questions=tuple(asked), tables=tables)


def over_limits(ready: Ready, relations: Relations) -> VaultQuery:
    """For each limit that is asked about, how many units are not over it (0), and how many are (1): each unit is counted
    once."""
    tables: dict[str, Columns] = {}
    asked: list[Question] = []
    for over in ready.stage.over:
        squared = _is_squared(ready, over)
        asked.append(_by_size(ready, relations, over, [_limit(ready, over, squared=squared)], tables))
    return VaultQuery(questions=tuple(asked), tables=tables)


def _limit(ready: Ready, over: OverLimit, *, squared: bool) -> int:
    """The largest size that counts in full (plan/balls.py)."""
    limit = ready.stage.limit
    match over.of:
        case "rows":
            rows_ = limit.rows.ball(over.norm).squared
            return rows_ if squared else math.isqrt(rows_)
        case "groups":
            return limit.groups.most
        case j:
            one = ready.stage.measurements[j]
            assert isinstance(one, RowTotal) and one.within is not None
            return one.within


def _is_squared(ready: Ready, asked: LimitChoice | OverLimit) -> bool:
    return asked.of == "rows" and asked.norm == 2 and not isinstance(ready.groups, AllRows)


def _counting(ready: Ready, relations: Relations, choice: LimitChoice, tables: dict[str, Columns]) -> Question:
    limits = [most**2 if _is_squared(ready, choice) else most for most in choice.candidates]
    return _by_size(ready, relations, choice, limits, tables)


def _over_rows(measured: Parts) -> Parts:
    """Those that together say which rows enter: one, or a slice of each kind; none where that differs: then all rows that
    are there."""
    if len({entering(one) for _, one in measured}) != 1:
        return []
    by_slice = {slice_of(one): (j, one) for j, one in reversed(measured)}
    return sorted(by_slice.values(), key=lambda pair: pair[0])


def _by_size(
    ready: Ready,
    relations: Relations,
    choice: LimitChoice | OverLimit,
    limits: Sequence[int],
    tables: dict[str, Columns],
) -> Question:
    """How many units there are by the first limit that their size is not above. A unit's size is made of its rows alone."""
    dialect = relations.dialect
    measured = [(j, ready.stage.measurements[j]) for j in dependents(choice.of, ready.stage.measurements)]
    parts = _over_rows(measured)
    source = rows(ready, relations, Joins(relations.dialect, tables, ready.stage.source.single), parts)
    entered = " + ".join("count(*)" if enters_all(one) else f"count(p{j})" for j, one in parts) or "count(*)"
    if isinstance(choice.of, int):
        sizes = f"SELECT {size_of_values(choice.of, dialect)} AS size FROM rows GROUP BY u"
    elif choice.of == "groups":
        pairs = f"SELECT u, g, {entered} AS n FROM rows GROUP BY u, g"
        sizes = f"SELECT count(*) FILTER (WHERE n > 0) AS size FROM ({pairs}) AS pairs GROUP BY u"
    elif _is_squared(ready, choice):
        pairs = f"SELECT u, {dialect.wide(entered)} AS n FROM rows GROUP BY u, g"
        sizes = f"SELECT {dialect.sum('n * n')} AS size FROM ({pairs}) AS pairs GROUP BY u"
    else:
        sizes = f"SELECT {entered} AS size FROM rows GROUP BY u"
    cases = " ".join(f"WHEN size <= {dialect.integer(most)} THEN {i}" for i, most in enumerate(limits))
    v = dialect.bigint(f"CASE {cases} ELSE {len(limits)} END")
    return Question(
        steps=(Step("rows", source), Step("sizes", sizes)),
        select=f"SELECT {v} AS {CANDIDATE.name}, count(*) AS {WEIGHT.name} FROM sizes GROUP BY {CANDIDATE.name}",
        columns=(CANDIDATE, WEIGHT),
        limit=choice.of,
    )
