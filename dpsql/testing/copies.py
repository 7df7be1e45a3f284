"""The rows of each source in memory, as they are: cells to look at, and any of the rows again, in any order.

CSV lines are cut by csv_copies.py, tables of a server and of Spark read by server_copies.py and spark_copies.py; Parquet and
.duckdb come through a plain connection (engine/plain.py), frames as they are. pyarrow is needed for all but frames of
pandas and mappings.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from dpsql.catalog.model import Catalog, fold
from dpsql.engine import plain
from dpsql.engine.sources import Database, Files, Frame, Server, Source, SparkTable
from dpsql.errors import InterfaceError
from dpsql.sources.table_sources import overrides, source_of
from dpsql.testing.cells import DAY, Cell, Moment
from dpsql.testing.csv_copies import csv_copy
from dpsql.testing.one_copy import Copy, Places, in_memory, named_in
from dpsql.testing.server_copies import server_copy
from dpsql.testing.spark_copies import spark_copy


def read(catalog: Catalog, source: object) -> dict[str, Copy]:
    """Every private table's copy, by its name in the catalogue. source: as for connect()."""
    given = overrides(catalog, source)
    private = [table for table in catalog.tables if not table.public]
    return {table.name: _copy(table.name, source_of(table, given)) for table in private}


def public(catalog: Catalog, source: object) -> dict[str, object]:
    """What public tables are given as; those that the catalogue's own sources give are left out."""
    given = overrides(catalog, source)
    named = {table.name: given.get(fold(table.name)) for table in catalog.tables if table.public}
    return {name: copy for name, copy in named.items() if copy is not None}


def _copy(table: str, source: Source) -> Copy:
    match source:
        case Files(kind="csv"):
            return csv_copy(table, source)
        case Files():
            return _parquet(plain.parquet_table(table, source), table, source)
        case Database():
            return _database(plain.database_table(table, source), source)
        case Frame():
            return _frame(source.data)
        case Server():
            return server_copy(source)
        case SparkTable():
            return spark_copy(source, _arrow_cells)


def _frame(data: Any) -> Copy:
    if any(cls.__name__ == "DataFrame" and cls.__module__.startswith("pandas") for cls in type(data).__mro__):
        return in_memory(len(data), lambda name: _pandas_cells(data, name), lambda places: data.iloc[list(places)])
    if isinstance(data, Mapping):
        return _mapping({name: _array(values) for name, values in data.items()})
    for method in ("collect", "to_arrow", "to_arrow_table", "to_table", "read_all"):
        if not hasattr(data, "take") and callable(getattr(data, method, None)):
            data = getattr(data, method)()
    if not hasattr(data, "column_names") and hasattr(data, "__arrow_c_stream__"):
        import pyarrow

        data = pyarrow.table(data)
    if not hasattr(data, "column_names"):
        raise InterfaceError(f"the judge does not copy a {type(data).__name__}")
    return _arrow(data)


# --- Arrow -------------------------------------------------------------------------------------------------------------


def _arrow(table: Any) -> Copy:
    def cells(name: str) -> list[Cell]:
        return _arrow_cells(table.column(named_in(table.column_names, name)))

    return in_memory(table.num_rows, cells, lambda places: _taken(table, places))


def _taken(table: Any, places: Places) -> Any:
    import pyarrow

    return table.take(pyarrow.array(list(places), pyarrow.int64()))


def _arrow_cells(column: Any) -> list[Cell]:
    """Moments by their number: Python has none beyond the year 9999."""
    import pyarrow

    type_ = column.type
    if not (pyarrow.types.is_date32(type_) or pyarrow.types.is_timestamp(type_)):
        return [_cell(value) for value in column.to_pylist()]
    if pyarrow.types.is_date32(type_):
        return [_day(n) for n in column.cast(pyarrow.int32()).to_pylist()]
    micros = {"s": 1_000_000, "ms": 1000, "us": 1}.get(type_.unit)
    return [_moment(n, micros) for n in column.cast(pyarrow.int64()).to_pylist()]


def _day(days: int | None) -> Moment | None:
    return None if days is None else Moment(days * DAY, is_day=True, forever=abs(days) == 2**31 - 1)


def _moment(number: int | None, micros: int | None) -> Moment | None:
    if number is None:
        return None
    count = number // 1000 if micros is None else number * micros
    if abs(count) > 2**63 - 1:
        return None
    return Moment(count, is_day=False, forever=abs(count) == 2**63 - 1)


def _parquet(table: Any, name: str, source: Files) -> Copy:
    def written(places: Places, folder: Path) -> Source:
        from pyarrow import parquet

        path = folder / f"{name}.parquet"
        parquet.write_table(_taken(table, places), path, row_group_size=max(1, len(places) // 2))
        return replace(source, paths=(path,))

    return replace(_arrow(table), written=written)


def _database(table: Any, source: Database) -> Copy:
    def written(places: Places, folder: Path) -> Source:
        made = replace(source, path=folder / source.path.name)
        plain.write_database_table(made, _taken(table, places))
        return made

    return replace(_arrow(table), written=written)


# --- pandas and mappings ------------------------------------------------------------------------------------------------


def _pandas_cells(frame: Any, name: str) -> list[Cell]:
    series = frame[named_in(list(frame.columns), name)]
    if hasattr(series.dtype, "categories"):
        series = series.astype(series.cat.categories.dtype)
    if hasattr(series.dtype, "pyarrow_dtype"):
        return _arrow_cells(series.array.__arrow_array__())
    plainly = series.dtype.kind in "biuf" if hasattr(series.dtype, "kind") else False
    cells = [_cell(value) for value in series.astype(object)]
    return cells if plainly or series.dtype.kind == "M" else [_object(value) for value in series.astype(object)]


def _array(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values
    if isinstance(values, list | tuple):
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if hasattr(values, "iloc"):
        return values.array
    return np.asarray(values)


def _mapping(columns: Mapping[str, Any]) -> Copy:
    def cells(name: str) -> list[Cell]:
        column = columns[named_in(list(columns), name)]
        is_object = str(getattr(column, "dtype", "")) == "object"
        return [_object(value) if is_object else _cell(value) for value in column]

    def rows(places: Places) -> object:
        at = np.array(list(places), dtype=np.int64)
        return {name: values[at] for name, values in columns.items()}

    return in_memory(len(next(iter(columns.values()))), cells, rows)


def _cell(value: Any) -> Cell:
    """A cell of a column that has a type of its own."""
    match value:
        case None | bool() | int() | str() | Decimal():
            return value
        case float() | np.floating():
            return float(value)
        case np.bool_():
            return bool(value)
        case np.integer():
            return int(value)
        case datetime() | date():
            return _when(value)
        case np.datetime64():
            return None if np.isnat(value) else _moment(int(value.astype("datetime64[us]").astype(np.int64)), 1)
    if value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise InterfaceError(f"the judge reads no {type(value).__name__} as a unit or a path's column")


def _object(value: Any) -> Cell:
    """A cell of a column of any objects: its text."""
    cell = _cell(value)
    match cell:
        case None | str():
            return cell
        case float():
            return None if cell != cell else repr(cell)
        case bool():
            return "true" if cell else "false"
        case int():
            return str(cell)
        case Decimal():
            return None if cell.is_nan() else format(cell, "f")
        case Moment():
            raise InterfaceError("the judge reads no moments among other objects")


def _when(value: Any) -> Cell:
    if type(value).__name__ == "NaTType":
        return None
    days = value.toordinal() - date(1970, 1, 1).toordinal()
    if not isinstance(value, datetime):
        return Moment(days * DAY, is_day=True)
    if value.tzinfo is not None:
        raise InterfaceError("the judge reads no moments with a time zone")
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return Moment(days * DAY + seconds * 1_000_000 + value.microsecond, is_day=False)


def shuffled(count: int, seed: int) -> list[int]:
    """The places of all rows in another order, the same for one seed."""
    step = next(n for n in itertools.count(2 * seed + 3) if np.gcd(n, max(1, count)) == 1)
    return [(at * step + seed) % count for at in range(count)]
