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
TEXTS = ("string", "large_string", "string_view")


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
    decide alike, and any other cell if a table of it alone is read. All others stay as they are, in a column that
    DuckDB takes for the same type, and are read by the same statement as if every cell could be read.
    """
    if type(table).__module__.split(".")[0] != "pyarrow":
        return None
    for place, column in enumerate(table.columns):
        one = table.select([place])
        if not reads(one) and reads(one.slice(0, 0)):
            table = table.set_column(place, table.schema.names[place], _mended(column, one, reads))
    return table


def _mended(column: Any, one: Any, reads: Reads) -> Any:
    arrow = importlib.import_module("pyarrow")
    shared = str(column.type).startswith("dictionary<")  # a slice of it has all of its values
    values = column.type.value_type if shared else column.type
    if str(values) in TEXTS:
        return arrow.chunked_array([arrow.array(listed(column), type=arrow.large_string())])
    if shared:
        column = column.cast(values)
        one = arrow.table([column], names=one.schema.names)
    return _without(column, sorted(_unreadable(one, reads)))


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


def _without(column: Any, unreadable: list[int]) -> Any:
    """NULL in place of those rows; all others in slices, as not every type can be taken by places."""
    arrow = importlib.import_module("pyarrow")
    chunks: list[Any] = []
    begin = 0
    for place in unreadable:
        chunks += [*column.slice(begin, place - begin).chunks, arrow.nulls(1, column.type)]
        begin = place + 1
    return arrow.chunked_array([*chunks, *column.slice(begin).chunks], type=column.type)


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
