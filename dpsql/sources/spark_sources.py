"""Tables on Spark, as metadata declare them and as connect() is given them."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.catalog.model import Catalog, SparkSource, TableSpec, fold
from dpsql.engine.sources import Cluster, Source, SparkTable
from dpsql.errors import InterfaceError, SourceError
from dpsql.metadata.addresses import AddressError
from dpsql.metadata.clusters import SPARK_FIELDS, check_cluster, is_cluster, is_file, names_of


def on_spark(catalog: Catalog, cluster: Cluster) -> dict[str, Source]:
    """Each table by the place that is declared for it on Spark, else by its own name; but public tables that are declared
    to be elsewhere."""
    elsewhere = [t for t in catalog.tables if t.public and not isinstance(t.source, SparkSource | None)]
    return {fold(table.name): _there(table, cluster) for table in catalog.tables if table not in elsewhere}


def _there(table: TableSpec, cluster: Cluster) -> SparkTable:
    declared = table.source if isinstance(table.source, SparkSource) else None
    if declared is None:
        return SparkTable(cluster=cluster, name=(table.name,))
    return SparkTable(cluster=cluster, name=declared.table, files=declared.files)


def spark_source(value: object, table: TableSpec) -> SparkTable | None:
    """A table's source by hand: a session, an address, or {"spark": either, "table": …, "files": …, "timeout": …}; None for
    anything else. A DataFrame is refused: it is evaluated anew, and so maybe otherwise, whenever it is read."""
    if is_session(value):
        return _there(table, Cluster(session=value))
    if _is_of_spark(value, "DataFrame"):
        raise InterfaceError(
            "a DataFrame of Spark is not a source",
            fix="Write a table of it, df.write.saveAsTable('visits'), and give the session; df.toArrow() copies it here.",
        )
    if isinstance(value, str) and is_cluster(value):
        return _there(table, cluster_of(value))
    if not isinstance(value, Mapping) or "spark" not in value or not set(value) <= set(SPARK_FIELDS):
        return None
    spark, timeout = value["spark"], value.get("timeout", 3600)
    if not isinstance(timeout, int) or timeout < 1:
        raise InterfaceError("timeout is a number of seconds", fix="Write 1 or more.")
    cluster = Cluster(session=spark, timeout=timeout) if is_session(spark) else cluster_of(str(spark), timeout)
    files = value.get("files", ())
    paths = (files,) if isinstance(files, str) else tuple(files)
    names = names_of(str(value.get("table", table.name)))
    if names is None or not all(isinstance(path, str) and is_file(path) for path in paths):
        raise InterfaceError(
            "the table or the files on Spark cannot be read",
            fix="Write schema.table; of files their absolute addresses, as Spark knows them.",
        )
    return SparkTable(cluster=cluster, name=() if paths else names, files=paths)


def is_session(value: object) -> bool:
    return _is_of_spark(value, "SparkSession")


def _is_of_spark(value: object, name: str) -> bool:
    kind = type(value)
    return kind.__module__.startswith("pyspark.") and kind.__name__ == name


def cluster_of(address: str, timeout: int = 3600) -> Cluster:
    """SourceError 318, 321."""
    wrong: SourceError | None = None
    try:
        return Cluster(url=check_cluster(address), timeout=timeout)
    except AddressError as error:  # nothing of it quotes the address
        wrong = SourceError(error.what, code=318 if error.secret else 321, fix=f"{error.fix}.")
    raise wrong


def of_spark(declared: SparkSource) -> SparkTable:
    return SparkTable(
        cluster=Cluster(url=declared.cluster, timeout=declared.timeout), name=declared.table, files=declared.files
    )


def table_at(address: str, name: str) -> SparkTable:
    """The table of that name of the Spark that an address leads to. SourceError."""
    names = names_of(name)
    if names is None:
        raise SourceError("this is not a table's name", code=303, fix="Write schema.table.")
    return SparkTable(cluster=cluster_of(address), name=names)
