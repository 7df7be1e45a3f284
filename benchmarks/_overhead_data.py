"""The tables of `overhead`, and how the plain query and dpsql each read them."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import duckdb

KINDS = ("parquet", "duckdb", "frame")
TWO, FEW, OWN, MANY = 2, 8, 4, 10_000
KEYS = {"two": TWO, "few": FEW, "own": MANY, "many": MANY}  # key column → how many keys it has
HIGH = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """rows of t(u, x, two, few, own, many). kind: parquet, duckdb (files at path), or frame (read from the Parquet file)."""

    path: Path
    kind: str
    rows: int
    units: int

    def plain(self, threads: int, memory: str | None = None) -> duckdb.DuckDBPyConnection:
        """A connection with the relation t. A frame is copied first, as dpsql does when it opens one."""
        config: dict[str, str | bool | int | float | list[str]] = {"threads": threads}
        connection = duckdb.connect(config=config if memory is None else {**config, "memory_limit": memory})
        connection.execute("SET parquet_metadata_cache = true")
        if self.kind == "duckdb":
            connection.execute(f"ATTACH '{self.path}' AS d (READ_ONLY)")
            connection.execute("CREATE VIEW t AS FROM d.t")
        else:
            what = "VIEW" if self.kind == "parquet" else "TABLE"
            connection.execute(f"CREATE {what} t AS FROM '{self.path}'")
        return connection

    def source(self) -> object:
        """What `connect(source=…)` is given."""
        if self.kind != "frame":
            return self.path if self.kind == "duckdb" else {"t": self.path}
        with duckdb.connect() as connection:
            return {"t": connection.sql(f"FROM '{self.path}'").to_arrow_table()}

    def limits(self) -> dict[str, int]:
        """Rows per unit that no unit, about 8 % of them and all exceed: a unit has about Poisson(rows / units)."""
        mean = self.rows / self.units
        return {"none": round(2 * mean), "8 %": round(mean + 1.41 * sqrt(mean)), "all": max(1, round(mean / 5))}


def make(folder: Path, rows: int, units: int, kind: str) -> Data:
    """Units of about rows / units rows each; where there are as many as rows, each row has one of its own.

    Units are numbers anywhere in 63 bits: dense ones DuckDB joins by position, which is not what people's ids allow.
    two, few, many: each row has any key, so a unit has as many as its rows allow. own: a unit stays within OWN keys.
    """
    file = folder / f"t{rows}x{units}.{'duckdb' if kind == 'duckdb' else 'parquet'}"
    data = Data(path=file, kind=kind, rows=rows, units=units)
    if file.exists():
        return data
    unit = "i" if rows == units else f"hash(i) % {units}"
    base = (
        f"SELECT CAST(hash({unit}, 9) >> 1 AS BIGINT) AS u, CAST(hash(i, 3) % {HIGH * 10_000} AS DOUBLE) / 10000 AS x,"
        f" CAST(hash(i, 4) % {TWO} AS INTEGER) AS two, CAST(hash(i, 1) % {FEW} AS INTEGER) AS few,"
        f" CAST(hash(u, hash(i, 5) % {OWN}) % {MANY} AS INTEGER) AS own, CAST(hash(i, 2) % {MANY} AS INTEGER) AS many"
        f" FROM range({rows}) AS r(i)"
    )
    with duckdb.connect() as connection:
        if kind == "duckdb":
            connection.execute(f"ATTACH '{file}' AS d")
            connection.execute(f"CREATE TABLE d.t AS {base}")
        else:
            connection.execute(f"COPY ({base}) TO '{file}'")
    return data
