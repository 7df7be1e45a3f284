"""Public leaves: users' tables, released rows, loaded rows, FROM nothing."""

from __future__ import annotations

from dpsql.domain.facts import Domain
from dpsql.errors import InternalError
from dpsql.ir.nodes import Loaded, Noisy, OneRow, PublicText, UserTable
from dpsql.plan.tracked import Tracked


def rule(node: UserTable | Noisy | Loaded | OneRow) -> Tracked:
    """Lemma: none of these depends on private rows (released rows do so through their release, which was paid for).

    Their values are unbounded: comparing with one is free, summing it needs a clamp.
    """
    return Tracked(node=node, domains={f.id: Domain(type=f.type) for f in node.fields})


def text_rule(node: PublicText, parts: tuple[Tracked, ...]) -> Tracked:
    """Lemma: what is made of public relations alone is public. Nobody aggregates over it: it is only ever on top."""
    if any(part.private is not None for part in parts):
        raise InternalError("a text would read private rows")
    return Tracked(node=node, domains={}, inputs=parts)
