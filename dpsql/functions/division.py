"""/ // and %. What raises in DuckDB, division by zero of integers and the least integer by -1, is NULL in the vault."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain import interval as iv
from dpsql.domain.facts import Domain
from dpsql.domain.interval import EVERYTHING, Interval
from dpsql.domain.ranges import ZERO, Range
from dpsql.domain.types import BIGINT, REAL, Kind, Type
from dpsql.functions.function import Args, Domains, Spans, row, takes
from dpsql.functions.numbers import AS_NUMBER, NUMBERS, decimals, expect_numbers, joined, operands_fit, span_in
from dpsql.functions.result import may_be_infinite, reaching, result
from dpsql.ir.expr import Call, Literal


def _whole_quotient_type(args: Args) -> Type:
    expect_numbers(args)
    type_ = joined(args)
    return type_ if type_.kind is Kind.INTEGER else BIGINT if type_.kind is Kind.NULL else REAL


def _quotient_domain(call: Call, domains: Domains) -> Domain:
    """x / 0 is infinite, 0 / 0 NaN."""
    return result(
        call,
        domains,
        interval=iv.divide(domains[0].interval, domains[1].interval),
        nullable=any(d.nullable for d in domains) or 0 in domains[1].interval or any(map(may_be_infinite, domains)),
    )


def _whole_quotient_domain(call: Call, domains: Domains) -> Domain:
    """Truncated towards zero for integers; for decimals and reals DuckDB divides exactly as `/`."""
    if call.type.kind is Kind.INTEGER:
        return reaching(_whole_quotients)(call, domains)
    return _quotient_domain(call, domains).but(nullable=True)


def _divides_well(call: Call, spans: Spans) -> bool:
    """Never by zero; whole numbers not by -1 either, which takes the least one beyond its type."""
    divisor = spans[1]
    if divisor is None:  # a real: a constant may be known not to be zero
        known = call.args[1]
        return isinstance(known, Literal) and isinstance(known.value, float) and known.value != 0
    return 0 not in divisor and (call.type.kind is not Kind.INTEGER or -1 not in divisor)


def _whole_quotients(call: Call, spans: Spans) -> Range | None:
    """Truncated towards zero: monotone in each argument as long as the divisor keeps its sign."""
    if call.type.kind is not Kind.INTEGER:
        return None
    a, b = (span or ZERO for span in spans)
    if 0 in b:
        return Range(-a.size, a.size)
    quotients = [
        abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in (a.least, a.most) for y in (b.least, b.most)
    ]
    return Range(min(quotients), max(quotients))


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
    if call.type.kind is not Kind.REAL:
        return reaching(_remainders)(call, domains)
    a, b = domains[0].interval, iv.absolute(domains[1].interval)
    size = a if a.is_finite else EVERYTHING
    top = [end for end in (iv.absolute(size).upper, b.upper) if end is not None]
    most = min(top) if top else None
    interval = Interval(
        Fraction(0) if a.lower is not None and a.lower >= 0 else None if most is None else -most,
        Fraction(0) if a.upper is not None and a.upper <= 0 else most,
    )
    return result(
        call,
        domains,
        interval=interval,
        nullable=any(d.nullable for d in domains) or 0 in domains[1].interval or may_be_infinite(domains[0]),
        integral=all(d.is_integral for d in domains),
    )


def _remainder_plain(call: Call, spans: Spans) -> bool:
    if call.type.kind is Kind.REAL:
        return True
    return _divides_well(call, spans) and operands_fit(call, spans)


def _remainders(call: Call, spans: Spans) -> Range | None:
    """The sign is the dividend's, the size is below the divisor's and not above the dividend's."""
    if call.type.kind is Kind.REAL:
        return None
    a, b = span_in(call, 0, spans), span_in(call, 1, spans)
    most = min(a.size, max(b.size - 1, 0))
    return Range(-most if a.least < 0 else 0, most if a.most > 0 else 0)


FUNCTIONS = (
    row(
        "divide",
        "The quotient, a real number; x / 0 is infinite.",
        "x / y",
        2,
        takes(NUMBERS, REAL, AS_NUMBER),
        _quotient_domain,
    ),
    row(
        "integer_divide",
        "The quotient of integers without its fraction; NULL if y is 0.",
        "x // y",
        2,
        _whole_quotient_type,
        _whole_quotient_domain,
        plain=_divides_well,
        reach=_whole_quotients,
    ),
    row(
        "modulo",
        "The remainder, with the sign of x; NULL if y is 0.",
        "x % y, MOD(x, y)",
        2,
        _remainder_type,
        _remainder_domain,
        plain=_remainder_plain,
        reach=_remainders,
    ),
)
