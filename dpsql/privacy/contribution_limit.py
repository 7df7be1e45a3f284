"""How many rows and groups of one unit count: as the owner, the query or, later, the data say."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal as OneOf

from dpsql.catalog.model import fold
from dpsql.errors import SqlError
from dpsql.ir.expr import Column
from dpsql.plan.balls import radius
from dpsql.plan.stages import Key, Limit
from dpsql.plan.tracked import Limits
from dpsql.privacy.auto import SMALLEST
from dpsql.privacy.group_keys import public_combinations
from dpsql.privacy.settings import AUTO, RELEASED, AskedLimit, QuerySettings


def limit_of(keys: tuple[Key, ...], declared: Limits, tables: Iterable[str], settings: QuerySettings) -> Limit:
    """The radii for these keys. rows: T rows over all groups; from the older pair of m groups x c rows √m·c in norm 2.
    groups: those declared, else as many as rows; never more than there are combinations of public keys. What nothing
    says, the data choose: until then the smallest candidate stands there."""
    before = settings.released.get(tables_read(tables), {})
    limits, because = _asked_for(declared, keys, settings, before)
    most = public_combinations(keys)
    auto: set[OneOf["rows", "groups"]] = set()

    def at_most(groups: int) -> int:
        return groups if most is None else max(1, min(groups, most))

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
    return Limit(
        rows=rows,
        groups=radius("groups", groups, groups),
        auto=frozenset(auto),
        said=MappingProxyType(said),
        because=because,
    )


def of_one_row(limit: Limit) -> Limit:
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
            why="The owner limits a unit's rows over all groups together, so the number of its groups is not known.",
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
            why="'released' uses the limit that the data chose for an earlier query, at no cost.",
            fix=f"Ask once with max_{of}_contributed = 'auto', or give a number.",
        )
    return int(released[of])


def _labels(key: Key) -> frozenset[int | str]:
    """What a line for a key set may call a key: its column, or the name the query gives it."""
    named: set[int | str] = {fold(key.field.name)} if key.field.name else set()
    return frozenset(named | ({key.expr.id} if isinstance(key.expr, Column) else set()))
