"""+ and - of dates and timestamps: with days, with constant intervals, and with each other."""

from __future__ import annotations

from dpsql.domain.ranges import DAY, ZERO, Range
from dpsql.domain.types import BIGINT, DATE, TIMESTAMP, Kind, Type
from dpsql.functions.function import Args, Spans, TypeProblem
from dpsql.functions.timestamps import shift_range
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


def shifted_range(call: Call, spans: Spans, sign: int) -> Range:
    """Where date arithmetic may lead, beyond the year 9999 too."""
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
