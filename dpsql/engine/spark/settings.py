"""A new session for each query: nothing that the user's session has set, defined or registered changes what a statement
means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dpsql.engine.spark.connecting import is_remote
from dpsql.errors import InternalError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PINS = (
    ("spark.sql.ansi.enabled", "true"),  # what would overflow in silence fails; no form does (plan/dialects/spark)
    ("spark.sql.session.timeZone", "UTC"),
    ("spark.sql.timestampType", "TIMESTAMP_LTZ"),
    ("spark.sql.caseSensitive", "true"),  # names are the source's own
    ("spark.sql.decimalOperations.allowPrecisionLoss", "false"),  # places are never rounded away
    ("spark.sql.variable.substitute", "false"),  # ${…} in a text is a text
    ("spark.sql.parser.escapedStringLiterals", "false"),
    ("spark.sql.ansi.doubleQuotedIdentifiers", "false"),
    ("spark.sql.ansi.enforceReservedKeywords", "false"),
    ("spark.sql.groupByOrdinal", "true"),
    ("spark.sql.groupByAliases", "true"),
    ("spark.sql.crossJoin.enabled", "true"),
    ("spark.sql.codegen.fallback", "true"),
    ("spark.sql.storeAssignmentPolicy", "ANSI"),
    # files: nothing is skipped, or taken for what it is not
    ("spark.sql.files.ignoreCorruptFiles", "false"),
    ("spark.sql.files.ignoreMissingFiles", "false"),
    ("spark.sql.sources.partitionColumnTypeInference.enabled", "false"),  # values in folders' names decide no type
    ("spark.sql.parquet.mergeSchema", "false"),
    # where a row is says nothing of its values: rows of one unit in the files of two buckets are rows of one unit
    ("spark.sql.sources.bucketing.enabled", "false"),
    ("spark.sql.sources.v2.bucketing.enabled", "false"),
    ("spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED"),  # moments before 1900 do not fail
    ("spark.sql.parquet.int96RebaseModeInRead", "CORRECTED"),
    ("spark.sql.parquet.inferTimestampNTZ.enabled", "true"),
    ("spark.sql.parquet.binaryAsString", "false"),
    ("spark.sql.runSQLOnFiles", "false"),  # a name is a table's
    ("spark.sql.parquet.int96TimestampConversion", "false"),
    ("spark.sql.legacy.parquet.nanosAsLong", "false"),
    ("spark.sql.legacy.charVarcharAsString", "false"),  # the blanks of char(n) are known for what they are
    ("spark.sql.preserveCharVarcharTypeInfo", "false"),  # and they are texts in every expression
    ("spark.sql.legacy.setopsPrecedence.enabled", "false"),
    ("spark.sql.legacy.timeParserPolicy", "CORRECTED"),
    ("spark.sql.legacy.literal.pickMinimumPrecision", "true"),
    # small tables are sent as they are
    ("spark.sql.execution.arrow.pyspark.enabled", "true"),
)
# A rule that moves what is computed above UNION ALL below it: where that names columns of a query around it, Spark 4.3 loses
# them and fails, whatever is stored. Nothing but time depends on it.
EXCLUDED = ("spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer.PushProjectionThroughUnion")
# Hints say that a unit's rows travel together (plan/dialects/spark). Measured by hand, a query takes 0.4 µs of processor
# time for each row, and the one task that gets all rows of a unit 0.25 µs of them: with FEW tasks at a time three times as
# long as without hints if all rows are one unit's. With more, hints are left out. Nothing but time depends on it.
HINTS_OFF = "spark.sql.optimizer.disableHints"
FEW = 4
# A plan that Spark adapts as it runs does not say how what it gives lies. One that it does not adapt has as many partitions
# as are set, however few rows there are: some for each task, where they are few, and where they are many none of it.
ADAPTIVE, PARTITIONS = "spark.sql.adaptive.enabled", "spark.sql.shuffle.partitions"
OF_A_TASK = 4


def _has_many_tasks(session: SparkSession) -> bool:
    """Of a server over Spark Connect nobody says."""
    return is_remote(session) or session.sparkContext.defaultParallelism > FEW


@contextmanager
def fixed_plan(session: SparkSession) -> Iterator[None]:
    """Around what a later statement reads by unit: where it lies is known then."""
    if _has_many_tasks(session):
        yield
        return
    before = {name: str(session.conf.get(name)) for name in (ADAPTIVE, PARTITIONS)}
    some, most = OF_A_TASK * session.sparkContext.defaultParallelism, before[PARTITIONS]
    session.conf.set(ADAPTIVE, "false")
    session.conf.set(PARTITIONS, str(min(int(most), some) if most.isdecimal() else some))
    try:
        yield
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def fresh(session: SparkSession, schema: tuple[str, str] | None = None) -> SparkSession:
    """Without the user's settings, temporary views and functions. schema: its current catalog and schema."""
    made = session.newSession()
    if schema is not None:
        made.catalog.setCurrentCatalog(schema[0])
        made.catalog.setCurrentDatabase(schema[1])
    made.conf.set(*EXCLUDED)
    made.conf.set(HINTS_OFF, str(_has_many_tasks(session)).lower())
    for name, value in PINS:
        if _actual(made, name) == value.lower():
            continue  # to set it again would only warn, of some that Spark will drop
        made.conf.set(name, value)
        if _actual(made, name) != value.lower():
            raise InternalError(f"Spark has {name} = {_actual(made, name)!r} where {value!r} was set")
    return made


def _actual(session: SparkSession, name: str) -> str:
    return str(session.conf.get(name)).lower()
