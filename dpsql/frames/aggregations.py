"""What a whole frame and its groups can both be asked: statistics of columns, in one query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.statistics import ROW_STATISTICS, statistic

if TYPE_CHECKING:
    from dpsql.frames.result import Result

Asked = str | tuple[Any, ...]


class Asking(ABC):
    """Each method is one query, charged once whatever it measures."""

    def agg(self, columns: Mapping[str, str | Sequence[str]] | None = None, **named: Asked) -> Result:
        """agg(n="count", mean=("duration", "mean"), late=("duration", "quantile", 0.9)), or agg({"duration": ["mean"]}).

        "count" or "size" alone counts rows, "units" the units.
        """
        if columns is not None and not isinstance(columns, Mapping):
            raise InterfaceError(
                "agg() takes a mapping of columns, or names of its own",
                code=608,
                fix='Write agg({"duration": "mean"}), agg(m=("duration", "mean")), or mean().',
            )
        items: list[tuple[str, str]] = []
        for column, whats in (columns or {}).items():
            several = [whats] if isinstance(whats, str) else list(whats)
            items += [
                (statistic(self._column(column), what), column if isinstance(whats, str) else f"{column}_{what}")
                for what in several
            ]
        items += [(self._one(asked), made) for made, asked in named.items()]
        if not items:
            raise InterfaceError("nothing is asked", code=608, fix='Write agg(n="count", mean=("duration", "mean")).')
        return self._ask(items)

    aggregate = agg

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
        chosen = columns or self._numbers()
        if not chosen:
            raise InterfaceError(
                f"{what}() of no column",
                code=608,
                why="No column here is a number with declared bounds.",
                fix=f'Name the columns: {what}("duration").',
            )
        return self._ask([(statistic(self._column(column), what, *arguments), column) for column in chosen])

    def _one(self, asked: Asked) -> str:
        if asked == "units":
            return self._units()
        if isinstance(asked, str):
            if asked not in ROW_STATISTICS:
                raise InterfaceError(
                    f"{asked!r} of which column?", code=608, fix=f'Write name=("duration", {asked!r}), or "count".'
                )
            return "COUNT(*)"
        if not isinstance(asked, tuple) or len(asked) < 2 or not isinstance(asked[0], str):
            raise InterfaceError(
                "a statistic is a name, or a pair of a column and a name",
                code=608,
                fix='Write n="count", m=("x", "mean").',
            )
        return statistic(self._column(asked[0]), asked[1], *asked[2:])

    def _column(self, column: str) -> str:
        """The SQL of a column that is there."""
        self._check(column)
        return words.name(column)

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
