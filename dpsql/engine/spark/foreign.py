"""Values at which Spark stops while it reads a file that another program wrote: one of them would stop each query.

Moments that are held as milliseconds, of which it makes microseconds; and decimals of more than 18 digits, which are held
as bytes and may have more digits than the column says. Spark's own writer holds microseconds, and counts the digits.
Spark's schema says neither who wrote a file nor how; the footers of Parquet files do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsql.engine.spark.connecting import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOMENTS = ("timestamp", "timestamp_ntz")
LONG = re.compile(r"decimal\((19|[23]\d),\d+\)")
MILLISECONDS = "(TIMESTAMP(MILLIS"
DIGITS = re.compile(r"\(DECIMAL\((19|[23]\d),")  # an unsigned number of 64 bits is held as such
BY_SPARK = "org.apache.spark.version"


@dataclass(frozen=True, slots=True)
class Unread:
    """Why columns of moments and of long decimals are not read; None where they are."""

    moments: str | None = None
    decimals: str | None = None

    def why(self, word: str) -> str | None:
        return self.moments if word in MOMENTS else self.decimals if LONG.fullmatch(word) else None


def unread(session: SparkSession, frame: DataFrame, kind: str) -> Unread:
    """Of the frame's files. kind: of the files; "" for tables that Spark alone writes. A name that looks like a unit makes
    its file unreadable, and no worse."""
    words = [field.dataType.simpleString() for field in frame.schema.fields]
    if not kind or not any(word in MOMENTS or LONG.fullmatch(word) for word in words):
        return Unread()
    if kind != "parquet":
        return Unread(
            "others may have written these files, in a unit in which one value stops each query",
            "others may have written these files, and one value of more digits than that stops each query",
        )
    if is_remote(session):
        return Unread(
            "Spark Connect does not say in which unit others wrote these files; of milliseconds one value stops a query",
            "Spark Connect does not say who wrote these files; others may write more digits, which stop a query",
        )
    try:
        footers = [_footer(session, file) for file in frame.inputFiles()]
    except Exception:  # py4j's, with places of files
        return Unread(
            "the footers of the files cannot be read, which say in which unit it is",
            "the footers of the files cannot be read, which say who wrote them",
        )
    milliseconds = any(MILLISECONDS in schema for schema, _ in footers)
    digits = any(DIGITS.search(schema) and not by_spark for schema, by_spark in footers)
    return Unread(
        "the files hold milliseconds, of which one that is too large stops each query" if milliseconds else None,
        "another program than Spark wrote a file; one value of more digits would stop each query" if digits else None,
    )


def _footer(session: Any, file: str) -> tuple[str, bool]:
    """The schema, and whether Spark wrote the file."""
    jvm, settings = session._jvm, session._jsparkSession.sessionState().newHadoopConf()
    path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file))
    opened = jvm.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(path, settings)
    reader = jvm.org.apache.parquet.hadoop.ParquetFileReader.open(opened)
    try:
        said = reader.getFooter().getFileMetaData()
        return str(said.getSchema().toString()), bool(said.getKeyValueMetaData().containsKey(BY_SPARK))
    finally:
        reader.close()
