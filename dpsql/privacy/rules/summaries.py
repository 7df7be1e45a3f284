"""GROUP BY with the unit among the keys: one row per unit and key, still private."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dpsql import functions
from dpsql.domain.facts import Domain
from dpsql.domain.types import Type
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Column, Expr, SortKey, columns_of, place
from dpsql.ir.nodes import Aggregate, Field, Project
from dpsql.plan.tracked import Origin, Private, Tracked
from dpsql.privacy.rules import projects
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical, refuse_interval
from dpsql.privacy.rules.per_unit import make_call
from dpsql.privacy.rules.primitives import Primitives, with_intervals
from dpsql.privacy.rules.unit_calls import Made, UnitCall


def rule(node: Aggregate, input: Tracked, unit_keys: list[int], context: TrackContext) -> Tracked:
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
    return with_intervals(projects.rule(top, summary, context), node.call_fields, made)


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


def _grouped(node: Aggregate, input: Tracked, unit_key: int, context: TrackContext) -> tuple[Tracked, list[Made]]:
    """The Aggregate of primitives, under the node's own keys where nothing stands above it; and how each call is made."""
    assert input.private is not None
    for key in node.keys:
        refuse_interval(key, "grouped by", None)
    keys = [functions.totalise(canonical(key), input.ranges) for key in node.keys]
    fields = node.key_fields
    if node.calls:
        fields = tuple(context.ids.field(f.name, f.type) for f in fields)
    domains = {f.id: functions.infer(key, input.domains)[1] for f, (key, _) in zip(fields, keys, strict=True)}
    ranges = {f.id: range_ for f, (_, range_) in zip(fields, keys, strict=True) if range_ is not None}
    origins: dict[int, Origin] = {}
    if node.sets is None:
        origins = projects.origins(fields, [key for key, _ in keys], input)
    else:
        domains = {f.id: domains[f.id] if i == unit_key else domains[f.id].or_null() for i, f in enumerate(fields)}
    primitives: Primitives[AggregateCall] = Primitives(input, context.ids, domains, ranges)
    made = [_made(call, primitives) for call in node.calls]
    called = primitives.fields
    grouped = Aggregate(
        input.node, fields, tuple(expr for expr, _ in keys), tuple(called.values()), tuple(called), node.sets
    )
    private = _summarised(input.private, fields, unit_key, alone=node.sets is None)
    tracked = Tracked(node=grouped, inputs=(input,), domains=domains, ranges=ranges, private=private, origins=origins)
    return tracked, made


def _summarised(private: Private, fields: Sequence[Field], unit_key: int, *, alone: bool) -> Private:
    """alone: a plain GROUP BY, of one grouping set."""
    unit = fields[unit_key]
    return Private(
        unit=unit.column(),
        same=frozenset({unit.id}),
        limits=dataclasses.replace(private.limits, by_keys=(), max_sum={}),
        tables=private.tables,
        unique=frozenset(f.id for f in fields if f != unit) if alone else None,
    )


def _made(call: AggregateCall, primitives: Primitives[AggregateCall]) -> Made:
    input = primitives.input
    where = None if call.where is None else functions.totalise(call.where, input.ranges)[0]

    def total(expr: Expr) -> Expr:
        return primitives.exact(expr, "aggregated or sorted by", call.at)

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
        return primitives.column(one, domain)

    every = tuple(SortKey(f.column()) for f in input.node.fields)  # of an interval among them `ask` hears in time
    ordered = tuple(dataclasses.replace(key, expr=total(key.expr)) for key in call.order)
    described = UnitCall(
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
    )
    return make_call(described, input.domains, ask)
