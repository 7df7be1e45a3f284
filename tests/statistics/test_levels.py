"""Intervals of ROLLUP and CUBE hold, though the levels are made consistent and rounded; sums of noise have lighter tails."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import dpsql
from dpsql import testing
from dpsql.consistent import rounded
from dpsql.mechanisms import laplace
from tests.unit.test_consistent import CATALOG, rows

RUNS = 24


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("sets", ["ROLLUP (a, b)", "CUBE (b, a)"])
def test_coverage(sets: str, mechanism: str, tmp_path: Path) -> None:
    """Of every cell of every level, in at least 95 % of the runs (3 standard errors, one cell a run being independent)."""
    sql = f"a, b, COUNT(*) AS n, SUM(n) AS s, AVG(x) AS m FROM t WHERE a IS NOT NULL GROUP BY {sets}"
    with testing.exact(CATALOG, source={"t": rows()}) as connection:
        truth = {row[:2]: row[2:] for row in connection.execute(f"SELECT {sql}").fetchall()}
    options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=3, delta=1e-6, mechanism='{mechanism}', fresh=true)"
    kept, widths = dict.fromkeys("nsm", 0), dict.fromkeys("nsm", 0.0)
    with dpsql.connect(CATALOG, source={"t": rows()}, ledger=tmp_path / "l.ledger") as connection:
        for _ in range(RUNS):
            cursor = connection.execute(f"SELECT {options} {sql}")
            assert cursor.privacy is not None
            for row in cursor.fetchall():
                halves = cursor.privacy.intervals.of_row(row)
                for name, value, exact in zip("nsm", row[2:], truth[row[:2]], strict=True):
                    kept[name] += abs(float(value) - float(exact)) <= halves[name]
                    widths[name] = max(widths[name], halves[name])
    cells = RUNS * len(truth)
    for name, count in kept.items():
        assert count / cells >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / RUNS) / math.sqrt(3), name
    assert 0 < widths["n"] < 400 and 0 < widths["m"] <= 4


def test_sums_of_laplace_noise_have_lighter_tails() -> None:
    """With the same variance, at 95 %: 300 mixtures against one variable of scale 1, whose interval is ln 20."""
    draw = np.random.default_rng(3)
    for _ in range(300):
        parts = draw.exponential(size=int(draw.integers(2, 30))) ** draw.uniform(0.2, 4)
        scales = parts / math.sqrt(float((parts**2).sum()))
        assert laplace.half_width_of_sum(scales.tolist(), 0.95) <= math.log(20) * (1 + 1e-9)


def test_runs_of_rounded_cells_keep_their_sums() -> None:
    draw = np.random.default_rng(4)
    for shape in ((1,), (1000,), (7, 30), (3, 4, 50)):
        cells = draw.normal(0, 1e6, size=shape)
        found = rounded(cells)
        assert found.shape == shape and np.abs(found - cells).max() < 1 + 1e-6
        off = np.concatenate([[0.0], np.cumsum((found - cells).reshape(-1))])
        assert off.max() - off.min() < 1 + 1e-6


def test_what_has_no_interval_in_one_level_has_none(tmp_path: Path) -> None:
    with dpsql.connect(CATALOG, source={"t": rows()}, ledger=tmp_path / "l.ledger") as connection:
        sql = "SELECT a, COUNT(*) AS n, MEDIAN(x) AS m, GROUPING(a) AS g FROM t GROUP BY ROLLUP (a)"
        privacy = connection.execute(sql).privacy
        assert privacy is not None and set(privacy.intervals) == {"n"}
        privacy = connection.execute("SELECT COUNT(*) AS n FROM t UNION ALL SELECT MEDIAN(b) FROM t").privacy
        assert privacy is not None and not privacy.intervals
        cursor = connection.execute(
            "SELECT COUNT(*) AS n FROM t UNION ALL SELECT AVG(b) FROM t UNION ALL SELECT MIN(b) FROM t"
        )
        assert cursor.privacy is not None and not cursor.privacy.intervals
        shown = [cursor.privacy.intervals.of_row(row) for row in cursor.fetchall()]
        assert [set(halves) for halves in shown] == [{"n"}, {"n"}, set()]  # each row's own
        privacy = connection.execute("SELECT c, COUNT(*) AS n FROM t GROUP BY ROLLUP (c) ORDER BY n LIMIT 2").privacy
        assert privacy is not None and set(privacy.intervals) == {"n"}
