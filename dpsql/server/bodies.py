"""Rows as the bytes of an answer: Arrow and CSV, up to a size."""

from __future__ import annotations

import io
from csv import writer as csv_writer
from typing import Any

from dpsql.dbapi.cursor import Cursor
from dpsql.engine.result_files import csv_text
from dpsql.errors import InterfaceError

MOST_ROWS = 1_000_000
MOST_BYTES = 64 << 20


def arrow(cursor: Cursor[tuple[Any, ...]]) -> bytes:
    """As a stream."""
    import pyarrow

    buffer = io.BytesIO()
    table = cursor.arrow()
    with pyarrow.ipc.new_stream(buffer, table.schema) as writer:
        writer.write_table(table)
    return _bounded(buffer.getvalue())


def csv(columns: list[list[str]], rows: list[tuple[Any, ...]]) -> bytes:
    """With a line of names."""
    file = io.StringIO(newline="")
    writer = csv_writer(file, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    writer.writerows([[csv_text(value) for value in row] for row in rows])
    return _bounded(file.getvalue().encode())


def _bounded(body: bytes) -> bytes:
    if len(body) > MOST_BYTES:
        raise too_large()
    return body


def too_large() -> InterfaceError:
    """705."""
    return InterfaceError(
        "the result is too large to send",
        code=705,
        fix=f"Ask for at most {MOST_ROWS:,} rows and {MOST_BYTES >> 20} MB.",
    )
