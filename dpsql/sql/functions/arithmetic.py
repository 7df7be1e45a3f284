"""+ - * and the sign. Overflow, which raises in DuckDB, is NULL in the vault."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from dpsql.domain import interval as iv
from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import Interval
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.ir.expr import Call
from dpsql.sql.functions.date_arithmetic import MOMENTS, moment_domain, moved_type, shifted
from dpsql.sql.functions.model import Args, Domains, Function, TypeProblem
from dpsql.sql.functions.numbers import added, expect_numbers, finite, inside, multiplied, operands_fit, type_range
from dpsql.sql.functions.result import converted, may_be_infinite, result
from dpsql.sql.functions.sets import Inexact, mapped

LOWEST = -(2**127)
Combine = Callable[[Interval, Interval], Interval]


def _sum_type(args: Args) -> Type:
    if len(args) == 2 and any(a.type.kind in (*MOMENTS, Kind.INTERVAL) for a in args):
        return moved_type(args)
    return added(args)


def _difference_type(args: Args) -> Type:
    left, right = args[0].type.kind, args[1].type.kind
    if left is Kind.DATE and right is Kind.DATE:
        return BIGINT
    if left in MOMENTS and right in MOMENTS:
        raise TypeProblem(
            "the difference of timestamps is an interval", None, "Write date_diff('day', start, end), or another part."
        )
    if left in MOMENTS:
        return moved_type(args)
    if right in MOMENTS or right is Kind.INTERVAL:
        raise TypeProblem(f"{args[1].type} cannot be taken from {args[0].type}", 1)
    return added(args)


def _sum_domain(sign: int) -> Callable[[Call, Domains], Domain]:
    combine: Combine = iv.add if sign > 0 else iv.subtract
    rule = operator.add if sign > 0 else operator.sub

    def domain(call: Call, domains: Domains) -> Domain:
        if any(a.type.kind in MOMENTS for a in call.args):
            return moment_domain(call, domains, sign)
        return _exact_domain(call, domains, combine, rule)

    return domain


def _exact_domain(call: Call, domains: Domains, combine: Combine, rule: Callable[[Atom, Atom], Atom]) -> Domain:
    """An operation that is exact on integers and decimals; on reals infinities may make NaN, which counts as NULL."""

    def apply(a: Atom, b: Atom) -> Atom:
        value = rule(converted(a, call.type), converted(b, call.type))
        if isinstance(value, float):
            if not math.isfinite(value):
                raise Inexact
            return value
        return value if value in type_range(call.type) else None  # type: ignore[operator]  # numbers only

    found = combine(domains[0].interval, domains[1].interval)
    odd = call.type.kind is Kind.REAL and any(may_be_infinite(d) for d in domains)
    integral = call.type.kind is Kind.REAL and all(d.is_integral for d in domains)
    return result(
        call,
        domains,
        interval=found,
        keys=mapped(apply, domains),
        nullable=odd or any(d.nullable for d in domains),
        integral=integral,
    )


def _overflows(combine: Combine) -> Callable[[Call, Domains], bool]:
    def raises(call: Call, domains: Domains) -> bool:
        if any(a.type.kind in MOMENTS for a in call.args):
            return not inside(shifted(call, domains, 1 if combine is iv.add else -1), call.type)
        if call.type.kind is Kind.REAL:
            return False
        found = combine(*(finite(d) for d in domains))
        # a HUGEINT can be -2^127, but DuckDB fails at a product that is
        if not inside(found, call.type) or found.lower == LOWEST:
            return True
        return call.type.kind is Kind.DECIMAL and not operands_fit(call, domains)

    return raises


def _negate_type(args: Args) -> Type:
    expect_numbers(args)
    return BIGINT if args[0].type.kind is Kind.NULL else args[0].type


def _negate_domain(call: Call, domains: Domains) -> Domain:
    def apply(a: Atom) -> Atom:
        return -a if a is not None and not isinstance(a, str) else None

    return result(
        call,
        domains,
        interval=iv.negate(domains[0].interval),
        keys=mapped(apply, domains),
        integral=domains[0].integral,
    )


def _negate_raises(call: Call, domains: Domains) -> bool:
    return call.type.kind is Kind.INTEGER and not inside(iv.negate(finite(domains[0])), call.type)


FUNCTIONS = (
    Function(
        name="negate",
        doc="The number with its sign changed.",
        signature="-x",
        least=1,
        most=1,
        type=_negate_type,
        domain=_negate_domain,
        raises=_negate_raises,
    ),
    Function(
        name="add",
        doc="The sum; a date plus days; a date or timestamp plus an interval.",
        signature="x + y",
        least=2,
        most=2,
        type=_sum_type,
        domain=_sum_domain(1),
        raises=_overflows(iv.add),
    ),
    Function(
        name="subtract",
        doc="The difference; of two dates, in days.",
        signature="x - y",
        least=2,
        most=2,
        type=_difference_type,
        domain=_sum_domain(-1),
        raises=_overflows(iv.subtract),
    ),
    Function(
        name="multiply",
        doc="The product.",
        signature="x * y",
        least=2,
        most=2,
        type=multiplied,
        domain=lambda call, domains: _exact_domain(call, domains, iv.multiply, operator.mul),
        raises=_overflows(iv.multiply),
    ),
)
