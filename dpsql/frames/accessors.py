"""`.dt` and `.str` of a column: pandas' words for parts of dates and for texts, each of them another column."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, NoReturn, TypeVar

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words

C = TypeVar("C")
_PLAIN = re.compile(r"[^.^$*+?{}\[\]\\|()]*")
_PERIODS = {
    "D": "day", "h": "hour", "H": "hour", "min": "minute", "T": "minute", "s": "second", "S": "second",
    "ms": "millisecond", "us": "microsecond",
}  # fmt: skip


class _Parts:
    """What is not there says what is."""

    if not TYPE_CHECKING:  # type checkers report what is missing by themselves

        def __getattr__(self, name: str) -> NoReturn:
            there = ", ".join(part for part in dir(type(self)) if not part.startswith("_"))
            raise AttributeError(f"there is no {name[:60]!r} of private rows. There are {there}")


class Moments(_Parts, Generic[C]):
    """Of a date or timestamp. Days of the week count from Monday, which is 0."""

    def __init__(self, sql: str, made: Callable[[str], C]) -> None:
        self._sql, self._made = sql, made

    def _part(self, part: str) -> C:
        return self._made(f"EXTRACT({part} FROM {self._sql})")

    @property
    def year(self) -> C:
        return self._part("year")

    @property
    def quarter(self) -> C:
        return self._part("quarter")

    @property
    def month(self) -> C:
        return self._part("month")

    @property
    def day(self) -> C:
        return self._part("day")

    @property
    def hour(self) -> C:
        return self._part("hour")

    @property
    def minute(self) -> C:
        return self._part("minute")

    @property
    def second(self) -> C:
        return self._made(f"CAST(FLOOR(EXTRACT(second FROM {self._sql})) AS INTEGER)")

    @property
    def dayofweek(self) -> C:
        return self._made(f"(EXTRACT(isodow FROM {self._sql}) - 1)")

    weekday = day_of_week = dayofweek

    @property
    def dayofyear(self) -> C:
        return self._part("doy")

    day_of_year = dayofyear

    @property
    def days_in_month(self) -> C:
        return self._made(f"EXTRACT(day FROM LAST_DAY({self._sql}))")

    daysinmonth = days_in_month

    @property
    def week(self) -> C:
        """The ISO week; in pandas isocalendar().week."""
        return self._part("week")

    @property
    def date(self) -> C:
        return self._made(f"CAST({self._sql} AS DATE)")

    def normalize(self) -> C:
        """Midnight."""
        return self.floor("D")

    def floor(self, freq: str) -> C:
        """The start of the day, hour, minute or second: "D", "h", "min", "s"."""
        if freq not in _PERIODS:
            raise InterfaceError(f"floor has no {freq!r}", code=608, fix=f"Choose one of {', '.join(_PERIODS)}.")
        return self._made(f"DATE_TRUNC('{_PERIODS[freq]}', {self._sql})")

    def day_name(self) -> C:
        return self._made(f"DAYNAME({self._sql})")

    def month_name(self) -> C:
        return self._made(f"MONTHNAME({self._sql})")

    def strftime(self, date_format: str) -> C:
        return self._made(f"STRFTIME({self._sql}, {words.value(date_format)})")


class Texts(_Parts, Generic[C]):
    """Of a text. Positions count from 0, as in Python."""

    def __init__(self, sql: str, made: Callable[[str], C]) -> None:
        self._sql, self._made = sql, made

    def lower(self) -> C:
        return self._made(f"LOWER({self._sql})")

    def upper(self) -> C:
        return self._made(f"UPPER({self._sql})")

    def len(self) -> C:
        return self._made(f"LENGTH({self._sql})")

    def strip(self, to_strip: str | None = None) -> C:
        return self._stripped("TRIM", to_strip)

    def lstrip(self, to_strip: str | None = None) -> C:
        return self._stripped("LTRIM", to_strip)

    def rstrip(self, to_strip: str | None = None) -> C:
        return self._stripped("RTRIM", to_strip)

    def contains(self, pat: str, case: bool = True, regex: bool = True) -> C:
        """pat is a regular expression unless regex=False; it is a constant."""
        if regex and not _PLAIN.fullmatch(pat):
            return self._matches("REGEXP_MATCHES", pat, case)
        text, pattern = (self._sql, pat) if case else (f"LOWER({self._sql})", pat.lower())
        return self._made(f"CONTAINS({text}, {words.value(pattern)})")

    def match(self, pat: str, case: bool = True) -> C:
        """Whether the text begins with a match."""
        return self._matches("REGEXP_MATCHES", f"^(?:{pat})", case)

    def fullmatch(self, pat: str, case: bool = True) -> C:
        return self._matches("REGEXP_FULL_MATCH", pat, case)

    def startswith(self, pat: str | tuple[str, ...]) -> C:
        return self._any("STARTS_WITH", pat)

    def endswith(self, pat: str | tuple[str, ...]) -> C:
        return self._any("ENDS_WITH", pat)

    def replace(self, pat: str, repl: str, regex: bool = False) -> C:
        if regex:
            raise InterfaceError(
                "private texts have no replacement by a regular expression", code=608, fix="Give a constant text."
            )
        return self._made(f"REPLACE({self._sql}, {words.value(pat)}, {words.value(repl)})")

    def find(self, sub: str) -> C:
        """Where a text begins in it, from 0; -1 if nowhere."""
        return self._made(f"(STRPOS({self._sql}, {words.value(sub)}) - 1)")

    def get(self, i: int) -> C:
        """One character; from 0, or from the end if it is negative."""
        if i >= 0:
            return self._piece(i, i + 1)
        return self._made(f"NULLIF(LEFT(RIGHT({self._sql}, {-i}), 1), '')")

    def slice(self, start: int | None = None, stop: int | None = None) -> C:
        return self._piece(start or 0, stop)

    def __getitem__(self, what: int | builtins.slice) -> C:
        if isinstance(what, int):
            return self.get(what)
        if what.step not in (None, 1):
            raise InterfaceError("a slice of a text has no step", code=608, fix="Write .str[2:5].")
        return self._piece(what.start or 0, what.stop)

    def split(self, pat: str = " ") -> Parts[C]:
        """Then .str[0] or .str.get(0): the parts of a text cut at a separator."""
        return Parts(self._sql, pat, self._made)

    def _piece(self, start: int, stop: int | None) -> C:
        if start < 0 and stop is None:
            return self._made(f"RIGHT({self._sql}, {-start})")
        if start < 0 or (stop is not None and stop < 0):
            raise InterfaceError(
                "a slice of a text counts from its start", code=608, fix="Write .str[:5], .str[2:5] or .str[-3:]."
            )
        if stop is None:
            return self._made(f"SUBSTRING({self._sql}, {start + 1})")
        return self._made(f"SUBSTRING({self._sql}, {start + 1}, {max(0, stop - start)})")

    def _stripped(self, function: str, characters: str | None) -> C:
        given = "" if characters is None else f", {words.value(characters)}"
        return self._made(f"{function}({self._sql}{given})")

    def _matches(self, function: str, pattern: str, case: bool) -> C:
        given = pattern if case else f"(?i){pattern}"
        return self._made(f"{function}({self._sql}, {words.value(given)})")

    def _any(self, function: str, pattern: str | tuple[str, ...]) -> C:
        each = (pattern,) if isinstance(pattern, str) else pattern
        if not each:
            return self._made("FALSE")
        return self._made(f"({' OR '.join(f'{function}({self._sql}, {words.value(one)})' for one in each)})")


class Parts(Generic[C]):
    """A text cut at a separator: one part of it is a column again."""

    def __init__(self, sql: str, separator: str, made: Callable[[str], C]) -> None:
        self._sql, self._separator, self._made = sql, separator, made

    @property
    def str(self) -> Parts[C]:
        """pandas' word for parts."""
        return self

    def get(self, i: int) -> C:
        """One part, from 0; missing where the text has fewer."""
        if i < 0:
            raise InterfaceError("parts of a text count from its start", code=608, fix="Write .str.split('-').str[0].")
        part = f"SPLIT_PART({self._sql}, {words.value(self._separator)}, {i + 1})"
        return self._made(part if i == 0 else f"NULLIF({part}, '')")

    __getitem__ = get
