"""Which engine opens a vault's sources: all of them are on one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from dpsql.engine.backend import Backend
from dpsql.engine.hardening import Limits
from dpsql.engine.reader import Reader
from dpsql.engine.sources import Address, Cluster, Server, Source, SparkTable
from dpsql.errors import SourceError

EngineName = Literal["duckdb", "postgresql", "spark"]


def engine_of(sources: Mapping[str, Source]) -> EngineName:
    """The one engine and database that private tables are on; SourceError 320 where they are on several."""
    places: dict[Address | Cluster | None, str] = {}
    for table, source in sources.items():
        places.setdefault(_place(source), table)
    if len(places) > 1:
        one, other, *_ = places.values()
        raise SourceError(
            f"the private tables {one} and {other} are not in one place",
            code=320,
            why="A query reads them in one snapshot of one engine: all in one database, named the same way, or all files.",
            fix="Bring them into one database, or make public what is public.",
        )
    place = next(iter(places), None)
    return "duckdb" if place is None else "spark" if isinstance(place, Cluster) else "postgresql"


def _place(source: Source) -> Address | Cluster | None:
    match source:
        case Server():
            return source.address
        case SparkTable():
            return source.cluster
        case _:
            return None


def opened(sources: Mapping[str, Source], limits: Limits, owner_log: Callable[[str], None] | None) -> Backend:
    """owner_log: for what a server says as it refuses."""
    engine = engine_of(sources)
    if engine == "duckdb":
        return Reader(sources, limits)
    if engine == "spark":
        from dpsql.engine.spark.backend import Spark

        return Spark({t: source for t, source in sources.items() if isinstance(source, SparkTable)}, limits, owner_log)
    from dpsql.engine.postgres.backend import Postgres

    servers = {table: source for table, source in sources.items() if isinstance(source, Server)}
    return Postgres(servers, limits, owner_log)
