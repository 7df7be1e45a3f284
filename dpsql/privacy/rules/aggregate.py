"""GROUP BY and DISTINCT: a release, a per-unit summary, or post-processing."""

from __future__ import annotations

import dataclasses

from dpsql import functions
from dpsql.domain.facts import KEY_LIMIT, Domain, key_set
from dpsql.errors import Refused
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, columns_of, place
from dpsql.ir.nodes import Aggregate
from dpsql.plan.tracked import Private, Tracked
from dpsql.privacy.rules import correlated, summaries
from dpsql.privacy.rules.context import TrackContext
from dpsql.privacy.rules.exact import canonical, refuse_interval


def rule(node: Aggregate, input: Tracked, context: TrackContext) -> Tracked:
    """Lemma: an aggregate with the unit among its keys (in every grouping set) keeps the invariant: each group holds
    rows of one unit, so u's part of the output is a function of u's part of the input. Any other aggregate of private
    rows mixes units: it is a release, and its output is public only because noise is added to it."""
    if input.private is None:
        return _public(node, input)
    node = correlated.of_rows(node, input, context)
    unit_keys = [i for i, key in enumerate(node.keys) if isinstance(key, Column) and key.id in input.private.same]
    if unit_keys and (node.sets is None or all(set(unit_keys) & set(s) for s in node.sets)):
        return summaries.rule(node, input, unit_keys, context)
    if unit_keys:
        raise Refused(
            "some of the grouping sets have the unit among their keys, and others do not",
            code=128,
            at=place(node.keys[unit_keys[0]]),
            why="A set with the unit gives rows of people; a set without it gives statistics.",
            fix="Write them as two queries.",
        )
    along = correlated.with_unit(node, input, context)
    if along is not None:
        return summaries.rule(along, input, [len(along.keys) - 1], context)
    input = correlated.asked(node, input, context)
    assert input.private is not None
    return _release(node, input, input.private, context)


def _public(node: Aggregate, input: Tracked) -> Tracked:
    domains: dict[int, Domain] = {}
    for f, key in zip(node.key_fields, node.keys, strict=True):
        domains[f.id] = functions.infer(key, input.domains)[1]
    for f in node.call_fields:
        domains[f.id] = Domain(type=f.type)
    return Tracked(node=dataclasses.replace(node, input=input.node), inputs=(input,), domains=domains)


def _with_public_keys(node: Aggregate, input: Tracked, context: TrackContext) -> Tracked:
    """Keys that are columns of public tables have public values: those of the table, as far as all combinations of the
    release's public keys stay within KEY_LIMIT."""
    count = 1
    domains = dict(input.domains)
    unknown: list[Column] = []
    for key in node.keys:
        known = key_set(functions.infer(key, domains)[1])
        if known is not None:
            count *= max(1, len(known))
        elif isinstance(key, Column):
            unknown.append(key)
    for key in unknown:
        domain, origin = domains[key.id], input.origins.get(key.id)
        spec = None if origin is None else context.catalog.table(origin.table)
        if origin is None or spec is None or not spec.public or domain.type.kind not in correlated.READ_KINDS:
            continue
        values = tuple(
            value for value in context.values_of(origin.table, origin.column) if correlated.possible(value, domain)
        )
        if values and count * len(values) <= KEY_LIMIT:
            count *= len(values)
            domains[key.id] = domain.but(keys=values, because=f"the values of {origin}")
    return dataclasses.replace(input, domains=domains)


def _release(node: Aggregate, input: Tracked, private: Private, context: TrackContext) -> Tracked:
    input = correlated.public_keys(node, _with_public_keys(node, input, context), context)
    for key in node.keys:
        if columns_of(key) & private.same:
            raise _unit_shown("a group key", key)
    node = dataclasses.replace(node, calls=tuple(_of_rows(call, private) for call in node.calls))
    for call in node.calls:
        _check_call(call, private)
    keys = tuple(functions.totalise(canonical(key), input.ranges)[0] for key in node.keys)
    calls = tuple(checked_call(call, input) for call in node.calls)
    domains = {f.id: functions.infer(key, input.domains)[1] for f, key in zip(node.key_fields, keys, strict=True)}
    if node.sets is not None:
        domains = {id_: d.or_null() for id_, d in domains.items()}
    domains |= {f.id: Domain(type=f.type) for f in node.call_fields}
    checked = dataclasses.replace(node, input=input.node, keys=keys, calls=calls)
    return Tracked(node=checked, inputs=(input,), domains=domains)


def checked_call(call: AggregateCall, input: Tracked) -> AggregateCall:
    """The call with every argument made total and canonical."""

    def on(expr: Expr) -> Expr:
        if isinstance(expr, Call) and expr.function == "list_value" and not columns_of(expr):
            return expr  # a list of constants: fractions, bins
        refuse_interval(expr, "aggregated by", call.at)
        return functions.totalise(canonical(expr), input.ranges)[0]

    return dataclasses.replace(
        call,
        args=tuple(map(on, call.args)),
        where=None if call.where is None else on(call.where),
        order=tuple(dataclasses.replace(key, expr=on(key.expr)) for key in call.order),
    )


def _of_rows(call: AggregateCall, private: Private) -> AggregateCall:
    """COUNT(unit) is COUNT(*): the unit is never NULL."""
    (argument, *more) = call.args or (None,)
    counted = call.function == "count" and not call.distinct and not more
    if counted and isinstance(argument, Column) and argument.id in private.same:
        return dataclasses.replace(call, args=())
    return call


def _check_call(call: AggregateCall, private: Private) -> None:
    """The unit may be counted, never shown or summed."""
    if call.function == "count" and call.distinct and len(call.args) == 1:
        argument = call.args[0]
        if isinstance(argument, Column) and argument.id in private.same:
            return
    for argument in call.args:
        if columns_of(argument) & private.same:
            raise _unit_shown(f"{call.function.upper()}()", argument)


def _unit_shown(where: str, expr: Expr) -> Refused:
    return Refused(
        f"the privacy unit is in {where}",
        code=115,
        at=place(expr),
        why="The privacy unit identifies people, so a group or an aggregate of identifiers is about single people.",
        fix="Count people with COUNT(DISTINCT …), rows with COUNT(*), or group by something else.",
    )
