"""What a table's statistics say must not decide whether a query can be answered: it would be charged, and tell of them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dpsql.testing import Replayer
from tests.worlds import ASKED, bounded, dataset, private

COLUMNS = {"k": "text", "x": bounded("real", -3, 7), "m": bounded("decimal(9, 2)", 0, 5), "i": "integer"}
CATALOG = dataset({"v": private(COLUMNS, max_groups=3, max_rows=1)}, per_query=ASKED)


@pytest.mark.parametrize("call", ["AVG", "SUM", "MIN", "COUNT", "STDDEV_POP"])
def test_windows_over_whole_partitions(call: str, tmp_path: Path) -> None:
    """DuckDB's window_self_join read a sum of decimals with its old type after statistics_propagation had changed it."""
    source = tmp_path / "v.duckdb"
    with duckdb.connect(str(source)) as connection:
        rows = pa.table(
            {
                "u": [n % 4 for n in range(18)],
                "k": ["x", "y", "%"] * 6,
                "x": [-3.0, 1.5, 2.5] * 6,
                "m": pa.array([Decimal("1.00"), Decimal("2.50"), None] * 6, pa.decimal128(9, 2)),
                "i": [0, 1, 2, 3, 7, 0] * 3,
            }
        )
        connection.register("given", rows)
        connection.execute("CREATE TABLE v AS SELECT * FROM given")
    windowed = f"(SELECT *, LEAST(GREATEST({call}(m) OVER (PARTITION BY u), 0), 5) AS e FROM v) AS q"
    asked = "i, COUNT(k), AVG(LEAST(GREATEST(i, 2), 5)) FILTER (WHERE k = '%'), AVG(e)"
    sql = f"SELECT {asked} FROM {windowed} WHERE x <= -2.5 GROUP BY i"
    with Replayer(CATALOG, str(source), threads=1) as replayer:
        assert all(line.holds for line in replayer.replay(sql))
