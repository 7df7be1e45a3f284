"""The tables of `engines` on each engine, and the processor time of the engine.

t(u, x, d, few, many): a unit has about rows / units rows, with any keys; HEAVY rows are of one unit. d is x in hundredths.
p(person, region): one row for each unit.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import duckdb
import psycopg

from benchmarks._overhead_data import FEW, HIGH, MANY
from benchmarks._vault_time import Seconds
from dpsql.engine.postgres.settings import WORK_MEMORY
from tests.engines.postgres import OWNER, PLAIN, READER, Server, fresh, running

UNITS, HEAVY = 200_000, 300_000
CLOCK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Size:
    """Of the table; keys: of `many`; heavy: rows of one unit, or 0."""

    rows: int
    units: int = UNITS
    keys: int = MANY
    heavy: int = HEAVY


def made(size: Size) -> str:
    """The rows, in DuckDB's SQL. The heavy unit's are spread over the whole table."""
    rows = size.rows
    every = max(1, rows // max(1, size.heavy))
    unit = f"CASE WHEN i % {every} = 0 AND i < {size.heavy * every} THEN 77 ELSE 1000 + hash(i) % {size.units} END"
    x = f"CAST(hash(i, 3) % {HIGH * 10_000} AS DOUBLE) / 10000"
    return (
        f"SELECT CAST(hash({unit}, 9) >> 1 AS BIGINT) AS u, {x} AS x, CAST({x} AS DECIMAL(12,2)) AS d,"
        f" CAST(hash(i, 1) % {FEW} AS BIGINT) AS few, CAST(hash(i, 2) % {size.keys} AS BIGINT) AS many"
        f" FROM range({rows}) AS r(i)"
    )


def people() -> str:
    """The units, of a relation t, in DuckDB's SQL."""
    return f"SELECT u AS person, CAST(hash(u, 5) % {FEW} AS BIGINT) AS region FROM (SELECT DISTINCT u FROM t) AS units"


class Engine(Protocol):
    """One engine with the tables. source: what connect() is given. threads: of both, the plain query and dpsql."""

    name: str
    threads: int

    def source(self) -> object: ...

    def plain(self, sql: str) -> int:
        """Run it and fetch all of its rows; how many they are."""

    def timed(self, work: Callable[[], object]) -> Seconds:
        """Seconds on the wall, and of the engine's processors; dpsql's own only where they are one process."""


@dataclass(frozen=True, slots=True)
class DuckDb:
    path: Path
    threads: int
    name: str = "duckdb"

    def source(self) -> object:
        return str(self.path)

    def plain(self, sql: str) -> int:
        with duckdb.connect(str(self.path), read_only=True, config={"threads": self.threads}) as connection:
            return len(connection.execute(sql).fetchall())

    def timed(self, work: Callable[[], object]) -> Seconds:
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        return Seconds(wall=time.perf_counter() - wall, cpu=time.process_time() - cpu)


@dataclass(frozen=True, slots=True)
class Postgres:
    """The plain query has the settings that dpsql's have, so both sort and hash in the same memory."""

    server: Server
    threads: int
    name: str = "postgresql"

    def source(self) -> object:
        return self.server.url()

    def plain(self, sql: str) -> int:
        with psycopg.connect(host=str(self.server.folder), dbname=PLAIN, user=READER) as connection:
            connection.execute("SET jit = off")
            connection.execute(f"SET work_mem = {WORK_MEMORY}")
            connection.execute(f"SET max_parallel_workers_per_gather = {self.threads - 1}")  # as settings.begin
            return len(connection.cursor(binary=True).execute(sql).fetchall())

    def timed(self, work: Callable[[], object]) -> Seconds:
        """The server's processes end with their connection; the server has their time when it has noticed."""
        before = self._ended()
        wall = time.perf_counter()
        work()
        wall = time.perf_counter() - wall
        while self.server.execute("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'") != [
            (1,)
        ]:
            time.sleep(0.02)
        time.sleep(0.1)
        for _ in range(100):
            if self._ended() > before:
                break
            time.sleep(0.1)
        time.sleep(0.1)
        return Seconds(wall=wall, cpu=self._ended() - before)

    def _ended(self) -> float:
        pid = (self.server.folder / "data" / "postmaster.pid").read_text().split()[0]
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[13]) + int(fields[14])) / CLOCK


@contextmanager
def on_duckdb(folder: Path, size: Size, threads: int) -> Iterator[DuckDb]:
    path = folder / "t.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS {made(size)}")
        connection.execute(f"CREATE TABLE p AS {people()}")
    yield DuckDb(path, threads)


@contextmanager
def on_postgres(folder: Path, size: Size, threads: int) -> Iterator[Postgres]:
    """A server of its own: Debian's package, the package's settings, nobody's cache warm but what the queries warm."""
    files = {name: folder / f"{name}.csv" for name in ("t", "p")}
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW t AS {made(size)}")
        connection.execute(f"COPY t TO '{files['t']}' (HEADER false)")
        connection.execute(f"COPY ({people()}) TO '{files['p']}' (HEADER false)")
    with running() as server:
        fresh(server)
        server.execute("ALTER SYSTEM SET autovacuum = off")
        server.execute("SELECT pg_reload_conf()")
        server.execute(
            "CREATE TABLE t (u bigint, x double precision, d numeric(12,2), few bigint NOT NULL, many bigint NOT NULL)"
        )
        server.execute("CREATE TABLE p (person bigint NOT NULL, region bigint NOT NULL)")
        for name, file in files.items():
            _copied(server, name, file)
        server.execute("VACUUM (ANALYZE)")
        yield Postgres(server, threads)


def _copied(server: Server, table: str, file: Path) -> None:
    with (
        psycopg.connect(host=str(server.folder), dbname=PLAIN, user=OWNER) as connection,
        file.open("rb") as lines,
        connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy,
    ):
        while part := lines.read(1 << 20):
            copy.write(part)
    file.unlink()
