"""AND, OR, NOT and the tests for NULL, TRUE and FALSE."""

from __future__ import annotations

from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.functions.function import Args, Function, row, takes
from dpsql.functions.result import never_null_domain, result

_booleans = takes((Kind.BOOLEAN,), BOOLEAN, "Compare it with something.")


def _anything(args: Args) -> Type:
    return BOOLEAN


def _test(name: str, words: str, doc: str) -> Function:
    return row(name, doc, f"x {words}", 1, _booleans, never_null_domain)


FUNCTIONS = (
    row("and", "Whether all hold.", "a AND b", (1, None), _booleans, result),
    row("or", "Whether one holds.", "a OR b", (1, None), _booleans, result),
    row("not", "Whether it does not hold.", "NOT a", 1, _booleans, result),
    row("is_null", "Whether x is NULL.", "x IS NULL", 1, _anything, never_null_domain),
    row("is_not_null", "Whether x has a value.", "x IS NOT NULL", 1, _anything, never_null_domain),
    _test("is_true", "IS TRUE", "Whether x is TRUE (FALSE for NULL)."),
    _test("is_false", "IS FALSE", "Whether x is FALSE (FALSE for NULL)."),
    _test("is_not_true", "IS NOT TRUE", "Whether x is FALSE or NULL."),
    _test("is_not_false", "IS NOT FALSE", "Whether x is TRUE or NULL."),
)
