"""= <> < <= > >=, IS [NOT] DISTINCT FROM, BETWEEN, IN. All sides get one type. Only =, <> and
IN compare a text with another type (make.py reads it as that type, and what is none is NULL over private rows)."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain.facts import Domain
from dpsql.domain.types import BOOLEAN, Type
from dpsql.functions.function import Args, Domains, Function, all_alike, row
from dpsql.functions.numbers import joined
from dpsql.functions.result import never_null_domain, result
from dpsql.ir.expr import Call


def _type(args: Args) -> Type:
    joined(args)
    return BOOLEAN


def _row(name: str, sign: str, doc: str, domain: Callable[[Call, Domains], Domain] = result) -> Function:
    return row(name, doc, f"x {sign} y", 2, _type, domain, alike=all_alike, compares=True)


FUNCTIONS = (
    _row("equal", "=", "Whether both are the same; NULL if one is NULL."),
    _row("not_equal", "<>", "Whether they differ; NULL if one is NULL."),
    _row("less", "<", "Whether x is below y."),
    _row("less_equal", "<=", "Whether x is below or equal to y."),
    _row("greater", ">", "Whether x is above y."),
    _row("greater_equal", ">=", "Whether x is above or equal to y."),
    _row("is_distinct", "IS DISTINCT FROM", "Whether they differ; NULL counts as a value.", never_null_domain),
    _row("is_not_distinct", "IS NOT DISTINCT FROM", "Whether they are the same; two NULLs are.", never_null_domain),
    row(
        "between",
        "Whether low <= x and x <= high.",
        "x BETWEEN low AND high",
        3,
        _type,
        result,
        alike=all_alike,
        compares=True,
    ),
    row(
        "in",
        "Whether x is one of the values.",
        "x IN (value, …)",
        (2, None),
        _type,
        result,
        alike=all_alike,
        compares=True,
    ),
)
