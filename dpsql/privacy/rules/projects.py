"""SELECT of expressions over one relation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.ir.expr import Column, Expr
from dpsql.ir.nodes import Field, Project
from dpsql.plan.tracked import Origin, Private, Tracked
from dpsql.privacy import limits
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical


def rule(node: Project, input: Tracked, context: TrackContext) -> Tracked:
    """Lemma: projecting keeps the invariant. Proof: each output row is a deterministic, total function of one input row.

    The tracked unit rides along as a hidden column. Only a plain column reference carries unit-ness and uniqueness; any
    expression gets new facts.
    """
    if input.private is None:
        domains = {f.id: functions.infer(e, input.domains)[1] for f, e in zip(node.fields, node.exprs, strict=True)}
        return Tracked(
            node=dataclasses.replace(node, input=input.node),
            inputs=(input,),
            domains=domains,
            origins=origins(node.fields, node.exprs, input),
        )
    total = [functions.totalise(canonical(expr), input.ranges) for expr in node.exprs]
    fields, exprs = list(node.fields), [expr for expr, _ in total]
    domains = {f.id: functions.infer(expr, input.domains)[1] for f, expr in zip(node.fields, exprs, strict=True)}
    ranges = {f.id: range_ for f, (_, range_) in zip(node.fields, total, strict=True) if range_ is not None}
    private = carry(input.private, fields, exprs, domains, context)
    return Tracked(
        node=Project(input.node, tuple(fields), tuple(exprs)),
        inputs=(input,),
        domains=domains,
        ranges=ranges,
        private=private,
        origins=origins(fields, exprs, input),
    )


def origins(fields: Sequence[Field], exprs: Sequence[Expr], input: Tracked) -> dict[int, Origin]:
    """Columns that pass unchanged keep where they come from."""
    pairs = zip(fields, exprs, strict=True)
    return {f.id: input.origins[e.id] for f, e in pairs if isinstance(e, Column) and e.id in input.origins}


def carry(
    private: Private, fields: list[Field], exprs: list[Expr], domains: dict[int, Domain], context: TrackContext
) -> Private:
    """The input's facts in terms of the new columns; adds the hidden unit column when none of the columns is the unit."""
    if not any(isinstance(expr, Column) and expr.id in private.same for expr in exprs):
        hidden = context.ids.field("", private.unit.type)
        fields.append(hidden)
        exprs.append(private.unit)
        domains[hidden.id] = Domain(type=private.unit.type, nullable=False)
    pairs = [(expr.id, f) for f, expr in zip(fields, exprs, strict=True) if isinstance(expr, Column)]
    same = [f for old, f in pairs if old in private.same]
    by_old = {old: f.id for old, f in reversed(pairs)}
    return dataclasses.replace(
        private,
        unit=same[0].column(),
        same=frozenset(f.id for f in same),
        unique=renamed(private.unique, by_old),
        limits=limits.renamed(private.limits, by_old),
    )


def renamed(ids: Iterable[int] | None, by_old: dict[int, int]) -> frozenset[int] | None:
    """The same columns under their new ids; None when one of them is gone."""
    if ids is None or any(id_ not in by_old for id_ in ids):
        return None
    return frozenset(by_old[id_] for id_ in ids)
