"""A frame by groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words
from dpsql.frames.aggregations import Asking, selected
from dpsql.frames.counts import grouped_counts, shown_counts, without_null
from dpsql.frames.expressions import END
from dpsql.frames.opaque import Unseen, attributes
from dpsql.frames.periods import Key
from dpsql.frames.spellings import Noting

if TYPE_CHECKING:
    from dpsql.frames.frame import PrivateFrame
    from dpsql.frames.result import Result


class PrivateGroups(Asking, Unseen):
    """`frame.groupby("specialty")`: agg, size, count, units, mean, sum, …; one row a group, in key order."""

    def __init__(
        self,
        frame: PrivateFrame,
        keys: Sequence[Key],
        columns: tuple[str, ...] | None = None,
        *,
        dropna: bool = True,
        one: bool = False,
    ) -> None:
        """one: it is about one column, as groupby("k")["x"] is."""
        self._frame = frame
        self._keys = tuple(keys)
        self._columns = columns
        self._dropna = dropna
        self._one_only = one

    def __getitem__(self, columns: str | list[str]) -> PrivateGroups:
        """The groups with only these columns to ask about."""
        one = isinstance(columns, str)
        chosen = (columns,) if isinstance(columns, str) else tuple(columns)
        self._frame._relation.check(chosen)
        return PrivateGroups(self._frame, self._keys, chosen, dropna=self._dropna, one=one)

    def _attributes(self) -> tuple[str, ...]:
        """None where the columns were chosen."""
        frame = vars(self).get("_frame")
        return () if frame is None or vars(self).get("_columns") is not None else attributes(frame.columns)

    def size(self) -> Result:
        """How many rows each group has."""
        return self._ask([("COUNT(*)", "size")])

    def count(self) -> Result:
        """How many rows each group has; of groupby("k")["x"], how many where x is not missing."""
        if self._columns is None:
            return self._ask([("COUNT(*)", "count")])
        return self._each("count", self._columns)

    def units(self) -> Result:
        """How many units each group has: people, say."""
        return self._ask([(self._units(), "units")])

    def describe(self) -> Result:
        """Count, mean, std, min, quartiles and max of each group, side by side, in one query."""
        return self._ask(self._described_items(self._chosen("describe", ())))

    def value_counts(
        self, normalize: bool = False, sort: bool = True, ascending: bool = False, dropna: bool = True
    ) -> Result:
        """Of groupby("k")["x"]: the rows of each value of x in each group."""
        if self._columns is None:
            raise InterfaceError(
                "value_counts() of groups needs a column", code=608, fix='Write groupby("k")["x"].value_counts().'
            )
        self._check_names(self._columns)
        keys = [(key.sql, key.name) for key in self._keys] + [(words.name(name), name) for name in self._columns]
        counted = grouped_counts(keys, self._frame._relation.sql, dropna=dropna and self._dropna)
        sql = shown_counts(counted, [name for _, name in keys], normalize, sort, ascending)
        return self._frame._result(sql, given=self._given)

    def _ask(self, items: Sequence[tuple[str, str]]) -> Result:
        self._check_names([made for _, made in items])
        positions = ", ".join(str(position) for position in range(1, len(self._keys) + 1))
        keys = [(f"({key.sql}{END})", key.name) for key in self._keys]
        open_keys = [key for key in self._keys if self._dropna and not self._is_declared(key)]
        kept = without_null([(key.sql, key.name) for key in open_keys], self._dropna)
        sql = f"SELECT {selected([*keys, *items])} FROM {self._frame._relation.sql}{kept} GROUP BY {positions}"
        computed = [words.name(key.name) for key in open_keys if key.sql != words.name(key.name)]
        if computed or any(key.label != "{}" for key in self._keys):
            shown = [(key.shown, key.name) for key in self._keys] + [(words.name(made), made) for _, made in items]
            conditions = " AND ".join(f"{name} IS NOT NULL" for name in computed)  # no row has it: pure noise
            sql = f"SELECT {selected(shown)} FROM ({sql}) AS released WHERE {conditions or 'TRUE'} ORDER BY {positions}"
        return self._frame._result(sql, given=self._given)

    @property
    def _given(self) -> list[str]:
        return [key.sql for key in self._keys if key.given]

    def _is_declared(self, key: Key) -> bool:
        """Whether its values are declared: rows without one of them are dropped as it is."""
        return key.sql == words.name(key.name) and key.name in self._frame._relation.keys

    def _check_names(self, made: Sequence[str]) -> None:
        names = [key.name for key in self._keys]
        for name in made:
            if name in names:
                raise InterfaceError(f"{name!r} is already a key", code=608, fix="Give the statistic another name.")

    def _one_column(self) -> str | None:
        return self._columns[0] if self._one_only and self._columns else None

    def _noting(self, column: str) -> Noting:
        return Noting(self._frame, self._column(column), column)

    def _units(self) -> str:
        return self._frame._units()

    def _numbers(self) -> tuple[str, ...]:
        names = {key.name for key in self._keys}
        return tuple(c for c in self._columns or self._frame._numbers() if c not in names)

    def _check(self, column: str) -> None:
        self._frame._check(column)
        if self._columns is not None and column not in self._columns:
            raise InterfaceError(f"the groups have only the columns {', '.join(self._columns)}", code=608)

    def __repr__(self) -> str:
        return f"<PrivateFrame by {', '.join(key.name for key in self._keys)}>"


def check_habits(*, sort: bool, as_index: bool, observed: bool) -> None:
    """What pandas' groupby may be told, where it is not so here."""
    if not sort:
        raise InterfaceError("groups come in the order of their keys", code=608, fix="Leave out sort=False.")
    if as_index:
        raise InterfaceError("keys are columns of the answer", code=608, fix="Leave out as_index=True.")
    if observed:
        raise InterfaceError(
            "public keys are answered even where there is no row",
            code=608,
            why="Otherwise an answer would show which of them have rows.",
            fix="Leave out observed=True.",
        )


def named_apart(keys: Sequence[Key]) -> list[Key]:
    """Two parts of one column, as in groupby([f["day"].dt.year, f["day"].dt.month]), are day and day_2."""
    made: list[Key] = []
    for key in keys:
        taken = {one.name for one in made}
        number = 2
        while f"{key.name}_{number}" in taken:
            number += 1
        made.append(replace(key, name=f"{key.name}_{number}") if key.name in taken else key)
    return made
