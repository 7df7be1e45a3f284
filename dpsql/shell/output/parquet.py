"""A Parquet file; it cannot be shown on a terminal."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import BinaryIO

from dpsql.engine.result_files import write_parquet
from dpsql.errors import InterfaceError
from dpsql.shell.output.mode import Mode, Page


def write(page: Page, out: BinaryIO) -> None:
    if page.stream is None:
        raise InterfaceError("this result cannot be written as Parquet", code=621, fix="Choose csv or json.")
    with tempfile.TemporaryDirectory(prefix="dpsql-") as folder:
        path = Path(folder) / "result.parquet"
        write_parquet(path, page.stream)
        out.write(path.read_bytes())


PARQUET = Mode(name="parquet", doc="a Parquet file, with -o or .output", write_bytes=write, suffixes=(".parquet",))
