"""Step 6, bound: every draft becomes a Stage whose measurements all have a finite, enforced sensitivity.

Nothing found here is believed. The vault clamps each measured value to its bounds, drops rows outside the public keys,
counts at most max_rows rows of a unit in a group and keeps at most max_groups of its groups; the numbers below are what
those four steps enforce.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from dpsql.catalog.model import fold
from dpsql.domain.facts import KEY_LIMIT, Atom, Domain, key_set
from dpsql.domain.types import Kind
from dpsql.errors import Refused, SqlError
from dpsql.ir.expr import AggregateCall, Column, Expr, place
from dpsql.ir.nodes import Field
from dpsql.plan.cut import Draft
from dpsql.plan.stages import Bounding, Key, Stage
from dpsql.plan.tracked import Limits
from dpsql.privacy.measuring import Measuring
from dpsql.privacy.refused_aggregates import REFUSED
from dpsql.privacy.settings import QuerySettings
from dpsql.sql import functions
from dpsql.sql.bind.context import Ids

KEY_KINDS = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP, Kind.TEXT)


class AggregateRule(Protocol):
    """What bound needs of an aggregate; aggregates/ has them."""

    @property
    def order(self) -> int: ...

    @property
    def measure(self) -> Callable[[AggregateCall, Measuring], Expr]: ...


def bound(
    draft: Draft,
    settings: QuerySettings,
    ids: Ids,
    *,
    aggregates: Mapping[str, AggregateRule],
    describe: Callable[[Expr], str],
) -> Stage:
    keys = tuple(
        _key(f, e, draft.domains, describe) for f, e in zip(draft.node.key_fields, draft.node.keys, strict=True)
    )
    _limit_combinations(keys, draft)
    bounding = _bounding(keys, draft, settings)
    ask = Measuring(
        ids=ids,
        domains=draft.domains,
        max_rows=bounding.max_rows,
        describe=describe,
        origins=draft.origins,
        same_unit=draft.private.same,
        groups=_combinations(keys) if all(key.values is not None for key in keys) else None,
        max_sum=draft.private.limits.max_sum,
        one_count=draft.level is None or draft.private.unique == frozenset(),
    )
    if any(key.values is None for key in keys):
        ask.units()
    finished = _measured(draft, ask, aggregates)
    own = tuple(dataclasses.replace(key, field=ids.field(key.field.name, key.field.type)) for key in keys)
    outputs = [(key.field, inner.field.column()) for key, inner in zip(keys, own, strict=True)]
    return Stage(
        number=draft.number,
        input=draft.input,
        unit=draft.private.unit,
        loads=draft.loads,
        tables=draft.private.tables,
        keys=own,
        bounding=bounding,
        measures=tuple(ask.measures),
        outputs=(*outputs, *finished),
        min_units=draft.private.limits.min_units,
        level=draft.level,
        fan_outs=draft.fan_outs,
    )


def _key(field: Field, expr: Expr, domains: Mapping[int, Domain], describe: Callable[[Expr], str]) -> Key:
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
            fix="Add bounds to its columns in the metadata, clamp it with LEAST and GREATEST, or CAST(x AS BIGINT).",
        )
    if values is not None:
        values = _in_order(values)
    because = domain.because or ("inferred" if values is not None else "")
    return Key(field=field, expr=expr, values=values, integral=domain.is_integral, because=because)


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


def _limit_combinations(keys: tuple[Key, ...], draft: Draft) -> None:
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


def _bounding(keys: tuple[Key, ...], draft: Draft, settings: QuerySettings) -> Bounding:
    """L0 and L∞ of the release, and which steps are provably not needed.

    A (GROUP BY unit, keys) may be skipped only if the input's form shows one row per unit and key: then max_rows is 1.
    B (at most max_groups groups) may be skipped only without keys, with at most max_groups public combinations, or if
    the input's form shows one row per unit: then L0 is 1. Both come from `unique`, which joins and unions lose.
    """
    plain = frozenset(key.expr.id for key in keys if isinstance(key.expr, Column))
    unique = draft.private.unique
    skip_a = unique is not None and unique <= plain
    one_row = unique is not None and not unique
    groups, rows, because = _pair(draft.private.limits, keys, settings)
    all_public = all(key.values is not None for key in keys)
    combinations = _combinations(keys)
    keep = groups
    if not keys or one_row:
        groups = 1
    elif all_public:
        groups = max(1, min(groups, combinations))
    skip_b = not keys or one_row or (all_public and combinations <= keep)
    return Bounding(
        max_groups=groups,
        max_rows=1 if skip_a else rows,
        keep_groups=keep,
        skip_a=skip_a,
        skip_b=skip_b,
        because=because,
    )


def _pair(limits: Limits, keys: tuple[Key, ...], settings: QuerySettings) -> tuple[int, int, str]:
    """The limits for these keys as groups and rows in each of them. All of `rows` may lie in any one of `rows` groups:
    more than is so, never less."""
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
        groups, because = settings.groups, "asked for in the query"
    if settings.rows_in_group is not None:
        rows, rows_in_group, because = None, settings.rows_in_group, "asked for in the query"
    if settings.rows is not None:
        rows, rows_in_group, because = settings.rows, None, "asked for in the query"
    if rows is not None:
        return groups or rows, rows, because
    if groups is None or rows_in_group is None:
        raise SqlError(
            "max_rows_per_group needs max_groups_contributed here",
            code=119,
            why="The owner limits a unit's rows over all groups, so nothing says how many groups it may reach.",
            fix="Set max_rows_contributed, or both.",
        )
    return groups, rows_in_group, because


def _labels(key: Key) -> frozenset[int | str]:
    """What a line for a key set may call a key: its column, or the name the query gives it."""
    named: set[int | str] = {fold(key.field.name)} if key.field.name else set()
    return frozenset(named | ({key.expr.id} if isinstance(key.expr, Column) else set()))


def _measured(draft: Draft, ask: Measuring, aggregates: Mapping[str, AggregateRule]) -> list[tuple[Field, Expr]]:
    """Each call's finishing expression; those that can reuse others' measurements ask last."""
    calls = list(zip(draft.node.call_fields, draft.node.calls, strict=True))
    finished: dict[int, Expr] = {}
    known = {call.function: _known(call, aggregates) for _, call in calls}
    for f, call in sorted(calls, key=lambda pair: known[pair[1].function].order):
        finished[f.id] = known[call.function].measure(_with_boolean(call), ask)
    return [(f, finished[f.id]) for f, _ in calls]


def _with_boolean(call: AggregateCall) -> AggregateCall:
    if call.where is not None and call.where.type.kind not in (Kind.BOOLEAN, Kind.NULL):
        raise SqlError("FILTER (WHERE …) needs a condition", code=105, at=place(call.where), fix="Write a comparison.")
    return call


def _known(call: AggregateCall, aggregates: Mapping[str, AggregateRule]) -> AggregateRule:
    found = aggregates.get(call.function)
    if found is None:
        names = ", ".join(sorted(name.upper() for name in aggregates))
        why, instead = REFUSED.get(call.function, ("", ""))
        raise Refused(
            f"{call.function.upper()} of private rows is not answered",
            code=132,
            at=call.at,
            why=why or "There is no differentially private form of it here.",
            fix=instead or f"The aggregates over private rows are: {names}.",
        )
    return found
