"""+ and - of dates and timestamps: with days, with constant intervals, and with each other."""

from __future__ import annotations

import operator

from dpsql.domain import interval as iv
from dpsql.domain.facts import Atom, Domain
from dpsql.domain.interval import Interval
from dpsql.domain.ranges import DAY, ZERO, Range
from dpsql.domain.types import BIGINT, DATE, TIMESTAMP, Kind, Type
from dpsql.functions.function import Args, Domains, Spans, TypeProblem
from dpsql.functions.numbers import finite, type_interval
from dpsql.functions.result import result
from dpsql.functions.sets import mapped
from dpsql.functions.timestamps import moved, shift_range
from dpsql.ir.expr import Call, Literal

MOMENTS = (Kind.DATE, Kind.TIMESTAMP)


def moved_type(args: Args) -> Type:
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


def moment_domain(call: Call, domains: Domains, sign: int) -> Domain:
    return result(call, domains, interval=shifted(call, domains, sign), keys=shifted_keys(call, domains, sign))


def shifted(call: Call, domains: Domains, sign: int) -> Interval:
    """Where date arithmetic may lead, beyond the year 9999 too."""
    spans = [finite(d) for d in domains]
    if call.type == BIGINT:  # date - date
        return iv.subtract(*spans)
    at = 0 if call.args[0].type.kind in MOMENTS else 1
    by = call.args[1 - at]
    if by.type.kind is not Kind.INTERVAL:
        return iv.add(spans[at], spans[1 - at] if sign > 0 else iv.negate(spans[1 - at]))
    scale = iv.point(DAY if call.args[at].type == DATE else 1)
    return iv.add(iv.multiply(spans[at], scale), iv.interval(*shift_range(by, sign)))


def shifted_range(call: Call, spans: Spans, sign: int) -> Range:
    """The same of ranges."""
    one, other = (span or ZERO for span in spans)
    if call.type == BIGINT:  # date - date
        return Range(one.least - other.most, one.most - other.least)
    at = 0 if call.args[0].type.kind in MOMENTS else 1
    moment, by = (one, other) if at == 0 else (other, one)
    if call.args[1 - at].type.kind is not Kind.INTERVAL:
        low, high = sorted((sign * by.least, sign * by.most))
        return Range(moment.least + low, moment.most + high)
    scale = DAY if call.args[at].type == DATE else 1
    low, high = shift_range(call.args[1 - at], sign)
    return Range(moment.least * scale + low, moment.most * scale + high)


def shifted_keys(call: Call, domains: Domains, sign: int) -> tuple[Atom, ...] | None:
    at = 0 if call.args[0].type.kind in MOMENTS else 1
    by, type_ = call.args[1 - at], call.args[at].type
    reach = type_interval(call.type)
    if by.type.kind is Kind.INTERVAL:
        return mapped(lambda v: _kept(moved(v, type_, by, sign), reach), (domains[at],))
    rule = operator.add if sign > 0 else operator.sub
    return mapped(lambda *v: _kept(rule(*v), reach), domains)


def _kept(value: Atom, reach: Interval) -> Atom:
    """NULL for what the vault's checked form answers with NULL."""
    return value if isinstance(value, int) and value in reach else None
