"""A column of a frame: an SQL expression that can be compared, calculated with, and asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.bins import equal, given
from dpsql.frames.calculations import Calculated
from dpsql.frames.counts import grouped_counts, shown_counts
from dpsql.frames.statistics import statistic

if TYPE_CHECKING:
    from dpsql.frames.result import Result


class PrivateColumn(Calculated):
    """`frame["duration"] / 60 > 1` is an expression; `.mean()` and its like ask, and are charged."""

    # Questions --------------------------------------------------------------------------------------------------

    def count(self) -> Any:
        """Rows where the column is not NULL."""
        return self._ask("count")

    def sum(self) -> Any:
        return self._ask("sum")

    def mean(self) -> Any:
        return self._ask("mean")

    def median(self) -> Any:
        return self._ask("median")

    def quantile(self, q: float | Sequence[float] = 0.5) -> Any:
        """Of several fractions a list, at the price of about log2 of their number."""
        return self._ask("quantile", q)

    def min(self) -> Any:
        return self._ask("min")

    def max(self) -> Any:
        return self._ask("max")

    def var(self) -> Any:
        return self._ask("var")

    def std(self) -> Any:
        return self._ask("std")

    def nunique(self) -> Any:
        """Different values; of the unit column: how many units there are."""
        return self._ask("nunique")

    def mode(self) -> Any:
        return self._ask("mode")

    def corr(self, other: PrivateColumn) -> Any:
        """The correlation with another column of the frame."""
        return self._ask_sql(f"CORR({self._other(other)}, {self._sql})", "corr")

    def cov(self, other: PrivateColumn) -> Any:
        """The covariance (of a sample) with another column of the frame."""
        return self._ask_sql(f"COVAR_SAMP({self._other(other)}, {self._sql})", "cov")

    def agg(self, func: object) -> Any:
        """A statistic by its name or as a function; of a list of them one row, in one query."""
        from dpsql.frames.spellings import Noting, statistic_name, statistic_sql

        noting = Noting(self._frame, self._sql, self.name)
        if not isinstance(func, list | tuple):
            return self._ask_sql(statistic_sql(noting, func), self.name if callable(func) else str(func))
        listed = ", ".join(f"{statistic_sql(noting, one)} AS {words.name(statistic_name(one))}" for one in func)
        return self._frame._result(f"SELECT {listed} FROM {self._frame._relation.sql}")

    aggregate = agg

    def value_counts(
        self, normalize: bool = False, sort: bool = True, ascending: bool = False, dropna: bool = True
    ) -> Result:
        """The number of rows of each value, most frequent first. normalize: their share of all that are shown."""
        counted = grouped_counts([(self._sql, self.name)], self._frame._relation.sql, dropna=dropna)
        return self._frame._result(shown_counts(counted, [self.name], normalize, sort, ascending))

    def hist(
        self,
        bins: int | Iterable[Any] = 10,
        range: tuple[Any, Any] | None = None,  # noqa: A002 - numpy's word
    ) -> Result:
        """The number of rows in bins: lower, upper, count. As in numpy a bin holds its lower end, the last one both.

        bins: how many of one width from the lower to the upper bound, or the ends themselves: [0, 30, 60, 240].
        range: where the column has no declared bounds, or for other ends; values outside it are not counted.
        """
        if isinstance(bins, Iterable) and not isinstance(bins, str):
            binning = given(self._sql, list(bins))
        else:
            binning = equal(self._sql, bins, *(self._ends() if range is None else map(float, range)))
        inner = (
            f'SELECT {binning.number} AS "bin", COUNT(*) AS "count" FROM {self._frame._relation.sql}'
            f" WHERE {binning.inside} GROUP BY 1"
        )
        return self._frame._result(
            f'SELECT {binning.lower} AS "lower", {binning.upper} AS "upper", "count" FROM ({inner}) AS h'
            ' WHERE "bin" IS NOT NULL ORDER BY 1'
        )

    def describe(self, *, epsilon: float | None = None, delta: float | None = None) -> Result:
        """Count, mean, standard deviation, least, quartiles and greatest, within one query's ε."""
        return self._frame._asked_with(epsilon, delta)._describe([(self.name, self._sql)])

    def _ask(self, what: str, *arguments: Any) -> Any:
        return self._ask_sql(statistic(self._sql, what, *arguments), what)

    def _ask_sql(self, sql: str, name: str) -> Any:
        return self._frame._scalar(f"SELECT {sql} AS {words.name(name)} FROM {self._frame._relation.sql}")

    def _ends(self) -> tuple[float, float]:
        bounds = self._frame._bounds_of(self.name) if self._sql == words.name(self.name) else None
        if bounds is None:
            raise InterfaceError(
                f"the column {self.name!r} has no declared bounds",
                code=608,
                why="Bins are never taken from the data.",
                fix="Give them: hist(range=(0, 240)).",
            )
        return bounds
