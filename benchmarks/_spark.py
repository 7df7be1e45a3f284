"""The table of `engines` on Spark: one session for all turns, in this process, with so many threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from benchmarks._engine_data import CLOCK, Size, made, people
from benchmarks._vault_time import Seconds
from dpsql.engine.spark import settings
from tests.engines.spark import ended

MEMORY = "4g"
ONE_SET = "-XX:-UseDynamicNumberOfCompilerThreads"  # Java begins and ends none of those threads


def ticks(place: Path) -> int:
    """Of the processors, that a process or a thread has taken."""
    fields = (place / "stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@dataclass(frozen=True)
class Spark:
    """The plain query has the settings that dpsql's have."""

    session: Any
    threads: int
    name: str = "spark"

    def source(self) -> object:
        return self.session

    def plain(self, sql: str) -> int:
        return int(settings.fresh(self.session).sql(sql).toArrow().num_rows)

    def timed(self, work: Callable[[], object]) -> Seconds:
        wall, cpu = time.perf_counter(), self._spent()
        work()
        return Seconds(wall=time.perf_counter() - wall, cpu=self._spent() - cpu)

    def _spent(self) -> float:
        """Of Java's process, collecting garbage too, but for the threads that compile: what they have left to do becomes
        less with each turn, of the longer query more slowly."""
        process = Path(f"/proc/{self.session.sparkContext._gateway.proc.pid}")
        return ticks(process) / CLOCK - sum(ticks(thread) for thread in self._compiling) / CLOCK

    @cached_property
    def _compiling(self) -> list[Path]:
        """They stay as they are (ONE_SET)."""
        compiling = []
        for task in Path(f"/proc/{self.session.sparkContext._gateway.proc.pid}/task").iterdir():
            with suppress(FileNotFoundError):  # one that has ended
                if (task / "comm").read_text().startswith(("C1 Comp", "C2 Comp")):
                    compiling.append(task)
        return compiling


@contextmanager
def on_spark(folder: Path, size: Size, threads: int) -> Iterator[Spark]:
    """Spark's own settings but for memory and the number of partitions, of which 200 are too many for two processors."""
    from pyspark.sql import SparkSession

    files = {name: folder / f"{name}.parquet" for name in ("t", "p")}
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({made(size)}) TO '{files['t']}' (FORMAT parquet)")
        connection.execute(f"CREATE VIEW t AS FROM '{files['t']}'")
        connection.execute(f"COPY ({people()}) TO '{files['p']}' (FORMAT parquet)")
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": MEMORY,
        "spark.driver.extraJavaOptions": ONE_SET,
        "spark.sql.shuffle.partitions": str(4 * threads),
        "spark.sql.warehouse.dir": str(folder / "tables"),
        "spark.local.dir": str(folder / "local"),
    }
    builder = SparkSession.builder.master(f"local[{threads}]").appName("dpsql benchmarks")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        for name, file in files.items():
            session.sql(f"CREATE TABLE {name} USING parquet LOCATION '{file}'").collect()
        yield Spark(session, threads)
    finally:
        ended(session)
