"""An answer's rows under the names that pandas and DuckDB have for handing them on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes


class Exports:
    """Other words for df(), arrow(), pl() and write(), which a class of answers has."""

    if TYPE_CHECKING:

        def df(self) -> pandas.DataFrame: ...
        def arrow(self) -> pyarrow.Table: ...
        def pl(self) -> polars.DataFrame: ...
        def write(self, path: str | Path, format: str | None = None) -> None: ...  # noqa: A002 - as in served.py
        def _as_text(self) -> str: ...
        def _shown(self, most: int | None = None) -> Any: ...

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a pandas DataFrame, as df()."""
        return self.df()

    def to_arrow(self) -> pyarrow.Table:
        """All rows as a pyarrow Table, as arrow()."""
        return self.arrow()

    def to_polars(self) -> polars.DataFrame:
        """All rows as a polars DataFrame, as pl()."""
        return self.pl()

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """All rows as a numpy array, as pandas makes it."""
        return self.df().to_numpy()

    def to_dict(self, orient: Any = "dict") -> Any:
        """As pandas makes it: to_dict("records") is a list of dicts."""
        return self.df().to_dict(orient)

    def to_csv(self, path: str | Path) -> None:
        self.write(path, "csv")

    def to_json(self, path: str | Path) -> None:
        self.write(path, "json")

    def to_parquet(self, path: str | Path) -> None:
        self.write(path, "parquet")

    def fetchdf(self) -> pandas.DataFrame:
        """DuckDB's word for df()."""
        return self.df()

    fetch_df = fetchdf

    def fetchnumpy(self) -> dict[str, Any]:
        """DuckDB's: an array for each column."""
        frame = self.df()
        return {str(name): frame[name].to_numpy() for name in frame.columns}

    def fetch_arrow_table(self) -> pyarrow.Table:
        """DuckDB's word for arrow()."""
        return self.arrow()

    def show(self) -> None:
        """Print the first rows with their 95 % intervals, and what they cost."""
        print(self._as_text())

    def plot(
        self,
        kind: str | None = None,
        *,
        x: str | None = None,
        y: str | Sequence[str] | None = None,
        ax: Axes | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the rows with their 95 % intervals: bar, barh, line or scatter. It answers matplotlib's Axes."""
        from dpsql.dbapi.plotting import plot

        return plot(self._shown(MOST_PLOTTED), kind, x=x, y=y, ax=ax, title=title)


MOST_PLOTTED = 10_000
