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

from dpsql.catalog.model import fold
from dpsql.errors import Span, SqlError
from dpsql.sql.statement import Accuracy, Option, OptionValue, Relative, Weights

# Beyond these a value is a slip of the pen: noise scales and exact fractions stay of a sane size.
EPSILON_RANGE = (Fraction(1, 10**9), Fraction(10**6))
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


def _delta(raw: Raw) -> Fraction | None:
    value = _rational(raw)
    return value if value is not None and (value == 0 or SMALLEST_DELTA <= value < 1) else None


def _cap(raw: Raw) -> int | None:
    value = _rational(raw)
    return int(value) if value is not None and value.denominator == 1 and 1 <= value <= LARGEST_CAP else None


def _limit(raw: Raw) -> int | str | None:
    if isinstance(raw, str):
        return fold(raw) if fold(raw) in LIMIT_WORDS else None
    return _cap(raw)


def _mechanism(raw: Raw) -> str | None:
    return fold(raw) if isinstance(raw, str) and fold(raw) in MECHANISMS else None


def _goal(raw: Raw) -> str | None:
    return fold(raw) if isinstance(raw, str) and fold(raw) in GOALS else None


def _short(raw: Raw) -> str | None:
    return fold(raw) if isinstance(raw, str) and fold(raw) in ("stop", "best") else None


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
    named = tuple(
        (item[0], weight)
        for item in raw
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        if (weight := _weight(item[1])) is not None
    )
    distinct = len({fold(name) for name, _ in named})
    return named if len(named) == len(raw) == distinct else None


def _accuracy(raw: Raw) -> Accuracy | None:
    """One half-width for all columns, or one for each that is named; each a number, or a percentage of what was released."""
    if not isinstance(raw, tuple):
        return _near(raw)
    named = tuple(
        (item[0], near)
        for item in raw
        if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str)
        if (near := _near(item[1])) is not None
    )
    distinct = len({fold(name) for name, _ in named})
    return named if named and len(named) == len(raw) == distinct else None


def _near(raw: Raw) -> Fraction | Relative | None:
    if not isinstance(raw, str):
        return _weight(raw)
    percent = number(raw.strip(" ").removesuffix("%")) if raw.strip(" ").endswith("%") else None
    return Relative(percent / 100) if percent is not None and SMALLEST_SHARE <= percent / 100 <= LARGEST_SHARE else None


_SPECS = (
    OptionSpec(name="epsilon", takes="a number from 1e-9 to 1e6", example="epsilon = 0.5", check=_epsilon),
    OptionSpec(
        name="delta",
        takes="a number from 0 to the owner's max_delta, 1e-3",
        example="delta = 1e-9",
        check=_delta,
    ),
    OptionSpec(
        name="max_rows_contributed",
        takes="a whole number from 1 to 1e9, 'auto' or 'released'",
        example="max_rows_contributed = 12",
        check=_limit,
    ),
    OptionSpec(
        name="max_groups_contributed",
        takes="a whole number from 1 to 1e9, 'auto' or 'released'",
        example="max_groups_contributed = 4",
        check=_limit,
    ),
    OptionSpec(
        name="max_rows_per_group", takes="a whole number from 1 to 1e9", example="max_rows_per_group = 3", check=_cap
    ),
    OptionSpec(
        name="mechanism",
        takes="'auto', 'laplace' or 'gaussian'",
        example="mechanism = 'laplace'",
        check=_mechanism,
    ),
    OptionSpec(
        name="split",
        takes="positive weights of columns of the outermost SELECT: by name, or of all that take a share of ε, in order",
        example="split = (n => 2, total => 1) or split = (2, 1)",
        check=_split,
        settable=False,
    ),
    OptionSpec(
        name="error",
        takes="'per cell' or 'per level': which mean error ROLLUP, CUBE and GROUPING SETS make small",
        example="error = 'per cell'",
        check=_goal,
        settable=False,
    ),
    OptionSpec(
        name="accuracy",
        takes="how accurate numbers must be: a half-width of the confidence interval, or a percentage of what was released "
        "before; one for all columns, or one for each by its name",
        example="accuracy = (n => 50, total => '5%') or accuracy = 50",
        check=_accuracy,
        settable=False,
    ),
    OptionSpec(
        name="confidence", takes="a level between 0 and 1", example="confidence = 0.99", check=_level, settable=False
    ),
    OptionSpec(
        name="assumed_rows",
        takes="a whole number from 1 to 1e9: how many rows count in each group, for estimates of averages and ratios",
        example="assumed_rows = 1000",
        check=_cap,
        settable=False,
    ),
    OptionSpec(
        name="if_not_enough", takes="'stop' or 'best'", example="if_not_enough = 'best'", check=_short, settable=False
    ),
    OptionSpec(name="fresh", takes="true or false", example="fresh = true", check=_flag),
    OptionSpec(name="intervals", takes="a level between 0 and 1", example="intervals = 0.95", check=_level),
    OptionSpec(name="top_k", takes="true or false", example="top_k = true", check=_flag),
    OptionSpec(name="over_limit", takes="true or false", example="over_limit = true", check=_flag, settable=False),
    OptionSpec(name="nonnegative", takes="true or false", example="nonnegative = true", check=_flag),
    OptionSpec(name="proof", takes="true or false", example="proof = true", check=_flag, settable=False),
    OptionSpec(
        name="privacy_unit_column",
        takes="the name of the catalog's unit column",
        example="privacy_unit_column = patient_id",
        check=_name,
        settable=False,
    ),
)
CONFIRM_ABOVE = OptionSpec(
    name="confirm_above", takes="a number from 1e-9 to 1e6", example="confirm_above = 0.5", check=_epsilon
)
OPTIONS: Mapping[str, OptionSpec] = MappingProxyType({spec.name: spec for spec in _SPECS})
# With SET: the options that are not about one query's columns, and what an interface asks itself.
SETTINGS: Mapping[str, OptionSpec] = MappingProxyType(
    {spec.name: spec for spec in (*_SPECS, CONFIRM_ABOVE) if spec.settable}
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
            why="The value given is something else.",
            fix=f"Write for example {spec.example}.",
        )
    return Option(spec.name, value, at)


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
