"""Reading where a table's rows are. Nothing is opened: a path is made absolute, a glob stays a glob."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from dpsql.catalog.model import DatabaseSource, FileSource, Format, Source
from dpsql.metadata.clusters import is_on_spark, read_cluster
from dpsql.metadata.paths import SOURCE_FORMS, absolute, path_text
from dpsql.metadata.reading import Reader, described, quoted
from dpsql.metadata.servers import is_server, read_server, server
from dpsql.metadata.tree import Fields, Items, Scalar, Tree, printable

KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}
DATABASES = (".duckdb", ".ddb", ".db")
# Parts of dates that DuckDB reads, whatever the text, without an error: a format that it refuses would cost a query.
PARTS = re.compile(r"%-?.?")
KNOWN_PARTS = (*(f"%{part}" for part in "YymdbBaAjHIpMSf%"), *(f"%-{part}" for part in "ymdjHIMS"))
CELL_FIELDS = ("decimal", "thousands", "true_words", "false_words", "date_format", "timestamp_format")
FORMAT_FIELDS = ("delimiter", "quote", "escape", "header", *CELL_FIELDS)
DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", "_", " ", "\u00a0", "\u202f", "\u2019")  # the last three: no-break spaces, ’
WORDS = 20  # for true, and for false
DATABASE_FIELDS = ("database", "table")


def read_source(
    reader: Reader, tree: Tree, form: tuple[str, Tree] | None, folder: Path, name: str = "t"
) -> Source | None:
    """source: and format: of a table; paths are relative to `folder`. name: the table's."""
    if isinstance(tree, Fields) or is_server(tree) or is_on_spark(tree):
        if form is not None:
            reader.problem(form[0], "format describes a CSV file, but the source is a database", "remove format")
        if is_on_spark(tree):
            return read_cluster(reader, tree, name)
        if not isinstance(tree, Fields):
            return server(reader, tree, ("public", name))
        database = tree.entries.get("database")
        on_server = database is not None and is_server(database[1])
        return read_server(reader, tree, folder) if on_server else _database(reader, tree, folder)
    items = tree.items if isinstance(tree, Items) else (tree,)
    entries = [_file(reader, item, folder) for item in items]
    paths = [entry for entry in entries if entry is not None]
    if not items:
        reader.problem(tree.where, "the source is an empty list", SOURCE_FORMS)
    if len(paths) < len(items) or not paths:
        return None
    kind = paths[0][1]
    if any(other != kind for _, other in paths):
        reader.problem(
            tree.where, "the files of one table must be all Parquet or all CSV", "make two tables, or convert them"
        )
        return None
    if form is not None and kind != "csv":
        reader.problem(form[0], "format describes a CSV file, but the source is Parquet", "remove format")
        return None
    tab = Format(delimiter="\t") if printable(str(paths[0][0])).endswith(".tsv") else Format()
    return FileSource(
        paths=tuple(path for path, _ in paths),
        kind=kind,
        format=tab if form is None else read_format(reader, form[1], tab),
    )


def _file(reader: Reader, tree: Tree, folder: Path) -> tuple[Path, str] | None:
    text = path_text(reader, tree)
    if text is None:
        return None
    name = text.lower().removesuffix(".gz") if ".csv" in text.lower() else text.lower()
    suffix = os.path.splitext(name)[1]
    if suffix in DATABASES:
        fix = "write {database: f.duckdb, table: main.visits}"
        reader.problem(tree.where, f"{quoted(text)} is a database, not a table", fix)
        return None
    if not suffix or text.endswith(("/", os.sep)):
        return absolute(folder, text), "parquet"  # a folder of Parquet files
    if suffix not in KINDS:
        reader.problem(tree.where, f"the ending of {quoted(text)} does not tell what it is", SOURCE_FORMS)
        return None
    return absolute(folder, text), KINDS[suffix]


def _database(reader: Reader, tree: Fields, folder: Path) -> DatabaseSource | None:
    fields = reader.fields(tree, "source", DATABASE_FIELDS)
    database, table = tree.entries.get("database"), tree.entries.get("table")
    if fields is None or database is None or table is None:
        reader.problem(tree.where, "a database source needs database and table", SOURCE_FORMS)
        return None
    path, name = path_text(reader, database[1]), reader.text(table[1], "table")
    if path is None or name is None:
        return None
    parts = name.split(".")
    if len(parts) > 2 or not all(reader.is_name(part, table[0], "the source table") for part in parts):
        reader.problem(table[0], f"{quoted(name)} is not of the form schema.table", "write main.visits")
        return None
    schema = parts[0] if len(parts) == 2 else "main"
    return DatabaseSource(database=absolute(folder, path), table=(schema, parts[-1]))


def read_format(reader: Reader, tree: Tree, default: Format) -> Format:
    """How the CSV is written; what is not said is `default`. Nothing is ever sniffed."""
    fields = reader.fields(tree, "format", FORMAT_FIELDS, "write {delimiter: ';'}")
    if fields is None:
        return default
    quote = _one_character(reader, fields, "quote", default.quote)
    form = Format(
        delimiter=_one_character(reader, fields, "delimiter", default.delimiter),
        quote=quote,
        escape=_one_character(reader, fields, "escape", quote),
        header=_header(reader, fields, default.header),
    )
    form = _cells(reader, fields, form)
    if form.delimiter in (form.quote, form.escape):
        reader.problem(fields.where, "delimiter and quote are the same character", "make them differ")
    return form


def read_column_format(reader: Reader, tree: Tree, default: Format) -> Format:
    """How the cells of one column are written; what is not said is as in the file."""
    fields = reader.fields(tree, "a column's format", CELL_FIELDS, "write {decimal: ','}")
    return default if fields is None else _cells(reader, fields, default)


def _cells(reader: Reader, fields: Fields, default: Format) -> Format:
    decimal = _one_of(reader, fields, "decimal", DECIMALS, default.decimal)
    thousands = _one_of(reader, fields, "thousands", ("", *THOUSANDS), default.thousands)
    if decimal == thousands:
        fix = "set the other one, too; thousands: '' if digits are not grouped"
        reader.problem(fields.where, "decimal and thousands are the same character", fix)
    true, false = (_words(reader, fields, name, getattr(default, name)) for name in ("true_words", "false_words"))
    if bool(true) != bool(false) or set(true) & set(false):
        fix = "write both, as in {true_words: [ja], false_words: [nein]}"
        reader.problem(fields.where, "true_words and false_words must be given together, and must differ", fix)
    return replace(
        default,
        decimal=decimal,
        thousands=thousands,
        true_words=true,
        false_words=false,
        date_format=_time_format(reader, fields, "date_format") or default.date_format,
        timestamp_format=_time_format(reader, fields, "timestamp_format") or default.timestamp_format,
    )


def _one_of(reader: Reader, fields: Fields, name: str, allowed: tuple[str, ...], default: str) -> str:
    entry = fields.entries.get(name)
    if entry is None:
        return default
    value = getattr(entry[1], "value", None)
    if isinstance(value, str) and value in allowed:
        return value
    listed = " ".join(f'"{one}"' for one in allowed if one.isascii())
    reader.problem(entry[0], f"{name} cannot be {described(entry[1])}", f"write one of {listed}")
    return default


def _words(reader: Reader, fields: Fields, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """A text or a list of them, exactly as they stand in the file: numbers and true are taken as they are written."""
    entry = fields.entries.get(name)
    if entry is None:
        return default
    items = entry[1].items if isinstance(entry[1], Items) else (entry[1],)
    words = tuple(item.text for item in items if isinstance(item, Scalar) and item.text.isprintable() and item.text)
    if len(words) < len(items) or not 1 <= len(words) <= WORDS:
        reader.problem(entry[0], f"{name} are 1 to {WORDS} words", "write them as [ja, j]")
        return default
    return tuple(dict.fromkeys(words))


def _header(reader: Reader, fields: Fields, default: bool) -> bool:
    entry = fields.entries.get("header")
    value = None if entry is None else reader.boolean(entry[1], "header")
    return default if value is None else value


def _one_character(reader: Reader, fields: Fields, name: str, default: str) -> str:
    entry = fields.entries.get(name)
    if entry is None:
        return default
    value = getattr(entry[1], "value", None)
    # One byte of ASCII, so that cutting a line does not depend on how the text is encoded.
    if isinstance(value, str) and len(value) == 1 and value.isascii() and value not in "\r\n\0":
        return value
    if isinstance(value, str) and not value and name != "delimiter":  # nothing is quoted, or escaped
        return value
    fix = r'write it as ";", a tab as "\t"' if name == "delimiter" else "write it as '\"', or '' if there is none"
    reader.problem(entry[0], f"{name} must be one ASCII character, not {described(entry[1])}", fix)
    return default


def _time_format(reader: Reader, fields: Fields, name: str) -> str | None:
    entry = fields.entries.get(name)
    text = None if entry is None else reader.text(entry[1], name)
    if entry is None or text is None:
        return None
    unknown = [part for part in PARTS.findall(text) if part not in KNOWN_PARTS]
    if "%" not in text or not text.isprintable():
        reader.problem(entry[0], f"{name} {quoted(text)} names no part of a date", 'write it as "%d.%m.%Y"')
    elif unknown:
        fix = f"the parts are {' '.join(KNOWN_PARTS)}"
        reader.problem(entry[0], f"{name} {quoted(text)} has {unknown[0]}, which is not a part that dpsql reads", fix)
    else:
        return text
    return None
