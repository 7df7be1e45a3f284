"""The tables of Spark's current schema, by name: for an owner who begins metadata."""

from __future__ import annotations

from dpsql.engine.sources import Cluster
from dpsql.engine.spark.connecting import session_at


def spark_tables(cluster: Cluster) -> list[str]:
    """SourceError where Spark cannot be connected to."""
    session = session_at(cluster, None)
    return sorted(table.name for table in session.catalog.listTables() if not table.isTemporary)
