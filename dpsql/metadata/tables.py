"""Reading one table: public, or private with its unit and its caps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

from dpsql.catalog.model import ColumnSpec, FileSource, Source, TableSpec, UnitPath, fold
from dpsql.metadata.columns import read_columns
from dpsql.metadata.limits import LIMIT_MEANING, read_cap, read_caps, read_key_caps
from dpsql.metadata.reading import Reader, number, quoted
from dpsql.metadata.sources import read_source
from dpsql.metadata.tree import Fields, Items, Tree, printable

PRIVATE_FIELDS = ("unit", "row_is_unit", *LIMIT_MEANING, "caps", "min_units", "max_sum")
TABLE_FIELDS = ("description", "source", "format", "public", *PRIVATE_FIELDS, "columns")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    column: str | None = None
    path: UnitPath | None = None
    row: bool = False


def read_table(reader: Reader, name: str, where: str, tree: Tree, folder: Path) -> TableSpec | None:
    """A table as declared; what other tables must agree with is checked afterwards (checks.py)."""
    fields = reader.fields(tree, f"table {printable(name)}", TABLE_FIELDS)
    if fields is None:
        return None
    source, form = fields.entries.get("source"), fields.entries.get("format")
    if source is None and form is not None:
        reader.problem(form[0], "format describes a CSV source, but there is no source", "add source, or remove format")
    read = None if source is None else read_source(reader, source[1], form, folder, name)
    columns = _columns(reader, fields, name, where, read)
    reader.places[name, ""] = fields.at("unit") if "unit" in fields.entries else where
    public = _flag(reader, fields, "public")
    unit = _public_unit(reader, fields) if public else _private_unit(reader, fields, name, where)
    private = not public
    caps = read_caps(reader, fields, name, unit.row) if private else None
    description = fields.entries.get("description")
    min_units = read_cap(reader, fields, "min_units") if private else None
    return TableSpec(
        name=name,
        columns=columns,
        description="" if description is None else reader.prose(description[1], "description") or "",
        source=read,
        public=public,
        unit_column=unit.column,
        unit_path=unit.path,
        row_is_unit=unit.row,
        caps=caps,
        key_caps=() if caps is None else read_key_caps(reader, fields, caps),
        max_sum=_max_sum(reader, fields, name, columns) if private else MappingProxyType({}),
        min_units=min_units or 0,
        where=where,
    )


def _columns(reader: Reader, fields: Fields, name: str, where: str, source: Source | None) -> tuple[ColumnSpec, ...]:
    entry = fields.entries.get("columns")
    if entry is None:
        fix = "add columns: {name: type, …}; unlisted columns do not exist"
        reader.problem(where, f"table {quoted(name)} has no columns", fix)
        return ()
    is_csv = isinstance(source, FileSource) and source.kind == "csv"
    return read_columns(reader, entry[1], name, source.format if isinstance(source, FileSource) and is_csv else None)


def _flag(reader: Reader, fields: Fields, name: str) -> bool:
    entry = fields.entries.get(name)
    return False if entry is None else reader.boolean(entry[1], name) or False


def _public_unit(reader: Reader, fields: Fields) -> _Unit:
    for name in PRIVATE_FIELDS:
        if name in fields.entries:
            fix = f"remove {name}, or remove public: true if the table is about people"
            reader.problem(fields.at(name), f"a public table has no {name}", fix)
    return _Unit()


def _private_unit(reader: Reader, fields: Fields, name: str, where: str) -> _Unit:
    row, entry = _flag(reader, fields, "row_is_unit"), fields.entries.get("unit")
    if row and entry is not None:
        reader.problem(
            entry[0], "the table has a unit, but row_is_unit says that each row is one", "remove one of them"
        )
        return _Unit(row=True)
    if row:
        return _Unit(row=True)
    if entry is None:
        fix = (
            "add unit: (the column that says whose row it is), unit: {through: …, on: …}, row_is_unit: true, "
            "or public: true if it is not about people"
        )
        reader.problem(where, f"table {quoted(name)} is neither public nor has a unit", fix)
        return _Unit()
    if isinstance(entry[1], Fields):
        return _Unit(path=_unit_path(reader, entry[1]))
    return _Unit(column=reader.name(entry[1], "unit"))


def _unit_path(reader: Reader, tree: Fields) -> UnitPath | None:
    form = "write unit: {through: visits, on: {visit_id: visit_id}} (this table's column: the other's)"
    if "column" in tree.entries:
        fix = "write unit: (the column) alone, and in joins of both tables that their units are equal"
        reader.problem(tree.where, "a table has a unit column or a unit path, not both", fix)
        return None
    reader.fields(tree, "unit", ("through", "on"))
    through, on = tree.entries.get("through"), tree.entries.get("on")
    if through is None or on is None:
        reader.problem(tree.where, "a unit path needs through and on", form)
        return None
    table = reader.name(through[1], "through")
    pairs = reader.fields(on[1], "on", None, form)
    if table is None or pairs is None:
        return None
    if not pairs.entries:
        reader.problem(pairs.where, "on is empty", form)
        return None
    named = [(mine, reader.name(other, "on")) for mine, (_, other) in pairs.entries.items()]
    return UnitPath(through=table, on=tuple((mine, other) for mine, other in named if other is not None))


def _max_sum(
    reader: Reader, fields: Fields, table: str, columns: tuple[ColumnSpec, ...]
) -> Mapping[str, tuple[Fraction, Fraction]]:
    """max_sum: {column: [low, high]}: what one unit adds to one group's SUM in total."""
    entry = fields.entries.get("max_sum")
    tree = None if entry is None else reader.fields(entry[1], "max_sum", None, "write {duration: [0, 900]}")
    if tree is None:
        return MappingProxyType({})
    by_column: dict[str, tuple[Fraction, Fraction]] = {}
    by_name = {fold(column.name): column for column in columns}
    for name, (where, bounds) in tree.entries.items():
        column = by_name.get(fold(name))
        if column is None and reader.was_listed(table, name):
            continue
        if column is None or not column.type.is_numeric:
            reader.problem(
                where, f"max_sum names {quoted(name)}, which is not a numeric column", "name one of the columns"
            )
            continue
        pair = _pair(reader, bounds)
        if pair is not None:
            by_column[column.name] = pair
    return MappingProxyType(by_column)


def _pair(reader: Reader, tree: Tree) -> tuple[Fraction, Fraction] | None:
    ends = [number(item) for item in tree.items] if isinstance(tree, Items) else []
    match ends:
        case [Fraction() as low, Fraction() as high] if low <= high:
            return low, high
        case _:
            reader.problem(tree.where, "max_sum needs the lowest and the highest total", "write [0, 900]")
            return None
