"""What private rows do not show: how many they are, whether there are any, and themselves."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from dpsql.errors import InterfaceError
from dpsql.frames.pandas_names import WHY


class Unseen:
    """Base of frames, columns and groups: looking at them is refused, in words that say what to ask instead."""

    __slots__ = ()

    __iter__ = None

    def __len__(self) -> int:
        raise InterfaceError("the number of rows is private", code=609, fix="Ask for it: .count(), .size().")

    def __bool__(self) -> bool:
        raise InterfaceError(
            "private rows are neither true nor false",
            code=609,
            fix="Use & | ~ between conditions, each in parentheses.",
        )

    def __setitem__(self, name: object, value: object) -> NoReturn:
        raise InterfaceError(
            "private rows cannot be changed", code=608, fix="Write frame = frame.assign(hours=frame['minutes'] / 60)."
        )

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise InterfaceError("private rows cannot be pickled", code=609, why="A copy would have a budget of its own.")

    if not TYPE_CHECKING:  # type checkers report what is missing by themselves

        def __getattr__(self, name: str) -> Any:
            """A column, as in pandas, where no verb has its name."""
            columns = self._attributes()
            if name in columns:
                return self[name]
            if name in WHY:
                raise AttributeError(f"private rows have no {name!r}: it {WHY[name].why}. Instead: {WHY[name].instead}")
            if columns and hasattr(_column(), name):
                raise AttributeError(f"private rows have no {name!r}: a column has it. Instead: frame['x'].{name}")
            if near := get_close_matches(name, columns, n=1):
                raise AttributeError(f"private rows have no {name[:60]!r}: did you mean {near[0]!r}?")
            raise AttributeError(
                f"private rows have no {name[:60]!r}: rows and single values are never shown;"
                " ask for statistics (mean, groupby, hist, sql, …), and dir() lists them"
            )

        def __dir__(self) -> list[str]:
            return [*super().__dir__(), *self._attributes()]

    def _attributes(self) -> tuple[str, ...]:
        """The columns that are attributes, too; none where there is but one column."""
        return ()


def attributes(columns: Iterable[str]) -> tuple[str, ...]:
    """Not what Python or a library would take for a sign of something else."""
    return tuple(name for name in columns if name.isidentifier() and not name.startswith("_"))


def _column() -> type:
    from dpsql.frames.column import PrivateColumn

    return PrivateColumn
