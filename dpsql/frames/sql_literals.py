"""Python values, names and options as SQL text. Nothing is decided here: the parser reads what comes out like anybody's."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from dpsql.errors import InterfaceError
from dpsql.execution.planning import read
from dpsql.sql.statement import Option


def name(text: str) -> str:
    """A column's name, quoted."""
    return '"' + str.replace(text, '"', '""') + '"'


def value(given: object) -> str:
    """A constant."""
    if type(given).__module__ == "numpy" and hasattr(given, "item"):
        given = given.item()
    match given:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if given else "FALSE"
        case int():
            return str(given) if given >= 0 else f"({given})"
        case float() if math.isfinite(given):
            return f"({given!r})"
        case Decimal() if given.is_finite():
            return f"({given:f})"
        case str():
            return "'" + str.replace(given, "'", "''") + "'"
        case datetime.datetime() if given == given and given.tzinfo is None:
            return f"TIMESTAMP '{given.isoformat(sep=' ')}'"
        case datetime.date() if not isinstance(given, datetime.datetime):
            return f"DATE '{given.isoformat()}'"
    raise InterfaceError(
        f"a {type(given).__name__} cannot be a constant in SQL",
        code=607,
        fix="Give None, a bool, a finite number, a text, a date or a datetime without a time zone.",
    )


def option(given: object) -> str:
    """An option's value; exact fractions as the quotient's decimal where it has one."""
    if isinstance(given, Fraction):
        return f"{Decimal(given.numerator) / Decimal(given.denominator):f}"
    if isinstance(given, float) and math.isfinite(given):
        return f"{Decimal(repr(given)):f}"
    return value(given)


def with_options(sql: str, options: Mapping[str, object]) -> str:
    """A SELECT with a frame's options."""
    if not options:
        return sql
    listed = ", ".join(f"{name} = {option(value)}" for name, value in options.items())
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({listed}) {sql.removeprefix('SELECT ')}"


def read_options(options: Mapping[str, object]) -> Mapping[str, Option]:
    """A frame's options for SQL that is written by hand, which may have its own."""
    return {name: replace(each, at=None) for name, each in read(with_options("SELECT 1", options)).options.items()}
