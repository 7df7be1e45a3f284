"""WHERE over one relation."""

from __future__ import annotations

from dpsql import functions
from dpsql.ir.expr import Expr, columns_of
from dpsql.ir.nodes import Filter
from dpsql.plan.tracked import Tracked
from dpsql.privacy.rules.narrowing import narrowed


def rule(node: Filter, input: Tracked) -> Tracked:
    """Lemma: filtering keeps the invariant. Proof: the predicate is a deterministic, total function of one row, so the
    part of unit u after the filter is a function of its part before. It can only narrow the columns' domains."""
    if input.private is None:
        domains = narrowed(node.predicate, input.domains)
        return Tracked(node=Filter(input.node, node.predicate), inputs=(input,), domains=domains, origins=input.origins)
    predicate, _ = functions.totalise(node.predicate, input.ranges)
    return Tracked(
        node=Filter(input.node, predicate),
        inputs=(input,),
        domains=narrowed(node.predicate, input.domains),
        ranges=input.ranges,
        private=input.private,
        origins=input.origins,
        bare=None if input.bare is None else _bare(input.bare, predicate),
    )


def _bare(rows: Tracked, predicate: Expr) -> Tracked | None:
    """The filter below the join that finds the unit."""
    if not columns_of(predicate) <= {f.id for f in rows.node.fields}:
        return None
    domains = narrowed(predicate, rows.domains)
    return Tracked(
        node=Filter(rows.node, predicate), inputs=(rows,), domains=domains, ranges=rows.ranges, private=rows.private
    )
