"""+ - * and the sign. Overflow, which raises in DuckDB, is NULL in the vault."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain import interval as iv
from dpsql.domain.facts import Domain
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import ZERO, Range
from dpsql.domain.types import BIGINT, Kind, Type
from dpsql.functions.date_arithmetic import MOMENTS, moved_type, shifted_range
from dpsql.functions.function import Args, Domains, Spans, TypeProblem, row
from dpsql.functions.numbers import added, expect_numbers, held, multiplied, operands_fit, span_in
from dpsql.functions.result import may_be_infinite, reaching, result
from dpsql.ir.expr import Call

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


Pair = Callable[[Range, Range], Range]


def _domain(combine: Combine, pair: Pair, sign: int) -> Callable[[Call, Domains], Domain]:
    """An operation that is exact on integers and decimals; on reals infinities may make NaN, which counts as NULL."""
    exact = reaching(_reach(pair, sign))

    def domain(call: Call, domains: Domains) -> Domain:
        if call.type.kind is not Kind.REAL:
            return exact(call, domains)
        return result(
            call,
            domains,
            interval=combine(domains[0].interval, domains[1].interval),
            nullable=any(d.nullable or may_be_infinite(d) for d in domains),
            integral=all(d.is_integral for d in domains),
        )

    return domain


def _reach(combine: Pair, sign: int) -> Callable[[Call, Spans], Range | None]:
    """sign: of the operation on moments; 0 for the product, which brings its operands to no common scale."""

    def reach(call: Call, spans: Spans) -> Range | None:
        if any(a.type.kind in MOMENTS for a in call.args):
            return shifted_range(call, spans, sign)
        if call.type.kind is Kind.REAL:
            return None
        if sign:
            return combine(span_in(call, 0, spans), span_in(call, 1, spans))
        return combine(*(span or ZERO for span in spans))

    return reach


def _plain(combine: Pair, sign: int) -> Callable[[Call, Spans], bool]:
    """Reals never overflow; what is exact has its result, and its operands as DuckDB converts them, in the type."""
    reach = _reach(combine, sign)

    def plain(call: Call, spans: Spans) -> bool:
        range_ = reach(call, spans)
        if call.type.kind is Kind.REAL:
            return True
        return range_ is not None and held(range_, call.type) and operands_fit(call, spans)

    return plain


def _added(a: Range, b: Range) -> Range:
    return Range(a.least + b.least, a.most + b.most)


def _subtracted(a: Range, b: Range) -> Range:
    return Range(a.least - b.most, a.most - b.least)


def _multiplied(a: Range, b: Range) -> Range:
    products = [x * y for x in (a.least, a.most) for y in (b.least, b.most)]
    return Range(min(products), max(products))


def _negate_type(args: Args) -> Type:
    expect_numbers(args)
    return BIGINT if args[0].type.kind is Kind.NULL else args[0].type


def _negate_domain(call: Call, domains: Domains) -> Domain:
    return result(call, domains, interval=iv.negate(domains[0].interval), integral=domains[0].integral)


def _negated(call: Call, spans: Spans) -> Range | None:
    range_ = span_in(call, 0, spans)
    return None if call.type.kind is Kind.REAL else Range(-range_.most, -range_.least)


def _negate_plain(call: Call, spans: Spans) -> bool:
    range_ = _negated(call, spans)
    return range_ is None or held(range_, call.type)


FUNCTIONS = (
    row(
        "negate",
        "The number with its sign changed.",
        "-x",
        1,
        _negate_type,
        _negate_domain,
        plain=_negate_plain,
        reach=_negated,
    ),
    row(
        "add",
        "The sum; a date plus days; a date or timestamp plus an interval.",
        "x + y",
        2,
        _sum_type,
        _domain(iv.add, _added, 1),
        plain=_plain(_added, 1),
        reach=_reach(_added, 1),
    ),
    row(
        "subtract",
        "The difference; of two dates, in days.",
        "x - y",
        2,
        _difference_type,
        _domain(iv.subtract, _subtracted, -1),
        plain=_plain(_subtracted, -1),
        reach=_reach(_subtracted, -1),
    ),
    row(
        "multiply",
        "The product.",
        "x * y",
        2,
        multiplied,
        _domain(iv.multiply, _multiplied, 0),
        plain=_plain(_multiplied, 0),
        reach=_reach(_multiplied, 0),
    ),
)
