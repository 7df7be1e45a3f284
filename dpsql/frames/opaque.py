"""What private rows do not show: how many they are, whether there are any, and themselves."""

from __future__ import annotations

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

        def __getattr__(self, name: str) -> NoReturn:
            relation = vars(self).get("_relation")
            if relation is not None and name in relation.columns:
                raise AttributeError(f"columns are items, not attributes: write frame[{name!r}]")
            if name in WHY:
                raise AttributeError(f"private rows have no {name!r}: it {WHY[name].why}. Instead: {WHY[name].instead}")
            raise AttributeError(
                f"private rows have no {name[:60]!r}: rows and single values are never shown;"
                " ask for statistics (mean, groupby, hist, sql, …), and dir() lists them"
            )
