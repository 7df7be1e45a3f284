"""What can be calculated of a column: every method gives another column, and asks nothing."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Self

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.operators import Operand

if TYPE_CHECKING:
    from dpsql.frames.accessors import Moments, Texts

_TYPES: Mapping[object, builtins.str] = {
    int: "BIGINT", float: "DOUBLE", builtins.str: "VARCHAR", bool: "BOOLEAN",
    **{f"{sign}int{size}": "BIGINT" for sign in ("", "u") for size in ("8", "16", "32", "64")},
    **{f"Int{size}": "BIGINT" for size in ("8", "16", "32", "64")},
    **dict.fromkeys(("float32", "float64", "Float64"), "DOUBLE"),
    **dict.fromkeys(("str", "string", "object", "category"), "VARCHAR"),
    **dict.fromkeys(("bool", "boolean"), "BOOLEAN"),
    **{f"datetime64[{unit}]": "TIMESTAMP" for unit in ("s", "ms", "us", "ns")},
}  # fmt: skip


class Calculated(Operand):
    """The methods that make another column of one."""

    @property
    def dt(self) -> Moments[Self]:
        """Parts of a date: frame["day"].dt.year, .dt.month, .dt.day_name(), .dt.strftime("%Y-%m")."""
        from dpsql.frames.accessors import Moments

        return Moments(self._sql, self._made)

    @property
    def str(self) -> Texts[Self]:
        """Of texts: frame["name"].str.lower(), .str.len(), .str.contains("x")."""
        from dpsql.frames.accessors import Texts

        return Texts(self._sql, self._made)

    def isin(self, values: Iterable[object]) -> Self:
        if isinstance(values, builtins.str | bytes):  # as in pandas: its letters are hardly meant
            raise InterfaceError(f"isin takes a list, not the text {values!r}", fix=f"Write isin([{values!r}]).")
        listed = ", ".join(words.value(value) for value in values)
        return self._made(f"({self._sql} IN ({listed}))" if listed else "FALSE")

    def between(self, left: object, right: object, inclusive: builtins.str = "both") -> Self:
        """inclusive: which ends count: both, neither, left, right."""
        if inclusive not in ("both", "neither", "left", "right"):
            raise InterfaceError(f"inclusive={inclusive!r}", code=608, fix="Choose both, neither, left or right.")
        low, high = self._other(left), self._other(right)
        lower = ">=" if inclusive in ("both", "left") else ">"
        upper = "<=" if inclusive in ("both", "right") else "<"
        if inclusive == "both":
            return self._made(f"({self._sql} BETWEEN {low} AND {high})")
        return self._made(f"({self._sql} {lower} {low} AND {self._sql} {upper} {high})")

    def isna(self) -> Self:
        return self._made(f"({self._sql} IS NULL)")

    isnull = isna

    def notna(self) -> Self:
        return self._made(f"({self._sql} IS NOT NULL)")

    notnull = notna

    def clip(self, lower: object = None, upper: object = None) -> Self:
        """The column within these bounds; missing values stay missing, which GREATEST and LEAST would make a bound."""
        sql = self._sql if lower is None else f"GREATEST({self._sql}, {self._other(lower)})"
        sql = sql if upper is None else f"LEAST({sql}, {self._other(upper)})"
        return self._made(f"CASE WHEN {self._sql} IS NOT NULL THEN {sql} END")

    def abs(self) -> Self:
        return self._made(f"ABS({self._sql})")

    def round(self, decimals: int = 0) -> Self:
        """Halves away from zero, as in SQL; pandas rounds them to the even neighbour."""
        return self._made(f"ROUND({self._sql}, {words.value(decimals)})" if decimals else f"ROUND({self._sql})")

    def fillna(self, value: object) -> Self:
        return self._made(f"COALESCE({self._sql}, {self._other(value)})")

    def where(self, condition: Operand, other: object = None) -> Self:
        """The column where the condition is true, the other value elsewhere."""
        return self._made(f"CASE WHEN {self._other(condition)} THEN {self._sql} ELSE {self._other(other)} END")

    def mask(self, condition: Operand, other: object = None) -> Self:
        """The other value where the condition is true, the column elsewhere."""
        return self._made(f"CASE WHEN {self._other(condition)} THEN {self._other(other)} ELSE {self._sql} END")

    def map(self, values: Mapping[object, object]) -> Self:
        """By a dict: what is not in it is missing."""
        return self._by_case(values, "")

    def replace(self, to_replace: object, value: object = None) -> Self:
        """By a dict, or one value by another: what is not in it stays."""
        pairs = to_replace if isinstance(to_replace, Mapping) else {to_replace: value}
        return self._by_case(pairs, f" ELSE {self._sql}")

    def _by_case(self, pairs: object, otherwise: builtins.str) -> Self:
        if not isinstance(pairs, Mapping) or not pairs:
            raise InterfaceError(
                "a dict of values is needed", code=608, why="dpsql runs no Python over rows.", fix='Write {"a": 1}.'
            )
        cases = " ".join(f"WHEN {self._sql} = {words.value(a)} THEN {words.value(b)}" for a, b in pairs.items())
        return self._made(f"CASE {cases}{otherwise} END")

    def astype(self, dtype: builtins.str | type) -> Self:
        """As another type: int, float, str, bool, a name of pandas such as "int64", or an SQL type such as "INTEGER"."""
        named = _TYPES.get(dtype, dtype)
        if not isinstance(named, builtins.str) or not named:
            raise InterfaceError(
                f"{dtype!r} is not a type in SQL", code=608, fix='Write astype("INTEGER"), or int, float, str, bool.'
            )
        return self._made(f"TRY_CAST({self._sql} AS {named})")
