"""Writes made-up tables as Parquet. It sees numpy arrays of the samples, never private data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np


def write_parquet(path: Path, columns: Mapping[str, np.ndarray[Any, Any]], types: Mapping[str, str]) -> None:
    """One Parquet file with the columns in order, each cast to its SQL type. A masked cell is NULL."""
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f'CAST("{name}" AS {types[name]}) AS "{name}"' for name in columns)
    with duckdb.connect() as connection:
        connection.execute("SET threads=1")  # one writer: the same rows in the same order give the same file
        connection.register("made_up", dict(columns))
        place = str(path).replace("'", "''")
        connection.execute(f"COPY (SELECT {listed} FROM made_up) TO '{place}' (FORMAT parquet)")
        connection.unregister("made_up")
