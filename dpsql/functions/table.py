"""The table: every scalar function of private rows, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dpsql.functions import (
    arithmetic,
    casts,
    comparison,
    conditional,
    date_texts,
    dates,
    division,
    logic,
    mathematics,
    patterns,
    rounding,
    text,
)
from dpsql.functions.function import Function

FAMILIES = (
    arithmetic,
    division,
    comparison,
    logic,
    conditional,
    casts,
    rounding,
    mathematics,
    text,
    patterns,
    dates,
    date_texts,
)

FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {function.name: function for family in FAMILIES for function in family.FUNCTIONS}
)
