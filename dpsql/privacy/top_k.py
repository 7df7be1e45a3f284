"""OPTIONS(top_k = true): ORDER BY COUNT(*) DESC LIMIT k over public keys as a choice of k groups.

The k groups are chosen on their exact counts (mechanisms/choice.py), then only theirs are released. Choosing costs the same
however many groups a unit reaches: counts move in one direction, each by at most the reach (sensitivity.score_reach).

Private keys are selected anyway, and then the noisy counts of all that show cost no more than those of k: the k greatest of
them are the answer, and nothing is left to choose.
"""

from __future__ import annotations

import dataclasses

from dpsql.errors import Refused
from dpsql.ir.expr import Column
from dpsql.ir.nodes import Limit, Node, Noisy, Project, Sort
from dpsql.plan.measurements import One, RowMoments, RowTotal, TopGroups, UnitTotal, axes
from dpsql.plan.stages import Stage
from dpsql.privacy.candidates import MOST_CHOICES


def with_top_k(stages: tuple[Stage, ...], final: Node) -> tuple[Stage, ...]:
    """The one stage, releasing its k heaviest groups only; refused where the statement asks for something else."""
    if len(stages) != 1 or not stages[0].keys:
        raise _refused("there must be one release, and it must have group keys")
    stage = stages[0]
    count, scored = _asked(final, stage)
    if not stage.public_keys:
        return stages
    if not 1 <= count <= MOST_CHOICES:
        raise _refused(f"LIMIT must be from 1 to {MOST_CHOICES}")
    if count >= stage.combinations:
        return stages  # all of them
    name = scored.name if not isinstance(scored, RowMoments) else "count"
    needs = (*(axis.arg for axis in axes(scored)), *scored.needs)
    choice = TopGroups(
        name=f"{count} groups with the greatest {name}",
        count=count,
        per="groups" if isinstance(scored, UnitTotal) else "rows",
        groups=stage.combinations,
        needs=tuple(dict.fromkeys(needs)),
        where=scored.where,
    )
    return (dataclasses.replace(stage, measurements=(*stage.measurements, choice)),)


def _asked(node: Node, stage: Stage) -> tuple[int, RowTotal | RowMoments | UnitTotal]:
    """(k, the measurement whose count sorts)."""
    names: dict[int, int] = {}  # of an output column, the column below that it is
    while isinstance(node, Project):
        node = node.input
    if not (isinstance(node, Limit) and node.limit is not None and node.offset == 0 and isinstance(node.input, Sort)):
        raise _refused("the query must end in ORDER BY COUNT(*) DESC LIMIT k")
    count, sort = node.limit, node.input
    node = sort.input
    while isinstance(node, Project):
        names |= {f.id: e.id for f, e in zip(node.fields, node.exprs, strict=True) if isinstance(e, Column)}
        node = node.input
    key = sort.keys[0]
    if not isinstance(node, Noisy) or not key.descending or not isinstance(key.expr, Column):
        raise _refused("the query must end in ORDER BY COUNT(*) DESC LIMIT k, without HAVING")
    id_ = key.expr.id
    while id_ in names:
        id_ = names[id_]
    output = next((expr for f, expr in stage.outputs if f.id == id_), None)
    for one in stage.measurements:
        match one:
            case RowTotal(piece=One()) | UnitTotal(piece=One()):
                number = one.answer
            case RowMoments():
                number = one.count
            case _:
                continue
        if output in (number.whole.column(), number.real.column()):
            return count, one
    raise _refused("the query must sort by a count, COUNT(*) DESC")


def _refused(what: str) -> Refused:
    return Refused(
        f"top_k is not possible here: {what}",
        code=136,
        why="It chooses the k heaviest of the groups by their counts.",
        fix="Write SELECT k, COUNT(*) FROM t GROUP BY k ORDER BY COUNT(*) DESC LIMIT 10, or leave top_k out.",
    )
