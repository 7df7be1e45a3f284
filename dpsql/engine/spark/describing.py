"""A table or files as their schemas describe them: no row is read.

What a query may read: tables of the session's catalog that Spark keeps in files of types in which no row can fail (KEPT),
and Parquet files. Views are not read: Spark does not say what they are made of. Types are in a closed set of words; any
other column is unreadable, and says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsql.engine.quoting import fold
from dpsql.engine.sources import UNREADABLE, Column, SparkTable
from dpsql.engine.spark.foreign import Unread
from dpsql.engine.spark.stored import (
    UNCACHED,
    Files,
    Footers,
    listed_now,
    no_files,
    places_of,
    stored_by_others,
    unlike_stored,
)
from dpsql.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructField, StructType

WORDS = re.compile(
    r"tinyint|smallint|int|bigint|float|double|boolean|date|timestamp|timestamp_ntz|decimal\(\d+,\d+\)|"
    r"string( collate [A-Z0-9_]+)?|(char|varchar)\(\d+\)"
)
KEPT = ("parquet", "orc", "delta", "iceberg")
# Options of a table that say nothing of how its files are read. Others do, whatever the session's settings say.
HARMLESS = re.compile(
    r"(orc\.compress|(parquet\.)?compression|parquet\.bloom\.filter\..*|parquet\.block\.size|serialization\.format|path|"
    r"maxrecordsperfile|partitionoverwritemode|mergeschema)",  # a table's schema is the catalog's
    re.IGNORECASE,
)
CHARACTERS = "__CHAR_VARCHAR_TYPE_STRING"
REASONS = (
    ("array", "arrays are not among dpsql's types"),
    ("map", "maps are not among dpsql's types"),
    ("struct", "structs are not among dpsql's types"),
    ("binary", "bytes are not among dpsql's types"),
    ("interval", "an interval is not among dpsql's types"),
    ("time", "a time of day is not among dpsql's types"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Equal for two descriptions of one table that nobody altered between. relation: what follows FROM. name: in the
    catalog; "" of files. place: as the ledger knows it."""

    relation: str
    name: str
    columns: tuple[Column, ...]
    place: tuple[tuple[str, str], ...]


def quoted(*parts: str) -> str:
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def described(
    session: SparkSession, table: str, source: SparkTable, view: str, footers: Footers
) -> tuple[Table, Files]:
    """And its files, as they were listed before anything else was asked of them.

    SourceError 303 where there is no such table, 316 for one whose rows may not be the same each time. view: the name that
    it is read by in this session."""
    if source.files:
        try:
            files = listed_now(session, source.files)
        except Exception:  # PySpark's, or py4j's
            raise no_files(table) from None
        stored = footers.of(table, files, lambda: stored_by_others(session, table, "parquet", source.files))
        frame = session.read.options(**UNCACHED).schema(stored.schema).format("parquet").load(list(source.files))
        frame.createOrReplaceTempView(view)
        place = {"kind": "spark", "files": " ".join(sorted(map(address, source.files)))}
        columns = _columns(stored.schema, stored.not_read, {})
        return Table(relation=quoted(view), name="", columns=columns, place=tuple(place.items())), files
    entry = _entry(session, source.name)
    if entry is None:
        raise SourceError(
            f"table {table}: Spark has no table {'.'.join(source.name)}",
            code=303,
            fix="Check its name, schema.table. Temporary views are not read: df.write.saveAsTable('…').",
        )
    parts = (*([entry.catalog] if entry.catalog else []), *(entry.namespace or ()), entry.name)
    kind = _kind(session, table, entry, quoted(*parts))
    place = {
        "kind": "spark",
        "catalog": entry.catalog or "",
        "schema": ".".join(entry.namespace or ()),
        "table": entry.name,
    }
    frame = session.read.options(**UNCACHED).table(quoted(*parts))
    addresses = places_of(frame)
    files = listed_now(session, addresses)
    frame.createOrReplaceTempView(view)
    schema, not_read, unlike = frame.schema, Unread(), {}
    if kind and addresses and entry.tableType != "MANAGED":
        stored = footers.of(table, files, lambda: stored_by_others(session, table, kind, addresses))
        not_read, unlike = stored.not_read, unlike_stored(schema, stored.schema)
    columns = _columns(schema, not_read, unlike)
    return Table(relation=quoted(view), name=quoted(*parts), columns=columns, place=tuple(place.items())), files


def not_shadowed(session: SparkSession, table: str, source: SparkTable) -> None:
    """SourceError 316 where the name says a temporary view in the session that was given, and a table elsewhere."""
    if source.cluster.session is None or len(source.name) != 1:
        return
    entry = _entry(session, source.name)
    if entry is not None and entry.isTemporary:
        raise _is_a_view(table, entry.name)


def _is_a_view(table: str, name: str) -> SourceError:
    return SourceError(
        f"table {table}: {name} is a view",
        code=316,
        why="Its rows may be others each time it is read, or depend on other people's.",
        fix="Write a table of it: CREATE TABLE … AS SELECT * FROM it. A table of the same name is meant by schema.table.",
    )


def _entry(session: SparkSession, name: tuple[str, ...]) -> Any:
    from pyspark.errors import PySparkException

    try:
        return session.catalog.getTable(quoted(*name))
    except PySparkException:
        return None


def _kind(session: SparkSession, table: str, entry: Any, name: str) -> str:
    """What Spark keeps it as."""
    if entry.tableType == "VIEW" or entry.isTemporary:
        raise _is_a_view(table, entry.name)
    said = {row[0]: str(row[1]) for row in session.sql(f"DESCRIBE TABLE EXTENDED {name}").collect()}
    provider = said.get("Provider", "").lower()
    if provider not in KEPT:
        raise SourceError(
            f"table {table}: Spark keeps {entry.name} as {provider or 'what it does not say'}",
            code=316,
            why="A row that such a source cannot read may fail the query, or be left out.",
            fix=f"Write a table of {', '.join(KEPT)}: CREATE TABLE … USING parquet AS SELECT * FROM it.",
        )
    options = re.findall(r"[\[,]\s*([^=,\[\]]+)=", said.get("Storage Properties", ""))
    other = next((option for option in options if HARMLESS.fullmatch(option) is None), None)
    if other is not None:
        raise SourceError(
            f"table {table}: {entry.name} has the option {other}, which may change how Spark reads its files",
            code=316,
            why="By such an option a row may fail the query, or be left out.",
            fix="Write a table of it without: CREATE TABLE … USING parquet AS SELECT * FROM it.",
        )
    if provider not in ("parquet", "orc"):
        return ""  # the others' rules say microseconds
    if entry.tableType != "MANAGED":
        _check_folders(session, table, entry.name, name)
    return provider


def _check_folders(session: SparkSession, table: str, called: str, name: str) -> None:
    """SourceError 316 where names of folders that anybody made are read as another type than text."""
    columns = [column for column in session.catalog.listColumns(name) if column.isPartition]
    typed = next((column for column in columns if not column.dataType.startswith(("string", "varchar"))), None)
    if typed is not None:
        raise SourceError(
            f"table {table}: {called} is kept in folders, whose names Spark reads as {typed.dataType} ({typed.name})",
            code=316,
            why="One folder with another name stops each query.",
            fix="Name the folder above them: `files:` instead of `table:`. There such a name is a text, and NULL if it does "
            "not convert.",
        )


def _columns(schema: StructType, not_read: Unread, unlike: Mapping[str, str]) -> tuple[Column, ...]:
    """dpsql's names have no case: of two that differ in nothing else neither is meant."""
    fields = schema.fields
    names = Counter(fold(field.name) for field in fields)
    twice = f"{UNREADABLE}another column has the same name but for case"
    return tuple(
        Column(
            name=field.name,
            type=_word(field, not_read, unlike.get(field.name)) if names[fold(field.name)] == 1 else twice,
        )
        for field in fields
    )


def _word(field: StructField, not_read: Unread, unlike: str | None) -> str:
    word = str((field.metadata or {}).get(CHARACTERS, field.dataType.simpleString()))
    why = not_read.why(word) or (unlike if WORDS.fullmatch(word) else None)
    if why is not None:
        return f"{UNREADABLE}{word}: {why}"
    if WORDS.fullmatch(word):
        return word
    reason = next((why for start, why in REASONS if word.startswith(start)), "its values are not plain ones")
    return f"{UNREADABLE}{word.partition('<')[0]}: {reason}"


def address(file: str) -> str:
    """Of files, without who reads them and through which machine: hdfs://user@host:8020/x is hdfs:/x. What an object store's
    address names before the path is the store."""
    scheme, colon, rest = file.partition("://")
    if not colon:
        return file.removeprefix("file:")
    authority, slash, path = rest.partition("/")
    if scheme in ("file", "hdfs", "viewfs", "webhdfs", "swebhdfs"):
        return f"{scheme}:{slash}{path}".removeprefix("file:")
    store = authority if scheme.startswith(("abfs", "wasb")) else authority.rpartition("@")[2]
    return f"{scheme}://{store}{slash}{path}"


def files_of(session: SparkSession, tables: Mapping[str, Table], sources: Mapping[str, SparkTable]) -> Files:
    """What the sources are made of now, listed anew. Whoever writes to it makes other files, or changes their time."""
    places: set[str] = set()
    for name, source in sources.items():
        if source.files:
            places.update(source.files)
        else:
            session.catalog.refreshTable(tables[name].name)
            places.update(places_of(session.read.options(**UNCACHED).table(tables[name].name)))
    return listed_now(session, sorted(places))
