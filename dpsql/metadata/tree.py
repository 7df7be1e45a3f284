"""Metadata as a tree of plain values that know where they stand: the one form YAML text and Python dicts are read into.

The loader sees only this, so a file and a dict obey the same rules and every problem has a place.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from dpsql.errors import Problem

DEPTH_LIMIT = 20
NODE_LIMIT = 1_500_000  # a key list may have a million entries


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A number no catalog may hold (NaN, infinite, or absurdly long), or an object no catalog knows."""

    what: str


Value = bool | int | Fraction | str | datetime.date | datetime.datetime | None | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A single value; text: as it was written. A number with a decimal point or exponent is an exact Fraction."""

    where: str
    value: Value
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    where: str
    items: tuple[Tree, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A mapping; every entry knows where its key stands. Keys are text: anything else was reported when it was read."""

    where: str
    entries: Mapping[str, tuple[str, Tree]]

    def at(self, name: str) -> str:
        """Where the entry of that name stands, or else the mapping."""
        entry = self.entries.get(name)
        return self.where if entry is None else entry[0]


Tree = Scalar | Items | Fields


def number_of(text: str) -> int | Fraction | Unreadable:
    """The exact number a decimal notation denotes; 1e-6 is 1/10^6, not the float nearest to it."""
    try:
        decimal = Decimal(text)
    except InvalidOperation:  # an exponent of twenty digits
        return Unreadable("a number out of range")
    if not decimal.is_finite():
        return Unreadable("NaN or infinite")
    if len(text) > 400 or (decimal != 0 and not -400 < decimal.adjusted() < 400):
        return Unreadable("a number out of range")
    exact = Fraction(decimal) if decimal != 0 else Fraction(0)
    return exact if any(c in text for c in ".eE") else exact.numerator


def tree_of(value: object, problems: list[Problem]) -> Tree:
    """A Python value as a tree whose places are paths such as tables.visits.columns.duration."""
    return _Walk(problems).tree(value, "", 0)


class _Walk:
    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.nodes = 0

    def tree(self, value: object, path: str, depth: int) -> Tree:
        where = path or "catalog"
        self.nodes += 1
        if depth > DEPTH_LIMIT or self.nodes > NODE_LIMIT:
            self.problems.append(Problem(where, "the metadata is nested too deeply or too long", "make it smaller"))
            return Scalar(where=where, value=Unreadable("too deep"), text="…")
        if isinstance(value, Mapping):
            return self.fields(value, path, depth)
        if isinstance(value, list | tuple | range):
            items = (self.tree(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value))
            return Items(where=where, items=tuple(items))
        plain = plain_value(value)
        return Scalar(where=where, value=plain, text=_text(value, plain))

    def fields(self, mapping: Mapping[object, object], path: str, depth: int) -> Fields:
        where = path or "catalog"
        entries: dict[str, tuple[str, Tree]] = {}
        for key, value in mapping.items():
            if not isinstance(key, str):
                self.problems.append(Problem(where, f"a {type(key).__name__} is used as a name", "names are text"))
                continue
            below = f"{path}.{printable(key)}" if path else printable(key)
            entries[str(key)] = (below, self.tree(value, below, depth + 1))
            if self.nodes > NODE_LIMIT:
                break
        return Fields(where=where, entries=entries)


def plain_value(value: object) -> Value:
    """The value a Python object stands for. A float means the decimal it prints; numpy's numbers are numbers."""
    match value:
        case None | bool():
            return value
        case datetime.date() if value == value:  # pandas' NaT is a datetime that differs from itself
            return value
        case str() | Path():
            return str(value)
        case Fraction():
            return value
        case Decimal():
            return number_of(str(value))
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            real = float(value)
            return Fraction(Decimal(float.__repr__(real))) if math.isfinite(real) else Unreadable("NaN or infinite")
        case _ if type(value).__name__ in ("bool", "bool_") and type(value).__module__ == "numpy":
            return bool(value)
        case _:
            return Unreadable(f"an object of type {type(value).__name__}")


def _text(value: object, plain: Value) -> str:
    if isinstance(plain, Unreadable):
        return plain.what
    if plain is None or isinstance(plain, bool):
        return {None: "null", True: "true", False: "false"}[plain]
    if isinstance(plain, int) and abs(plain) >= 10**400:  # Python refuses to print very long integers
        return "a very long number"
    return plain if isinstance(plain, str) else str(value)


def printable(text: str, limit: int = 60) -> str:
    """Text for a message: one line, nothing that a terminal would obey, not endless."""
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
