"""EXPLAIN's estimates: where the number of rows comes from, the constants of a mean, and what has no estimate."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsql
from dpsql.report.estimates import Estimate
from tests.worlds import bounded, dataset, keys, people, private, public

ROWS = 4000


def connected(folder: Path | None = None, **more: Any) -> dpsql.Connection[Any]:
    columns = {
        "k": keys("a", "b"),
        "x": bounded("real", -4, 4),
        "y": bounded("real", 0, 1),
        "part": {"type": "integer", "nullable": True},
    }
    if folder is not None:
        return dpsql.connect(people(columns, rows_per_unit=3, source=str(folder / "t.csv"), **more), epsilon=1)
    data = pd.DataFrame({"u": np.arange(ROWS), "k": "a", "x": 1.0, "y": 0.5, "part": 1})
    return dpsql.connect(people(columns, rows_per_unit=3, **more), source={"t": data}, epsilon=1)


def estimated(connection: dpsql.Connection[Any], columns: str, options: str = "") -> Estimate:
    asked = f"WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) " if options else ""
    estimates = connection.explain(f"SELECT {asked}{columns}").estimates
    (estimate,) = estimates.values()
    return estimate


def test_the_constant_of_a_mean_by_two_ends() -> None:
    """balls.md, section 5: 5.991 half-ranges times rows of a unit, over ε and rows, with the mean at an end."""
    with connected() as connection:
        estimate = estimated(connection, "AVG(x) AS m FROM t", "epsilon = 2, assumed_rows = 100000000")
        assert estimate.half_width * 1e8 == pytest.approx(2 * math.log(20) * 4 * 3 / 2, rel=1e-3)


def test_without_a_number_of_rows_it_is_a_formula() -> None:
    with connected() as connection:
        estimate = estimated(connection, "AVG(x) AS m FROM t")
        assert (estimate.rows, estimate.because) == (1000, "")
        assert estimate.times_rows == pytest.approx(2 * math.log(20) * 4 * 3, rel=1e-3)
        assert estimate.half_width == pytest.approx(estimate.times_rows / 1000, rel=0.02)
        told = str(connection.explain("SELECT k, AVG(x) AS m FROM t GROUP BY k"))
        assert re.search(
            r"\nm: 95 % confidence interval about ±\d\d\.\d+ / rows, which "
            r"is ±0\.0\d+ in a group of 1,000 rows \(an example\), for any values",
            told,
        )
        assert "OPTIONS(assumed_rows = …)" in told


def test_what_does_not_depend_on_rows_needs_none() -> None:
    with connected() as connection:
        estimate = estimated(connection, "2.0 * SUM(y) AS d FROM t")
        assert estimate.rows is None
        assert estimate.half_width == pytest.approx(2 * math.log(20) * 3, rel=1e-3)


def test_rows_are_those_that_were_released_before() -> None:
    with connected() as connection:
        assert estimated(connection, "AVG(x) AS m FROM t").because == ""
        connection.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5) COUNT(*) FROM t")
        estimate = estimated(connection, "AVG(x) AS m FROM t")
        assert re.fullmatch(r"at least so many, by release \d+", estimate.because)
        assert estimate.rows == pytest.approx(ROWS, abs=100)
        assert estimate.rows < ROWS + 40
        told = connection.explain("SELECT AVG(x) AS m FROM t").to_dict()["estimates"]["m"]
        assert told["rows"] == estimate.rows
        assert estimated(connection, "AVG(x) AS m FROM t", "assumed_rows = 77").rows == 77
        for other in ("AVG(x) AS m FROM t WHERE y > 0.1", "k, AVG(x) AS m FROM t GROUP BY k"):
            assert estimated(connection, other).because == "", other
        asked = "max_rows_contributed = 2"
        assert estimated(connection, "AVG(x) AS m FROM t", asked).because == ""


def test_by_keys_it_is_their_average() -> None:
    with connected() as connection:
        connection.execute("SELECT k, COUNT(*) FROM t GROUP BY k")
        estimate = estimated(connection, "k, AVG(x) AS m FROM t GROUP BY k")
        assert "on average" in estimate.because
        assert estimate.rows == pytest.approx(ROWS / 2, abs=60)


def test_a_count_that_is_all_noise_says_nothing() -> None:
    with connected() as connection:
        connection.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1e-6) COUNT(*) FROM t")
        assert estimated(connection, "AVG(x) AS m FROM t").because == ""


def test_units_that_are_promised() -> None:
    with connected(units=6000) as connection:
        assert estimated(connection, "AVG(x) AS m FROM t").rows == 6000
        assert estimated(connection, "k, AVG(x) AS m FROM t GROUP BY k").rows == 3000
        connection.execute("SELECT COUNT(*) FROM t")
        assert estimated(connection, "AVG(x) AS m FROM t").rows < 5000


def test_the_private_file_may_be_gone(tmp_path: Path) -> None:
    pd.DataFrame({"u": [1], "k": "a", "x": 1.0, "y": 0.5, "part": 1}).to_csv(tmp_path / "t.csv", index=False)
    with connected(tmp_path) as connection:
        (tmp_path / "t.csv").unlink()
        assert estimated(connection, "AVG(x) AS m FROM t", "assumed_rows = 500").rows == 500


@pytest.mark.parametrize("column", ["CORR(x, y)", "MEDIAN(x) + COUNT(*)", "SUM(x) / SUM(y)", "COUNT(*) % 2"])
def test_what_has_no_estimate(column: str) -> None:
    with connected() as connection:
        assert connection.explain(f"SELECT {column} AS v FROM t").estimates == {}


def test_rollup_has_the_widest_of_its_levels() -> None:
    with connected() as connection:
        each = estimated(connection, "k, AVG(x) AS m FROM t GROUP BY ROLLUP(k)", "assumed_rows = 500")
        explained = connection.explain("SELECT k, AVG(x) AS m FROM t GROUP BY ROLLUP(k)")
        leaves, ratios = explained.plan.stages[0].noised[0].draw, [s.noised[0].after for s in explained.plan.stages]
        said = f"assumed_rows = 500, epsilon = {float(leaves.epsilon)}"
        one = estimated(connection, "AVG(x) AS m FROM t", said)  # with as much of ε as the leaves have
        ratio = max(float(after.ratio) for after in ratios if after is not None)  # what is left once levels agree
        assert each.half_width == pytest.approx(one.half_width * math.sqrt(ratio), rel=0.05)


def test_a_count_over_the_same_join_serves_whatever_else_is_read_of_the_public_table(tmp_path: Path) -> None:
    (tmp_path / "names.csv").write_text("k,name,weight\na,A,1.0\nb,B,2.0\n", "utf-8")
    columns = {"k": "text", "name": "text", "weight": bounded("real", 0, 9)}
    names = public(columns, source=str(tmp_path / "names.csv"))
    table = private({"k": keys("a", "b"), "x": bounded("real", 0, 1)}, rows_per_unit=3, source=str(tmp_path / "t.csv"))
    catalog = dataset({"t": table, "names": names})
    pd.DataFrame({"u": np.arange(ROWS), "k": "a", "x": 1.0}).to_csv(tmp_path / "t.csv", index=False)
    with dpsql.connect(catalog, epsilon=1) as connection:
        joined = "FROM t JOIN names ON t.k = names.k"
        connection.execute(f"SELECT COUNT(*) {joined}")
        estimate = estimated(connection, f"AVG(x * weight) AS m {joined}")
        assert "by release" in estimate.because
        assert estimate.rows == pytest.approx(ROWS, abs=60)
        other = estimated(connection, f"AVG(x) AS m {joined} AND names.name = 'A'")
        assert other.because == ""


def test_numbers_that_are_measured_for_their_cumulative_sums_have_no_estimate() -> None:
    """Their noise is not that of one total alone."""
    with connected() as connection:
        sql = "SELECT k, SUM(n) OVER (ORDER BY k) AS s, 2.5 * n / 3 AS d FROM c"
        assert connection.explain(f"WITH c AS (SELECT k, COUNT(*) AS n FROM t GROUP BY k) {sql}").estimates == {}
