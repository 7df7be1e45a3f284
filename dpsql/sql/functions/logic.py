"""AND, OR, NOT and the tests for NULL, TRUE and FALSE."""

from __future__ import annotations

from dpsql.domain.facts import Domain
from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.ir.expr import Call
from dpsql.sql.functions.model import Args, Domains, Function, expect, row
from dpsql.sql.functions.result import result


def _booleans(args: Args) -> Type:
    for position in range(len(args)):
        expect(args, position, (Kind.BOOLEAN,), "Compare it with something.")
    return BOOLEAN


def _anything(args: Args) -> Type:
    return BOOLEAN


def _domain(call: Call, domains: Domains) -> Domain:
    return result(call, domains)


def _surely(call: Call, domains: Domains) -> Domain:
    return result(call, domains, nullable=False)


def _test(name: str, words: str, doc: str) -> Function:
    return row(name, doc, f"x {words}", 1, _booleans, _surely)


FUNCTIONS = (
    row("and", "Whether all hold.", "a AND b", (1, None), _booleans, _domain),
    row("or", "Whether one holds.", "a OR b", (1, None), _booleans, _domain),
    row("not", "Whether it does not hold.", "NOT a", 1, _booleans, _domain),
    row("is_null", "Whether x is NULL.", "x IS NULL", 1, _anything, _surely),
    row("is_not_null", "Whether x has a value.", "x IS NOT NULL", 1, _anything, _surely),
    _test("is_true", "IS TRUE", "Whether x is TRUE (FALSE for NULL)."),
    _test("is_false", "IS FALSE", "Whether x is FALSE (FALSE for NULL)."),
    _test("is_not_true", "IS NOT TRUE", "Whether x is FALSE or NULL."),
    _test("is_not_false", "IS NOT FALSE", "Whether x is TRUE or NULL."),
)
