"""A frame copied once into the database, so that no cell can make it fail and none changes how another is read.

Numbers, booleans and times keep their dtype; every other cell becomes text by itself, or NULL where it has none. The
catalog's types are applied later, by TRY_CAST, as for a file. Only a frame's shape can be refused (305).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import numpy as np

from dpsql.engine.arrow_cells import cell_by_cell, in_memory, listed, readable
from dpsql.engine.files import OTHER_TIMES, on_the_clock
from dpsql.engine.loading import Forward, load_columns, registered
from dpsql.engine.quoting import quote_identifier, repeated
from dpsql.engine.sources import Array, ArrowStream
from dpsql.engine.text_cells import text_cells
from dpsql.errors import SourceError

_KEPT = {"BOOLEAN", "VARCHAR", "DATE", "FLOAT", "DOUBLE", "TIMESTAMP", *OTHER_TIMES}
_MULTIPLIED = ("TIMESTAMP WITH TIME ZONE", "INTERVAL")  # DuckDB counts them in microseconds: coarser ones may not fit
_FINE = re.compile("us|μs|ns|nano", re.ASCII)
_TIMES = re.compile(r"TIME|INTERVAL")
_KEPT |= {f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")}
_PROBE = "dpsql_probe"
_FIX = "Pass a pandas, polars or pyarrow frame, or a mapping of column names to arrays."


def snapshot(connection: duckdb.DuckDBPyConnection, table: str, sql_name: str, data: object) -> None:
    """CREATE TABLE sql_name with the rows of `data`. SourceError 306 if it is no frame."""
    if is_pandas(data):
        columns = _pandas_columns(table, data)
    elif isinstance(data, Mapping):
        columns = _mapping_columns(table, data)
    else:
        stream = _stream(data)
        if stream is None:
            raise refuse(table, f"a {type(data).__name__} is not a frame")
        _arrow_table(connection, table, sql_name, stream)
        return
    if not columns:
        raise refuse(table, "its frame has no columns")
    if len({len(values) for values in columns.values()}) != 1:
        raise refuse(table, "its columns have different lengths")
    load_columns(connection, f"TABLE {sql_name}", columns)


def is_pandas(data: object) -> bool:
    """Without importing pandas: only who has made a frame has loaded it."""
    return any(cls.__name__ == "DataFrame" and cls.__module__.startswith("pandas") for cls in type(data).__mro__)


def _names(table: str, names: Sequence[object]) -> tuple[str, ...]:
    """The columns' names. Messages give positions: a frame read without a header has a person's row for names."""
    checked: list[str] = []
    for position, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name or "\0" in name or not name.isprintable():
            raise refuse(table, f"the name of column {position} is not plain text")
        checked.append(str(name))
    if repeated(checked) is not None:
        raise refuse(table, "two columns have the same name (case is ignored)")
    return tuple(checked)


def _mapping_columns(table: str, data: Mapping[Any, Any]) -> dict[str, Array]:
    names = _names(table, list(data))
    return {name: _array(table, name, values) for name, values in zip(names, data.values(), strict=True)}


def _array(table: str, name: str, values: object) -> Array:
    if hasattr(values, "dtype") and not isinstance(values, np.ndarray):
        if hasattr(values, "isna"):
            return _series(values)
        return _masked(values) if hasattr(values, "drop_nulls") else _array(table, name, np.asarray(values))
    if isinstance(values, np.ndarray):
        array = values
    elif isinstance(values, (list, tuple)):
        array = np.empty(len(values), dtype=object)
        array[:] = values
    else:
        raise refuse(table, f"column {name} is neither an array nor a list")
    if array.ndim != 1:
        raise refuse(table, f"column {name} is not one-dimensional")
    return robust(array)


def _masked(values: Any) -> Array:
    """A polars Series: of its dtype, which NumPy would change for a single NULL."""
    none = np.asarray(values.slice(0, 0))
    if none.dtype.kind not in "biuf":
        return robust(np.asarray(values))
    lost = np.asarray(values.is_null())
    whole = np.zeros(len(values), dtype=none.dtype)
    whole[~lost] = np.asarray(values.drop_nulls())
    return np.ma.MaskedArray(robust(whole), lost)


def _pandas_columns(table: str, frame: Any) -> dict[str, Array]:
    names = _names(table, list(frame.columns))
    return {name: _series(frame.iloc[:, i]) for i, name in enumerate(names)}


def _series(series: Any) -> Array:
    """A pandas Series by what its dtype is."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return robust(series.to_numpy())
    if hasattr(dtype, "categories"):
        return _categories(series)
    if dtype.kind == "M" and not str(dtype).startswith("date32"):  # pandas counts Arrow's days among times
        return robust(_moments(series))
    if dtype.kind in "biuf" and hasattr(dtype, "numpy_dtype"):
        mask = series.isna().to_numpy(dtype=bool)
        nothing = False if dtype.kind == "b" else 0  # Arrow's booleans refuse 0
        return np.ma.MaskedArray(series.to_numpy(dtype=dtype.numpy_dtype, na_value=nothing), mask)
    return text_cells(_objects(series))


def _moments(series: Any) -> Array:
    """Moments in UTC, in the unit they are counted in: pandas refuses a column for one that another unit cannot hold."""
    arrow = getattr(series.dtype, "pyarrow_dtype", None)
    if arrow is None:
        return np.asarray(series.to_numpy(dtype=f"datetime64[{series.dtype.unit}]"))
    if not hasattr(arrow, "unit"):  # days, counted in milliseconds
        return _objects(series)
    numbers = series.array.__arrow_array__().cast("int64").fill_null(0).to_numpy()
    return np.ma.MaskedArray(numbers.astype(f"datetime64[{arrow.unit}]"), series.isna().to_numpy(dtype=bool))


def _objects(series: Any) -> Array:
    """Its cells as Python has them; None where there is none, or none that Python can hold. Arrow's are asked one by one:
    NumPy would make floats of all lists of integers where one of them holds a NULL."""
    if not hasattr(series.dtype, "pyarrow_dtype"):
        try:
            return np.asarray(series.to_numpy(dtype=object, na_value=None))
        except (ValueError, OverflowError):
            pass
    cells = np.empty(len(series), dtype=object)
    cells[:] = listed(series.array.__arrow_array__())
    return cells


def _categories(series: Any) -> Array:
    codes = series.cat.codes.to_numpy()
    values = _series(series.cat.categories.to_series())
    if len(values) == 0:
        return np.full(len(codes), None, dtype=object)
    mask = (codes < 0) | np.ma.getmaskarray(values)[np.maximum(codes, 0)]
    return np.ma.MaskedArray(np.ma.getdata(values)[np.maximum(codes, 0)], mask)


def robust(array: Array) -> Array:
    """The array in a dtype DuckDB reads without ever failing."""
    match array.dtype.kind:
        case "b" | "i" | "u":
            return array
        case "f":
            return array if array.dtype.itemsize in (4, 8) else _double(array)
        case "M":
            return _microseconds(array)
        case _:
            cells = text_cells(np.ma.getdata(array).astype(object))
            cells[np.ma.getmaskarray(array)] = None
            return cells


def _double(array: Array) -> Array:
    with np.errstate(over="ignore"):
        return array.astype(np.float64)


_DAY = 86_400_000_000
# A unit in microseconds, or how many of it are one. Years and months are no fixed time: the longest of the calendar's.
_TIME = {"Y": 366 * _DAY, "M": 31 * _DAY, "W": 7 * _DAY, "D": _DAY, "h": 3_600_000_000, "m": 60_000_000}
_TIME |= {"s": 1_000_000, "ms": 1_000, "us": 1}
_FINER_TIME = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


def _microseconds(array: Array) -> Array:
    """A time that microseconds cannot hold is NULL: older NumPys wrap it around, newer ones (2.5) raise.

    None is left to `astype` that it could not hold: beyond 2^63 microseconds it is NULL before, and a finer time is divided
    here. What has no unit at all is NaT.
    """
    given = np.ma.getdata(array)
    unit, count = np.datetime_data(array.dtype)
    lost = np.isnat(given) | np.ma.getmaskarray(array)
    number = np.where(lost, 0, given.view(np.int64) if given.dtype.isnative else given.astype(np.int64))
    if unit in _FINER_TIME:
        micro = number // _FINER_TIME[unit] if count == 1 else number.astype(object) * count // _FINER_TIME[unit]
        lost |= np.asarray(abs(micro) >= 2**63, dtype=bool)
        return np.ma.MaskedArray(np.where(lost, 0, micro).astype(np.int64).view("datetime64[us]"), lost)
    most = (2**63 - 1) // (_TIME.get(unit, 2**63) * count)
    lost |= (number > most) | (number < -most)
    number = np.where(lost, 0, number)
    return np.ma.MaskedArray(number.astype(array.dtype.newbyteorder("=")).astype("datetime64[us]"), lost)


def _stream(data: object) -> ArrowStream | None:
    """What has to be asked first: a polars LazyFrame to collect, a pyarrow Dataset or reader to read."""
    for method in ("collect", "to_table"):
        if not isinstance(data, ArrowStream) and callable(getattr(data, method, None)):
            data = getattr(data, method)()
    if isinstance(data, ArrowStream) and callable(getattr(data, "read_all", None)):
        data = data.read_all()  # type: ignore[attr-defined]  # a pyarrow reader, whose rows could be read once only
    return in_memory(data) if isinstance(data, ArrowStream) else None


def _arrow_table(connection: duckdb.DuckDBPyConnection, table: str, sql_name: str, stream: ArrowStream) -> None:
    """As DuckDB reads it; a cell that it cannot read is NULL, and changes nothing else."""
    given = _given_names(stream)
    checked = None if given is None else _names(table, given)
    for position, type_ in enumerate(_types(stream).values(), start=1):
        if str(type_) == "Object":  # polars hands over where in memory they are; 1.18 ends the process when DuckDB asks
            raise refuse(table, f"column {position} holds Python objects in polars; cast it, or pass frame.to_pandas()")
    if _is_read(connection, table, sql_name, stream, checked):
        return
    mended = _mended(connection, table, stream)
    if mended is not None and _is_read(connection, table, sql_name, mended, checked):
        return
    cells = cell_by_cell(stream if mended is None else mended, checked or ())
    if cells is None:
        raise refuse(table, "its Arrow data cannot be read (a type DuckDB does not know, or text that is not UTF-8)")
    load_columns(connection, f"TABLE {sql_name}", cells)


def _mended(connection: duckdb.DuckDBPyConnection, table: str, stream: ArrowStream) -> Any:
    def reads(part: object) -> bool:
        return _is_read(connection, table, _PROBE, part, ())

    try:
        return readable(stream, reads)
    finally:
        connection.execute(f"DROP TABLE IF EXISTS {_PROBE}").fetchall()


def _is_read(
    connection: duckdb.DuckDBPyConnection, table: str, sql_name: str, stream: Any, checked: tuple[str, ...] | None
) -> bool:
    """CREATE TABLE; False where DuckDB does not know a type, or cannot read a cell. checked: the names, if known."""
    try:
        with registered(connection, Forward(stream)) as view:
            described = connection.execute(f"DESCRIBE SELECT * FROM {view}").fetchall()
            if checked is None:
                _names(table, [name for name, *_ in described])
            coarse = _coarse(described, stream)
            if coarse is not None:
                raise refuse(table, coarse)
            items = ", ".join(_arrow_item(name, type_) for name, type_, *_ in described)
            connection.execute(f"DROP TABLE IF EXISTS {sql_name}").fetchall()
            connection.execute(f"CREATE TABLE {sql_name} AS SELECT {items} FROM {view}").fetchall()
    except (duckdb.Error, TypeError, ValueError, RuntimeError):
        return False  # the message may quote a cell
    return True


def _given_names(stream: object) -> list[object] | None:
    """What pyarrow and polars say without being read; None of a stream that only says it as it is read."""
    for names in (getattr(getattr(stream, "schema", None), "names", None), getattr(stream, "columns", None)):
        if isinstance(names, Sequence) and not isinstance(names, str):
            return list(names)
    return None


def _types(stream: object) -> dict[object, object]:
    schema = getattr(stream, "schema", None)
    named = zip(schema.names, schema.types, strict=True) if schema is not None and hasattr(schema, "types") else ()
    return dict(schema if isinstance(schema, Mapping) else named)


def _coarse(described: Sequence[Sequence[Any]], stream: object) -> str | None:
    """What a frame is refused for by its schema: times that DuckDB cannot read for every value they can hold.

    Moments with a time zone and durations are brought to microseconds as they are read, with an error where they are
    too far; times inside lists and structs would be written as text, with an error for those that no clock shows."""
    arrow = _types(stream)
    from_duckdb = type(stream).__module__.lstrip("_").split(".")[0] == "duckdb"
    for position, (name, type_, *_) in enumerate(described, start=1):
        if type_ in _MULTIPLIED and not from_duckdb and not _FINE.search(str(arrow.get(name, ""))):
            return f"column {position} counts time in units coarser than microseconds; cast it to microseconds"
        if (type_.endswith("]") or type_.startswith(("STRUCT", "MAP", "UNION"))) and _TIMES.search(type_):
            return f"column {position} holds times inside lists or structs; leave it out or unnest it"
        if "dictionary<" in str(arrow.get(name, ""))[1:]:  # one value of it that is not UTF-8 would be in every cell
            return f"column {position} holds dictionaries inside lists or structs; leave it out or unnest it"
    return None


def _arrow_item(name: str, type_: str) -> str:
    column = quote_identifier(name)
    if type_ in _KEPT or type_.startswith("DECIMAL("):
        return column
    return f"TRY_CAST({on_the_clock(column, type_)} AS VARCHAR) AS {column}"


def refuse(table: str, what: str) -> SourceError:
    return SourceError(f"table {table}: {what}", code=306, fix=_FIX)
