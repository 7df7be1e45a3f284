"""A frame with other columns, in pandas' words: rename, drop, dropna, fillna, astype, pipe."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.errors import InterfaceError
from dpsql.frames.relation import Relation
from dpsql.frames.tables import Tables

if TYPE_CHECKING:
    from dpsql.frames.frame import PrivateFrame


class Reshaping(Tables):
    """Each method gives another frame over the same rows, and asks nothing."""

    def rename(self, columns: Mapping[str, str]) -> PrivateFrame:
        """The same columns under other names; what is declared of them stays."""
        self._relation.check(tuple(columns))
        return self._with(self._relation.relabelled(columns))

    def drop(self, columns: str | Sequence[str]) -> PrivateFrame:
        """Without these columns."""
        left_out = (columns,) if isinstance(columns, str) else tuple(columns)
        self._relation.check(left_out)
        return self._with(self._relation.selected([c for c in self._relation.columns if c not in left_out]))

    def dropna(self, subset: str | Sequence[str] | None = None) -> PrivateFrame:
        """Only the rows where these columns, or all of them, are not missing."""
        chosen = self._relation.columns if subset is None else (subset,) if isinstance(subset, str) else tuple(subset)
        self._relation.check(chosen)
        frame = self._as_frame()
        for column in chosen:
            frame = frame.filter(frame[column].notna())
        return frame

    def fillna(self, value: Mapping[str, object]) -> PrivateFrame:
        """By a dict of columns: what stands for missing values of each."""
        return self._changed(value, "fillna", lambda column, given: column.fillna(given))

    def astype(self, dtype: Mapping[str, Any]) -> PrivateFrame:
        """By a dict of columns: the type of each."""
        return self._changed(dtype, "astype", lambda column, given: column.astype(given))

    def pipe(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """func(frame, …), as in pandas."""
        return func(self, *args, **kwargs)

    def _changed(self, given: object, method: str, change: Callable[[Any, Any], Any]) -> PrivateFrame:
        if not isinstance(given, Mapping) or not given:
            raise InterfaceError(
                f"{method}() of a frame takes a dict of columns", code=608, fix=f'Write {method}({{"age": …}}).'
            )
        frame = self._as_frame()
        self._relation.check(tuple(given))
        changed = frame.assign(**{name: change(frame[name], value) for name, value in given.items()})
        return self._with(changed._relation.selected(self._relation.columns))

    def _with(self, relation: Relation) -> PrivateFrame:
        return self._as_frame()._but(relation=relation)

    @abstractmethod
    def filter(self, condition: Any) -> PrivateFrame: ...

    @abstractmethod
    def assign(self, **columns: Any) -> PrivateFrame: ...
