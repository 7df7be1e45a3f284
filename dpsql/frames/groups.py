"""A frame by groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsql.errors import InterfaceError
from dpsql.frames.aggregations import Asking, selected
from dpsql.frames.expressions import END
from dpsql.frames.opaque import Unseen

if TYPE_CHECKING:
    from dpsql.frames.frame import PrivateFrame
    from dpsql.frames.result import Result


class PrivateGroups(Asking, Unseen):
    """`frame.groupby("specialty")`: agg, size, count, units, mean, sum, …; one row a group, in key order."""

    def __init__(
        self, frame: PrivateFrame, keys: Sequence[tuple[str, str]], columns: tuple[str, ...] | None = None
    ) -> None:
        self._frame = frame
        self._keys = tuple(keys)  # (SQL, name)
        self._columns = columns

    def __getitem__(self, columns: str | list[str]) -> PrivateGroups:
        """The groups with only these columns to ask about."""
        chosen = (columns,) if isinstance(columns, str) else tuple(columns)
        self._frame._relation.check(chosen)
        return PrivateGroups(self._frame, self._keys, chosen)

    def size(self) -> Result:
        """How many rows each group has."""
        return self._ask([("COUNT(*)", "size")])

    def count(self) -> Result:
        """How many rows, as size(). Of one column: agg(n=("duration", "count"))."""
        return self._ask([("COUNT(*)", "count")])

    def units(self) -> Result:
        """How many units each group has: people, say."""
        return self._ask([(self._units(), "units")])

    def _ask(self, items: Sequence[tuple[str, str]]) -> Result:
        names = [name for _, name in self._keys]
        for _, made in items:
            if made in names:
                raise InterfaceError(f"{made!r} is a key already", code=608, fix="Give the statistic another name.")
        positions = ", ".join(str(position) for position in range(1, len(self._keys) + 1))
        keys = [(f"({sql}{END})", name) for sql, name in self._keys]
        return self._frame._result(
            f"SELECT {selected([*keys, *items])} FROM {self._frame._relation.sql} GROUP BY {positions}",
            given=[sql for sql, _ in self._keys],
        )

    def _units(self) -> str:
        return self._frame._units()

    def _numbers(self) -> tuple[str, ...]:
        names = {name for _, name in self._keys}
        return tuple(c for c in self._columns or self._frame._numbers() if c not in names)

    def _check(self, column: str) -> None:
        self._frame._check(column)
        if self._columns is not None and column not in self._columns:
            raise InterfaceError(f"the groups were narrowed to {', '.join(self._columns)}", code=608)

    def __repr__(self) -> str:
        return f"<PrivateFrame by {', '.join(name for _, name in self._keys)}>"
