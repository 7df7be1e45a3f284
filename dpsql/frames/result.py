"""What a frame's questions are answered with: rows with their privacy report, and single noisy numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Self

from dpsql.dbapi.display import half_width, with_interval
from dpsql.dbapi.served import Served
from dpsql.errors import InterfaceError
from dpsql.query import Answer
from dpsql.report.privacy import Privacy

if TYPE_CHECKING:
    import pandas

Line = tuple[Any, ...]


class Result(Served):
    """The released rows of one question; .df(), .arrow(), .pl(), .fetchall(), .write(path), .privacy, .cost."""

    def __init__(self, answer: Answer) -> None:
        if answer.rows is None:
            raise InterfaceError("the statement has no result", code=602)
        self._answer: Answer = answer
        self._lines: list[Line] | None = None

    @property
    def columns(self) -> list[str]:
        return [column.name for column in self._all_rows().columns]

    def fetchall(self) -> list[Line]:
        """All rows, each time."""
        if self._lines is None:
            self._lines = self._all_rows().fetchall()
        return list(self._lines)

    def __iter__(self) -> Iterator[Line]:
        return iter(self.fetchall())

    def __len__(self) -> int:
        return len(self._all_rows())

    def __getitem__(self, column: str) -> pandas.Series[Any]:
        """A column as a pandas Series."""
        self._check(column)
        return self.df()[column]

    def sort_values(self, by: str | Sequence[str] = (), ascending: bool | Sequence[bool] = True) -> Result:
        """The same rows in another order; missing values last. A key and one statistic are sorted by the statistic."""
        names = [by] if isinstance(by, str) else list(by) or (self.columns[-1:] if len(self.columns) == 2 else [])
        ups = [ascending] * len(names) if isinstance(ascending, bool) else list(ascending)
        if len(ups) != len(names) or not names:
            raise InterfaceError(
                "sort_values() needs columns, and as many directions", code=608, fix='Write sort_values("n").'
            )
        for name in names:
            self._check(name)
        rows = self._all_rows().sorted_by([self.columns.index(name) for name in names], ups)
        return Result(replace(self._answer, rows=rows))

    def head(self, n: int = 5) -> pandas.DataFrame:
        """The first rows as a pandas DataFrame."""
        return self.df().head(n)

    if not TYPE_CHECKING:  # type checkers report what is missing by themselves

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(
                f"an answer has no {name[:60]!r}: its keys are columns, and .df() is a pandas frame with all that pandas has"
            )

    def _check(self, column: str) -> None:
        if column not in self.columns:
            raise InterfaceError(
                f"the result has no column {column!r}", code=608, fix=f"It has {', '.join(self.columns)}."
            )

    def scalar(self) -> Any:
        """The only value of a result of one row and one column, a number with its interval."""
        lines = self.fetchall()
        if len(lines) != 1 or len(lines[0]) != 1:
            raise InterfaceError("the result is not one value", code=608, fix="Use .df() or .fetchall().")
        return noisy(lines[0][0], self.privacy, self.columns[0])

    def _served(self) -> Answer:
        return self._answer

    def __repr__(self) -> str:
        return self._as_text()


class NoisyFloat(float):
    """A released number: a float that knows its 95 % half-width (None where there is none) and its privacy report."""

    half_width: float | None
    privacy: Privacy | None

    @classmethod
    def of(cls, value: float, half_width: float | None, privacy: Privacy | None) -> Self:
        made = cls(value)
        made.half_width, made.privacy = half_width, privacy
        return made

    def __repr__(self) -> str:
        return float.__repr__(self) if self.half_width is None else with_interval(float(self), self.half_width)

    def __str__(self) -> str:
        return float.__repr__(self)

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)


class NoisyInt(int):
    """A released whole number, as NoisyFloat."""

    half_width: float | None
    privacy: Privacy | None

    @classmethod
    def of(cls, value: int, half_width: float | None, privacy: Privacy | None) -> Self:
        made = cls(value)
        made.half_width, made.privacy = half_width, privacy
        return made

    def __repr__(self) -> str:
        return with_interval(int(self), self.half_width)

    def __str__(self) -> str:
        return int.__repr__(self)

    def __reduce__(self) -> tuple[type[int], tuple[int]]:
        return int, (int(self),)


def noisy(value: Any, privacy: Privacy | None, column: str) -> Any:
    """Numbers with their interval; other values as they are."""
    width = half_width(privacy, column)
    match value:
        case bool():
            return value
        case int():
            return NoisyInt.of(value, width, privacy)
        case float():
            return NoisyFloat.of(value, width, privacy)
        case _:
            return value
