"""GROUP BY with the unit among the keys: one row per unit and key, still private."""

from __future__ import annotations

import dataclasses

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.ranges import Range
from dpsql.domain.types import Type
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Column, Expr, SortKey, columns_of, place
from dpsql.ir.nodes import Aggregate, Field, Project
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy.rules import projects
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical, refuse_interval
from dpsql.privacy.rules.per_unit import Made, UnitCall, make_call


def rule(
    node: Aggregate,
    input: Tracked,  # noqa: A002 - the node's own word
    unit_keys: list[int],
    context: TrackContext,
) -> Tracked:
    """Lemma: the output is private with the same unit; with it, the other keys tell its rows apart (of a plain GROUP BY;
    several grouping sets may agree in a row).

    Proof: each group holds rows of one unit, and the calls are functions of a group's rows as a multiset (per_unit.py).
    """
    unit_key = _unit_key(node, unit_keys)
    summary, made = _grouped(node, input, unit_key, context)
    if not node.calls:
        return summary
    keys = tuple(f.column() for f in summary.node.fields[: len(node.key_fields)])
    top = Project(summary.node, (*node.key_fields, *node.call_fields), (*keys, *(one.expr for one in made)))
    tracked = projects.rule(top, summary, context)
    bounds = {
        f.id: tracked.domains[f.id].but(interval=one.interval)
        for f, one in zip(node.call_fields, made, strict=True)
        if one.interval is not None
    }
    return dataclasses.replace(tracked, domains={**tracked.domains, **bounds})


def _unit_key(node: Aggregate, unit_keys: list[int]) -> int:
    """The key that is the unit in every grouping set."""
    for position in unit_keys:
        if node.sets is None or all(position in kept for kept in node.sets):
            return position
    raise Refused(
        "the grouping sets name the unit by different columns",
        code=128,
        at=place(node.keys[unit_keys[0]]),
        why="One of them must be the unit in every set.",
        fix="Use the same column in all of them.",
    )


def _grouped(
    node: Aggregate,
    input: Tracked,  # noqa: A002 - the node's own word
    unit_key: int,
    context: TrackContext,
) -> tuple[Tracked, list[Made]]:
    """The Aggregate of primitives, under the node's own keys where nothing stands above it; and how each call is made."""
    assert input.private is not None
    for key in node.keys:
        refuse_interval(key, "grouped by", None)
    keys = [functions.totalise(canonical(key), input.ranges) for key in node.keys]
    key_fields = (
        node.key_fields if not node.calls else tuple(context.ids.field(f.name, f.type) for f in node.key_fields)
    )
    domains: dict[int, Domain] = {
        f.id: functions.infer(key, input.domains)[1] for f, (key, _) in zip(key_fields, keys, strict=True)
    }
    ranges = {f.id: range_ for f, (_, range_) in zip(key_fields, keys, strict=True) if range_ is not None}
    if node.sets is not None:
        domains = {f.id: domains[f.id] if i == unit_key else domains[f.id].or_null() for i, f in enumerate(key_fields)}
    primitives: dict[AggregateCall, Field] = {}
    made = [_made(call, input, primitives, domains, ranges, context) for call in node.calls]
    private = Private(
        unit=key_fields[unit_key].column(),
        same=frozenset({key_fields[unit_key].id}),
        limits=dataclasses.replace(input.private.limits, by_keys=(), max_sum={}),
        tables=input.private.tables,
        unique=frozenset(f.id for i, f in enumerate(key_fields) if i != unit_key) if node.sets is None else None,
    )
    grouped = Aggregate(
        input.node,
        key_fields,
        tuple(expr for expr, _ in keys),
        tuple(primitives.values()),
        tuple(primitives),
        node.sets,
    )
    origins = {
        f.id: input.origins[key.id]
        for f, (key, _) in zip(key_fields, keys, strict=True)
        if node.sets is None and isinstance(key, Column) and key.id in input.origins
    }
    tracked = Tracked(node=grouped, inputs=(input,), domains=domains, ranges=ranges, private=private, origins=origins)
    return tracked, made


def _made(
    call: AggregateCall,
    input: Tracked,  # noqa: A002 - the node's own word
    primitives: dict[AggregateCall, Field],
    domains: dict[int, Domain],
    ranges: dict[int, Range],
    context: TrackContext,
) -> Made:
    where = None if call.where is None else functions.totalise(call.where, input.ranges)[0]

    def total(expr: Expr) -> Expr:
        refuse_interval(expr, "aggregated or sorted by", call.at)
        return functions.totalise(canonical(expr), input.ranges)[0]

    def ask(
        function: str,
        args: tuple[Expr, ...],
        type_: Type,
        domain: Domain,
        *,
        distinct: bool = False,
        order: tuple[SortKey, ...] = (),
    ) -> Column:
        keys = tuple(dataclasses.replace(key, expr=total(key.expr)) for key in order)
        telling = tuple(key for key in keys if columns_of(key.expr))  # engines refuse to sort by constants
        one = AggregateCall(function, tuple(map(total, args)), type_, distinct, where, telling)
        if one not in primitives:
            primitives[one] = context.ids.field("", type_)
            domains[primitives[one].id] = domain
            range_ = functions.call_range(one, input.ranges)
            if range_ is not None:
                ranges[primitives[one].id] = range_
        return primitives[one].column()

    every = tuple(SortKey(f.column()) for f in input.node.fields)  # of an interval among them `ask` hears in time
    ordered = tuple(dataclasses.replace(key, expr=total(key.expr)) for key in call.order)
    return make_call(
        UnitCall(
            function=call.function,
            args=tuple(map(total, call.args)),
            type=call.type,
            distinct=call.distinct,
            some=True,
            filtered=call.where is not None,
            order=(*ordered, *every),
            given=ordered,
            ranges=input.ranges,
            at=call.at,
        ),
        input.domains,
        ask,
    )
