"""GROUP BY with the unit among the keys: one row per unit and key, still private."""

from __future__ import annotations

import dataclasses

from dpsql.domain.facts import Domain
from dpsql.errors import Refused
from dpsql.ir.nodes import Aggregate
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy.rules.context import TrackContext
from dpsql.sql import functions


def rule(
    node: Aggregate,
    input: Tracked,  # noqa: A002 - the node's own word
    unit_keys: list[int],
    context: TrackContext,
) -> Tracked:
    """Lemma: the output is private with the same unit; with it, the other keys tell its rows apart.

    Proof: each group holds rows of one unit and the calls are functions of a group's rows as a multiset.
    """
    if node.calls or node.sets is not None:
        raise Refused(
            "aggregates per person are not answered yet",
            code=129,
            at=node.calls[0].at if node.calls else None,
            why="This subquery gives one row for each person.",
            fix="Aggregate over all people at once.",
        )
    assert input.private is not None
    keys = [functions.infer(key, input.domains) for key in node.keys]
    domains: dict[int, Domain] = {f.id: domain for f, (_, domain) in zip(node.key_fields, keys, strict=True)}
    unit = node.key_fields[unit_keys[0]]
    private = Private(
        unit=unit.column(),
        same=frozenset(node.key_fields[i].id for i in unit_keys),
        caps=dataclasses.replace(input.private.caps, by_keys=(), max_sum={}),
        tables=input.private.tables,
        unique=frozenset(f.id for i, f in enumerate(node.key_fields) if i not in unit_keys),
    )
    checked = dataclasses.replace(node, input=input.node, keys=tuple(expr for expr, _ in keys))
    return Tracked(node=checked, inputs=(input,), domains=domains, private=private)
