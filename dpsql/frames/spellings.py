"""How pandas lets people name a statistic: a text, a function of Python, numpy or pandas, or one over a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.errors import InterfaceError
from dpsql.frames.column import PrivateColumn
from dpsql.frames.statistics import statistic

What = str | Callable[[Any], Any]
_SPOKEN = {"len": "size", "amin": "min", "amax": "max", "average": "mean", "count_nonzero": "count"}
_HOMES = ("builtins", "numpy", "pandas")


@dataclass(frozen=True, slots=True)
class Asked:
    """A statistic that was asked of a column that only notes what it is asked."""

    sql: str


class Noting(PrivateColumn):
    """A column whose statistics are noted and not asked: what `lambda x: x.quantile(0.9)` is called with."""

    def _ask(self, what: str, *arguments: Any) -> Any:
        return Asked(statistic(self._sql, what, *arguments))

    def _ask_sql(self, sql: str, name: str) -> Any:
        return Asked(sql)


def statistic_sql(column: Noting, what: object, *arguments: Any) -> str:
    """The SQL of a statistic of a column, however it is named."""
    if isinstance(what, str):
        return statistic(column._sql, what, *arguments)
    if not callable(what):
        raise InterfaceError(
            f"{what!r} names no statistic", code=608, fix='Write its name, as in agg(m=("duration", "mean")).'
        )
    spoken = known_name(what)
    if spoken is not None:
        return statistic(column._sql, spoken, *arguments)
    noted = what(column)
    if not isinstance(noted, Asked):
        raise InterfaceError(
            "the function is not one statistic of the column",
            code=608,
            why="dpsql runs no Python over private rows: the function is called once, with the column.",
            fix='Write agg(p90=("duration", lambda x: x.quantile(0.9))).',
        )
    return noted.sql


def statistic_name(what: object) -> str:
    """What its column is called where it has no name of its own."""
    if isinstance(what, str):
        return what
    spoken = known_name(what)
    if spoken is None:
        raise InterfaceError(
            "a function without a name of pandas needs one",
            code=608,
            fix='Write agg(p90=("duration", lambda x: x.quantile(0.9))).',
        )
    return spoken


def known_name(what: object) -> str | None:
    """Of sum, len, numpy.mean, pandas.Series.std and their like."""
    home = str(getattr(what, "__module__", "") or "").partition(".")[0]
    name = getattr(what, "__name__", "")
    return _SPOKEN.get(name, name) if home in _HOMES and name and not name.startswith("<") else None


def several(whats: object) -> Sequence[object]:
    """One statistic, or a list of them."""
    return list(whats) if isinstance(whats, list | tuple) else [whats]
