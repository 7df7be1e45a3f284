"""Cells of an Arrow table that DuckDB cannot read, as NULL, so that none changes how another one is read."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from dpsql.engine.sources import Array
from dpsql.engine.text_cells import text_cells

Reads = Callable[[object], bool]
SAFE = ("duckdb", "polars")  # their texts are UTF-8; what they cannot hand over, their types say
TEXTS = ("string", "large_string")


def in_memory(stream: object) -> Any:
    """The stream as a pyarrow table, if pyarrow is installed: its rows can then be looked at again; else as it is."""
    if type(stream).__module__.lstrip("_").split(".")[0] in SAFE or importlib.util.find_spec("pyarrow") is None:
        return stream
    return importlib.import_module("pyarrow").table(stream)


def readable(table: Any, reads: Reads) -> Any:
    """The table with NULL for each cell that cannot be read; None if it is no pyarrow table. reads: whether DuckDB can read
    a table.

    Lemma: what a cell becomes depends on that cell and on the schema alone. Proof: a column that is not read without rows
    either is left as it is, by its type. In any other the text of a cell is read if it is UTF-8, which DuckDB and Python
    decide alike, and any other cell if a table of it alone is read. All others stay as they are, in a column of the same
    type, and are read by the same statement as if every cell could be read.
    """
    if type(table).__module__.split(".")[0] != "pyarrow":
        return None
    for place, column in enumerate(table.columns):
        one = table.select([place])
        if not reads(one) and reads(one.slice(0, 0)):
            table = table.set_column(place, table.schema.names[place], _mended(column, one, reads))
    return table


def _mended(column: Any, one: Any, reads: Reads) -> Any:
    if str(column.type).startswith("dictionary<"):  # a slice of it has all of its values
        column = column.cast(column.type.value_type)
    if str(column.type) not in TEXTS:
        return column.take(_places(len(column), _unreadable(one, reads)))
    cells = [_text(cell) for cell in column.cast(str(column.type).replace("string", "binary")).to_pylist()]
    arrow = importlib.import_module("pyarrow")
    return arrow.chunked_array([arrow.array(cells, type=column.type)])


def _text(cell: bytes | None) -> str | None:
    try:
        return None if cell is None else cell.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _unreadable(one: Any, reads: Reads) -> set[int]:
    """The rows that are not read by themselves, found by halves."""
    alone, waiting = set[int](), [(0, one.num_rows)]
    while waiting:
        begin, end = waiting.pop()
        if begin == end or reads(one.slice(begin, end - begin)):
            continue
        if end - begin == 1:
            alone.add(begin)
            continue
        middle = (begin + end) // 2
        waiting += [(begin, middle), (middle, end)]
    return alone


def _places(count: int, unreadable: set[int]) -> Any:
    """Each row, NULL in place of those."""
    arrow = importlib.import_module("pyarrow")
    return arrow.array([None if place in unreadable else place for place in range(count)], type=arrow.int64())


def cell_by_cell(stream: object, names: tuple[str, ...]) -> dict[str, Array] | None:
    """Text of every cell, for a table in memory with a type that DuckDB does not know. None: a stream, whose rows are gone,
    or no known table."""
    columns: dict[str, Array] = {}
    for name in names:
        try:
            column = stream[name]  # type: ignore[index]  # tables have it, streams raise TypeError
            cells_of = listed(column)
        except (TypeError, AttributeError):
            return None
        cells = np.empty(len(cells_of), dtype=object)
        cells[:] = cells_of
        columns[name] = text_cells(cells)
    return columns or None


def listed(column: Any) -> list[object]:
    """Its cells; one that Python has no value for (a year beyond 9999) is None."""
    to_list = getattr(column, "to_pylist", None) or column.to_list
    try:
        return list(to_list())
    except (ValueError, OverflowError):
        return [cell_at(column, place) for place in range(len(column))]


def cell_at(column: Any, place: int) -> object:
    """None where Python has no value for it."""
    try:
        cell = column[place]
        return cell.as_py() if hasattr(cell, "as_py") else cell
    except (ValueError, OverflowError):
        return None
