"""+ - * / // % and the sign. Overflow and division by zero, which raise in DuckDB, are NULL in the vault."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction

from dpsql.domain import interval as iv
from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.types import BIGINT, DATE, REAL, TIMESTAMP, Kind, Type
from dpsql.ir.expr import Call, Literal
from dpsql.sql.functions.model import Args, Domains, Function, TypeProblem
from dpsql.sql.functions.moments import DAY, moved, shift_range
from dpsql.sql.functions.numbers import (
    added,
    decimals,
    expect_numbers,
    fitted,
    inside,
    joined,
    multiplied,
    type_range,
)
from dpsql.sql.functions.result import converted, may_be_infinite, result
from dpsql.sql.functions.sets import Inexact, mapped

Combine = Callable[[Interval, Interval], Interval]
MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


def _sum_type(args: Args) -> Type:
    if len(args) == 2 and any(a.type.kind in (*MOMENTS, Kind.INTERVAL) for a in args):
        return _moved_type(args)
    return added(args)


def _moved_type(args: Args) -> Type:
    """DATE + INTEGER, and a date or timestamp + an interval constant."""
    moment = 0 if args[0].type.kind in MOMENTS else 1
    by = args[1 - moment]
    if args[moment].type.kind not in (*MOMENTS, Kind.NULL):
        raise TypeProblem("an interval is added to a date or a timestamp", moment)
    if by.type.kind is Kind.INTERVAL:
        if not isinstance(by, Literal):
            raise TypeProblem("an interval must be a constant", 1 - moment)
        return TIMESTAMP
    if args[moment].type == DATE and by.type.kind is Kind.INTEGER and by.type.bits <= 32:
        return DATE
    raise TypeProblem(
        f"{by.type} cannot be added to {args[moment].type}",
        1 - moment,
        "Add an interval, such as INTERVAL 1 DAY, or CAST the number of days to INTEGER.",
    )


def _difference_type(args: Args) -> Type:
    left, right = args[0].type.kind, args[1].type.kind
    if left is Kind.DATE and right is Kind.DATE:
        return BIGINT
    if left in MOMENTS and right in MOMENTS:
        raise TypeProblem(
            "the difference of timestamps is an interval", None, "Write date_diff('day', start, end), or another part."
        )
    if left in MOMENTS:
        return _moved_type(args)
    if right in MOMENTS or right is Kind.INTERVAL:
        raise TypeProblem(f"{args[1].type} cannot be taken from {args[0].type}", 1)
    return added(args)


def _sum_domain(sign: int) -> Callable[[Call, Domains], Domain]:
    combine: Combine = iv.add if sign > 0 else iv.subtract
    rule = operator.add if sign > 0 else operator.sub

    def domain(call: Call, domains: Domains) -> Domain:
        if any(a.type.kind in MOMENTS for a in call.args):
            return _moment_domain(call, domains, sign)
        return _exact_domain(call, domains, combine, rule)

    return domain


def _moment_domain(call: Call, domains: Domains, sign: int) -> Domain:
    return result(call, domains, interval=_shifted(call, domains, sign), keys=_shifted_keys(call, domains, sign))


def _shifted(call: Call, domains: Domains, sign: int) -> Interval:
    """Where date arithmetic may lead, beyond the year 9999 too."""
    spans = [_finite(d) for d in domains]
    if call.type == BIGINT:  # date - date
        return iv.subtract(*spans)
    at = 0 if call.args[0].type.kind in MOMENTS else 1
    by = call.args[1 - at]
    if by.type.kind is not Kind.INTERVAL:
        return iv.add(spans[at], spans[1 - at] if sign > 0 else iv.negate(spans[1 - at]))
    scale = iv.point(DAY if call.args[at].type == DATE else 1)
    return iv.add(iv.multiply(spans[at], scale), iv.interval(*shift_range(by, sign)))


def _shifted_keys(call: Call, domains: Domains, sign: int) -> tuple[Atom, ...] | None:
    at = 0 if call.args[0].type.kind in MOMENTS else 1
    by, type_ = call.args[1 - at], call.args[at].type
    reach = type_range(call.type)
    if by.type.kind is Kind.INTERVAL:
        return mapped(lambda v: _kept(moved(v, type_, by, sign), reach), (domains[at],))
    rule = operator.add if sign > 0 else operator.sub
    return mapped(lambda *v: _kept(rule(*v), reach), domains)


def _kept(value: Atom, reach: Interval) -> Atom:
    """NULL for what the vault's checked form answers with NULL."""
    return value if isinstance(value, int) and value in reach else None


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
            return not inside(_shifted(call, domains, 1 if combine is iv.add else -1), call.type)
        if call.type.kind is Kind.REAL:
            return False
        if not inside(combine(*(_finite(d) for d in domains)), call.type):
            return True
        return call.type.kind is Kind.DECIMAL and not _operands_fit(call, domains)

    return raises


def _finite(domain: Domain) -> Interval:
    """Nothing is beyond its type; a NULL is as good as zero."""
    if domain.type.kind in (Kind.NULL, Kind.INTERVAL) or domain.interval.is_empty:
        return iv.point(0)
    return fitted(domain.interval, domain.type)


def _operands_fit(call: Call, domains: Domains) -> bool:
    """DuckDB brings decimals to the result's width (and, for + -, scale) before it computes."""
    if call.type.kind is not Kind.DECIMAL or any(a.type.kind is Kind.NULL for a in call.args):
        return True
    sides = decimals(call.args)
    for side, domain in zip(sides, domains, strict=True):
        scale = side.scale if call.function.endswith("multiply") else call.type.scale
        limit = Fraction(10 ** (call.type.precision - scale)) if call.type.precision >= scale else Fraction(0)
        low, high = _finite(domain).ends()
        if not -limit < low <= high < limit:
            return False
    return True


def _quotient_type(args: Args) -> Type:
    expect_numbers(args)
    return REAL


def _whole_quotient_type(args: Args) -> Type:
    expect_numbers(args)
    type_ = joined(args)
    return type_ if type_.kind is Kind.INTEGER else BIGINT if type_.kind is Kind.NULL else REAL


def _quotient_domain(call: Call, domains: Domains) -> Domain:
    """x / 0 is infinite, 0 / 0 NaN."""

    def apply(a: Atom, b: Atom) -> Atom:
        return converted(a, REAL) / converted(b, REAL)  # type: ignore[operator]  # floats

    return result(
        call,
        domains,
        interval=iv.divide(domains[0].interval, domains[1].interval),
        keys=mapped(apply, domains),
        nullable=any(d.nullable for d in domains) or 0 in domains[1].interval or any(map(may_be_infinite, domains)),
    )


def _whole_quotient_domain(call: Call, domains: Domains) -> Domain:
    """Truncated towards zero for integers; for decimals and reals DuckDB divides exactly as `/`."""
    if call.type.kind is not Kind.INTEGER:
        return _quotient_domain(call, domains).but(nullable=True)

    def apply(a: Atom, b: Atom) -> Atom:
        assert isinstance(a, int) and isinstance(b, int)
        return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b != 0 else None

    top = iv.absolute(domains[0].interval)
    whole = Interval(None if top.upper is None else -top.upper, top.upper)
    found = iv.divide(domains[0].interval, domains[1].interval)
    if found != EVERYTHING:
        whole = iv.intersect(whole, Interval(_towards_zero(found.lower), _towards_zero(found.upper)))
    return result(call, domains, interval=whole, keys=mapped(apply, domains), nullable=_null_divisor(domains))


def _towards_zero(end: Fraction | None) -> Fraction | None:
    return None if end is None else Fraction(math.trunc(end))


def _null_divisor(domains: Domains) -> bool:
    return any(d.nullable for d in domains) or 0 in domains[1].interval


def _divides_badly(call: Call, domains: Domains) -> bool:
    """By zero; or the least integer by -1."""
    if 0 in domains[1].interval:
        return True
    return (
        call.type.kind is Kind.INTEGER
        and -1 in domains[1].interval
        and not inside(iv.negate(_finite(domains[0])), call.type)
    )


def _remainder_type(args: Args) -> Type:
    expect_numbers(args)
    type_ = joined(args)
    if type_.kind is Kind.NULL:
        return BIGINT
    if type_.kind is Kind.DECIMAL:
        sides = decimals(args)
        if max(s.precision - s.scale for s in sides) + type_.scale > 38:
            return REAL
    return type_


def _remainder_domain(call: Call, domains: Domains) -> Domain:
    """The sign is the dividend's; the size is below both the divisor's and the dividend's."""

    def apply(a: Atom, b: Atom) -> Atom:
        left, right = converted(a, call.type), converted(b, call.type)
        if isinstance(left, float) and isinstance(right, float):
            return math.fmod(left, right)
        assert isinstance(left, int | Fraction) and isinstance(right, int | Fraction)
        if right == 0:
            return None
        return left - right * math.trunc(Fraction(left) / right)

    a, b = domains[0].interval, iv.absolute(domains[1].interval)
    size = a if a.is_finite else EVERYTHING
    top = [end for end in (iv.absolute(size).upper, b.upper) if end is not None]
    most = min(top) if top else None
    found = Interval(
        Fraction(0) if a.lower is not None and a.lower >= 0 else None if most is None else -most,
        Fraction(0) if a.upper is not None and a.upper <= 0 else most,
    )
    if call.type.kind is Kind.INTEGER and b.upper is not None and b.upper >= 1:
        found = iv.intersect(found, Interval(1 - b.upper, b.upper - 1))
    odd = call.type.kind is Kind.REAL and may_be_infinite(domains[0])
    return result(
        call,
        domains,
        interval=found,
        keys=mapped(apply, domains),
        nullable=_null_divisor(domains) or odd,
        integral=call.type.kind is Kind.REAL and all(d.is_integral for d in domains),
    )


def _remainder_raises(call: Call, domains: Domains) -> bool:
    if call.type.kind is Kind.REAL:
        return False
    return _divides_badly(call, domains) or not _operands_fit(call, domains)


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
    return call.type.kind is Kind.INTEGER and not inside(iv.negate(_finite(domains[0])), call.type)


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
    Function(
        name="divide",
        doc="The quotient, a real number; x / 0 is infinite.",
        signature="x / y",
        least=2,
        most=2,
        type=_quotient_type,
        domain=_quotient_domain,
    ),
    Function(
        name="integer_divide",
        doc="The quotient of integers without its fraction; NULL by zero.",
        signature="x // y",
        least=2,
        most=2,
        type=_whole_quotient_type,
        domain=_whole_quotient_domain,
        raises=_divides_badly,
    ),
    Function(
        name="modulo",
        doc="The remainder, with the sign of x; NULL by zero.",
        signature="x % y, MOD(x, y)",
        least=2,
        most=2,
        type=_remainder_type,
        domain=_remainder_domain,
        raises=_remainder_raises,
    ),
)
