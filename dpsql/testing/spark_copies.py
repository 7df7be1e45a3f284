"""A table of Spark in memory: its rows as a plain read gives them, and what a cell is as a unit and in its declared type.

The rule of plan/dialects/spark/reading.py, written a second time and not imported. Copies are tables of the same Spark, in
a schema of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpsql.engine.sources import SparkTable
from dpsql.engine.spark.plain import Tables
from dpsql.testing.cells import Cell
from dpsql.testing.one_copy import Copy, Places, named_in
from dpsql.testing.server_copies import is_too_long, stored_unit, stored_value

ArrowCells = Callable[[Any], list[Cell]]


def spark_copy(source: SparkTable, arrow_cells: ArrowCells) -> Copy:
    """arrow_cells: of a column of Arrow."""
    tables = Tables(source)
    all_rows = tables.read()
    names = [name for name, _ in all_rows.fields]

    def cells(name: str) -> list[Cell]:
        at = names.index(named_in(names, name))
        read = arrow_cells(all_rows.arrow.column(at))
        stored = [None if isinstance(cell, str) and is_too_long(cell) else cell for cell in read]
        padded = all_rows.fields[at][1].startswith("char(")
        return [cell.rstrip(" ") if padded and isinstance(cell, str) else cell for cell in stored]

    def rows(places: Places) -> SparkTable:
        import pyarrow

        taken = all_rows.arrow.take(pyarrow.array(list(places), pyarrow.int64()))
        return tables.table(replace(all_rows, arrow=taken))

    def written(places: Places, folder: Path) -> SparkTable:
        del folder  # copies are tables beside the source
        return rows(places)

    return Copy(
        count=all_rows.arrow.num_rows,
        cells=cells,
        rows=rows,
        written=written,
        unit=stored_unit,
        value=stored_value,
        close=tables.drop,
    )
