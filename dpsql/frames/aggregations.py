"""What a whole frame and its groups can both be asked: statistics of columns, in one query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.spellings import Noting, several, statistic_name, statistic_sql
from dpsql.frames.statistics import DESCRIBED, ROW_STATISTICS, statistic

if TYPE_CHECKING:
    from dpsql.frames.result import Result

Items = list[tuple[str, str]]


class Asking(ABC):
    """Each method is one query, charged once whatever it measures."""

    def agg(self, func: object = None, **named: object) -> Result:
        """In all of pandas' spellings: agg("mean"), agg(["mean", "std"]), agg({"duration": ["mean", "max"]}),
        agg(n="count", m=("duration", "mean"), late=("duration", "quantile", 0.9)), also with functions (sum, numpy.mean,
        lambda x: x.quantile(0.9)).

        "count" or "size" alone counts rows, "units" the units.
        """
        items = [*self._of_all(func), *((self._one(asked), made) for made, asked in named.items())]
        if not items:
            raise InterfaceError(
                "agg() names no statistic", code=608, fix='Write agg(n="count", mean=("duration", "mean")).'
            )
        return self._ask(items)

    aggregate = agg

    def _of_all(self, func: object) -> Iterator[tuple[str, str]]:
        """A mapping of columns, or statistics of every column."""
        if isinstance(func, Mapping):
            for column, whats in func.items():
                for what in several(whats):
                    made = f"{column}_{statistic_name(what)}" if isinstance(whats, list | tuple) else column
                    yield statistic_sql(self._noting(column), what), made
        elif func is not None:
            one = self._one_column()
            listed = isinstance(func, list | tuple)
            for column in (one,) if one is not None else self._chosen("agg", ()):
                for what in several(func):
                    spoken = statistic_name(what)
                    made = (spoken if one is not None else f"{column}_{spoken}") if listed else column
                    yield statistic_sql(self._noting(column), what), made

    def sum(self, *columns: str) -> Result:
        return self._each("sum", columns)

    def mean(self, *columns: str) -> Result:
        """Of these columns, or of every number with declared bounds."""
        return self._each("mean", columns)

    def median(self, *columns: str) -> Result:
        return self._each("median", columns)

    def quantile(self, q: float | Sequence[float] = 0.5, *columns: str) -> Result:
        return self._each("quantile", columns, q)

    def min(self, *columns: str) -> Result:
        return self._each("min", columns)

    def max(self, *columns: str) -> Result:
        return self._each("max", columns)

    def var(self, *columns: str) -> Result:
        return self._each("var", columns)

    def std(self, *columns: str) -> Result:
        return self._each("std", columns)

    def nunique(self, *columns: str) -> Result:
        return self._each("nunique", columns)

    def _each(self, what: str, columns: tuple[str, ...], *arguments: Any) -> Result:
        chosen = self._chosen(what, columns)
        return self._ask([(statistic(self._column(column), what, *arguments), column) for column in chosen])

    def _chosen(self, what: str, columns: tuple[str, ...]) -> tuple[str, ...]:
        chosen = columns or self._numbers()
        if not chosen:
            raise InterfaceError(
                f"{what}() has no column to work on",
                code=608,
                why="No column here is a number with declared bounds.",
                fix=f'Name the columns: {what}("duration").',
            )
        return chosen

    def _described_items(self, columns: tuple[str, ...]) -> Items:
        """Every statistic of describe(), side by side."""
        alone = len(columns) == 1
        return [
            (statistic(self._column(column), what), what if alone else f"{column}_{what}")
            for column in columns
            for what in DESCRIBED
        ]

    def _one(self, asked: object) -> str:
        if asked == "units":
            return self._units()
        if type(asked).__name__ == "NamedAgg":  # pandas'
            asked = (getattr(asked, "column", None), getattr(asked, "aggfunc", None))
        column = self._one_column()
        if column is not None and not isinstance(asked, tuple) and asked != "size":
            return statistic_sql(self._noting(column), asked)
        if isinstance(asked, str):
            if asked not in ROW_STATISTICS:
                raise InterfaceError(
                    f"no column is given for {asked!r}",
                    code=608,
                    fix=f'Write name=("duration", {asked!r}), or "count".',
                )
            return "COUNT(*)"
        if not isinstance(asked, tuple) or len(asked) < 2 or not isinstance(asked[0], str):
            raise InterfaceError(
                "a statistic is a name, or a pair of a column and a name",
                code=608,
                fix='Write n="count", m=("x", "mean").',
            )
        return statistic_sql(self._noting(asked[0]), asked[1], *asked[2:])

    def _column(self, column: str) -> str:
        """The SQL of a column that is there."""
        self._check(column)
        return words.name(column)

    def _one_column(self) -> str | None:
        """The column that groupby("k")["x"] is about."""
        return None

    @abstractmethod
    def _noting(self, column: str) -> Noting:
        """A column to be told a statistic of."""

    @abstractmethod
    def _ask(self, items: Sequence[tuple[str, str]]) -> Result:
        """One query: (SQL, name) of each column of its answer."""

    @abstractmethod
    def _units(self) -> str:
        """The SQL that counts the units."""

    @abstractmethod
    def _numbers(self) -> tuple[str, ...]:
        """The columns that are numbers with declared bounds."""

    @abstractmethod
    def _check(self, column: str) -> None:
        """Refuse a column that is not there."""


def selected(items: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{sql} AS {words.name(made)}" for sql, made in items)
