"""Reading how much of one unit counts: rows_per_unit and groups_per_unit, or the older pair max_groups and max_rows.

What is `auto`, or not said at all, the data choose, privately, in each query (privacy/auto.py)."""

from __future__ import annotations

from dpsql.catalog.model import Caps, KeyCaps, fold
from dpsql.metadata.reading import Reader, described, quoted
from dpsql.metadata.tree import Fields, Items, Scalar, Tree

LARGEST_CAP = 10**9
AUTO = "auto"
NEWER, OLDER = ("rows_per_unit", "groups_per_unit"), ("max_groups", "max_rows")
LIMIT_MEANING = {
    "rows_per_unit": "the contribution limit: how many rows of one unit count in one "
    "query, over all its groups together; choose a number that nearly every unit stays within, such as 12 (noise grows "
    "with it; if a unit has more rows, each counts less). With auto, or if left out, each query spends a part of its ε on "
    "choosing it",
    "groups_per_unit": "in how many groups of one query one unit counts as one, in COUNT(DISTINCT unit) and in sums "
    "bounded per unit; if left out, the same as rows_per_unit",
    "max_groups": "older, with max_rows: max_groups: 4, max_rows: 3 means rows_per_unit: 12, groups_per_unit: 4",
    "max_rows": "older, with max_groups: max_groups: 4, max_rows: 3 means rows_per_unit: 12, groups_per_unit: 4",
}
_EXAMPLE = "write {by: [month], groups_per_unit: 12}"


def read_caps(reader: Reader, fields: Fields, name: str, row_is_unit: bool) -> Caps:
    """rows_per_unit and groups_per_unit, or max_groups and max_rows; where a row is a unit both are 1."""
    caps = {limit: read_cap(reader, fields, limit, auto=limit in NEWER) for limit in LIMIT_MEANING}
    said = [limit for limit in LIMIT_MEANING if limit in fields.entries]
    if row_is_unit:
        for limit in said:
            if caps[limit] not in (None, 1):
                fix = f"remove {limit}; a query over a join may raise it in its OPTIONS"
                reader.problem(fields.at(limit), f"{limit} must be 1 if each row is a unit", fix)
        return Caps(rows=1, groups=1)
    newer, older = ([limit for limit in names if limit in said] for names in (NEWER, OLDER))
    if newer and older:
        fix = f"remove {' and '.join(older)}: max_groups: 4, max_rows: 3 means rows_per_unit: 12"
        reader.problem(fields.at(older[0]), f"table {quoted(name)} has both {older[0]} and {newer[0]}", fix)
    elif len(older) == 1:
        (missing,) = set(OLDER) - set(older)
        fix = f"add {missing}, or use rows_per_unit, {LIMIT_MEANING['rows_per_unit']}"
        reader.problem(fields.at(older[0]), f"{older[0]} also needs {missing}", fix)
    if older:
        return Caps(groups=caps["max_groups"] or 1, rows_in_group=caps["max_rows"] or 1)
    auto = "groups_per_unit" in said and caps["groups_per_unit"] is None
    return Caps(rows=caps["rows_per_unit"], groups=caps["groups_per_unit"], groups_auto=auto)


def read_cap(reader: Reader, fields: Fields, name: str, *, auto: bool = False) -> int | None:
    entry = fields.entries.get(name)
    if entry is None:
        return None
    if auto and isinstance(entry[1], Scalar) and entry[1].value == AUTO:
        return None
    return reader.integer(entry[1], name, at_least=1, at_most=LARGEST_CAP)


def read_key_caps(reader: Reader, fields: Fields, caps: Caps) -> tuple[KeyCaps, ...]:
    """caps: [{by: [month], groups_per_unit: 12}]. A name in `by` is a column's or that of a key in the query."""
    entry = fields.entries.get("caps")
    if entry is None:
        return ()
    if not isinstance(entry[1], Items):
        fix = "write caps: [{by: [month], groups_per_unit: 12}]"
        reader.problem(entry[0], f"caps must be a list, not {described(entry[1])}", fix)
        return ()
    by_columns: dict[frozenset[str], KeyCaps] = {}
    for item in entry[1].items:
        line = _key_caps(reader, item, caps)
        if line is None:
            continue
        if line.by in by_columns:
            reader.problem(item.where, "caps for these keys are given twice", "remove one of them")
        by_columns[line.by] = line
    return tuple(by_columns.values())


def _key_caps(reader: Reader, tree: Tree, caps: Caps) -> KeyCaps | None:
    fields = reader.fields(tree, "caps", ("by", "groups_per_unit", *OLDER), _EXAMPLE)
    if fields is None:
        return None
    by = fields.entries.get("by")
    if by is None or not isinstance(by[1], Items) or not by[1].items:
        reader.problem(fields.where, "caps needs by, a list of keys", _EXAMPLE)
        return None
    names = [reader.name(item, "by") for item in by[1].items]
    groups, older, rows = (read_cap(reader, fields, limit) for limit in ("groups_per_unit", *OLDER))
    said = fields.entries.keys() - {"by"}
    if not said:
        reader.problem(fields.where, "caps has neither groups_per_unit nor max_rows", "add groups_per_unit")
    if {"groups_per_unit", "max_groups"} <= said:
        what = "groups_per_unit and max_groups mean the same here"
        reader.problem(fields.at("max_groups"), what, "remove max_groups")
    if "max_rows" in said and caps.rows_in_group is None:
        what = "max_rows is for tables that have max_groups and max_rows"
        reader.problem(fields.at("max_rows"), what, "remove it: rows_per_unit is over all groups, whatever the keys")
        return None
    kept = frozenset(fold(name) for name in names if name is not None)
    return KeyCaps(by=kept, groups=older if groups is None else groups, rows_in_group=rows)
