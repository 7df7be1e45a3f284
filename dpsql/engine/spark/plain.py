"""A table's rows as Spark gives them, and tables made of some of them: types, bits and texts stay.

For dpsql.testing alone, which compares what the backend makes of a table with what the table holds.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from dpsql.engine.sources import SparkTable
from dpsql.engine.spark import settings
from dpsql.engine.spark.connecting import is_remote, session_at
from dpsql.engine.spark.describing import CHARACTERS, quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "dpsql_judge_"


@dataclass(frozen=True, slots=True)
class Rows:
    """fields: each column's name and Spark's word for its type. arrow: the rows, in the order in which Spark gave them."""

    fields: tuple[tuple[str, str], ...]
    arrow: Any


class Tables:
    """A source's rows, and tables with some of them in a schema of their own that is made when there is a first one."""

    def __init__(self, source: SparkTable) -> None:
        self._source = source
        self._schema: str | None = None
        self._numbers = itertools.count(1)
        self._session: SparkSession = settings.fresh(session_at(source.cluster, None))

    def read(self) -> Rows:
        session = self._session
        files = self._source.files
        frame = session.read.parquet(*files) if files else session.table(quoted(*self._source.name))
        fields = tuple(
            (field.name, str((field.metadata or {}).get(CHARACTERS, field.dataType.simpleString())))
            for field in frame.schema.fields
        )
        return Rows(fields, frame.toArrow())

    def table(self, rows: Rows) -> SparkTable:
        """A table with these columns and rows."""
        session = self._session
        if self._schema is None:
            name = SCHEMA + uuid4().hex
            session.sql(f"CREATE SCHEMA {name}").collect()
            self._schema = name
        parts = (self._schema, f"t{next(self._numbers)}")
        columns = ", ".join(f"{quoted(name)} {type_}" for name, type_ in rows.fields)
        session.sql(f"CREATE TABLE {quoted(*parts)} ({columns}) USING parquet").collect()
        session.createDataFrame(rows.arrow).coalesce(1).write.insertInto(quoted(*parts))
        return replace(self._source, name=parts, files=())

    def drop(self) -> None:
        name, self._schema = self._schema, None
        if name is not None:
            self._session.sql(f"DROP SCHEMA {name} CASCADE").collect()
        if is_remote(self._session):
            self._session.stop()
