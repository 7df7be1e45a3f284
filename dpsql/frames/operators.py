"""A column as Python's operators see it: `frame["duration"] / 60 > 1` makes another column, and asks nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.opaque import Unseen

if TYPE_CHECKING:
    from dpsql.frames.frame import PrivateFrame


_FUNCTIONS = {
    **{name: name.upper() for name in ("exp", "sqrt", "log10", "log2", "floor", "ceil", "sign", "sin", "cos", "tan")},
    "log": "LN",
    "absolute": "ABS",
    "fabs": "ABS",
}
_OPERATORS = {  # with a number of numpy's on the left
    "add": "__radd__",
    "subtract": "__rsub__",
    "multiply": "__rmul__",
    "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "remainder": "__rmod__",
    "power": "__rpow__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
    "equal": "__eq__",
    "not_equal": "__ne__",
}


class Operand(Unseen):
    """An SQL expression over a frame's rows."""

    __hash__ = None  # type: ignore[assignment]  # == makes an expression, so columns are not hashable

    def __init__(self, frame: PrivateFrame, sql: str, name: str) -> None:
        self._frame = frame
        self._sql = sql
        self.name = name

    def __add__(self, other: object) -> Self:
        return self._infix("+", other)

    def __radd__(self, other: object) -> Self:
        return self._infix("+", other, turned=True)

    def __sub__(self, other: object) -> Self:
        return self._infix("-", other)

    def __rsub__(self, other: object) -> Self:
        return self._infix("-", other, turned=True)

    def __mul__(self, other: object) -> Self:
        return self._infix("*", other)

    def __rmul__(self, other: object) -> Self:
        return self._infix("*", other, turned=True)

    def __truediv__(self, other: object) -> Self:
        return self._infix("/", other)

    def __rtruediv__(self, other: object) -> Self:
        return self._infix("/", other, turned=True)

    def __mod__(self, other: object) -> Self:
        """The remainder with the sign of the divisor, as in pandas; SQL's has that of the number."""
        return self._remainder(self._sql, self._other(other))

    def __rmod__(self, other: object) -> Self:
        return self._remainder(self._other(other), self._sql)

    def __floordiv__(self, other: object) -> Self:
        """The whole number at or below the quotient, as in pandas; SQL's cuts towards zero."""
        return self._made(f"FLOOR({self._sql} / {self._other(other)})")

    def __rfloordiv__(self, other: object) -> Self:
        return self._made(f"FLOOR({self._other(other)} / {self._sql})")

    def __pow__(self, other: object) -> Self:
        return self._made(f"POWER({self._sql}, {self._other(other)})")

    def __rpow__(self, other: object) -> Self:
        return self._made(f"POWER({self._other(other)}, {self._sql})")

    def __abs__(self) -> Self:
        return self._made(f"ABS({self._sql})")

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **more: Any) -> Self:
        """numpy's functions of one number, and its operators: numpy.float64(2) * frame["x"] asks here."""
        name, numbers = function.__name__, [i for i in inputs if not isinstance(i, Operand)]
        if method == "__call__" and not more and name in _FUNCTIONS and len(inputs) == 1:
            return self._made(f"{_FUNCTIONS[name]}({self._sql})")
        if method == "__call__" and not more and name in _OPERATORS and numbers == [inputs[0]]:
            turned: Self = getattr(self, _OPERATORS[name])(numbers[0])
            return turned
        raise InterfaceError(
            f"numpy has no rows to compute {name} of",
            code=608,
            fix='Write it in SQL: frame.assign(y="GREATEST(x, 0)"). `dpsql help functions` lists what there is.',
        )

    def __array__(self, *given: object, **more: object) -> NoReturn:
        raise InterfaceError(
            "private rows are not an array",
            code=609,
            fix='Write expressions: frame["age"] // 10 * 10, frame["age"] > 50, or SQL: "CASE WHEN … END".',
        )

    def __neg__(self) -> Self:
        return self._made(f"(-{self._sql})")

    def __lt__(self, other: object) -> Self:
        return self._infix("<", other)

    def __le__(self, other: object) -> Self:
        return self._infix("<=", other)

    def __gt__(self, other: object) -> Self:
        return self._infix(">", other)

    def __ge__(self, other: object) -> Self:
        return self._infix(">=", other)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]  # an expression, as in pandas
        return self._infix("=", other)

    def __ne__(self, other: object) -> Self:  # type: ignore[override]  # an expression, as in pandas
        return self._infix("<>", other)

    def __and__(self, other: object) -> Self:
        return self._infix("AND", other)

    def __or__(self, other: object) -> Self:
        return self._infix("OR", other)

    def __invert__(self) -> Self:
        return self._made(f"(NOT {self._sql})")

    def __repr__(self) -> str:
        return f"<private column {self._sql}>"

    def _infix(self, operator: str, other: object, *, turned: bool = False) -> Self:
        left, right = self._sql, self._other(other)
        if turned:
            left, right = right, left
        return self._made(f"({left} {operator} {right})")

    def _remainder(self, number: str, divisor: str) -> Self:
        return self._made(f"((({number} % {divisor}) + {divisor}) % {divisor})")

    def _other(self, other: object) -> str:
        if not isinstance(other, Operand):
            return words.value(other)
        other.check_of(self._frame)
        return other._sql

    def check_of(self, frame: PrivateFrame) -> None:
        """Refuse a column of a frame with other columns; the same frame before it was filtered has the same ones."""
        mine = self._frame
        if mine._root is not frame._root or mine._relation.pieces != frame._relation.pieces:
            raise InterfaceError(
                "the column belongs to another frame",
                code=608,
                fix="Use a column of this frame, or merge the frames first.",
            )

    def _made(self, sql: str) -> Self:
        return type(self)(self._frame, sql, self.name)
