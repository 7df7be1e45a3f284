"""Public tables: opened like private ones, but what is read from them may be seen."""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.engine.hardening import Limits
from dpsql.engine.reader import Reader
from dpsql.engine.sealed import Closing
from dpsql.engine.sources import ArrowStream, Server, Source, SparkTable


class PublicReader(Reader, Closing):
    """Reads public tables, for loading into scratch."""

    def __init__(self, sources: Mapping[str, Source], limits: Limits) -> None:
        super().__init__({table: _here(table, source, limits) for table, source in sources.items()}, limits)

    def stream(self, sql: str) -> ArrowStream:
        """The rows of a query, computed when the stream is read; each reading computes them again."""
        return _QueryStream(self, sql)


def _here(table: str, source: Source, limits: Limits) -> Source:
    """The rows of a server's or Spark's table are fetched as it is opened: statements over public tables are DuckDB's."""
    if isinstance(source, SparkTable):
        from dpsql.engine.spark import public

        return public.public_rows(table, source, limits)
    if not isinstance(source, Server):
        return source
    from dpsql.engine.postgres.public import public_rows

    return public_rows(table, source, limits)


class _QueryStream:
    def __init__(self, reader: Reader, sql: str) -> None:
        self._reader = reader
        self._sql = sql

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        relation_of_query = self._reader.cursor().sql(self._sql)
        return relation_of_query.__arrow_c_stream__(requested_schema)
