"""The functions of dates and timestamps, with the plainer ones themselves: the last day of a month, and moments as numbers.
In the vault a moment outside years 1 to 9999 is NULL."""

from __future__ import annotations

from collections.abc import Callable

from dpsql.domain.ranges import Range, in_type, type_range
from dpsql.domain.types import BIGINT, DATE, TIMESTAMP
from dpsql.functions.date_differences import diff_reach, diff_type
from dpsql.functions.date_parts import AS_DATE, MOMENTS, part_domain, part_reach, part_type
from dpsql.functions.date_truncation import trunc_domain, trunc_plain, trunc_reach, trunc_type
from dpsql.functions.function import Spans, row, takes
from dpsql.functions.result import reaching
from dpsql.functions.timestamps import of_date, to_date
from dpsql.ir.expr import Call


def _last_day(value: int) -> int:
    day = to_date(value)
    if day.month == 12:
        return of_date(day.replace(day=31))
    return of_date(day.replace(month=day.month + 1, day=1)) - 1


def _last_day_reach(call: Call, spans: Spans) -> Range | None:
    day = in_type(spans[0], call.args[0].type, DATE)
    return type_range(DATE) if day is None else Range(_last_day(day.least), _last_day(day.most))


def _epoch_reach(divisor: int) -> Callable[[Call, Spans], Range | None]:
    def reach(call: Call, spans: Spans) -> Range | None:
        moment = in_type(spans[0], call.args[0].type, TIMESTAMP)
        return moment and Range(moment.least // divisor, -(-moment.most // divisor))

    return reach


FUNCTIONS = (
    row(
        "date_part",
        "One part of a date: year, quarter, month, week, day, hour, and others.",
        "EXTRACT(part FROM x), DATE_PART('part', x), YEAR(x), MONTH(x), …",
        2,
        part_type,
        part_domain,
        reach=part_reach,
    ),
    row(
        "date_trunc",
        "The start of the year, month, week, day… x is in.",
        "DATE_TRUNC('part', x)",
        2,
        trunc_type,
        trunc_domain,
        trunc_plain,
        trunc_reach,
    ),
    row(
        "date_diff",
        "How many boundaries of a part lie between two moments.",
        "DATE_DIFF('part', start, end)",
        3,
        diff_type,
        reaching(diff_reach),
        reach=diff_reach,
        alike=lambda _: ((1, 2),),
    ),
    row(
        "date_sub",
        "How many full parts lie between two moments.",
        "DATE_SUB('part', start, end)",
        3,
        diff_type,
        reaching(diff_reach),
        reach=diff_reach,
        alike=lambda _: ((1, 2),),
    ),
    row(
        "last_day",
        "The last day of the month x is in.",
        "LAST_DAY(x)",
        1,
        takes(MOMENTS, DATE, AS_DATE),
        reaching(_last_day_reach),
        reach=_last_day_reach,
    ),
    row(
        "epoch_ms",
        "Milliseconds since 1970.",
        "EPOCH_MS(x)",
        1,
        takes(MOMENTS, BIGINT, AS_DATE),
        reaching(_epoch_reach(1000)),
        reach=_epoch_reach(1000),
    ),
    row(
        "epoch_us",
        "Microseconds since 1970.",
        "EPOCH_US(x)",
        1,
        takes(MOMENTS, BIGINT, AS_DATE),
        reaching(_epoch_reach(1)),
        reach=_epoch_reach(1),
    ),
)
