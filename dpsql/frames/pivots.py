"""pivot_table and crosstab: one grouped query, its released rows laid out as a table of two directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpsql.dbapi.display import Shown, html_table, text_table
from dpsql.errors import InterfaceError
from dpsql.frames.result import Result
from dpsql.report.privacy import CostReport, Privacy

if TYPE_CHECKING:
    import pandas

Names = str | Sequence[str] | None


class Pivot:
    """The rows of one answer as a table: .df() of values, .half_widths() of their 95 % intervals, .long as a Result."""

    def __init__(self, long: Result, index: Sequence[str], columns: Sequence[str], values: Sequence[str]) -> None:
        self.long = long
        self._index, self._columns, self._values = list(index), list(columns), list(values)

    def df(self) -> pandas.DataFrame:
        """The values, as pandas.pivot_table lays them out."""
        return self._laid_out(self.long.df())

    to_pandas = df

    def half_widths(self) -> pandas.DataFrame:
        """The half-widths of the 95 % intervals, laid out as the values are; missing where there is none."""
        rows = self.long.df()
        privacy = self.privacy
        halves = [
            {} if privacy is None or privacy.exact else privacy.intervals.of_row(row) for row in self.long.fetchall()
        ]
        for value in self._values:
            rows[value] = [each.get(value, math.nan) for each in halves]
        return self._laid_out(rows)

    @property
    def privacy(self) -> Privacy | None:
        return self.long.privacy

    @property
    def cost(self) -> CostReport | None:
        return self.long.cost

    def plot(self, kind: str = "bar", **given: Any) -> Any:
        """Bars, or lines, with their 95 % intervals: what pandas draws of .df(); needs matplotlib."""
        from dpsql.dbapi.plotting import needs_matplotlib

        needs_matplotlib()
        halves = self.half_widths()
        widths = None if halves.isna().all(axis=None) else halves.fillna(0.0).T.to_numpy()
        draw: Any = self.df().plot
        return draw(kind=kind, yerr=widths, **given)

    def _laid_out(self, rows: pandas.DataFrame) -> pandas.DataFrame:
        values: Any = self._values[0] if len(self._values) == 1 else self._values
        if not self._columns:
            return rows.set_index(self._index)[self._values]
        index: Any = self._index or [""] * len(rows)
        if not self._index:
            rows = rows.assign(**{"": self._values[0]})
            index = [""]
        made = rows.pivot(index=index, columns=self._columns, values=values)
        made.attrs = rows.attrs
        return made

    def _shown(self) -> Shown:
        values, halves = self.df(), self.half_widths()
        flat = values.reset_index()
        keys = len(flat.columns) - len(values.columns)
        names = tuple(", ".join(map(str, c)).strip(", ") if isinstance(c, tuple) else str(c) for c in flat.columns)
        rows = tuple(tuple(_plain(cell) for cell in row) for row in flat.itertuples(index=False, name=None))
        none = (None,) * keys
        widths = tuple(none + tuple(_plain(half) or None for half in row) for row in halves.itertuples(index=False))
        return Shown(columns=names, rows=rows, total=len(rows), privacy=self.privacy, widths=widths)

    def __repr__(self) -> str:
        return text_table(self._shown())

    def _repr_html_(self) -> str:
        return html_table(self._shown())


def _plain(cell: Any) -> Any:
    """numpy's numbers as Python's; a missing one as None."""
    value = cell.item() if hasattr(cell, "item") else cell
    return None if isinstance(value, float) and math.isnan(value) else value


def named(given: Names) -> list[str]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def check_directions(index: Sequence[str], columns: Sequence[str]) -> None:
    if not index and not columns:
        raise InterfaceError(
            "the table has no groups", code=608, fix='Write pivot_table("duration", index="specialty").'
        )
    if set(index) & set(columns):
        raise InterfaceError("one column is both index and columns", code=608, fix="Choose another for one of them.")


SHARES = {
    True: '"count" / NULLIF(SUM("count") OVER (), 0)',
    "all": '"count" / NULLIF(SUM("count") OVER (), 0)',
    "index": '"count" / NULLIF(SUM("count") OVER (PARTITION BY {index}), 0)',
    "columns": '"count" / NULLIF(SUM("count") OVER (PARTITION BY {columns}), 0)',
}


def share_of(normalize: object, index: str, columns: str) -> str:
    """crosstab's normalize=, over the released counts."""
    if not isinstance(normalize, bool | str) or normalize not in SHARES:
        raise InterfaceError(f"normalize={normalize!r}", code=608, fix="Choose True, 'all', 'index' or 'columns'.")
    return SHARES[normalize].format(index=index, columns=columns)
