"""The form group keys travel in between the databases: integers or text, so that nothing is rounded on the way.

Dates are days, timestamps microseconds, booleans 0 and 1, whole reals and integers themselves; decimals are text.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.domain.types import Atom, Kind, Type
from dpsql.errors import InternalError
from dpsql.plan.dialects.literals import fixed

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


def is_text(type_: Type) -> bool:
    """Whether keys of this type travel as text; the others travel as integers."""
    return type_.kind in (Kind.TEXT, Kind.DECIMAL)


def transported(values: tuple[Atom, ...], type_: Type, at: Integers) -> Array:
    """values[at] in the form keys travel in: text as objects, everything else as (masked) integers."""
    if is_text(type_):
        texts = np.array([_text(value, type_) for value in values] or [None], dtype=object)
        return texts[at]
    numbers = np.array([0 if value is None else int(value) for value in values] or [0], dtype=np.int64)
    masked = np.array([value is None for value in values] or [True], dtype=bool)
    return np.ma.MaskedArray(numbers[at], mask=masked[at]) if masked.any() else numbers[at]


def _text(value: Atom, type_: Type) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if type_.kind is Kind.DECIMAL and not isinstance(value, float):
        digits = fixed(Fraction(value), type_.scale)
        return (
            digits.replace("0.", ".", 1) if type_.precision == type_.scale else digits
        )  # no digit has a place before it
    raise InternalError("a key has a type that is not its column's")
