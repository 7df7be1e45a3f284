"""Options that Python gives as arguments: the same validation as OPTIONS and SET."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dpsql.errors import InterfaceError
from dpsql.privacy.settings import AUTO, RELEASED, AskedLimit
from dpsql.sql import options

Amountlike = int | float | str | Decimal | Fraction


def exact_option(name: str, value: Amountlike | None) -> Fraction | None:
    if value is None:
        return None
    raw = options.number(value) if isinstance(value, str) else options.raw_of(value)
    checked = None if raw is None or isinstance(raw, bool) else options.OPTIONS[name].check(raw)
    if not isinstance(checked, Fraction | int):
        raise InterfaceError(
            f"{name}={value!r} is not possible", code=119, fix=f"{name} takes {options.OPTIONS[name].takes}."
        )
    return Fraction(checked)


def limit_option(name: str, value: int | str | None) -> AskedLimit | None:
    """A number, 'auto' or 'released'."""
    if value is None:
        return None
    if isinstance(value, str) and value.casefold() in options.LIMIT_WORDS:
        return AUTO if value.casefold() == AUTO else RELEASED
    checked = exact_option(name, value)
    return None if checked is None else int(checked)
