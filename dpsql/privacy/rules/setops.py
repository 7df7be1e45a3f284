"""UNION, INTERSECT, EXCEPT."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dpsql.domain.facts import Domain
from dpsql.domain.interval import hull
from dpsql.domain.types import Type
from dpsql.errors import Refused
from dpsql.ir.expr import Column, Expr
from dpsql.ir.nodes import Field, Project, SetOp
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy import limits
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical
from dpsql.sql import functions


def rule(node: SetOp, left: Tracked, right: Tracked, context: TrackContext) -> Tracked:
    """Lemma: UNION ALL of two private relations with the same kind of unit keeps the invariant. Proof: u's part of the
    union is the union of its parts. Limits bite after the union. Any other set operation compares rows of different
    units, and is refused over private rows; over public rows it is post-processing."""
    positions = zip(node.fields, left.node.fields, right.node.fields, strict=False)
    domains = {f.id: _both(left.domains[a.id], right.domains[b.id]).but(type=f.type) for f, a, b in positions}
    if left.private is None and right.private is None:
        return Tracked(
            node=dataclasses.replace(node, left=left.node, right=right.node), inputs=(left, right), domains=domains
        )
    if left.private is None or right.private is None:
        raise Refused(
            f"{node.kind.upper()} mixes private rows with public ones",
            code=127,
            at=node.at,
            why="A public row has no unit to protect, so it cannot be counted among people's rows.",
            fix="Aggregate the private side first, then combine the results.",
        )
    if node.kind != "union" or not node.all:
        raise Refused(
            f"{node.kind.upper()} compares rows of different people",
            code=127,
            at=node.at,
            why="Only UNION ALL keeps each person's rows apart from everybody else's.",
            fix="Use UNION ALL, or aggregate both sides first.",
        )
    return _union_all(node, left, right, domains, context)


def _both(one: Domain, other: Domain) -> Domain:
    """What holds on both sides; what held before any filter is kept apart, as it is all that may prove totality."""
    keys = None if one.keys is None or other.keys is None else tuple(dict.fromkeys((*one.keys, *other.keys)))
    narrowed = one.before is not None or other.before is not None
    return Domain(
        type=one.type,
        interval=hull(one.interval, other.interval),
        nullable=one.nullable or other.nullable,
        keys=keys,
        integral=one.integral and other.integral,
        because=one.because,
        before=_both(one.before or one, other.before or other) if narrowed else None,
    )


def _union_all(
    node: SetOp, left: Tracked, right: Tracked, domains: Mapping[int, Domain], context: TrackContext
) -> Tracked:
    assert left.private is not None and right.private is not None
    sides = [_with_unit(left, node.fields, context), _with_unit(right, node.fields, context)]
    unit = context.ids.field("", left.private.unit.type)
    private = Private(
        unit=unit.column(),
        same=frozenset({unit.id}),
        limits=limits.added(left.private.limits, right.private.limits),
        tables=tuple(dict.fromkeys((*left.private.tables, *right.private.tables))),
    )
    # a visible column is the unit of the union when it is the unit on both sides
    both = [
        f.id
        for f, a, b in zip(node.fields, left.node.fields, right.node.fields, strict=False)
        if a.id in left.private.same and b.id in right.private.same
    ]
    private = dataclasses.replace(private, same=private.same | frozenset(both))
    merged = SetOp("union", True, sides[0].node, sides[1].node, (*node.fields, unit), node.at)
    return Tracked(
        node=merged,
        inputs=tuple(sides),
        domains={**domains, unit.id: Domain(type=unit.type, nullable=False)},
        private=private,
    )


def _with_unit(side: Tracked, as_: tuple[Field, ...], context: TrackContext) -> Tracked:
    """The first columns of a side, in the types of the union's (engines would raise where one does not fit), and, last,
    its unit."""
    assert side.private is not None
    kept = side.node.fields[: len(as_)]
    fields = tuple(context.ids.field(old.name, new.type) for old, new in zip(kept, as_, strict=True))
    found = [functions.infer(_typed(old.column(), new.type), side.domains) for old, new in zip(kept, as_, strict=True)]
    unit = context.ids.field("", side.private.unit.type)
    domains = {f.id: domain for f, (_, domain) in zip(fields, found, strict=True)}
    domains[unit.id] = Domain(type=unit.type, nullable=False)
    private = dataclasses.replace(side.private, unit=unit.column(), same=frozenset({unit.id}), unique=None)
    return Tracked(
        node=Project(side.node, (*fields, unit), (*(expr for expr, _ in found), side.private.unit)),
        inputs=(side,),
        domains=domains,
        private=private,
    )


def _typed(column: Column, type_: Type) -> Expr:
    return column if column.type == type_ else canonical(functions.make("cast", (column,), at=None, to=type_))
