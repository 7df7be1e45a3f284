"""What the tables of one catalog must agree on: names, units, unit paths, key columns. Needs every table read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.catalog.model import TableSpec, fold, spellings
from dpsql.domain.interval import EVERYTHING
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.metadata.reading import Reader, did_you_mean, quoted

Tables = Mapping[str, TableSpec]


def check_tables(reader: Reader, tables: Sequence[TableSpec]) -> Type | None:
    """Notes every problem between tables; returns the type of the unit (None without a private table)."""
    by_name = {spelling: table for table in tables for spelling in spellings(table)}
    private = [table for table in tables if not table.public]
    for table in private:
        _check_unit_column(reader, table)
        _check_path(reader, table, by_name)
        if table.row_is_unit and len(private) > 1:
            fix = "give every table a unit column: otherwise nothing shows which rows of two tables belong to one unit"
            reader.problem(table.where, "row_is_unit needs the dataset's only private table", fix)
    _check_one_place(reader, private)
    for table in tables:
        _check_keys_from(reader, table, by_name)
    return _unit_type(reader, private)


def _check_one_place(reader: Reader, private: Sequence[TableSpec]) -> None:
    """Private tables are read in one snapshot of one engine: all on one server's database, or none on a server."""
    sourced = [(table, getattr(table.source, "address", None)) for table in private if table.source is not None]
    for table, address in sourced[1:]:
        first, place = sourced[0]
        if address != place:
            what = f"the private tables {quoted(first.name)} and {quoted(table.name)} are not in one place"
            fix = "keep them in one database, written the same way (address, password_file, timeout), or all in files"
            reader.problem(table.where, what, fix)
            return


def place_of(reader: Reader, table: TableSpec, column: str = "") -> str:
    """The place of the column, or of the table's unit."""
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
            place_of(reader, table),
            f"the unit {quoted(table.unit_column)} is not a column of {quoted(table.name)}",
            fix,
        )
        return
    if column.type.kind not in (Kind.INTEGER, Kind.TEXT):
        what = f"the unit {quoted(column.name)} is a {column.type}"
        reader.problem(place_of(reader, table), what, "make it an integer or text: these are compared exactly")
    if column.bounds_auto or column.interval != EVERYTHING or column.keys is not None or column.keys_from is not None:
        what = f"the unit {quoted(column.name)} has bounds or keys"
        reader.problem(place_of(reader, table), what, "remove them: clipping would merge two units")


def _check_path(reader: Reader, table: TableSpec, by_name: Tables) -> None:
    path = table.unit_path
    if path is None:
        return
    target = by_name.get(fold(path.through))
    if target is None:
        what = f"the unit path of {quoted(table.name)} goes through {quoted(path.through)}, which is not a table"
        reader.problem(
            place_of(reader, table), what, did_you_mean(path.through, (other.name for other in by_name.values()))
        )
        return
    if target.public or target.row_is_unit:
        why = "is public" if target.public else "has its rows as units"
        what = f"the unit path of {quoted(table.name)} goes through {quoted(target.name)}, which {why}"
        reader.problem(place_of(reader, table), what, "a path must end in a table with a unit column")
        return
    for mine, other in path.on:
        _check_pair(reader, table, mine, target, other)
    if not _ends(table, by_name):
        what = f"the unit path of {quoted(table.name)} goes in a circle"
        reader.problem(place_of(reader, table), what, "a path must end in a table with a unit column")


def _check_pair(reader: Reader, table: TableSpec, mine: str, target: TableSpec, other: str) -> None:
    here, there = table.column(mine), target.column(other)
    for column, name, its_table in ((here, mine, table), (there, other, target)):
        if column is None and not reader.was_listed(its_table.name, name):
            fix = did_you_mean(name, (column.name for column in its_table.columns))
            reader.problem(
                place_of(reader, table),
                f"the unit path names {quoted(name)}, which is not a column of {quoted(its_table.name)}",
                fix,
            )
        if column is not None and column.bounds_auto:  # clamped alike, rows of one unit would meet those of another
            what = f"the unit path joins {quoted(name)}, whose bounds are left to the data"
            reader.problem(
                place_of(reader, its_table, name), what, "remove bounds: auto: it must be fixed whose rows are whose"
            )
    if here is not None and there is not None and here.type != there.type:
        what = f"the unit path joins {quoted(mine)} ({here.type}) with {quoted(other)} ({there.type})"
        reader.problem(place_of(reader, table), what, "declare both with the same type")


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
            fix = "name a column of a public table in this file"
            reader.problem(where, f"{place} come from {quoted(f'{source}.{name}')}, which is not a column", fix)
        elif not target.public:
            fix = "keys can only come from a public table: list them instead"
            reader.problem(where, f"{place} come from {quoted(target.name)}, which is private", fix)
        elif source_column.type != column.type:
            what = f"{place} are {source_column.type}, but the column is {column.type}"
            reader.problem(where, what, "declare both with the same type")


def _unit_type(reader: Reader, private: Sequence[TableSpec]) -> Type | None:
    table_of: dict[Type, str] = {}
    for table in private:
        column = None if table.unit_column is None else table.column(table.unit_column)
        if column is not None:
            table_of.setdefault(column.type, table.name)
            if len(table_of) > 1:
                (first, name), *_ = table_of.items()
                what = f"the unit is {first} in {quoted(name)} and {column.type} in {quoted(table.name)}"
                reader.problem(place_of(reader, table), what, "declare all unit columns with the same type")
                break
    if any(table.row_is_unit for table in private):
        return BIGINT
    return next(iter(table_of), None)
