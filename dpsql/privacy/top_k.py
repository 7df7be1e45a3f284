"""OPTIONS(top_k = true): ORDER BY COUNT(*) DESC LIMIT k over public keys as a choice of k groups.

The k groups are chosen by permute-and-flip on their exact counts, then only theirs are measured. Choosing costs the same
however many groups a unit reaches: every count moves by at most max_rows, all in one direction. Stage B is not needed
for it, and what is measured of k groups changes in at most k of them.
"""

from __future__ import annotations

import dataclasses

from dpsql.domain.types import NULL
from dpsql.errors import Refused
from dpsql.ir.expr import Column
from dpsql.ir.nodes import Field, Limit, Node, Noisy, Project, Sort
from dpsql.plan.candidates import Candidates, TopGroups
from dpsql.plan.stages import Measure, Stage
from dpsql.privacy.candidates import MOST_CHOICES


def with_top_k(stages: tuple[Stage, ...], final: Node) -> tuple[Stage, ...]:
    """The one stage, releasing its k heaviest groups only; refused where the statement asks for something else."""
    if len(stages) != 1 or not stages[0].public_keys or not stages[0].keys:
        raise _refused("the keys must be public, and there must be one release")
    stage = stages[0]
    count, position = _asked(final, stage)
    if not 1 <= count <= MOST_CHOICES:
        raise _refused(f"LIMIT must be from 1 to {MOST_CHOICES}")
    if count >= stage.combinations:
        return stages  # all of them
    name = f"{count} groups with the greatest {stage.measures[position].name}"
    unused = Field(-1, "", NULL)
    choice = Measure(
        kind="groups",
        name=name,
        real=unused,
        whole=unused,
        candidates=Candidates(question=TopGroups(count=count, measure=position), count=stage.combinations),
        row_bound=1,
        sensitivity=stage.measures[position].sensitivity,
    )
    groups = min(count, stage.combinations)
    bounding = dataclasses.replace(
        stage.bounding, max_groups=groups, skip_b=True, because=f"{stage.bounding.because}; groups by LIMIT {count}"
    )
    return (dataclasses.replace(stage, bounding=bounding, measures=(*stage.measures, choice)),)


def _asked(node: Node, stage: Stage) -> tuple[int, int]:
    """(k, the position of the count that sorts)."""
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
    for position, measure in enumerate(stage.measures):
        if measure.kind in ("units", "rows") and output in (measure.whole.column(), measure.real.column()):
            return count, position
    raise _refused("it must sort by a count, COUNT(*) DESC")


def _refused(what: str) -> Refused:
    return Refused(
        f"top_k is not possible here: {what}",
        code=136,
        why="It chooses the k heaviest of a public set of groups by their counts.",
        fix="Write SELECT k, COUNT(*) FROM t GROUP BY k ORDER BY COUNT(*) DESC LIMIT 10, or leave top_k out.",
    )
