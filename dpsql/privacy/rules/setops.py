"""UNION, INTERSECT, EXCEPT."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dpsql import functions
from dpsql.domain import interval as iv
from dpsql.domain.facts import Domain
from dpsql.domain.ranges import Range, hull
from dpsql.domain.types import Type
from dpsql.errors import Refused
from dpsql.functions.sets import union
from dpsql.ir.expr import Column, Expr
from dpsql.ir.nodes import Field, Project, SetOp
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy import limits
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical


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
            why="A public row has no unit, so it cannot count among people's rows.",
            fix="Aggregate the private side first, then combine the results.",
        )
    if node.kind != "union" or not node.all:
        raise Refused(
            f"{node.kind.upper()} compares rows of different people",
            code=127,
            at=node.at,
            why="Only UNION ALL keeps the rows of different people apart.",
            fix="Use UNION ALL, or aggregate both sides first.",
        )
    return _union_all(node, left, right, domains, context)


def _both(one: Domain, other: Domain) -> Domain:
    """What is expected of both sides."""
    return Domain(
        type=one.type,
        interval=iv.hull(one.interval, other.interval),
        nullable=one.nullable or other.nullable,
        keys=union((one.keys, other.keys)),
        integral=one.integral and other.integral,
        because=one.because,
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
        ranges=_hulls(merged.fields, *sides),
        private=private,
    )


def _hulls(fields: tuple[Field, ...], left: Tracked, right: Tracked) -> dict[int, Range]:
    hulls: dict[int, Range] = {}
    for f, a, b in zip(fields, left.node.fields, right.node.fields, strict=True):
        if a.id in left.ranges and b.id in right.ranges:
            hulls[f.id] = hull((left.ranges[a.id], right.ranges[b.id]))
    return hulls


def _with_unit(side: Tracked, as_: tuple[Field, ...], context: TrackContext) -> Tracked:
    """The first columns of a side, in the types of the union's (engines would raise where one does not fit), and, last,
    its unit."""
    assert side.private is not None
    kept = side.node.fields[: len(as_)]
    fields = tuple(context.ids.field(old.name, new.type) for old, new in zip(kept, as_, strict=True))
    typed = [_typed(old.column(), new.type) for old, new in zip(kept, as_, strict=True)]
    total = [functions.totalise(expr, side.ranges) for expr in typed]
    unit = context.ids.field("", side.private.unit.type)
    domains = {f.id: functions.infer(expr, side.domains)[1] for f, (expr, _) in zip(fields, total, strict=True)}
    domains[unit.id] = Domain(type=unit.type, nullable=False)
    private = dataclasses.replace(side.private, unit=unit.column(), same=frozenset({unit.id}), unique=None)
    return Tracked(
        node=Project(side.node, (*fields, unit), (*(expr for expr, _ in total), side.private.unit)),
        inputs=(side,),
        domains=domains,
        ranges={f.id: range_ for f, (_, range_) in zip(fields, total, strict=True) if range_ is not None},
        private=private,
    )


def _typed(column: Column, type_: Type) -> Expr:
    return column if column.type == type_ else canonical(functions.call("cast", column, to=type_))
