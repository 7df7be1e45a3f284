"""IN, NOT IN, EXISTS, NOT EXISTS, SEMI and ANTI JOIN."""

from __future__ import annotations

from dpsql.errors import Refused
from dpsql.ir.expr import place
from dpsql.ir.nodes import SemiJoin
from dpsql.plan.tracked import Tracked
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.narrowing import narrowed
from dpsql.privacy.rules.units import along_path, refuse_mixing, same_unit, with_units_equal
from dpsql.sql import functions


def rule(node: SemiJoin, left: Tracked, right: Tracked, context: TrackContext) -> Tracked:
    """Lemma: a semi- or anti-join keeps the invariant if the right side is public, or if both are private and the
    condition equates their units. Proof: whether a row of u is kept depends on public rows, or on u's own rows of the
    right side, alone. From a public relation over private rows it is refused: a public row would stay because somebody
    matches it."""
    both = {**left.domains, **right.domains}
    if left.private is None and right.private is not None:
        raise Refused(
            "rows of a public table are kept or dropped by what private rows say",
            code=126,
            at=place(node.on),
            why=f"Whether a row stays would tell whether somebody in {' and '.join(right.private.tables)} matches it.",
            fix="Join the tables and aggregate the private one, or release its keys first with GROUP BY.",
        )
    if left.private is None:
        return Tracked(
            node=SemiJoin(left.node, right.node, node.on, node.anti),
            inputs=(left, right),
            domains=left.domains,
            origins=left.origins,
        )
    on = functions.infer(node.on, both)[0]
    if right.private is not None and not same_unit(node.on, left, right):
        if not along_path(node.on, left, right, context.catalog):
            raise refuse_mixing(left, right, place(node.on), context.catalog)
        on = with_units_equal(on, left.private, right.private)
    domains = left.domains if node.anti else {i: d for i, d in narrowed(node.on, both).items() if i in left.domains}
    return Tracked(
        node=SemiJoin(left.node, right.node, on, node.anti),
        inputs=(left, right),
        domains=domains,
        private=left.private,
        origins=left.origins,
    )
