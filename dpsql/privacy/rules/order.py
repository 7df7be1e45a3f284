"""ORDER BY, LIMIT, OFFSET."""

from __future__ import annotations

import dataclasses

from dpsql.errors import Refused
from dpsql.ir.expr import place
from dpsql.ir.nodes import Limit, Sort
from dpsql.plan.tracked import Tracked


def rule(node: Sort | Limit, input: Tracked) -> Tracked:
    """Lemma: over public rows anything is post-processing. Over private rows they are refused: which rows a LIMIT keeps
    depends on other units' rows, so one unit could change every other unit's part."""
    if input.private is not None:
        word = "ORDER BY" if isinstance(node, Sort) else "LIMIT"
        raise Refused(
            f"{word} is not possible over rows of people",
            code=124,
            at=place(node.keys[0].expr) if isinstance(node, Sort) else node.at,
            why="Which rows come first would depend on everybody else's.",
            fix=f"Put {word} on the aggregated result, outside the subquery.",
        )
    return Tracked(node=dataclasses.replace(node, input=input.node), inputs=(input,), domains=input.domains)
