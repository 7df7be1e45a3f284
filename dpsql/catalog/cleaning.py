"""Between which values cleaning keeps a column: the numbers that are printed, and the Range that is concluded from them."""

from __future__ import annotations

from dpsql.catalog.model import ColumnSpec
from dpsql.domain.ranges import EXACT, Range, clipped, type_range
from dpsql.domain.types import Kind


def ends(column: ColumnSpec) -> tuple[int | None, int | None]:
    """The declared bounds of an exact column as integers in its type's unit, as far as they say more than the type does.
    Moments have both: the years 1 to 9999."""
    whole = type_range(column.type)
    if whole is None or column.type.kind is Kind.BOOLEAN:
        return None, None
    unit = 10**column.type.scale
    low, high = column.interval.lower, column.interval.upper
    least = None if low is None or -(-low * unit // 1) <= whole.least else min(-(-low * unit // 1), whole.most)
    most = None if high is None or high * unit // 1 >= whole.most else max(high * unit // 1, whole.least + 1)
    if column.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        return whole.least if least is None else least, whole.most if most is None else most
    return least, most


def clean_range(column: ColumnSpec) -> Range | None:
    """The Range of a column of a cleaned table, if its bounds say more than its type.

    Lemma: it holds of every stored value. Proof: the scan's own SELECT prints, for a value v of the type, v if it is
    between low and high, else low if v < low, else high if v > high, else v (plan/render/clean.kept), with these ends; so
    the result is one of low and high, or between them. What is no value of the type is NULL: it is cast with TRY_CAST,
    decimals are looked at besides, and a CSV's cells in a form of their own are brought into the type's by calls that
    cannot fail (plan/render/clean._written).
    """
    if column.type.kind not in EXACT:
        return None
    whole = type_range(column.type)
    assert whole is not None
    low, high = ends(column)
    if low is not None and high is not None:
        range_ = Range(min(low, high), max(low, high))
    else:
        range_ = Range(whole.least if low is None else low, whole.most if high is None else high)
    range_ = clipped(range_, whole)
    return None if range_ == whole else range_
