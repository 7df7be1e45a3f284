"""What a table's rows come from, as plain values; what a column is, and what data may be handed over for loading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from dpsql.engine.sealed import Sealed

UNREADABLE = "unreadable: "  # before what a message says of a column that no query may read

Array = np.ndarray[Any, np.dtype[Any]]  # a numpy.ma.MaskedArray is one
Columns = Mapping[str, Array]


@runtime_checkable
class ArrowStream(Protocol):
    """Whatever exports rows through the Arrow C interface; neither side needs pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files of one table: exact paths or globs.

    CSV only: delimiter, quote ("" for none), escape; header, and where it is False the columns' names in order.
    exact: columns in which two different values must never be read as one (of a unit, or its path). Parquet
    files may hold bytes that are not UTF-8 and are read as "?"; in these columns a value with a "?" is NULL instead.
    """

    paths: tuple[Path, ...]
    kind: Literal["parquet", "csv"]
    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    header: bool = True
    names: tuple[str, ...] = ()
    exact: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """A table of a .duckdb file."""

    path: Path
    schema: str
    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A PostgreSQL database. parameters: libpq's, never a password: that comes from the environment, a password file of
    libpq, a service file, or the first line of password_file. timeout: seconds a statement may take."""

    parameters: tuple[tuple[str, str], ...]
    password_file: Path | None = None
    timeout: int = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A table of a PostgreSQL database. system: the identifier that the server must have."""

    address: Address
    schema: str
    table: str
    system: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Frame(Sealed):
    """A frame in memory: pandas, polars, pyarrow, a DuckDB relation, anything with __arrow_c_stream__, or a mapping
    of names to arrays. It is copied when the vault opens; later changes to it are not seen."""

    data: object


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Cluster(Sealed):
    """Where Spark runs: at an address without a token (sc://host, spark://host, local[2]), or behind a session that was
    given. timeout: seconds a statement may take."""

    url: str | None = None
    session: object | None = None
    timeout: int = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkTable:
    """A table by the parts of its name in Spark's catalog, or Parquet files by the addresses that Spark reads them at."""

    cluster: Cluster
    name: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


Source = Files | Database | Server | SparkTable | Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column as the engine describes it; type is the engine's word, or UNREADABLE and why."""

    name: str
    type: str
