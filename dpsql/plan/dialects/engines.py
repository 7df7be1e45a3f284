"""The dialect of an engine, by the name that sources and backends call the engine."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.plan.dialects.dialect import Dialect
from dpsql.plan.dialects.duckdb import DUCKDB
from dpsql.plan.dialects.postgres import POSTGRES
from dpsql.plan.dialects.spark import SPARK

DIALECTS: Mapping[str, Dialect] = MappingProxyType({"duckdb": DUCKDB, "postgresql": POSTGRES, "spark": SPARK})


def dialect_of(engine: str) -> Dialect:
    return DIALECTS[engine]
