"""A finished result: a table in scratch, served as Python values, Arrow, frames and files."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from dpsql.engine import result_files
from dpsql.engine.failures import first_line
from dpsql.engine.loading import carried
from dpsql.engine.quoting import quote_identifier
from dpsql.engine.sources import Column
from dpsql.errors import InterfaceError, PostProcessingError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Row = tuple[Any, ...]
WIDE = "HUGEINT"
ZONED = "TIMESTAMP WITH TIME ZONE"
MOST_DIGITS = 10**38 - 1  # of a decimal


class ScratchResult:
    """Rows in their order. fetch* continue where the last one stopped; everything else serves all rows, each time."""

    def __init__(
        self,
        cursor: Callable[[], duckdb.DuckDBPyConnection],
        table: str,
        columns: tuple[Column, ...],
        forget: Callable[[str], object],
        *,
        shown: bool = True,
    ) -> None:
        """shown: to a user, who is told what a format cannot hold."""
        self.columns = columns
        self._new_cursor = cursor
        names = ", ".join(f"c{i} AS {quote_identifier(column.name)}" for i, column in enumerate(columns))
        self._sql = f"SELECT {names} FROM {table}"
        self._zoned = tuple(i for i, column in enumerate(columns) if column.type == ZONED)
        cells = ", ".join(f"c{i} AT TIME ZONE 'UTC'" if i in self._zoned else f"c{i}" for i in range(len(columns)))
        self._rows_sql = f"SELECT {cells} FROM {table}"
        self._table = table
        self._shown = shown
        self._open: duckdb.DuckDBPyConnection | None = None
        self._order = ""
        self._of: ScratchResult | None = None  # whose table it is
        self._forget = weakref.finalize(self, forget, table)

    def fetchall(self) -> list[Row]:
        """The rows not yet fetched."""
        with _values():
            return self._in_utc(self._rows().fetchall())

    def fetchmany(self, size: int) -> list[Row]:
        """At most `size` more rows; an empty list after the last."""
        with _values():
            return self._in_utc(self._rows().fetchmany(size))

    def fetchone(self) -> Row | None:
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def __iter__(self) -> Iterator[Row]:
        while rows := self.fetchmany(2048):
            yield from rows

    def head(self, count: int) -> list[Row]:
        """The first rows, wherever fetching stands."""
        with _values():
            return self._in_utc(self._cursor().execute(f"{self._rows_sql}{self._order} LIMIT {count:d}").fetchall())

    def _in_utc(self, rows: list[Row]) -> list[Row]:
        """Moments with a zone are in UTC, as all of scratch is: DuckDB would need another package for them."""
        if not self._zoned:
            return rows
        return [
            tuple(
                cell.replace(tzinfo=UTC) if i in self._zoned and isinstance(cell, datetime) else cell
                for i, cell in enumerate(row)
            )
            for row in rows
        ]

    def sorted_by(self, columns: Sequence[int], ascending: Sequence[bool]) -> ScratchResult:
        """The same rows in another order; columns by their positions, missing values last."""
        order = [f"c{i} {'ASC' if up else 'DESC'} NULLS LAST" for i, up in zip(columns, ascending, strict=True)]
        made = copy.copy(self)
        made._open, made._order, made._of = None, f" ORDER BY {', '.join(order)}", self
        return made

    @property
    def is_open(self) -> bool:
        return self._forget.alive

    def __len__(self) -> int:
        """How many rows there are in all."""
        rows: list[tuple[int]] = self._cursor().execute(f"SELECT count(*) FROM {self._table}").fetchall()
        return rows[0][0]

    def _rows(self) -> duckdb.DuckDBPyConnection:
        if self._open is None:
            self._open = self._cursor().execute(self._rows_sql + self._order)
        return self._open

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if not self._forget.alive:
            raise InterfaceError("the result is closed", code=602)
        return self._new_cursor()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows as an Arrow stream; needs no pyarrow. Integers beyond 64 bits are its decimals of 38 digits; bits and
        times with a zone, which it cannot hold, are text."""
        if self._shown:
            self.refuse_39_digits()
        return carried(self._cursor().sql(self._sql + self._order)).__arrow_c_stream__(requested_schema)

    def df(self) -> pandas.DataFrame:
        """All rows as a pandas frame."""
        with _package("pandas", "pandas"), _values():
            frame = self._cursor().execute(self._sql + self._order).df()
            _type_texts(frame, self.columns)
            self._keep_wide_integers(frame)
            return frame

    def _keep_wide_integers(self, frame: pandas.DataFrame) -> None:
        """Integers beyond 64 bits are Python's own: pandas has none, and DuckDB gives it doubles."""
        import pandas

        for i, column in enumerate(self.columns):
            if WIDE in column.type:
                values = [
                    value
                    for (value,) in self._cursor().execute(f"SELECT c{i} FROM {self._table}{self._order}").fetchall()
                ]
                frame.isetitem(i, pandas.Series(values, dtype=object, index=frame.index).array)

    def refuse_39_digits(self) -> None:
        """Arrow's decimals would hold something else, or nothing."""
        wide = [f"c{i}" for i, column in enumerate(self.columns) if column.type == WIDE]
        if not wide:
            return
        beyond = " OR ".join(f"{c} NOT BETWEEN -{MOST_DIGITS} AND {MOST_DIGITS}" for c in wide)
        if self._cursor().execute(f"SELECT count(*) FROM {self._table} WHERE {beyond}").fetchall() != [(0,)]:
            raise PostProcessingError(
                "an integer of 39 digits is too long for Arrow's decimals",
                code=502,
                fix="CAST it to DOUBLE or VARCHAR, or fetch rows.",
            )

    def arrow(self) -> pyarrow.Table:
        """All rows as a pyarrow table."""
        with _package("pyarrow", "dpsql[arrow]"):
            import pyarrow

            return pyarrow.table(self)

    def polars(self) -> polars.DataFrame:
        """All rows as a polars frame."""
        with _package("polars", "dpsql[polars]"):
            import polars

            return polars.DataFrame(self)

    def write(self, path: Path, format: str) -> None:  # noqa: A002 - the word every writer of files uses
        """All rows into a file: "csv" (a header, empty for NULL), "json" (a list of objects), "parquet"."""
        match format:
            case "csv":
                result_files.write_csv(path, self.columns, self._all())
            case "json":
                result_files.write_json(path, self.columns, self._all())
            case "parquet":
                self.refuse_39_digits()  # at once: through DuckDB it would be DuckDB's error
                result_files.write_parquet(path, self)
            case _:
                raise InterfaceError(f"unknown format {format}", fix="Choose csv, json or parquet.")

    def _all(self) -> Iterator[Row]:
        with _values():
            rows = self._cursor().execute(self._rows_sql + self._order)
            while batch := rows.fetchmany(2048):
                yield from self._in_utc(batch)

    def close(self) -> None:
        """Give the rows up; scratch drops them before its next statement."""
        if self._open is not None:
            self._open.close()
            self._open = None
        self._forget()

    def __repr__(self) -> str:
        return f"<{len(self.columns)} columns of released rows>"


def _type_texts(frame: pandas.DataFrame, columns: tuple[Column, ...]) -> None:
    """Text is pandas' own type for text, also where a column has no row or no value."""
    import pandas

    text = pandas.Series(["text"]).dtype
    for position, column in enumerate(columns):
        if column.type == "VARCHAR" and frame.dtypes.iloc[position] != text:
            frame.isetitem(position, frame.iloc[:, position].astype(text).array)


@contextmanager
def _values() -> Iterator[None]:
    """Some values have no Python form (dates beyond year 9999, 'infinity')."""
    try:
        yield
    except (duckdb.Error, ValueError, OverflowError) as error:
        raise PostProcessingError(f"a value cannot be fetched: {first_line(error)}", code=502) from None


@contextmanager
def _package(name: str, install: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != name:
            raise
        raise InterfaceError(f"this needs {name}", fix=f"Install it: pip install '{install}'.") from None
