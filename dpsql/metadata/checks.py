"""What the tables of one catalog must agree on: names, units, unit paths, key columns. Needs every table read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.catalog.model import TableSpec, fold, spellings
from dpsql.domain.interval import EVERYTHING
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.metadata.reading import Reader, did_you_mean, quoted

Tables = Mapping[str, TableSpec]


def check_tables(reader: Reader, tables: Sequence[TableSpec]) -> Type | None:
    """Every problem between tables is noted; answers the type of the unit (None without a private table)."""
    by_name = {spelling: table for table in tables for spelling in spellings(table)}
    private = [table for table in tables if not table.public]
    for table in private:
        _check_unit_column(reader, table)
        _check_path(reader, table, by_name)
        if table.row_is_unit and len(private) > 1:
            fix = "give every table a unit column: otherwise nothing shows which rows of two tables are one unit's"
            reader.problem(table.where, "row_is_unit needs the dataset's only private table", fix)
    for table in tables:
        _check_keys_from(reader, table, by_name)
    return _unit_type(reader, private)


def place_of(reader: Reader, table: TableSpec, column: str = "") -> str:
    """Where the column stands, or the table's unit."""
    return reader.places.get((table.name, column), table.where)


def _check_unit_column(reader: Reader, table: TableSpec) -> None:
    if table.unit_column is None:
        return
    column = table.column(table.unit_column)
    if column is None and reader.was_listed(table.name, table.unit_column):
        return
    if column is None:
        fix = did_you_mean(table.unit_column, (column.name for column in table.columns))
        reader.problem(
            place_of(reader, table), f"the unit {quoted(table.unit_column)} is no column of {quoted(table.name)}", fix
        )
        return
    if column.type.kind not in (Kind.INTEGER, Kind.TEXT):
        what = f"the unit {quoted(column.name)} is a {column.type}"
        reader.problem(place_of(reader, table), what, "a unit is an integer or text, which compare exactly")
    if column.bounds_auto or column.interval != EVERYTHING or column.keys is not None or column.keys_from is not None:
        what = f"the unit {quoted(column.name)} has bounds or keys"
        reader.problem(place_of(reader, table), what, "remove them: clipping would make two units one")


def _check_path(reader: Reader, table: TableSpec, by_name: Tables) -> None:
    path = table.unit_path
    if path is None:
        return
    target = by_name.get(fold(path.through))
    if target is None:
        what = f"the unit path of {quoted(table.name)} goes through {quoted(path.through)}, which is no table"
        reader.problem(
            place_of(reader, table), what, did_you_mean(path.through, (other.name for other in by_name.values()))
        )
        return
    if target.public or target.row_is_unit:
        why = "is public" if target.public else "has rows as units"
        what = f"the unit path of {quoted(table.name)} goes through {quoted(target.name)}, which {why}"
        reader.problem(place_of(reader, table), what, "a path ends in a table with a unit column")
        return
    for mine, other in path.on:
        _check_pair(reader, table, mine, target, other)
    if not _ends(table, by_name):
        what = f"the unit path of {quoted(table.name)} comes back to itself"
        reader.problem(place_of(reader, table), what, "a path ends in a table with a unit column")


def _check_pair(reader: Reader, table: TableSpec, mine: str, target: TableSpec, other: str) -> None:
    here, there = table.column(mine), target.column(other)
    for column, name, its_table in ((here, mine, table), (there, other, target)):
        if column is None and not reader.was_listed(its_table.name, name):
            fix = did_you_mean(name, (column.name for column in its_table.columns))
            reader.problem(
                place_of(reader, table),
                f"the unit path names {quoted(name)}, no column of {quoted(its_table.name)}",
                fix,
            )
        if column is not None and column.bounds_auto:  # clamped alike, rows of one unit would meet those of another
            what = f"the unit path joins {quoted(name)}, whose bounds are left to the data"
            reader.problem(
                place_of(reader, its_table, name), what, "remove bounds: auto: which rows are whose must be fixed"
            )
    if here is not None and there is not None and here.type != there.type:
        what = f"the unit path joins {quoted(mine)} ({here.type}) with {quoted(other)} ({there.type})"
        reader.problem(place_of(reader, table), what, "declare them with one type")


def _ends(table: TableSpec, by_name: Tables) -> bool:
    """Whether the path arrives at a table without one; a missing table was reported where it is named."""
    seen: set[str] = set()
    current: TableSpec | None = table
    while current is not None and current.unit_path is not None:
        if current.name in seen:
            return False
        seen.add(current.name)
        current = by_name.get(fold(current.unit_path.through))
    return True


def _check_keys_from(reader: Reader, table: TableSpec, by_name: Tables) -> None:
    for column in table.columns:
        if column.keys_from is None:
            continue
        source, name = column.keys_from
        target = by_name.get(fold(source))
        source_column = None if target is None else target.column(name)
        place = f"keys of {quoted(column.name)}"
        where = place_of(reader, table, column.name)
        if target is not None and source_column is None and reader.was_listed(target.name, name):
            continue
        if target is None or source_column is None:
            fix = "name a column of a public table of this catalog"
            reader.problem(where, f"{place} come from {quoted(f'{source}.{name}')}, which is no column", fix)
        elif not target.public:
            fix = "keys come from a public table: make a list of them"
            reader.problem(where, f"{place} come from {quoted(target.name)}, which is private", fix)
        elif source_column.type != column.type:
            what = f"{place} are {source_column.type}, and the column is {column.type}"
            reader.problem(where, what, "declare them with one type")


def _unit_type(reader: Reader, private: Sequence[TableSpec]) -> Type | None:
    table_of: dict[Type, str] = {}
    for table in private:
        column = None if table.unit_column is None else table.column(table.unit_column)
        if column is not None:
            table_of.setdefault(column.type, table.name)
            if len(table_of) > 1:
                (first, name), *_ = table_of.items()
                what = f"the unit is {first} in {quoted(name)} and {column.type} in {quoted(table.name)}"
                reader.problem(place_of(reader, table), what, "declare all unit columns with one type")
                break
    if any(table.row_is_unit for table in private):
        return BIGINT
    return next(iter(table_of), None)
