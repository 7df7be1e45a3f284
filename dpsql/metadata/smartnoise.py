"""SmartNoise's metadata format: database → schema → table → columns, with the table's options among them.

What a key means there happens here, or the file is refused at its line: `dpsql help smartnoise` has the table, made from
smartnoise-sql 1.0.10. What is only a promise about the data (nullable, sample_max_ids: false) is not believed and changes
nothing. Such a file has no budget and no source: connect() gives them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from dpsql.catalog.model import Amount, BudgetSpec, Caps, Catalog, ColumnSpec, TableSpec, fold
from dpsql.domain.types import BIGINT, BOOLEAN, REAL, TEXT, TIMESTAMP, Kind, Type
from dpsql.metadata.checks import check_tables
from dpsql.metadata.columns import read_interval, read_keys
from dpsql.metadata.limits import LARGEST_CAP
from dpsql.metadata.reading import Reader, described, did_you_mean, number, quoted
from dpsql.metadata.tree import Fields, Scalar, Tree, printable

TYPES = {"int": BIGINT, "float": REAL, "string": TEXT, "boolean": BOOLEAN, "datetime": TIMESTAMP}
# Numbers of rows are used by nobody, here as there. A unit's rows are always limited and its keys always selected by votes.
IGNORED_OPTIONS = ("rows", "rows_exact", "sample_max_ids", "use_dpsu")
OPTIONS = ("row_privacy", "max_ids", "censor_dims", "clamp_counts", "clamp_columns", *IGNORED_OPTIONS)
COLUMN_FIELDS = tuple("type private_id lower upper nullable keys cardinality missing_value sensitivity".split())
# SmartNoise reads its files by YAML 1.1, where these are booleans.
BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
OURS = frozenset({"tables", "dataset", "budget", "unit", "per_query", "views"})


def looks_like(tree: Tree) -> bool:
    """Whether the tree has SmartNoise's shape: one database of schemas of tables whose columns are mappings."""
    if not isinstance(tree, Fields) or OURS & tree.entries.keys():
        return False
    return any(
        isinstance(column, Fields) and "type" in column.entries
        for _, _, _, table in _tables_of(tree)
        for _, column in table.entries.values()
    )


def _tables_of(tree: Fields) -> Iterator[tuple[tuple[str, str], str, str, Fields]]:
    """((database, schema), table, where, its fields) of everything that is three mappings deep."""
    for database, (_, schemas) in tree.entries.items():
        for schema, (_, tables) in schemas.entries.items() if isinstance(schemas, Fields) else ():
            for table, (where, fields) in tables.entries.items() if isinstance(tables, Fields) else ():
                if isinstance(fields, Fields):
                    yield (database, schema), table, where, fields


def read(reader: Reader, tree: Tree, *, path: Path | None, folder: Path, stem: str | None) -> Catalog | None:
    fields = reader.fields(tree, "the metadata", None)
    if fields is None:
        return None
    databases = [name for name in fields.entries if name != "engine"]
    if len(databases) != 1:
        reader.problem(fields.where, "SmartNoise metadata must have one database", "write one file for each")
    _check_shape(reader, fields)
    tables = tuple(
        table
        for qualifiers, name, where, entry in _tables_of(fields)
        if (table := _table(reader, qualifiers, name, where, entry)) is not None
    )
    tables = _with_names(reader, tables)
    unit_type = check_tables(reader, tables)
    dataset = stem or next((name for name in databases if name), "")
    if not dataset:
        reader.problem(
            fields.where, "the metadata names no database", "name it: the account of the budget has this name"
        )
    unit = next((table.unit_column for table in tables if table.unit_column is not None), "row")
    return Catalog(
        dataset=dataset,
        version=None,
        unit=unit,
        unit_type=unit_type,
        budget=BudgetSpec(total=Amount(), capped=False),
        per_query=Amount(),
        accounting="approx",
        analysts=None,
        tables=tables,
        views=MappingProxyType({}),
        path=path,
        folder=folder,
        format="smartnoise",
    )


def _check_shape(reader: Reader, tree: Fields) -> None:
    """Everything but engine: is three mappings deep: a table that is none must not vanish."""
    for database, (_, schemas) in tree.entries.items():
        if database == "engine":
            continue
        listed = reader.fields(schemas, f"database {quoted(database)}", None)
        for schema, (_, tables) in {} if listed is None else listed.entries.items():
            inside = reader.fields(tables, f"schema {quoted(schema)}", None)
            for table, (_, entry) in {} if inside is None else inside.entries.items():
                reader.fields(entry, f"table {quoted(table)}", None)


def _with_names(reader: Reader, tables: tuple[TableSpec, ...]) -> tuple[TableSpec, ...]:
    """A table name that two schemas have is qualified by its schema; two equal qualified names are a problem."""
    count = Counter(fold(table.name) for table in tables)
    named: dict[str, TableSpec] = {}
    for table in tables:
        if count[fold(table.name)] > 1:
            *above, schema = table.qualifiers or ("",)
            table = replace(table, name=f"{schema}.{table.name}", qualifiers=tuple(above))
        if fold(table.name) in named:
            reader.problem(table.where, f"the table {quoted(table.name)} is given twice", "rename one")
        named[fold(table.name)] = table
    return tuple(named.values())


def _table(reader: Reader, qualifiers: tuple[str, str], name: str, where: str, fields: Fields) -> TableSpec | None:
    if not reader.is_name(name, where, "the table"):
        return None
    entries = {key: entry for key, entry in fields.entries.items() if key not in OPTIONS}
    columns, units = _columns(reader, name, entries)
    row = _option(reader, fields, "row_privacy", default=False)
    cap = _max_ids(reader, fields, row)
    if not row and len(units) != 1:
        fix = "mark one column with private_id: true, or write row_privacy: true"
        what = "no private_id" if not units else "several private_id columns"
        reader.problem(where, f"table {quoted(name)} has {what}", fix)
    if not _option(reader, fields, "censor_dims", default=True):
        _check_uncensored(reader, fields, columns, units)
    _check_clamps(reader, fields)
    return TableSpec(
        name=name,
        columns=columns,
        unit_column=units[0] if units and not row else None,
        row_is_unit=row,
        caps=Caps(rows=cap, groups=1 if row else None),
        where=where,
        qualifiers=tuple(part for part in qualifiers if part),
    )


def _option(reader: Reader, fields: Fields, name: str, *, default: bool) -> bool:
    entry = fields.entries.get(name)
    value = None if entry is None else _boolean(reader, entry[1], name)
    return default if value is None else value


def _boolean(reader: Reader, tree: Tree, name: str) -> bool | None:
    if isinstance(tree, Scalar) and isinstance(tree.value, str) and tree.value.lower() in BOOLEANS:
        return BOOLEANS[tree.value.lower()]
    return reader.boolean(tree, name)


def _check_clamps(reader: Reader, fields: Fields) -> None:
    if not _option(reader, fields, "clamp_columns", default=True):
        what = "clamp_columns is false, but dpsql always clips values to their bounds: the noise depends on them"
        reader.problem(fields.at("clamp_columns"), what, "remove it, or write clamp_columns: true")
    if _option(reader, fields, "clamp_counts", default=False):
        what = "clamp_counts is true, but counts may be negative in dpsql: cutting them off would bias their sums"
        reader.problem(
            fields.at("clamp_counts"), what, "remove it, and write GREATEST(COUNT(*), 0) in the query where it matters"
        )


def _max_ids(reader: Reader, fields: Fields, row: bool) -> int:
    """max_ids is rows_per_unit: SmartNoise keeps so many rows of a unit in all. 1 where it is missing, as there."""
    entry = fields.entries.get("max_ids")
    value = None if entry is None else reader.integer(entry[1], "max_ids", at_least=1, at_most=LARGEST_CAP)
    if row and value is not None and value > 1:
        fix = "remove max_ids, or write row_privacy: false and mark the unit's column with private_id: true"
        reader.problem(
            fields.at("max_ids"),
            f"row_privacy says that a row is a unit, but max_ids says that a unit has {value}",
            fix,
        )
    return 1 if row or value is None else value


def _check_uncensored(reader: Reader, fields: Fields, columns: tuple[ColumnSpec, ...], units: tuple[str, ...]) -> None:
    """censor_dims: false releases every key that occurs, which is only private when the keys are declared."""
    for column in columns:
        finite = column.type.kind is Kind.BOOLEAN or (column.type.kind is Kind.INTEGER and column.interval.is_finite)
        listed = finite or column.keys is not None or column.type.kind is Kind.REAL  # GROUP BY of a real is refused
        if not listed and column.name not in units:
            what = f"censor_dims is false, and {quoted(column.name)} declares no keys"
            fix = f"add keys: [...] (or both bounds of an int) to {printable(column.name)}, or remove censor_dims"
            reader.problem(fields.at("censor_dims"), what, fix)


def _columns(
    reader: Reader, table: str, entries: dict[str, tuple[str, Tree]]
) -> tuple[tuple[ColumnSpec, ...], tuple[str, ...]]:
    """The columns, and the names of those that are private_id."""
    by_name: dict[str, _Column] = {}
    for name, (where, tree) in entries.items():
        if not isinstance(tree, Fields):
            reader.problem(where, f"table {quoted(table)} has no option {quoted(name)}", did_you_mean(name, OPTIONS))
            continue
        column = _column(reader, name, where, tree) if reader.is_name(name, where, "the column") else None
        if column is None:
            continue
        if fold(name) in by_name:
            reader.problem(where, f"{quoted(name)} is the name of two columns in SQL", "rename one of them in the data")
        by_name[fold(name)] = column
    units = tuple(column.spec.name for column in by_name.values() if column.is_unit)
    return tuple(column.spec for column in by_name.values()), units


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    spec: ColumnSpec
    is_unit: bool


def _column(reader: Reader, name: str, where: str, tree: Fields) -> _Column | None:
    reader.fields(tree, f"column {printable(name)}", COLUMN_FIELDS)
    type_ = _type(reader, name, where, tree)
    if type_ is None:
        return None
    is_unit = _option(reader, tree, "private_id", default=False)
    _option(reader, tree, "nullable", default=True)  # a promise: no row is dropped for it, there or here
    _check_replaced(reader, name, tree)
    keys = None
    if "keys" in tree.entries:
        keys, keys_from = read_keys(reader, tree.entries["keys"][1], type_)
        if keys_from is not None:
            reader.problem(tree.at("keys"), "this format has no public tables", "list the keys")
    spec = ColumnSpec(
        name=name,
        type=type_,
        # Bounds of an identifier would merge people when it is clamped.
        interval=read_interval(reader, Fields(where=where, entries={}) if is_unit else _bounds(tree), type_),
        keys=None if is_unit else keys,
    )
    return _Column(spec=spec, is_unit=is_unit)


def _check_replaced(reader: Reader, name: str, tree: Fields) -> None:
    """missing_value and sensitivity, which change answers there and have no like here."""
    if _said(tree, "missing_value"):
        what = f"missing_value of {quoted(name)}: NULL stays NULL here, in every part of a query"
        reader.problem(
            tree.at("missing_value"), what, f"remove it, and write COALESCE({printable(name)}, …) in the queries"
        )
    if not _said(tree, "sensitivity"):
        return
    low, high = (number(tree.entries[end][1]) if _said(tree, end) else None for end in ("lower", "upper"))
    given = number(tree.entries["sensitivity"][1])
    if low is None or high is None or given not in (max(abs(low), abs(high)), high - low):
        what = f"sensitivity of {quoted(name)}: the noise depends on the bounds, never on this line"
        reader.problem(tree.at("sensitivity"), what, "remove it, and give lower and upper")


def _said(tree: Fields, name: str) -> bool:
    entry = tree.entries.get(name)
    return entry is not None and not (isinstance(entry[1], Scalar) and entry[1].value is None)


def _bounds(tree: Fields) -> Fields:
    """lower and upper; one alone bounds nothing there."""
    both = _said(tree, "lower") and _said(tree, "upper")
    return tree if both else Fields(where=tree.where, entries={})


def _type(reader: Reader, name: str, where: str, tree: Fields) -> Type | None:
    entry = tree.entries.get("type")
    if entry is None:
        reader.problem(where, f"column {quoted(name)} has no type", f"add type: one of {', '.join(TYPES)}")
        return None
    word = entry[1].value if isinstance(entry[1], Scalar) else None
    if not isinstance(word, str) or word not in TYPES:
        fix = f"write one of {', '.join(TYPES)}"
        reader.problem(entry[0], f"the type of {quoted(name)} cannot be {described(entry[1])}", fix)
        return None
    return TYPES[word]
