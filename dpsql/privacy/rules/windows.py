"""Window functions."""

from __future__ import annotations

import dataclasses

from dpsql.domain.facts import Domain
from dpsql.errors import Refused
from dpsql.ir.nodes import Window
from dpsql.plan.tracked import Tracked
from dpsql.privacy.rules.context import TrackContext


def rule(node: Window, input: Tracked, context: TrackContext) -> Tracked:  # noqa: A002 - the node's own word
    """Lemma: over public rows a window is post-processing."""
    if input.private is not None:
        raise Refused(
            f"{node.calls[0].function.upper()}() OVER (…) runs over rows of people",
            code=123,
            at=node.calls[0].at,
            why="A row's result would depend on other people's rows.",
            fix="Use window functions over the aggregated result.",
        )
    domains = {**input.domains, **{f.id: Domain(type=f.type) for f in node.call_fields}}
    return Tracked(node=dataclasses.replace(node, input=input.node), inputs=(input,), domains=domains)
