"""Moments that files hold as milliseconds. Spark makes microseconds of them while it reads, and fails at one that is too
large: one stored value would stop each query. Spark's schema does not say the unit; the footers of Parquet files do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpsql.engine.spark.connecting import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOMENTS = ("timestamp", "timestamp_ntz")
STORED = "(TIMESTAMP(MILLIS"


def why_no_moments(session: SparkSession, frame: DataFrame, kind: str) -> str | None:
    """Why columns of moments are not read from the frame's files; None where they are. kind: of the files; "" for tables
    that Spark alone writes, from microseconds. A name that looks like a unit makes its file unreadable, and no worse."""
    if not kind or not any(field.dataType.simpleString() in MOMENTS for field in frame.schema.fields):
        return None
    if kind != "parquet":
        return "others may have written these files, in a unit in which one value stops each query"
    if is_remote(session):
        return (
            "Spark Connect does not say in which unit others wrote these files; of milliseconds one value stops a query"
        )
    try:
        schemas = [_schema(session, file) for file in frame.inputFiles()]
    except Exception:  # py4j's, with places of files
        return "the footers of the files cannot be read, which say in which unit it is"
    if any(STORED in schema for schema in schemas):
        return "the files hold milliseconds, of which one that is too large stops each query"
    return None


def _schema(session: Any, file: str) -> str:
    """As the file's footer has it."""
    jvm, settings = session._jvm, session._jsparkSession.sessionState().newHadoopConf()
    path = jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file))
    opened = jvm.org.apache.parquet.hadoop.util.HadoopInputFile.fromPath(path, settings)
    reader = jvm.org.apache.parquet.hadoop.ParquetFileReader.open(opened)
    try:
        return str(reader.getFooter().getFileMetaData().getSchema().toString())
    finally:
        reader.close()
