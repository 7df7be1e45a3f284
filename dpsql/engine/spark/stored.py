"""The files of a table: which they are, and what their footers say. No row is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from dpsql.engine.spark.connecting import is_remote
from dpsql.engine.spark.foreign import Unread, unread
from dpsql.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

NOT_THERE = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")
# What somebody has cached was read, or will be, under the settings of their session; with an option of its own no frame is
# taken for it.
UNCACHED = {"dpsql": "uncached"}
READ_AT = re.compile(r"access_time=\d+;")  # of a file's status: reading it is no change

Files = frozenset[tuple[object, ...]]  # place, size and time of the last change of each, and what else is said of it


@dataclass(frozen=True, slots=True)
class Stored:
    """What the footers of files say: the columns of all, and which are not read."""

    schema: StructType
    not_read: Unread


class Footers:
    """What they said of files that nobody has changed since: there may be very many to read."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Files, Stored]] = {}

    def of(self, table: str, files: Files, read: Callable[[], Stored]) -> Stored:
        before = self._read.get(table)
        if before is not None and before[0] == files:
            return before[1]
        stored = read()
        self._read[table] = files, stored
        return stored


def stored_by_others(session: SparkSession, table: str, kind: str, addresses: Sequence[str]) -> Stored:
    """The columns of all the files: else Spark reads the types of one file, and fails where it meets another. What reading
    the footers raises is PySpark's, or py4j's."""
    try:
        frame = session.read.options(**UNCACHED, mergeSchema="true").format(kind).load(list(addresses))
        schema = frame.schema  # which Spark Connect reads when it is asked
    except Exception as error:
        condition: Callable[[], object] | None = getattr(error, "getCondition", None)
        if condition is not None and condition() in NOT_THERE:
            raise no_files(table) from None
        raise SourceError(
            f"table {table}: Spark does not read its files as one table of {kind}",
            code=302,
            why="A file is none, or a column's type differs between them, or is none of Spark's (nanoseconds, say).",
            fix="Write them again with the same types; a query would fail where it meets another.",
        ) from None
    return Stored(schema, unread(session, frame, kind))


def no_files(table: str) -> SourceError:
    return SourceError(
        f"table {table}: Spark finds no Parquet files there",
        code=303,
        fix="Check `files:`: each machine of the cluster must reach them by that address.",
    )


def unlike_stored(schema: StructType, stored: StructType) -> dict[str, str]:
    """Of columns that files of others hold in another type than the table's: why they are not read, by name."""
    types = {field.name: field.dataType for field in stored.fields}
    return {
        field.name: f"its files hold {types[field.name].simpleString()}"
        for field in schema.fields
        if types.get(field.name, field.dataType) != field.dataType
    }


def places_of(frame: DataFrame) -> list[str]:
    """Of its files: Spark says URIs, and reads what it is given as paths. Values of columns are in folders' names."""
    return [unquote(uri) for uri in frame.inputFiles()]


def listed_now(session: SparkSession, places: Sequence[str]) -> Files:
    if not places:
        return frozenset()
    listed: Any = session.read.format("binaryFile").load(list(places))
    if is_remote(session):
        return frozenset(tuple(row) for row in listed.select("path", "length", "modificationTime").collect())
    index = (
        listed._jdf.queryExecution().analyzed().collectLeaves().head().relation().location()
    )  # without a job of Spark's
    return frozenset((READ_AT.sub("", file),) for file in index.allFiles().mkString("\n").split("\n"))
