"""Order statistics over bounds that fill 64 bits: no value stops them, and exact mode answers the rows' own ends."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import dpsql
from dpsql.testing import exact, replay
from tests.worlds import ASKED, bounded, people

TOP = 2**63 - 1
BOUNDS = [(-(2**62), 2**62), (0, TOP), (-TOP - 1, TOP), (-6 * 10**18, 6 * 10**18), (2**62, TOP), (-TOP - 1, -(2**62))]
VALUES = [0] * 20 + [TOP, -TOP - 1, 2**62]


def catalog(column: dict[str, Any]) -> dict[str, Any]:
    return people({"n": column}, max_groups=1, max_rows=1, per_query=ASKED)


def source(values: list[Any], type_: pa.DataType) -> dict[str, pa.Table]:
    return {"t": pa.table({"u": list(range(len(values))), "n": pa.array(values, type_)})}


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_every_integer_has_a_place(low: int, high: int) -> None:
    described, data = catalog(bounded("integer", low, high)), source(VALUES, pa.int64())
    inside = [min(max(value, low), high) for value in VALUES]
    ends = "SELECT MIN(n), MAX(n) FROM t"
    with exact(described, source=data) as connection:
        assert connection.execute(ends).fetchall() == [(min(inside), max(inside))]
    quantiles = "SELECT MEDIAN(n), QUANTILE_CONT(n, [0.1, 0.9]) FROM t"
    with dpsql.connect(described, source=data) as connection:
        assert all(low <= value <= high for value in connection.execute(ends).fetchall()[0])
        ((median, spread),) = connection.execute(quantiles).fetchall()
        assert all(low <= value <= high for value in (median, *spread))
    assert all(line.holds for sql in (ends, quantiles) for line in replay(described, sql, data))


def test_decimals_of_more_than_64_bits_are_refused_before_the_charge() -> None:
    described = catalog(bounded("decimal(38, 30)", 0, 50))
    with dpsql.connect(described, source=source([Decimal(1)] * 3, pa.decimal128(38, 30))) as connection:
        before = connection.budget.spent
        with pytest.raises(dpsql.Refused, match="131"):
            connection.execute("SELECT MEDIAN(n) FROM t")
        assert connection.budget.spent == before


def test_far_values_are_not_squared() -> None:
    """However narrow the bounds are: twice a value must fit 64 bits."""
    data = source([2**62, 2**62 + 3], pa.int64())
    with exact(catalog(bounded("integer", 2**62, 2**62 + 10)), source=data) as connection:
        for aggregate in ("VAR_POP", "STDDEV_SAMP", "AVG", "SUM"):
            with pytest.raises(dpsql.Refused, match="131"):
                connection.execute(f"SELECT {aggregate}(n) FROM t")
    data = source([2**60, 2**60 + 4], pa.int64())
    with exact(catalog(bounded("integer", 2**60, 2**60 + 10)), source=data) as connection:
        assert connection.execute("SELECT VAR_POP(n) FROM t").fetchall() == [(4.0,)]
