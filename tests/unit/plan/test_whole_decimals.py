"""Public keys that are decimals: whole ones are counted off as integers are, and those below one are found."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from dpsql.testing import exact
from tests.worlds import people


@pytest.mark.parametrize("call", ["FLOOR(m)", "CEIL(m)", "ROUND(m)", "TRUNC(m)"])
def test_a_decimal_that_is_rounded_is_a_key(call: str) -> None:
    described = people({"m": {"type": "decimal(9, 2)", "lower": 0, "upper": 5}}, rows_per_unit=1)
    values = [Decimal("1.25"), Decimal("1.75"), Decimal("4.00"), None]
    with exact(described, source={"t": {"u": [1, 2, 3, 4], "m": values}}, threads=1) as connection:
        rows = connection.execute(f"SELECT {call}, COUNT(*) FROM t GROUP BY 1").fetchall()
    counted = {None if key is None else int(key): count for key, count in rows if count}
    below, above = {"FLOOR(m)": (1, 1), "CEIL(m)": (2, 2), "ROUND(m)": (1, 2), "TRUNC(m)": (1, 1)}[call]
    expected = {below: 2} if below == above else {below: 1, above: 1}
    assert counted == {**expected, 4: 1, None: 1}


def test_keys_below_one() -> None:
    """A decimal all of whose digits are places is written without a zero before the point, in the metadata's keys, too."""
    values = [Decimal("0.499"), Decimal("-0.250"), Decimal("0.000"), Decimal("0.499"), Decimal("0.001")]
    table = pa.table({"u": range(5), "o": pa.array(values, pa.decimal128(3, 3))})
    described = people({"o": {"type": "decimal(3, 3)", "keys": [0.499, -0.25, 0]}}, rows_per_unit=1)
    with exact(described, source=table) as connection:
        rows = connection.execute("SELECT o, COUNT(*) FROM t GROUP BY o ORDER BY o").fetchall()
    assert rows == [(Decimal("-0.250"), 1), (Decimal("0.000"), 1), (Decimal("0.499"), 2)]
