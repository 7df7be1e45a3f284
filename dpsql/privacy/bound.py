"""Step 6, bound: every draft becomes a Stage: certified rows, public or private groups, radii, measurements.

Nothing found here is believed. The vault clamps each measured value to its axis and weighs each unit's rows and groups by
how many there are (plan/balls.py); the radii below are what those weights enforce.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from dpsql import functions
from dpsql.catalog.model import Catalog
from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.types import Kind
from dpsql.errors import InternalError, Refused, SqlError
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, Literal, columns_of, place
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Field, Project
from dpsql.plan.clamps import clamped_values
from dpsql.plan.cut import UnboundedStage
from dpsql.plan.measurements import Measurement
from dpsql.plan.stages import Key, Limit, Stage
from dpsql.plan.what_is_read import exprs, rewritten
from dpsql.privacy.auto import to_choose
from dpsql.privacy.contribution_limit import limit_of, of_one_row, tables_read
from dpsql.privacy.group_keys import Describe, group_key, public_combinations, refuse_too_many
from dpsql.privacy.kernel import certify, is_single
from dpsql.privacy.loads import with_read_columns
from dpsql.privacy.lone_keys import refuse_lone_keys
from dpsql.privacy.measuring import MeasurementCollector
from dpsql.privacy.refused_aggregates import REFUSED
from dpsql.privacy.settings import RELEASED, QuerySettings
from dpsql.privacy.slices import pivoted, sliced, together


class AggregateRule(Protocol):
    """What bound needs of an aggregate; aggregates/ has them."""

    @property
    def order(self) -> int: ...

    @property
    def measure(self) -> Callable[[AggregateCall, MeasurementCollector], Expr]: ...


Rules = Mapping[str, AggregateRule]


def bound(
    draft: UnboundedStage, settings: QuerySettings, ids: Ids, *, catalog: Catalog, aggregates: Rules, describe: Describe
) -> Stage:
    private = draft.private
    keys = _keys(draft, settings, catalog, describe)
    limit = limit_of(keys, private.limits, private.tables, settings)
    if is_single(Project(draft.input, (ids.field("", private.unit.type),), (private.unit,)), catalog):
        limit = of_one_row(limit)
    collector = _collector(draft, keys, limit, settings, ids, describe)
    finished = _finished(draft, collector, aggregates, exact=settings.exact)
    if draft.level is None:  # levels of grouping sets add up, total by total
        collector.measurements = sliced(collector.measurements)
    closed = _closed(draft, keys, collector.measurements, ids)
    relation, loads = with_read_columns(closed, draft.loads, draft.fan_outs)
    source = certify(relation, catalog)
    by_expr = {expr: f.column() for f, expr in zip(source.node.fields, source.node.exprs, strict=True)}
    inner_keys = tuple(
        dataclasses.replace(key, field=ids.field(key.field.name, key.field.type), expr=by_expr.get(key.expr, key.expr))
        for key in keys
    )
    outputs = [(key.field, inner.field.column()) for key, inner in zip(keys, inner_keys, strict=True)]
    measured = tuple(_over_columns(one, by_expr) for one in collector.measurements)
    return Stage(
        number=draft.number,
        source=source,
        loads=loads,
        tables=private.tables,
        keys=inner_keys,
        limit=limit,
        measurements=measured,
        choices=to_choose(limit, measured, collector.candidates, combinations=collector.groups),
        outputs=(*outputs, *finished),
        min_units=private.limits.min_units,
        level=draft.level,
        fan_outs=draft.fan_outs,
        notes=(*(_null_becomes_a_bound(clamp, describe) for clamp in draft.clamps), *together(collector.measurements)),
        bounds=_chosen_bounds(catalog),
    )


def _keys(draft: UnboundedStage, settings: QuerySettings, catalog: Catalog, describe: Describe) -> tuple[Key, ...]:
    exprs_of = zip(draft.node.key_fields, draft.node.keys, strict=True)
    keys = tuple(group_key(f, expr, draft.domains, describe) for f, expr in exprs_of)
    refuse_too_many(keys)
    if not settings.exact:  # which shows all keys that occur
        refuse_lone_keys(keys, draft, catalog)
    return keys


def _collector(
    draft: UnboundedStage, keys: tuple[Key, ...], limit: Limit, settings: QuerySettings, ids: Ids, describe: Describe
) -> MeasurementCollector:
    private = draft.private
    return MeasurementCollector(
        ids=ids,
        domains=draft.domains,
        limit=limit,
        describe=describe,
        origins=draft.origins,
        same_unit=private.same,
        groups=public_combinations(keys),
        max_sum=private.limits.max_sum,
        likes=private.limits.likes,
        released=settings.released.get(tables_read(private.tables), {}) if settings.rows == RELEASED else {},
    )


def _chosen_bounds(catalog: Catalog) -> tuple[tuple[str, str, Interval], ...]:
    """What relations are certified with, though the session's own catalog does not say it: the vault's scans clamp to it."""
    return tuple(
        (spec.name, column.name, column.interval)
        for spec in catalog.tables
        for column in spec.columns
        if column.bounds_auto and column.interval != EVERYTHING
    )


def _null_becomes_a_bound(clamp: Call, describe: Describe) -> str:
    shown = describe(clamp)
    there = " AND ".join(f"{describe(value)} IS NOT NULL" for value in clamped_values(clamp))
    return f"{shown} makes a bound of NULL, which is counted; CASE WHEN {there} THEN {shown} END keeps it NULL"


def _closed(draft: UnboundedStage, keys: tuple[Key, ...], measured: Iterable[Measurement], ids: Ids) -> Project:
    """What the release reads, as one relation: the unit, then each key, argument and condition as a column of its own."""
    read = [key.expr for key in keys]
    for one in measured:
        read += exprs(one)
    columns = dict.fromkeys((draft.private.unit, *(expr for expr in read if columns_of(expr))))
    return Project(draft.input, tuple(ids.field(_name(expr), expr.type) for expr in columns), tuple(columns))


def _name(expr: Expr) -> str:
    return expr.name if isinstance(expr, Column) else ""


def _over_columns(one: Measurement, by_expr: Mapping[Expr, Column]) -> Measurement:
    """The measurement over the columns of the certified relation."""

    def column(expr: Expr) -> Expr:
        replacement = by_expr.get(expr)
        if replacement is None and columns_of(expr):
            raise InternalError("a measurement reads what was not certified")
        return expr if replacement is None else replacement

    new = rewritten(one, column)
    assert all(isinstance(expr, Column) or not columns_of(expr) for expr in exprs(new))
    return new


def _finished(
    draft: UnboundedStage, collector: MeasurementCollector, aggregates: Rules, *, exact: bool
) -> list[tuple[Field, Expr]]:
    """Each call's finishing expression; those that can reuse others' measurements ask last. (With noise no sum is NULL.)"""
    calls = [(call, False) for call in draft.node.calls] if draft.level is not None else pivoted(draft.node.calls)
    asked = [(f, call, zero) for f, (call, zero) in zip(draft.node.call_fields, calls, strict=True)]
    finished: dict[int, Expr] = {}
    known = {call.function: _known(call, aggregates) for _, call, _ in asked}
    for f, call, zero in sorted(asked, key=lambda one: known[one[1].function].order):
        answer = known[call.function].measure(_with_boolean(call), collector)
        finished[f.id] = (
            functions.make("coalesce", (answer, Literal(0, answer.type)), at=None) if zero and exact else answer
        )
    return [(f, finished[f.id]) for f, _, _ in asked]


def _with_boolean(call: AggregateCall) -> AggregateCall:
    """The binder lets types pass that only scratch knows."""
    if call.where is not None and call.where.type.kind not in (Kind.BOOLEAN, Kind.NULL):
        raise SqlError("FILTER (WHERE …) needs a condition", code=105, at=place(call.where), fix="Write a comparison.")
    return call


def _known(call: AggregateCall, aggregates: Rules) -> AggregateRule:
    rule = aggregates.get(call.function)
    if rule is None:
        names = ", ".join(sorted(name.upper() for name in aggregates))
        why, instead = REFUSED.get(call.function, ("", ""))
        raise Refused(
            f"{call.function.upper()} of private rows is not answered",
            code=132,
            at=call.at,
            why=why or "dpsql has no differentially private form of it.",
            fix=instead or f"The aggregates over private rows are {names}.",
        )
    return rule
