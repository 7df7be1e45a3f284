"""Intervals of ROLLUP and CUBE hold, though the levels are made consistent and rounded; sums of noise have lighter tails."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pytest

import dpsql
from dpsql import testing
from dpsql.mechanisms import laplace
from dpsql.release.consistency import rounded
from tests.profile import drawn
from tests.unit.test_consistent import CATALOG, rows
from tests.worlds import bounded, dataset, private

RUNS = drawn(12, deep=24)


def few() -> dict[str, list[object]]:
    """Three rows of each unit: limits cut nothing, so that the totals of all levels agree before the noise, too."""
    table = rows()
    seen: Counter[object] = Counter()
    kept = []
    for i, unit in enumerate(table["who"]):
        seen[unit] += 1
        if seen[unit] <= 3:
            kept.append(i)
    return {name: [values[i] for i in kept] for name, values in table.items()}


@pytest.mark.parametrize("goal", ["", ", error='per cell'", ", error='per level'"])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("sets", ["ROLLUP (a, b)", "CUBE (b, a)"])
def test_coverage(sets: str, mechanism: str, goal: str, tmp_path: Path) -> None:
    """Of every cell of every level, in at least 95 % of the runs (3 standard errors, one cell a run being independent)."""
    sql = f"a, b, COUNT(*) AS n, SUM(n) AS s, AVG(x) AS m FROM t WHERE a IS NOT NULL GROUP BY {sets}"
    with testing.exact(CATALOG, source={"t": few()}) as connection:
        truth = {row[:2]: row[2:] for row in connection.execute(f"SELECT {sql}").fetchall()}
    options = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=3, delta=1e-6, mechanism='{mechanism}', fresh=true{goal})"
    kept, widths = dict.fromkeys("nsm", 0), dict.fromkeys("nsm", 0.0)
    with dpsql.connect(CATALOG, source={"t": few()}, ledger=tmp_path / "l.ledger") as connection:
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
    """With the same variance: mixtures against the wider of one variable of scale 1, whose interval is ln 20 at 95 %,
    and of a Gaussian one."""
    draw = np.random.default_rng(3)
    for _ in range(drawn(100, deep=300)):
        parts = draw.exponential(size=int(draw.integers(2, 30))) ** draw.uniform(0.2, 4)
        scales = parts / math.sqrt(float((parts**2).sum()))
        assert laplace.half_width_of_sum(scales.tolist(), 0.95) <= math.log(20) * (1 + 1e-9)
        for level in (0.5, 0.8, 0.9, 0.99, 0.999):
            wider = max(-math.log(1 - level), math.sqrt(2) * NormalDist().inv_cdf((1 + level) / 2))
            assert laplace.half_width_of_sum(scales.tolist(), level) <= wider * 1.01


SHAPES = {
    "ROLLUP (a, b)": ("ab", "a", ""),
    "ROLLUP (a, b, c)": ("abc", "ab", "a", ""),
    "CUBE (a, b)": ("ab", "a", "b", ""),
}
VALUES = {"a": 3, "b": 5, "c": 4}


@pytest.mark.parametrize("error", ["per cell", "per level", None])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
@pytest.mark.parametrize("sets", SHAPES)
def test_each_level_is_as_far_off_as_is_said(sets: str, mechanism: str, error: str | None, tmp_path: Path) -> None:
    """Nobody is there, so every number is noise: of every level its mean square is the variance that the interval is made
    of, and 95 % of the cells are within it."""
    columns = {k: bounded("integer", 1, n, nullable=False) for k, n in VALUES.items()}
    tables = {"t": private(columns, rows_per_unit=1)}
    described = dataset(tables)
    nobody = {"t": pa.table({name: pa.array([], pa.int64()) for name in ("u", *VALUES)})}
    goal = "" if error is None else f", error='{error}'"
    options = f"OPTIONS(epsilon=0.05, delta=1e-5, mechanism='{mechanism}', fresh=true{goal})"
    keys = sets[sets.index("(") + 1 : -1]
    seen: dict[str, list[tuple[float, float]]] = {level: [] for level in SHAPES[sets]}
    with dpsql.connect(described, source=nobody, ledger=tmp_path / "l.ledger") as connection:
        for _ in range(60):
            cursor = connection.execute(
                f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {keys}, COUNT(*) AS n FROM t GROUP BY {sets}"
            )
            assert cursor.privacy is not None
            halves = {m.stage: m.half_width for m in cursor.privacy.measurements}
            for row in cursor.fetchall():
                level = "".join(k for k, value in zip(keys.split(", "), row[:-1], strict=True) if value is not None)
                seen[level].append((float(row[-1]), halves[SHAPES[sets].index(level)]))
    for level, cells in seen.items():
        noise, half = np.array([n for n, _ in cells]), cells[0][1]
        assert {width for _, width in cells} == {half}
        deviation = half / (math.log(20) / math.sqrt(2) if mechanism == "laplace" else 1.959964)
        runs = 60 if level == "" else 60 * 2  # cells of one run are not independent
        assert np.mean(noise**2) == pytest.approx(deviation**2, rel=5 * math.sqrt(5 / runs)), level
        assert np.mean(np.abs(noise) <= half + 1) >= 0.95 - 4 * math.sqrt(0.05 * 0.95 / runs), level


def test_runs_of_rounded_cells_keep_their_sums() -> None:
    draw = np.random.default_rng(4)
    for shape in ((1,), (1000,), (7, 30), (3, 4, 50)):
        cells = draw.normal(0, 1e6, size=shape)
        kept = rounded(cells)
        assert kept.shape == shape and np.abs(kept - cells).max() < 1 + 1e-6
        off = np.concatenate([[0.0], np.cumsum((kept - cells).reshape(-1))])
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
