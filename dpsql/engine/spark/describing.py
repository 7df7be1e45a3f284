"""A table or files as their schemas describe them: no row is read.

What a query may read: tables of the session's catalog that Spark keeps in files of types in which no row can fail (KEPT),
and Parquet files. Views are not read: Spark does not say what they are made of. Types are in a closed set of words; any
other column is unreadable, and says why.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsql.engine.quoting import fold
from dpsql.engine.sources import UNREADABLE, Column, SparkTable
from dpsql.engine.spark.connecting import is_remote
from dpsql.engine.spark.foreign import Unread, unread
from dpsql.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField

WORDS = re.compile(
    r"tinyint|smallint|int|bigint|float|double|boolean|date|timestamp|timestamp_ntz|decimal\(\d+,\d+\)|"
    r"string( collate [A-Z0-9_]+)?|(char|varchar)\(\d+\)"
)
KEPT = ("parquet", "orc", "delta", "iceberg")
NOT_THERE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")
# Options of a table that say nothing of how its files are read. Others do, whatever the session's settings say.
HARMLESS = re.compile(
    r"(orc\.compress|(parquet\.)?compression|parquet\.bloom\.filter\..*|parquet\.block\.size|serialization\.format|path|"
    r"maxrecordsperfile|partitionoverwritemode|mergeschema)",  # a table's schema is the catalog's
    re.IGNORECASE,
)
# What somebody has cached was read, or will be, under the settings of their session; with an option of its own no frame is
# taken for it.
UNCACHED = {"dpsql": "uncached"}
CHARACTERS = "__CHAR_VARCHAR_TYPE_STRING"
REASONS = (
    ("array", "arrays are not among dpsql's types"),
    ("map", "maps are not among dpsql's types"),
    ("struct", "structs are not among dpsql's types"),
    ("binary", "bytes are not among dpsql's types"),
    ("interval", "an interval is not among dpsql's types"),
    ("time", "a time of day is not among dpsql's types"),
)
READ_AT = re.compile(r"access_time=\d+;")  # of a file's status: reading it is no change

Files = frozenset[tuple[object, ...]]  # place, size and time of the last change of each, and what else is said of it


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


def described(session: SparkSession, table: str, source: SparkTable, view: str) -> Table:
    """SourceError 303 where there is no such table, 316 for one whose rows may not be the same each time. view: the name
    that it is read by in this session."""
    if source.files:
        frame = _files(session, table, source)
        frame.createOrReplaceTempView(view)
        place = {"kind": "spark", "files": " ".join(sorted(map(address, source.files)))}
        columns = _columns(frame, unread(session, frame, "parquet"), {})
        return Table(relation=quoted(view), name="", columns=columns, place=tuple(place.items()))
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
    frame.createOrReplaceTempView(view)
    by_others = "" if entry.tableType == "MANAGED" else kind
    columns = _columns(frame, unread(session, frame, by_others), _unlike(session, table, frame, by_others))
    return Table(relation=quoted(view), name=quoted(*parts), columns=columns, place=tuple(place.items()))


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


def _files(session: SparkSession, table: str, source: SparkTable) -> DataFrame:
    frame = _merged(session, "parquet", source.files)
    if isinstance(frame, str):
        if frame in NOT_THERE:
            raise SourceError(
                f"table {table}: Spark finds no Parquet files there",
                code=303,
                fix="Check `files:`: each machine of the cluster must reach them by that address.",
            )
        raise _mixed(table, "parquet")
    return frame


def _merged(session: SparkSession, kind: str, files: Sequence[str]) -> DataFrame | str:
    """The columns of all the files, or the condition that Spark names: else it reads the types of one file, and fails where
    it meets another. What reading the footers raises is PySpark's, or py4j's."""
    try:
        frame = session.read.options(**UNCACHED, mergeSchema="true").format(kind).load(list(files))
        _ = frame.schema  # which Spark Connect reads when it is asked
        return frame
    except Exception as error:
        condition: Callable[[], object] | None = getattr(error, "getCondition", None)
        return str(condition() if condition is not None else "")


def _mixed(table: str, kind: str) -> SourceError:
    return SourceError(
        f"table {table}: Spark does not read its files as one table of {kind}",
        code=302,
        why="A file is none, or a column's type differs between them, or is none of Spark's (nanoseconds, times of day).",
        fix="Write them again with the same types; a query would fail where it meets another.",
    )


def _unlike(session: SparkSession, table: str, frame: DataFrame, kind: str) -> dict[str, str]:
    """Of columns that files of others hold in another type than the table's: why they are not read, by name."""
    files = frame.inputFiles() if kind else []
    if not files:
        return {}
    stored = _merged(session, kind, files)
    if isinstance(stored, str):
        raise _mixed(table, kind)
    types = {field.name: field.dataType for field in stored.schema.fields}
    return {
        field.name: f"its files hold {types[field.name].simpleString()}"
        for field in frame.schema.fields
        if types.get(field.name, field.dataType) != field.dataType
    }


def _columns(frame: DataFrame, not_read: Unread, unlike: Mapping[str, str]) -> tuple[Column, ...]:
    """dpsql's names have no case: of two that differ in nothing else neither is meant."""
    fields = frame.schema.fields
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
            places.update(session.table(tables[name].name).inputFiles())
    if not places:
        return frozenset()
    listed: Any = session.read.format("binaryFile").load(sorted(places))
    if is_remote(session):
        return frozenset(tuple(row) for row in listed.select("path", "length", "modificationTime").collect())
    index = (
        listed._jdf.queryExecution().analyzed().collectLeaves().head().relation().location()
    )  # without a job of Spark's
    return frozenset((READ_AT.sub("", file),) for file in index.allFiles().mkString("\n").split("\n"))
