"""The options an analyst may set, in OPTIONS(…) or with SET: which there are, and what values each takes."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Number
from types import MappingProxyType
from typing import TypeVar

from dpsql.catalog.model import fold
from dpsql.errors import Span, SqlError
from dpsql.sql.statement import Accuracy, Option, OptionValue, Relative, Weights

# Beyond these a value is a slip of the pen: noise scales and exact fractions stay of a sane size.
EPSILON_RANGE = (Fraction(1, 10**9), Fraction(10**6))
RHO_RANGE = (Fraction(1, 10**12), Fraction(10**6))
SMALLEST_DELTA = Fraction(1, 10**100)
LARGEST_CAP = 10**9
LARGEST_WEIGHT = 10**6
SMALLEST_SHARE, LARGEST_SHARE = Fraction(1, 10**6), Fraction(10)
MECHANISMS = ("auto", "laplace", "gaussian")
LIMIT_WORDS = ("auto", "released")
GOALS = ("per cell", "per level")
_DIGIT_LIMIT = 60
_EXPONENT_LIMIT = 300
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,4}))?|[+-]?\d+/\d+", re.ASCII)

# A value as it was written or bound: a name => weight pair is a tuple of the name and the number.
Raw = bool | int | Fraction | str | None | tuple["Raw", ...]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option: check answers the validated value, or None where the value does not fit `takes`."""

    name: str
    takes: str
    example: str
    check: Callable[[Raw], OptionValue | None]
    settable: bool = True  # with SET, for the connection


def number(text: str) -> Fraction | None:
    """The exact value of a plain decimal number or a quotient, in ASCII; None if it is none, or absurdly long."""
    match = _NUMBER.fullmatch(text.strip(" "))
    mantissa = text.lower().partition("e")[0]
    if match is None or len(mantissa) > _DIGIT_LIMIT or abs(int(match[1] or 0)) > _EXPONENT_LIMIT:
        return None
    try:
        return Fraction(text)
    except ZeroDivisionError:
        return None


def raw_of(value: object) -> Raw:
    """A bound parameter as an option's value; floats mean the decimal they print, numpy's numbers are numbers."""
    if type(value).__module__ == "numpy" and isinstance(value, Number):
        value = value.item()  # type: ignore[attr-defined]  # numpy's numbers have it
    if isinstance(value, (bool, int, str, Fraction)) or value is None:
        return value
    if isinstance(value, Decimal):
        return number(str(value)) if value.is_finite() else None
    if isinstance(value, float):
        return number(float.__repr__(value)) if math.isfinite(value) else None
    return None


def _rational(raw: Raw) -> Fraction | None:
    return None if isinstance(raw, bool) or not isinstance(raw, (int, Fraction)) else Fraction(raw)


def _epsilon(raw: Raw) -> Fraction | None:
    value = _rational(raw)
    return value if value is not None and EPSILON_RANGE[0] <= value <= EPSILON_RANGE[1] else None


def _rho(raw: Raw) -> Fraction | None:
    value = _rational(raw)
    return value if value is not None and RHO_RANGE[0] <= value <= RHO_RANGE[1] else None


def _delta(raw: Raw) -> Fraction | None:
    value = _rational(raw)
    return value if value is not None and (value == 0 or SMALLEST_DELTA <= value < 1) else None


def _seconds(raw: Raw) -> Fraction | None:
    value = _rational(raw)
    return value if value is not None and Fraction(1, 10) <= value <= 86_400 else None


def _cap(raw: Raw) -> int | None:
    value = _rational(raw)
    return int(value) if value is not None and value.denominator == 1 and 1 <= value <= LARGEST_CAP else None


def _limit(raw: Raw) -> int | str | None:
    return _one_of(*LIMIT_WORDS)(raw) or _cap(raw)


def _one_of(*words: str) -> Callable[[Raw], str | None]:
    return lambda raw: fold(raw) if isinstance(raw, str) and fold(raw) in words else None


def _flag(raw: Raw) -> bool | None:
    return raw if isinstance(raw, bool) else None


def _level(raw: Raw) -> Fraction | None:
    value = _rational(raw)
    return value if value is not None and 0 < value < 1 else None


def _name(raw: Raw) -> str | None:
    return raw if isinstance(raw, str) and raw else None


def _weight(raw: Raw) -> Fraction | None:
    value = _rational(raw)
    return value if value is not None and Fraction(1, LARGEST_WEIGHT) <= value <= LARGEST_WEIGHT else None


def _split(raw: Raw) -> Weights | None:
    """Weights in the order of the columns, or by their names; never a mixture."""
    if not isinstance(raw, tuple) or not raw:
        return None
    plain = tuple(weight for item in raw if (weight := _weight(item)) is not None)
    if len(plain) == len(raw):
        return plain
    return _by_name(raw, _weight)


def _by_name(raw: tuple[Raw, ...], check: Callable[[Raw], Value | None]) -> tuple[tuple[str, Value], ...] | None:
    """name => value pairs, each name once."""
    named = tuple(
        (item[0], value)
        for item in raw
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        if (value := check(item[1])) is not None
    )
    distinct = len({fold(name) for name, _ in named})
    return named if named and len(named) == len(raw) == distinct else None


def _accuracy(raw: Raw) -> Accuracy | None:
    """One half-width for all columns, or one for each that is named; each a number, or a percentage of what was released."""
    return _by_name(raw, _near) if isinstance(raw, tuple) else _near(raw)


def _near(raw: Raw) -> Fraction | Relative | None:
    if not isinstance(raw, str):
        return _weight(raw)
    percent = number(raw.strip(" ").removesuffix("%")) if raw.strip(" ").endswith("%") else None
    return Relative(percent / 100) if percent is not None and SMALLEST_SHARE <= percent / 100 <= LARGEST_SHARE else None


_LIMIT = "a whole number from 1 to 1e9, 'auto' or 'released'"
_SPECS = (
    OptionSpec("epsilon", "a number from 1e-9 to 1e6", "epsilon = 0.5", _epsilon),
    OptionSpec("delta", "a number from 0 to the owner's max_delta, 1e-3", "delta = 1e-9", _delta),
    OptionSpec("rho", "a number from 1e-12 to 1e6, where the budget is kept in ρ", "rho = 0.05", _rho, settable=False),
    OptionSpec("max_rows_contributed", _LIMIT, "max_rows_contributed = 12", _limit),
    OptionSpec("max_groups_contributed", _LIMIT, "max_groups_contributed = 4", _limit),
    OptionSpec("max_rows_per_group", "a whole number from 1 to 1e9", "max_rows_per_group = 3", _cap),
    OptionSpec("mechanism", "'auto', 'laplace' or 'gaussian'", "mechanism = 'laplace'", _one_of(*MECHANISMS)),
    OptionSpec(
        "split",
        "positive weights of columns of the outermost SELECT: by name, or in order for all that take a share of ε",
        "split = (n => 2, total => 1) or split = (2, 1)",
        _split,
        settable=False,
    ),
    OptionSpec(
        "error",
        "'per cell' or 'per level': which mean error to make small in ROLLUP, CUBE and GROUPING SETS",
        "error = 'per cell'",
        _one_of(*GOALS),
        settable=False,
    ),
    OptionSpec(
        "accuracy",
        "how accurate numbers must be: a half-width of the confidence interval, or a percentage of what was released "
        "before; one for all columns, or one for each by name",
        "accuracy = (n => 50, total => '5%') or accuracy = 50",
        _accuracy,
        settable=False,
    ),
    OptionSpec("confidence", "a level between 0 and 1", "confidence = 0.99", _level, settable=False),
    OptionSpec(
        "assumed_rows",
        "a whole number from 1 to 1e9: how many rows count in each group, for estimates of averages and ratios",
        "assumed_rows = 1000",
        _cap,
        settable=False,
    ),
    OptionSpec("if_not_enough", "'stop' or 'best'", "if_not_enough = 'best'", _one_of("stop", "best"), settable=False),
    OptionSpec("fresh", "true or false", "fresh = true", _flag),
    OptionSpec("intervals", "a level between 0 and 1", "intervals = 0.95", _level),
    OptionSpec("top_k", "true or false", "top_k = true", _flag),
    OptionSpec("over_limit", "true or false", "over_limit = true", _flag, settable=False),
    OptionSpec("nonnegative", "true or false", "nonnegative = true", _flag),
    OptionSpec("proof", "true or false", "proof = true", _flag, settable=False),
    OptionSpec(
        "privacy_unit_column",
        "the name of the unit column in the metadata",
        "privacy_unit_column = patient_id",
        _name,
        settable=False,
    ),
)
CONFIRM_ABOVE = OptionSpec("confirm_above", "a number from 1e-9 to 1e6", "confirm_above = 0.5", _epsilon)
TIME_LIMIT = OptionSpec("time_limit", "a number of seconds from 0.1 to 86400", "time_limit = 600", _seconds)
OPTIONS: Mapping[str, OptionSpec] = MappingProxyType({spec.name: spec for spec in _SPECS})
# With SET: the options that are not about one query's columns, and what an interface asks itself.
SETTINGS: Mapping[str, OptionSpec] = MappingProxyType(
    {spec.name: spec for spec in (*_SPECS, CONFIRM_ABOVE, TIME_LIMIT) if spec.settable}
)


def option(
    name: str, raw: Raw, *, at: Span | None = None, name_at: Span | None = None, setting: bool = False
) -> Option:
    """The validated option; SqlError 119 for an unknown name, and for a value that does not fit it."""
    spec = (SETTINGS if setting else OPTIONS).get(fold(name))
    if spec is None:
        raise _unknown(name, setting, name_at or at)
    value = spec.check(raw)
    if value is None:
        raise SqlError(
            f"{spec.name} takes {spec.takes}",
            code=119,
            at=at,
            why="The given value does not fit.",
            fix=f"Write for example {spec.example}.",
        )
    return Option(spec.name, value, at)


def setting_named(name: str, at: Span | None) -> OptionSpec:
    """A setting's specification; SqlError 119 for an unknown name."""
    spec = SETTINGS.get(fold(name))
    if spec is None:
        raise _unknown(name, True, at)
    return spec


def _unknown(name: str, setting: bool, at: Span | None) -> SqlError:
    known = tuple(SETTINGS if setting else OPTIONS)
    near = did_you_mean(name, known)
    return SqlError(
        f"there is no {'setting' if setting else 'option'} {name[:40]}",
        code=119,
        at=at,
        why=f"Did you mean {near}?" if near else "",
        fix=f"There are {', '.join(known)}.",
    )


def did_you_mean(name: str, known: tuple[str, ...]) -> str:
    """The closest of the known names, or nothing."""
    started = [one for one in known if len(name) > 2 and one.startswith(fold(name))]
    if len(started) == 1:
        return started[0]
    return next(iter(difflib.get_close_matches(fold(name), known, n=1, cutoff=0.6)), "")
