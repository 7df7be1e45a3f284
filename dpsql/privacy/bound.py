"""Step 6, bound: every draft becomes a Stage: certified rows, public or private groups, radii, measurements.

Nothing found here is believed. The vault clamps each measured value to its axis and weighs each unit's rows and groups by
how many there are (plan/balls.py); the radii below are what those weights enforce.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol
from typing import Literal as OneOf

from dpsql import functions
from dpsql.catalog.model import Catalog, fold
from dpsql.domain.facts import KEY_LIMIT, Atom, Domain, key_set
from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.types import Kind
from dpsql.errors import InternalError, Refused, SqlError
from dpsql.ir.expr import AggregateCall, Call, Column, Expr, columns_of, place
from dpsql.ir.ids import Ids
from dpsql.ir.nodes import Field, Project
from dpsql.plan.balls import radius
from dpsql.plan.clamps import clamped_values
from dpsql.plan.cut import UnboundedStage
from dpsql.plan.measurements import Measurement, exprs, rewritten
from dpsql.plan.stages import Key, Limit, Stage
from dpsql.plan.tracked import Limits
from dpsql.privacy.auto import SMALLEST, to_choose
from dpsql.privacy.kernel import certify, is_single
from dpsql.privacy.loads import with_read_columns
from dpsql.privacy.lone_keys import refuse_lone_keys
from dpsql.privacy.measuring import MeasurementCollector
from dpsql.privacy.refused_aggregates import REFUSED
from dpsql.privacy.settings import AUTO, RELEASED, AskedLimit, QuerySettings

KEY_KINDS = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP, Kind.TEXT)


class AggregateRule(Protocol):
    """What bound needs of an aggregate; aggregates/ has them."""

    @property
    def order(self) -> int: ...

    @property
    def measure(self) -> Callable[[AggregateCall, MeasurementCollector], Expr]: ...


Rules = Mapping[str, AggregateRule]
Describe = Callable[[Expr], str]


def bound(
    draft: UnboundedStage, settings: QuerySettings, ids: Ids, *, catalog: Catalog, aggregates: Rules, describe: Describe
) -> Stage:
    keys = tuple(
        _key(f, e, draft.domains, describe) for f, e in zip(draft.node.key_fields, draft.node.keys, strict=True)
    )
    _limit_combinations(keys, draft)
    if not settings.exact:  # which shows all keys that occur
        refuse_lone_keys(keys, draft, catalog)
    limit = _limit(keys, draft, settings)
    if is_single(Project(draft.input, (ids.field("", draft.private.unit.type),), (draft.private.unit,)), catalog):
        limit = _of_one_row(limit)
    collector = MeasurementCollector(
        ids=ids,
        domains=draft.domains,
        limit=limit,
        describe=describe,
        origins=draft.origins,
        same_unit=draft.private.same,
        groups=_combinations(keys) if all(key.values is not None for key in keys) else None,
        max_sum=draft.private.limits.max_sum,
        likes=draft.private.limits.likes,
        released=settings.released.get(tables_read(draft.private.tables), {}) if settings.rows == RELEASED else {},
    )
    finished = _measured(draft, collector, aggregates)
    source = certify(_closed(draft, keys, collector.measurements, ids), catalog)
    by_expr = {expr: f.column() for f, expr in zip(source.node.fields, source.node.exprs, strict=True)}
    inner_keys = tuple(
        dataclasses.replace(key, field=ids.field(key.field.name, key.field.type), expr=by_expr.get(key.expr, key.expr))
        for key in keys
    )
    outputs = [(key.field, inner.field.column()) for key, inner in zip(keys, inner_keys, strict=True)]
    source, loads = with_read_columns(source, draft.loads, draft.fan_outs)
    measured = tuple(_over_columns(one, by_expr) for one in collector.measurements)
    return Stage(
        number=draft.number,
        source=source,
        loads=loads,
        tables=draft.private.tables,
        keys=inner_keys,
        limit=limit,
        measurements=measured,
        choices=to_choose(limit, measured, collector.candidates, combinations=collector.groups),
        outputs=(*outputs, *finished),
        min_units=draft.private.limits.min_units,
        level=draft.level,
        fan_outs=draft.fan_outs,
        notes=tuple(_null_becomes_a_bound(clamp, describe) for clamp in draft.clamps),
        bounds=_chosen_bounds(catalog),
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


def _key(field: Field, expr: Expr, domains: Mapping[int, Domain], describe: Describe) -> Key:
    domain = functions.infer(expr, domains)[1]
    if domain.type.kind not in KEY_KINDS and not (domain.type.kind is Kind.REAL and domain.is_integral):
        raise Refused(
            f"{describe(expr)} cannot be a group key: it is {domain.type}",
            code=117,
            at=place(expr),
            why="Keys must be exact: two spellings of one real number or interval would print one person's spelling.",
            fix="Group by a whole number: FLOOR(x / 10) of a bounded x, CAST(x AS INTEGER), or a CASE.",
        )
    values = key_set(domain)
    if not _fits_bigint(domain, values):
        raise Refused(
            f"{describe(expr)} cannot be a group key: its values may be beyond 64 bits",
            code=117,
            at=place(expr),
            why="Keys leave the database as 64-bit integers: larger ones would all look alike.",
            fix="Add bounds to its columns in the metadata, clip it (dpsql help bounds), or CAST(x AS BIGINT).",
        )
    if values is not None:
        values = _in_order(values)
    because = domain.because or ("inferred" if values is not None else "")
    return Key(field=field, expr=expr, values=values, integral=domain.is_integral, because=because, at=place(expr))


def _fits_bigint(domain: Domain, values: tuple[Atom, ...] | None) -> bool:
    """Whether every key that is expected travels as an integer and comes back as itself, the listed ones for certain:
    they are whole and within these bounds."""
    if domain.type.kind not in (Kind.REAL, Kind.INTEGER):
        return True
    far = 2**53 if domain.type.kind is Kind.REAL else 2**63 - 1
    numbers = [value for value in values or () if value is not None and not isinstance(value, str)]
    if any(not math.isfinite(value) or value % 1 or not -far - 1 <= value <= far for value in numbers):
        return False
    if domain.type.kind is Kind.INTEGER and domain.type.bits <= 64:
        return True
    return domain.interval.is_finite and all(abs(end) <= far for end in domain.interval.ends())


def _in_order(values: Iterable[Atom]) -> tuple[Atom, ...]:
    """Key order: ascending, NULL last; text by code points, which is the byte order of UTF-8. Each once."""
    distinct = dict.fromkeys(values)
    known: list[Any] = [value for value in distinct if value is not None]  # one type per key
    return (*sorted(known), *((None,) if None in distinct else ()))


def _limit_combinations(keys: tuple[Key, ...], draft: UnboundedStage) -> None:
    count = _combinations(keys)
    if count > KEY_LIMIT:
        raise Refused(
            f"these keys have {count:,} public combinations, more than {KEY_LIMIT:,}",
            code=118,
            at=place(draft.node.keys[0]),
            why="Every public combination is released, empty ones too.",
            fix="Narrow the keys in WHERE, or group more coarsely.",
        )


def _combinations(keys: tuple[Key, ...]) -> int:
    """Public key combinations; a private key counts as one."""
    return math.prod(1 if key.values is None else len(key.values) for key in keys)


def _limit(keys: tuple[Key, ...], draft: UnboundedStage, settings: QuerySettings) -> Limit:
    """The radii for these keys. rows: T rows over all groups; from the older pair of m groups x c rows √m·c in norm 2.
    groups: those declared, else as many as rows; never more than there are combinations of public keys. What nothing
    says, the data choose: until then the smallest candidate stands there."""
    before = settings.released.get(tables_read(draft.private.tables), {})
    limits, because = _asked_for(draft.private.limits, keys, settings, before)
    combinations = _combinations(keys) if all(key.values is not None for key in keys) else None
    auto: set[OneOf["rows", "groups"]] = set()

    def at_most(groups: int) -> int:
        return groups if combinations is None else max(1, min(groups, combinations))

    if limits.rows_in_group is not None:
        assert limits.groups is not None
        groups, each = at_most(limits.groups), limits.rows_in_group
        said = {"groups": limits.groups, "rows_in_group": each}
        rows = radius("rows", groups * each, groups * each * each)
    else:
        said = {} if limits.rows is None else {"rows": limits.rows}
        rows = radius("rows", SMALLEST if limits.rows is None else limits.rows)
        groups = at_most(rows.most if limits.groups is None else limits.groups)
        if limits.groups is not None:
            said["groups"] = limits.groups
        elif (limits.rows is None or limits.groups_auto) and at_most(2) > 1:
            auto.add("groups")
            groups = SMALLEST
        if limits.rows is None:
            auto.add("rows")
            because = ""
    said_of = MappingProxyType(said)
    return Limit(
        rows=rows, groups=radius("groups", groups, groups), auto=frozenset(auto), said=said_of, because=because
    )


def _of_one_row(limit: Limit) -> Limit:
    """A unit with one row, by the form of the relation, has it in one group: radii above 1 would be reached by nobody.
    Whether it is weighed is asked of the certified relation again; if that were not single, its weights hold it to 1."""
    return dataclasses.replace(limit, rows=radius("rows", 1), groups=radius("groups", 1), auto=frozenset())


def _asked_for(
    limits: Limits, keys: tuple[Key, ...], settings: QuerySettings, released: Mapping[str, Fraction]
) -> tuple[Limits, str]:
    """The owner's limits for these keys, and the query's over them. released: those chosen before for these tables."""
    groups, rows_in_group, because = limits.groups, limits.rows_in_group, limits.because
    for line in limits.by_keys:
        labels = [_labels(key) for key in keys]
        finer = all(any(part in label for label in labels) for part in line.by)
        coarser = all(label & line.by for label in labels)
        exactly = finer and coarser
        if line.rows_in_group is not None and finer and (line.rows_in_group < (rows_in_group or 0) or exactly):
            rows_in_group, because = line.rows_in_group, f"{limits.because}, for these keys"
        if line.groups is not None and coarser and (groups is None or line.groups < groups or exactly):
            groups, because = line.groups, f"{limits.because}, for these keys"
    rows = limits.rows
    if settings.groups is not None:
        groups, because = _number(settings.groups, "groups", released), _asked(settings.groups)
    if settings.rows_in_group is not None:
        rows, rows_in_group, because = None, settings.rows_in_group, "asked for in the query"
    if settings.rows is not None:
        rows, rows_in_group, because = _number(settings.rows, "rows", released), None, _asked(settings.rows)
    if rows_in_group is not None and groups is None:
        raise SqlError(
            "max_rows_per_group needs max_groups_contributed here",
            code=119,
            why="The owner limits a unit's rows over all groups, so nothing says for how many groups.",
            fix="Set max_rows_contributed, or both.",
        )
    auto = settings.groups == AUTO or (limits.groups_auto and groups is None)
    if rows_in_group is None and limits.rows_in_group is not None and rows is None and settings.groups is None:
        groups = None  # of the older pair nothing is left
    return dataclasses.replace(limits, rows=rows, groups=groups, groups_auto=auto, rows_in_group=rows_in_group), because


def tables_read(tables: Iterable[str]) -> tuple[str, ...]:
    """What a released limit is kept under: no order, no case."""
    return tuple(sorted({fold(table) for table in tables}))


def _asked(asked: AskedLimit) -> str:
    return "released before" if asked == RELEASED else "asked for in the query"


def _number(asked: AskedLimit, of: str, released: Mapping[str, Fraction]) -> int | None:
    if asked != RELEASED:
        return None if isinstance(asked, str) else asked
    if of not in released:
        raise SqlError(
            f"no contribution limit on {of} was released for these tables",
            code=119,
            why="'released' uses what the data chose for an earlier query, at no cost.",
            fix=f"Ask once with max_{of}_contributed = 'auto', or give a number.",
        )
    return int(released[of])


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


def _labels(key: Key) -> frozenset[int | str]:
    """What a line for a key set may call a key: its column, or the name the query gives it."""
    named: set[int | str] = {fold(key.field.name)} if key.field.name else set()
    return frozenset(named | ({key.expr.id} if isinstance(key.expr, Column) else set()))


def _measured(draft: UnboundedStage, collector: MeasurementCollector, aggregates: Rules) -> list[tuple[Field, Expr]]:
    """Each call's finishing expression; those that can reuse others' measurements ask last."""
    calls = list(zip(draft.node.call_fields, draft.node.calls, strict=True))
    finished: dict[int, Expr] = {}
    known = {call.function: _known(call, aggregates) for _, call in calls}
    for f, call in sorted(calls, key=lambda pair: known[pair[1].function].order):
        finished[f.id] = known[call.function].measure(_with_boolean(call), collector)
    return [(f, finished[f.id]) for f, _ in calls]


def _with_boolean(call: AggregateCall) -> AggregateCall:
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
            why=why or "There is no differentially private form of it here.",
            fix=instead or f"The aggregates over private rows are: {names}.",
        )
    return rule
