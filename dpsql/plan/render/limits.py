"""How many units are above each limit that could be chosen (privacy/auto.py): the first question of a stage with 'auto'."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.plan.limit_choice import dependents
from dpsql.plan.measurements import RowTotal, entering
from dpsql.plan.ready import AllRows, Ready
from dpsql.plan.render.ball import huge
from dpsql.plan.render.keys import Joins
from dpsql.plan.render.pieces import enters_all
from dpsql.plan.render.relation import Relations
from dpsql.plan.render.rows import rows
from dpsql.plan.render.stage import size_of_values
from dpsql.plan.stages import LimitChoice, OverLimit
from dpsql.plan.vault_query import CANDIDATE, WEIGHT, Columns, Question, VaultQuery


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


def _by_size(
    ready: Ready,
    relations: Relations,
    choice: LimitChoice | OverLimit,
    limits: Sequence[int],
    tables: dict[str, Columns],
) -> Question:
    """How many units there are by the first limit that their size is not above. A unit's size is made of its rows alone."""
    measured = [(j, ready.stage.measurements[j]) for j in dependents(choice.of, ready.stage.measurements)]
    parts = measured if len({entering(one) for _, one in measured}) == 1 else []  # else all rows that are there
    source = rows(ready, relations, Joins(tables, ready.stage.source.single), parts[:1])
    entered = f"count(p{parts[0][0]})" if parts and not enters_all(parts[0][1]) else "count(*)"
    if isinstance(choice.of, int):
        sizes = f"SELECT {size_of_values(choice.of)} AS size FROM rows GROUP BY u"
    elif choice.of == "groups":
        pairs = f"SELECT u, g, {entered} AS n FROM rows GROUP BY u, g"
        sizes = f"SELECT count(*) FILTER (WHERE n > 0) AS size FROM ({pairs}) AS pairs GROUP BY u"
    elif _is_squared(ready, choice):
        pairs = f"SELECT u, CAST({entered} AS HUGEINT) AS n FROM rows GROUP BY u, g"
        sizes = f"SELECT sum(n * n) AS size FROM ({pairs}) AS pairs GROUP BY u"
    else:
        sizes = f"SELECT {entered} AS size FROM rows GROUP BY u"
    cases = " ".join(f"WHEN size <= {huge(most)} THEN {i}" for i, most in enumerate(limits))
    sql = (
        f"WITH rows AS ({source}), sizes AS ({sizes}) "
        f"SELECT CAST(CASE {cases} ELSE {len(limits)} END AS BIGINT) AS v, count(*) AS w FROM sizes GROUP BY v"
    )
    return Question(sql=sql, columns=(CANDIDATE, WEIGHT))
