"""DATE_DIFF and DATE_SUB: how many of a part lie between two moments."""

from __future__ import annotations

from fractions import Fraction

from dpsql.domain.ranges import DAY, Range, in_type, type_range
from dpsql.domain.types import BIGINT, TIMESTAMP, Type
from dpsql.functions.date_parts import AS_DATE, CLOCK, DAYS, MOMENTS, part_of, the_part
from dpsql.functions.function import Args, Spans, TypeProblem, expect
from dpsql.ir.expr import Call


def diff_type(args: Args) -> Type:
    part = part_of(args)
    if part not in DAYS and part not in CLOCK:
        raise TypeProblem(f"differences are not counted in {part}", 0, "Write 'day', 'month', 'year', 'hour'…")
    for position in (1, 2):
        expect(args, position, MOMENTS, AS_DATE)
    return BIGINT


def diff_reach(call: Call, spans: Spans) -> Range | None:
    """Between the distance over the part's longest length and over its shortest."""
    ranges = [in_type(span, arg.type, TIMESTAMP) for span, arg in zip(spans, call.args, strict=True)][1:]
    start, end = (type_range(TIMESTAMP) if span is None else span for span in ranges)
    assert start is not None and end is not None
    if call.args[1].type.kind not in MOMENTS or call.args[2].type.kind not in MOMENTS:
        return type_range(call.type)
    return Range(*_counted(the_part(call), end.least - start.most, end.most - start.least))


def _counted(part: str, low: Fraction | int, high: Fraction | int) -> tuple[int, int]:
    """How many of a part can lie in a distance from low to high microseconds."""
    least = _fewest(part, low) if low > 0 else -_most(part, -low)
    most = _most(part, high) if high > 0 else -_fewest(part, -high)
    return least, most


def _most(part: str, distance: Fraction | int) -> int:
    """Starts of a part in a half-open distance: they are at least its shortest length apart."""
    step = CLOCK.get(part) or DAYS[part][0] * DAY
    return int(-(-distance // step))


def _fewest(part: str, distance: Fraction | int) -> int:
    """Full parts in a distance; one less where lengths vary, since a month's end stands for the missing days."""
    if part in CLOCK:
        return int(distance // CLOCK[part])
    shortest, longest = DAYS[part]
    full = int(distance // (longest * DAY))
    return full if shortest == longest else max(0, full - 1)
