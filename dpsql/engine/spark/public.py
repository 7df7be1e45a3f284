"""Public tables on Spark: their rows, as text, for the reader of public tables."""

from __future__ import annotations

from dpsql.engine.hardening import Limits
from dpsql.engine.sources import UNREADABLE, Column, Frame, SparkTable
from dpsql.engine.spark.backend import Spark
from dpsql.engine.spark.describing import quoted
from dpsql.engine.vault import Vault


def public_rows(table: str, source: SparkTable, limits: Limits) -> Frame:
    """All rows, every readable column as text that says its value exactly, as a CSV would: the metadata's types are applied
    to it later. SourceError as for private tables, ExecutionError where reading fails."""
    with Vault(Spark({table: source}, limits, None), None) as vault:
        readable = [column for column in vault.columns(table) if not column.type.startswith(UNREADABLE)]
        items = ", ".join(f"{_text(column)} AS {quoted(column.name)}" for column in readable)
        rows = vault.run(f"SELECT {items} FROM {vault.relation(table)}")
    return Frame(data=rows)


def _text(column: Column) -> str:
    """A float has fewer digits as text than as the double it is read as."""
    name = quoted(column.name)
    if column.type == "timestamp":
        name = f"CAST({name} AS TIMESTAMP_NTZ)"
    if " collate " in column.type:
        name = f"({name} COLLATE UTF8_BINARY)"
    return f"CAST(CAST({name} AS DOUBLE) AS STRING)" if column.type == "float" else f"CAST({name} AS STRING)"
