"""A Spark session that tests start, in this process: two threads, nothing on the network but this machine."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MISSING = "pip install 'dpsql[spark]', and Java 17 or later (make engines)"

# Statements are not compiled, which takes longer than to run them over a test's rows; tests that want it say COMPILED.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "CODEGEN_ONLY"}
# Whatever a session is made with, all others of the process begin with, those of the backend too.
ODD = {
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.preserveCharVarcharTypeInfo": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
    "spark.sql.parquet.int96TimestampConversion": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
}


def available() -> bool:
    return importlib.util.find_spec("pyspark") is not None and shutil.which("java") is not None


@contextmanager
def running() -> Iterator[Any]:
    """Tables are Parquet files in a folder that is removed at the end. Its settings are others than a query needs: those of
    the backend's own sessions decide."""
    from pyspark.sql import SparkSession

    folder = Path(tempfile.mkdtemp(prefix="dpsql-spark-"))
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",  # the cluster's tests have two
        "spark.default.parallelism": "2",
        "spark.sql.warehouse.dir": str(folder / "tables"),
        "spark.local.dir": str(folder / "local"),
        "spark.driver.memory": "1g",
        # Most of a short session's time is to compile Spark itself: the quick compiler does.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        **INTERPRETED,
        **ODD,
    }
    builder = SparkSession.builder.master("local[2]").appName("dpsql tests")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    session.conf.set("spark.sql.ansi.enabled", "false")
    try:
        yield session
    finally:
        ended(session)
        shutil.rmtree(folder, ignore_errors=True)


def ended(session: Any) -> None:
    """And Java with it, which ends with its standard input, else with this process."""
    from pyspark import SparkContext

    gateway = session.sparkContext._gateway
    session.stop()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(timeout=60)
    SparkContext._gateway = SparkContext._jvm = None
