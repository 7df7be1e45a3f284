"""load(): the one way from what an owner wrote to a Catalog. All problems are reported at once; no data is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from dpsql.catalog.fingerprint import fingerprint
from dpsql.catalog.model import Catalog, TableSpec, fold
from dpsql.errors import CatalogError, Problem
from dpsql.metadata import smartnoise, yaml_text
from dpsql.metadata.budget import (
    read_accounting,
    read_analysts,
    read_budget,
    read_delta_keys,
    read_max_per_query,
    read_per_query,
)
from dpsql.metadata.checks import check_tables
from dpsql.metadata.delta import read_max_delta, read_units
from dpsql.metadata.paths import absolute
from dpsql.metadata.reading import Reader, quoted
from dpsql.metadata.tables import read_table
from dpsql.metadata.tree import Fields, Scalar, Tree, tree_of

__all__ = ["fingerprint", "load", "loads"]

CATALOG_FIELDS = tuple(
    """
    dataset version unit units budget per_query max_per_query max_delta accounting delta_keys analysts ledger
    temp_folder restricted tables views
    """.split()
)


def load(source: str | Path | Mapping[str, object]) -> Catalog:
    """The catalog of a YAML file or a dict, in dpsql's format or SmartNoise's.

    CatalogError carries every problem with its place: "hospital.yaml:12", or a path such as tables.visits.unit.
    """
    problems: list[Problem] = []
    if isinstance(source, Mapping):
        return read_catalog(tree_of(source, problems), problems, path=None, folder=Path.cwd())
    if not isinstance(source, str | Path):
        what = f"the metadata must be a path or a dict, not a {type(source).__name__}"
        raise CatalogError([Problem("catalog", what, "give the path of a YAML file")])
    path = Path(source)
    tree, problems = yaml_text.read(path)
    path = path.absolute()
    # A link to a catalog is that catalog: its data, its ledger and all that is relative lie beside the file itself.
    return read_catalog(tree, problems, path=path, folder=path.resolve().parent)


def loads(text: str, *, name: str = "catalog.yaml", folder: Path | None = None) -> Catalog:
    """The catalog of YAML text; `folder` is what its relative paths are relative to."""
    tree, problems = yaml_text.parse(text, name)
    return read_catalog(tree, problems, path=None, folder=folder or Path.cwd(), stem=Path(name).stem)


def read_catalog(
    tree: Tree, problems: list[Problem], *, path: Path | None, folder: Path, stem: str | None = None
) -> Catalog:
    """The catalog a tree describes; `problems` already has what was wrong in the text itself."""
    reader = Reader(problems)
    stem = path.stem if path is not None else stem
    catalog: Catalog | None
    if smartnoise.looks_like(tree):
        catalog = smartnoise.read(reader, tree, path=path, folder=folder, stem=stem)
    else:
        catalog = _read(reader, tree, path=path, folder=folder, stem=stem)
    if reader.problems or catalog is None:
        raise CatalogError(in_order(reader.problems))
    return catalog


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, by line where there are lines; an alias can bring one twice."""

    def line(problem: Problem) -> int:
        number = problem.where.rpartition(":")[2]
        return int(number) if number.isascii() and number.isdigit() else 0

    return sorted(dict.fromkeys(problems), key=line)


def _read(reader: Reader, tree: Tree, *, path: Path | None, folder: Path, stem: str | None) -> Catalog | None:
    if isinstance(tree, Scalar) and isinstance(tree.value, str):  # perhaps the data itself: not quoted
        fix = "write name: value pairs; if this is the data, start its metadata with `dpsql init`"
        reader.problem(tree.where, "the metadata must be a mapping, not text", fix)
        return None
    fields = reader.fields(tree, "the metadata", CATALOG_FIELDS)
    if fields is None:
        return None
    tables = _tables(reader, fields, folder)
    unit_type = check_tables(reader, tables)
    accounting = read_accounting(reader, fields)
    budget = read_budget(reader, fields, needed=any(not table.public for table in tables))
    per_query = read_per_query(reader, fields)
    unit, version, restricted = (fields.entries.get(name) for name in ("unit", "version", "restricted"))
    return Catalog(
        dataset=_dataset(reader, fields, stem),
        version=None if version is None else reader.prose(version[1], "version"),
        unit="unit" if unit is None else reader.prose(unit[1], "unit") or "",
        unit_type=unit_type,
        budget=budget,
        per_query=per_query,
        max_per_query=read_max_per_query(reader, fields, per_query),
        max_delta=read_max_delta(reader, fields, per_query),
        units=read_units(reader, fields),
        accounting=accounting,
        analysts=read_analysts(reader, fields),
        tables=tables,
        views=_views(reader, fields, tables),
        delta_keys=read_delta_keys(reader, fields, budget, accounting),
        ledger=_place(reader, fields, "ledger", folder),
        temp_folder=_place(reader, fields, "temp_folder", folder),
        restricted=restricted is not None and bool(reader.boolean(restricted[1], "restricted")),
        path=path,
        folder=folder,
    )


def _place(reader: Reader, fields: Fields, key: str, folder: Path) -> Path | None:
    entry = fields.entries.get(key)
    text = None if entry is None else reader.name(entry[1], key)
    return None if text is None else absolute(folder, text)


def _dataset(reader: Reader, fields: Fields, stem: str | None) -> str:
    entry = fields.entries.get("dataset")
    if entry is not None:
        return reader.name(entry[1], "dataset") or ""
    if stem is None:
        fix = "add dataset: the name of the account that queries are charged to"
        reader.problem(fields.where, "the metadata has no dataset", fix)
        return ""
    return stem if reader.is_name(stem, fields.where, "the file's name") else ""


def _tables(reader: Reader, fields: Fields, folder: Path) -> tuple[TableSpec, ...]:
    entry = fields.entries.get("tables")
    if entry is None:
        reader.problem(fields.where, "the metadata has no tables", "add tables: {visits: {…}}")
        return ()
    listed = reader.fields(entry[1], "tables", None)
    if listed is None:
        return ()
    if not listed.entries:
        reader.problem(listed.where, "the metadata lists no tables", "add one: unlisted tables do not exist")
    tables: dict[str, TableSpec] = {}
    for name, (where, tree) in listed.entries.items():
        table = read_table(reader, name, where, tree, folder) if _is_table_name(reader, name, where) else None
        if table is None:
            continue
        if fold(name) in tables:
            other = tables[fold(name)].name
            reader.problem(
                where, f"the tables {quoted(other)} and {quoted(name)} have the same name in SQL", "rename one"
            )
        tables[fold(name)] = table
    return tuple(tables.values())


def _is_table_name(reader: Reader, name: str, where: str) -> bool:
    if "." in name:
        reader.problem(
            where, f"the table name {quoted(name)} has a dot", "name it without a dot: SQL would read schema.table"
        )
        return False
    return reader.is_name(name, where, "the table")


def _views(reader: Reader, fields: Fields, tables: tuple[TableSpec, ...]) -> Mapping[str, str]:
    entry = fields.entries.get("views")
    listed = None if entry is None else reader.fields(entry[1], "views", None, "write views: {name: SELECT …}")
    taken = {fold(table.name): table.name for table in tables}
    views: dict[str, str] = {}
    for name, (where, tree) in {} if listed is None else listed.entries.items():
        sql = reader.text(tree, f"view {name}") if _is_table_name(reader, name, where) else None
        if sql is None:
            continue
        if fold(name) in taken:
            other = taken[fold(name)]
            reader.problem(
                where, f"{quoted(other)} and the view {quoted(name)} have the same name in SQL", "rename one"
            )
        taken[fold(name)] = name
        views[name] = sql
    return MappingProxyType(views)
