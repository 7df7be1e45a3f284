"""Public tables: opened like private ones, but what is read from them may be seen, errors included."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

from dpsql.engine.failures import first_line
from dpsql.engine.hardening import Limits
from dpsql.engine.interruptible import interruptible
from dpsql.engine.reader import Reader, relation
from dpsql.engine.sealed import Closing, Sealed
from dpsql.engine.sources import ArrowStream, Column, Source
from dpsql.errors import SourceError


class PublicReader(Sealed, Closing):
    """Reads public tables for key sets, for fan-out counts and for loading into scratch."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @classmethod
    def open(
        cls,
        sources: Mapping[str, Source],
        *,
        memory_limit: str | None = None,
        threads: int | None = None,
        temp_directory: Path | None = None,
    ) -> PublicReader:
        return cls(Reader(sources, Limits(memory=memory_limit, threads=threads, temp_directory=temp_directory)))

    @staticmethod
    def relation(table: str, *, row_number: bool = False) -> str:
        """The SQL to put after FROM, as for the vault."""
        return relation(table, row_number=row_number)

    def columns(self, table: str) -> tuple[Column, ...]:
        return self._reader.columns(table)

    def rows(self, table: str) -> ArrowStream:
        """All rows of a table, with its own columns."""
        return self.stream(f"SELECT * FROM {relation(table)}")

    def stream(self, sql: str) -> ArrowStream:
        """The rows of a query, computed when the stream is read; each reading computes them again."""
        return _QueryStream(self._reader, sql)

    def values(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query as Python values. SourceError 308 with DuckDB's own message."""
        cursor = self._reader.cursor()
        try:
            rows: list[tuple[Any, ...]] = interruptible(lambda: cursor.execute(sql).fetchall(), cursor.interrupt)
            return rows
        except (duckdb.Error, ValueError, OverflowError) as error:
            raise _failed(error) from None
        finally:
            cursor.close()

    def close(self) -> None:
        self._reader.close()


class _QueryStream:
    def __init__(self, reader: Reader, sql: str) -> None:
        self._reader = reader
        self._sql = sql

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        relation_of_query = self._reader.cursor().sql(self._sql)
        return relation_of_query.__arrow_c_stream__(requested_schema)


def _failed(error: BaseException) -> SourceError:
    return SourceError(f"a public table cannot be read: {first_line(error)}", code=308)
