"""A column of a frame: an SQL expression that can be compared, calculated with, and asked about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.bins import equal, given
from dpsql.frames.opaque import Unseen
from dpsql.frames.statistics import statistic

if TYPE_CHECKING:
    from dpsql.frames.frame import PrivateFrame
    from dpsql.frames.result import Result


_SQL_TYPES: dict[type, str] = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR", bool: "BOOLEAN"}


class PrivateColumn(Unseen):
    """`frame["duration"] / 60 > 1` is an expression; `.mean()` and its like ask, and are charged."""

    __hash__ = None  # type: ignore[assignment]  # == makes an expression, so columns are not hashable

    def __init__(self, frame: PrivateFrame, sql: str, name: str) -> None:
        self._frame = frame
        self._sql = sql
        self.name = name

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

    def agg(self, what: str) -> Any:
        """A statistic by its name."""
        return self._ask(what)

    def value_counts(self) -> Result:
        """The number of rows of each value, most frequent first."""
        counted = f'SELECT {self._sql} AS {words.name(self.name)}, COUNT(*) AS "count" FROM {self._frame._relation.sql}'
        return self._frame._result(f'{counted} GROUP BY 1 ORDER BY "count" DESC, 1')

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
        sql = statistic(self._sql, what, *arguments)
        return self._frame._scalar(f"SELECT {sql} AS {words.name(what)} FROM {self._frame._relation.sql}")

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

    # Expressions ------------------------------------------------------------------------------------------------

    def isin(self, values: Iterable[object]) -> PrivateColumn:
        if isinstance(values, str | bytes):  # as in pandas: its letters are hardly meant
            raise InterfaceError(f"isin takes a list, this is the text {values!r}", fix=f"Write isin([{values!r}]).")
        listed = ", ".join(words.value(value) for value in values)
        return self._made(f"({self._sql} IN ({listed}))" if listed else "FALSE")

    def between(self, left: object, right: object) -> PrivateColumn:
        return self._made(f"({self._sql} BETWEEN {self._other(left)} AND {self._other(right)})")

    def isna(self) -> PrivateColumn:
        return self._made(f"({self._sql} IS NULL)")

    def notna(self) -> PrivateColumn:
        return self._made(f"({self._sql} IS NOT NULL)")

    def clip(self, lower: object = None, upper: object = None) -> PrivateColumn:
        """The column within these bounds; missing values stay missing, which GREATEST and LEAST would make a bound."""
        sql = self._sql if lower is None else f"GREATEST({self._sql}, {self._other(lower)})"
        sql = sql if upper is None else f"LEAST({sql}, {self._other(upper)})"
        return self._made(f"CASE WHEN {self._sql} IS NOT NULL THEN {sql} END")

    def abs(self) -> PrivateColumn:
        return self._made(f"ABS({self._sql})")

    def fillna(self, value: object) -> PrivateColumn:
        return self._made(f"COALESCE({self._sql}, {self._other(value)})")

    def astype(self, sql_type: str | type) -> PrivateColumn:
        """CAST to an SQL type, such as "INTEGER", or to int, float, str, bool."""
        named = _SQL_TYPES.get(sql_type, "") if isinstance(sql_type, type) else sql_type
        if not isinstance(named, str) or not named:
            raise InterfaceError(
                f"{sql_type!r} is no type that SQL has",
                code=608,
                fix='Write astype("INTEGER"), or int, float, str, bool.',
            )
        return self._made(f"TRY_CAST({self._sql} AS {named})")

    def __add__(self, other: object) -> PrivateColumn:
        return self._infix("+", other)

    def __radd__(self, other: object) -> PrivateColumn:
        return self._infix("+", other, turned=True)

    def __sub__(self, other: object) -> PrivateColumn:
        return self._infix("-", other)

    def __rsub__(self, other: object) -> PrivateColumn:
        return self._infix("-", other, turned=True)

    def __mul__(self, other: object) -> PrivateColumn:
        return self._infix("*", other)

    def __rmul__(self, other: object) -> PrivateColumn:
        return self._infix("*", other, turned=True)

    def __truediv__(self, other: object) -> PrivateColumn:
        return self._infix("/", other)

    def __rtruediv__(self, other: object) -> PrivateColumn:
        return self._infix("/", other, turned=True)

    def __neg__(self) -> PrivateColumn:
        return self._made(f"(-{self._sql})")

    def __lt__(self, other: object) -> PrivateColumn:
        return self._infix("<", other)

    def __le__(self, other: object) -> PrivateColumn:
        return self._infix("<=", other)

    def __gt__(self, other: object) -> PrivateColumn:
        return self._infix(">", other)

    def __ge__(self, other: object) -> PrivateColumn:
        return self._infix(">=", other)

    def __eq__(self, other: object) -> PrivateColumn:  # type: ignore[override]  # an expression, as in pandas
        return self._infix("=", other)

    def __ne__(self, other: object) -> PrivateColumn:  # type: ignore[override]  # an expression, as in pandas
        return self._infix("<>", other)

    def __and__(self, other: object) -> PrivateColumn:
        return self._infix("AND", other)

    def __or__(self, other: object) -> PrivateColumn:
        return self._infix("OR", other)

    def __invert__(self) -> PrivateColumn:
        return self._made(f"(NOT {self._sql})")

    def __repr__(self) -> str:
        return f"<private column {self._sql}>"

    def _infix(self, operator: str, other: object, *, turned: bool = False) -> PrivateColumn:
        left, right = self._sql, self._other(other)
        if turned:
            left, right = right, left
        return self._made(f"({left} {operator} {right})")

    def _other(self, other: object) -> str:
        if not isinstance(other, PrivateColumn):
            return words.value(other)
        other.check_of(self._frame)
        return other._sql

    def check_of(self, frame: PrivateFrame) -> None:
        """Refuse a column of a frame with other columns; the same frame before it was filtered has the same ones."""
        mine = self._frame
        if mine._root is not frame._root or mine._relation.pieces != frame._relation.pieces:
            raise InterfaceError(
                "the column is of another frame", code=608, fix="Take it from this one, or merge the frames first."
            )

    def _made(self, sql: str) -> PrivateColumn:
        return PrivateColumn(self._frame, sql, self.name)
