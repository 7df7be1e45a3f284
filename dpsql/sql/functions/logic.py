"""AND, OR, NOT and the tests for NULL, TRUE and FALSE."""

from __future__ import annotations

from dpsql.domain.facts import Domain
from dpsql.domain.types import BOOLEAN, Kind, Type
from dpsql.ir.expr import Call
from dpsql.sql.functions.model import Args, Domains, Function, expect
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
    return Function(name=name, doc=doc, signature=f"x {words}", least=1, most=1, type=_booleans, domain=_surely)


FUNCTIONS = (
    Function(
        name="and", doc="Whether all hold.", signature="a AND b", least=1, most=None, type=_booleans, domain=_domain
    ),
    Function(
        name="or", doc="Whether one holds.", signature="a OR b", least=1, most=None, type=_booleans, domain=_domain
    ),
    Function(
        name="not", doc="Whether it does not hold.", signature="NOT a", least=1, most=1, type=_booleans, domain=_domain
    ),
    Function(
        name="is_null", doc="Whether x is NULL.", signature="x IS NULL", least=1, most=1, type=_anything, domain=_surely
    ),
    Function(
        name="is_not_null",
        doc="Whether x has a value.",
        signature="x IS NOT NULL",
        least=1,
        most=1,
        type=_anything,
        domain=_surely,
    ),
    _test("is_true", "IS TRUE", "Whether x is TRUE (FALSE for NULL)."),
    _test("is_false", "IS FALSE", "Whether x is FALSE (FALSE for NULL)."),
    _test("is_not_true", "IS NOT TRUE", "Whether x is FALSE or NULL."),
    _test("is_not_false", "IS NOT FALSE", "Whether x is TRUE or NULL."),
)
