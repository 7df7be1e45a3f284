"""Bins of a histogram as SQL: which bin a value is in, and each bin's ends. They come from the caller, never from data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.errors import InterfaceError
from dpsql.frames import sql_literals as words

MOST_BINS, MOST_ENDS = 10_000, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bins:
    """number: the bin of a value, from 0, if `inside`. lower, upper: the ends of the bin whose number is in "bin"."""

    inside: str
    number: str
    lower: str
    upper: str


def equal(sql: str, count: object, low: float, high: float) -> Bins:
    """`count` bins of one width."""
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_BINS:
        raise InterfaceError(
            f"bins is a whole number from 1 to {MOST_BINS}, or a list of ends, not {count!r}", code=608
        )
    if not low < high:
        raise InterfaceError("a histogram needs a lower end below the upper end", code=608)
    width = words.value((high - low) / count)
    return Bins(
        inside=_between(sql, low, high),
        number=f"CAST(LEAST(FLOOR(({sql} - {words.value(low)}) / {width}), {count - 1}) AS INTEGER)",
        lower=f'{words.value(low)} + "bin" * {width}',
        upper=f'{words.value(low)} + ("bin" + 1) * {width}',
    )


def given(sql: str, ends: Sequence[Any]) -> Bins:
    """Bins between the ends given; as in numpy each holds its lower end, and the last one its upper end too."""
    rising = all(low < high for low, high in zip(ends, ends[1:], strict=False))
    if not 2 <= len(ends) <= MOST_ENDS or not rising:
        raise InterfaceError(
            f"the ends of bins must be 2 to {MOST_ENDS} rising values, such as [0, 30, 60, 240]", code=608
        )
    below = " ".join(f"WHEN {sql} < {words.value(end)} THEN {at}" for at, end in enumerate(ends[1:-1]))
    last = len(ends) - 2
    return Bins(
        inside=_between(sql, ends[0], ends[-1]),
        number=f"CASE {below} WHEN {sql} IS NOT NULL THEN {last} END",
        lower=_end(ends[:-1]),
        upper=_end(ends[1:]),
    )


def _between(sql: str, low: object, high: object) -> str:
    return f"{sql} BETWEEN {words.value(low)} AND {words.value(high)}"


def _end(ends: Sequence[Any]) -> str:
    return f'CASE "bin" {" ".join(f"WHEN {at} THEN {words.value(end)}" for at, end in enumerate(ends))} END'
