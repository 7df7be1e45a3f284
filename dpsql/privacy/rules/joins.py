"""JOIN of two relations."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.ranges import together
from dpsql.errors import Refused, Span
from dpsql.functions.conjunctions import conjuncts
from dpsql.ir.expr import Call, Expr, columns_of, place
from dpsql.ir.nodes import Field, Join, Project
from dpsql.plan.tracked import Meets, Origin, Private, Tracked
from dpsql.privacy import limits
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical_equalities
from dpsql.privacy.rules.narrowing import narrowed
from dpsql.privacy.rules.units import along_path, refuse_mixing, same_unit, serves_as_path, with_units_equal


def rule(node: Join, left: Tracked, right: Tracked, context: TrackContext) -> Tracked:
    """Lemma: a join keeps the invariant if each output row is made of rows of one unit (and of public rows).

    Proof. Private ⋈ public: a private row meets public rows only, so what it becomes is a function of itself; an outer
    join that keeps the private side adds a row for it when it meets none, again its own affair. (Keeping the public side
    would print public rows *because* no private row matched: a function of all units, hence refused.) Private ⋈ private
    with equal units: a row of u meets only u's rows, and is kept unmatched when none of u's rows matches: a function of
    u's part on both sides. Truncation comes after the join, so a row that meets many rows is truncated as many rows.
    """
    domains = _domains(node, left, right)
    joined = _origins(node, left, right, context)
    if left.private is None and right.private is None:
        return Tracked(node=_with(node, left, right, node.on), inputs=(left, right), domains=domains, origins=joined)
    on = None
    if node.on is not None:
        on = functions.totalise(canonical_equalities(node.on), together(left.ranges, right.ranges))[0]
    if left.private is None or right.private is None:
        private = _keeps_private(node, left, right)
        sides = tuple(side if side.private is not None else _met(side, node, on) for side in (left, right))
        return Tracked(
            node=_with(node, left, right, on),
            inputs=sides,
            domains=domains,
            ranges=together(left.ranges, right.ranges),
            private=private,
            origins=joined,
        )
    if not node.of_rows and not same_unit(node.on, left, right):
        if not along_path(node.on, left, right, context.catalog):
            raise refuse_mixing(left, right, _place(node), context.catalog)
        shortcut = _as_path(node, left, right, on, domains, context)
        if shortcut is not None:
            return shortcut
    return _together(node, left, right, with_units_equal(on, left.private, right.private), domains, context)


def _with(node: Join, left: Tracked, right: Tracked, on: Expr | None) -> Join:
    return dataclasses.replace(node, left=left.node, right=right.node, on=on)


def _origins(node: Join, left: Tracked, right: Tracked, context: TrackContext) -> dict[int, Origin]:
    """Where columns come from. Of a public table's columns that an outer join may leave out nothing is said: with NULLs
    added they are no longer the table's. (A private table's keep theirs: it serves to find paths, by equality, which NULL
    never is.)"""
    origins: dict[int, Origin] = {}
    for side, extended in ((left, node.kind in ("right", "full")), (right, node.kind in ("left", "full"))):
        origins |= {id_: o for id_, o in side.origins.items() if not extended or not _is_public(o, context)}
    return origins


def _is_public(origin: Origin, context: TrackContext) -> bool:
    spec = context.catalog.table(origin.table)
    return spec is None or spec.public


def _met(public: Tracked, node: Join, on: Expr | None) -> Tracked:
    """The public side, with what a private row must equal to meet one of its rows: the plan limits how many that can be."""
    public_ids = frozenset(f.id for f in public.node.fields)
    keys: list[Expr] = []
    for part in conjuncts(on):
        if isinstance(part, Call) and part.function == "equal":
            for one, other in (part.args, part.args[::-1]):
                if columns_of(one) and columns_of(one) <= public_ids and not columns_of(other) & public_ids:
                    keys.append(one)
                    break
    return dataclasses.replace(public, meets=Meets(tuple(keys), _place(node)))


def _place(node: Join) -> Span | None:
    """The condition, or the joined table where there is none."""
    return node.at if node.on is None else place(node.on) or node.at


def _domains(node: Join, left: Tracked, right: Tracked) -> Mapping[int, Domain]:
    """ON narrows an inner join's columns; in an outer join it narrows nothing, and the other side may be NULL."""
    both = {**left.domains, **right.domains}
    if node.kind == "inner" and node.on is not None:
        return narrowed(node.on, both)
    for side, extended in ((left, node.kind in ("right", "full")), (right, node.kind in ("left", "full"))):
        if extended:
            both |= {id_: domain.or_null() for id_, domain in side.domains.items()}
    return both


def _keeps_private(node: Join, left: Tracked, right: Tracked) -> Private:
    private, kept = (left.private, "left") if left.private is not None else (right.private, "right")
    assert private is not None
    if node.kind not in ("inner", "cross", kept):
        raise Refused(
            f"a {node.kind.upper()} JOIN here keeps the rows of the public side",
            code=125,
            at=_place(node),
            why=f"A public row would appear if nobody in {' and '.join(private.tables)} matches it.",
            fix="Use JOIN, or an outer join that keeps the private side; public keys are released with zero rows anyway.",
        )
    return dataclasses.replace(private, unique=None)


def _merged(left: Private, right: Private, unit: Private, same: frozenset[int]) -> Private:
    return Private(
        unit=unit.unit,
        same=same,
        limits=limits.largest(left.limits, right.limits),
        tables=tuple(dict.fromkeys((*left.tables, *right.tables))),
    )


def _together(
    node: Join, left: Tracked, right: Tracked, on: Expr | None, domains: Mapping[int, Domain], context: TrackContext
) -> Tracked:
    """Private ⋈ private on the unit. The unit column is the kept side's; FULL: COALESCE of both."""
    assert left.private is not None and right.private is not None
    origins = _origins(node, left, right, context)
    join = _with(node, left, right, on)
    if node.kind == "full":
        return _full(join, left, right, domains, context)
    kept = right.private if node.kind == "right" else left.private
    same = kept.same
    if node.kind == "inner":
        same = left.private.same | right.private.same
    private = _merged(left.private, right.private, kept, same)
    ranges = together(left.ranges, right.ranges)
    return Tracked(node=join, inputs=(left, right), domains=domains, ranges=ranges, private=private, origins=origins)


def _full(join: Join, left: Tracked, right: Tracked, domains: Mapping[int, Domain], context: TrackContext) -> Tracked:
    assert left.private is not None and right.private is not None
    unit = context.ids.field("", left.private.unit.type)
    either = functions.call("coalesce", left.private.unit, right.private.unit)
    inner = Tracked(
        node=join,
        inputs=(left, right),
        domains=domains,
        ranges=together(left.ranges, right.ranges),
        private=_merged(left.private, right.private, left.private, frozenset()),
    )
    fields: tuple[Field, ...] = (*join.fields, unit)
    private = dataclasses.replace(inner.private or left.private, unit=unit.column(), same=frozenset({unit.id}))
    return Tracked(
        node=Project(join, fields, (*(f.column() for f in join.fields), either)),
        inputs=(inner,),
        domains={**domains, unit.id: Domain(type=unit.type, nullable=False)},
        ranges=inner.ranges,
        private=private,
        origins=_origins(join, left, right, context),
    )


def _as_path(
    node: Join, left: Tracked, right: Tracked, on: Expr | None, domains: Mapping[int, Domain], context: TrackContext
) -> Tracked | None:
    """An INNER join that walks the whole path of one side, which is nothing but its table, gives that side its unit by
    itself: no second join.

    Lemma: the same rows. Proof: the path would give row i the units {v.unit : v.key = i.key}, once each, and the join
    keeps (i, u, v) with u = v.unit and v.key = i.key; that u is in the set for every such v, exactly once. (Why no other
    unit's rows decide: units.serves_as_path.)
    """
    if node.kind != "inner" or left.private is None or right.private is None:
        return None
    if serves_as_path(on, left, right, context.catalog):
        assert right.bare is not None
        first, second, unit = left, right.bare, left.private
    elif serves_as_path(on, right, left, context.catalog):
        assert left.bare is not None
        first, second, unit = left.bare, right, right.private
    else:
        return None
    sides = dataclasses.replace(first, private=unit), dataclasses.replace(second, private=unit)
    private = _merged(left.private, right.private, unit, unit.same)
    kept = {id_: d for id_, d in domains.items() if id_ in {f.id for f in (*first.node.fields, *second.node.fields)}}
    origins = {**left.origins, **right.origins}
    return Tracked(
        node=dataclasses.replace(node, left=first.node, right=second.node, on=on),
        inputs=sides,
        domains=kept,
        ranges=together(first.ranges, second.ranges),
        private=private,
        origins=origins,
    )
