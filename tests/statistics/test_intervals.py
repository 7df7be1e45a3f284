"""OPTIONS(intervals=…): the columns hold what the plan answers without noise as often as they say."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpsql
import dpsql.testing
from dpsql.aggregates import BY_NAME
from tests.worlds import again, bounded, people, private
from tests.worlds.towns import write

GROUPS, RUNS = 300, 4
RNG = np.random.default_rng(11)
FRAME = pd.DataFrame(
    {
        "person": np.arange(GROUPS * 40),
        "k": np.repeat(np.arange(GROUPS), 40),
        "x": RNG.uniform(0, 5, GROUPS * 40),
        "y": RNG.uniform(0, 3, GROUPS * 40),
        "i": RNG.integers(0, 8, GROUPS * 40),
    }
)
CATALOG = people(
    {
        "k": bounded("integer", 0, GROUPS - 1, nullable=False),
        "x": bounded("real", 0, 5),
        "y": bounded("real", 0, 3),
        "i": bounded("integer", 0, 7),
    },
    unit="person",
    max_groups=1,
    max_rows=2,
)
PLAIN = [
    "COUNT(*)",
    "SUM(x)",
    "SUM(i)",
    "COUNT(DISTINCT i)",
    "COUNT_IF(x > 2)",
    "REGR_COUNT(x, y)",
]
MADE = [
    "AVG(x)",
    "COUNT(*) * 2 - COUNT(x)",
    "SUM(x) / COUNT(*)",
    "VAR_POP(x)",
    "VAR_SAMP(i)",
    "STDDEV(x)",
    "COVAR_POP(x, y)",
    "COVAR_SAMP(x, i)",
    "CORR(x, y)",
    "STDDEV_POP(x)",
    "COUNT(DISTINCT person)",  # so little noise that the half unit of rounding shows
    "REGR_SLOPE(x, y)",
    "REGR_R2(x, y)",
    "REGR_AVGX(x, y)",
    "REGR_AVGY(x, y)",
    "REGR_SXX(x, y)",
    "REGR_SYY(x, y)",
    "REGR_SXY(x, y)",
    "REGR_INTERCEPT(x, y)",
    "ROUND(SQRT(ABS(AVG(x) - 3)), 1)",
    "GREATEST(0, SUM(x - 2.5))",
    "CASE WHEN COUNT(*) > 39 THEN AVG(x) ELSE -SUM(i) END",
]


def hits(item: str, mechanism: str, level: float, epsilon: int) -> tuple[int, int]:
    """How often the interval holds the answer without noise, of how many that there are."""
    options = f"OPTIONS(intervals={level}, mechanism='{mechanism}', epsilon={epsilon}, delta=1e-6, fresh=true)"
    query = f"{item} AS v FROM t GROUP BY k ORDER BY k"
    with dpsql.testing.exact(CATALOG, source={"t": FRAME}) as exact:
        truth = [row[0] for row in exact.execute(f"SELECT {query}").fetchall()]
    inside = seen = 0
    with dpsql.connect(CATALOG, source={"t": FRAME}) as conn:
        for _ in range(RUNS):
            cursor = conn.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {query}")
            assert [column[0] for column in cursor.description or ()] == ["v", "v_low", "v_high"]
            for exact_value, (value, low, high) in zip(truth, cursor.fetchall(), strict=True):
                assert low is None or high is None or low <= high
                assert value is None or ((low is None or low <= value) and (high is None or value <= high))
                if value is not None:
                    seen += 1
                    slack = 1e-6 * (1 + abs(exact_value))
                    inside += (low is None or low - slack <= exact_value) and (
                        high is None or exact_value <= high + slack
                    )
    return inside, seen


def least(level: float, count: int) -> float:
    return count * level - 5.2 * math.sqrt(count * level * (1 - level))


@pytest.mark.parametrize("item", PLAIN)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_a_plain_measurements_interval_is_its_noises(item: str, mechanism: str) -> None:
    """As often as it says, and not much more often: half a unit of rounding, at most."""
    inside, seen = hits(item, mechanism, 0.8, 1)
    assert seen == GROUPS * RUNS
    assert least(0.8, seen) <= inside <= seen * 0.8 + 5.2 * math.sqrt(seen * 0.16) + 0.06 * seen


@pytest.mark.parametrize("item", MADE)
@pytest.mark.parametrize("epsilon", [1, 20])
def test_an_expressions_interval_holds(item: str, epsilon: int) -> None:
    inside, seen = hits(item, "laplace", 0.8, epsilon)
    assert inside >= least(0.8, seen)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_each_bin_of_a_histogram_has_its_noises_interval(mechanism: str) -> None:
    options = f"OPTIONS(intervals=0.8, mechanism='{mechanism}', epsilon=1, delta=1e-6, fresh=true)"
    query = "HISTOGRAM(i) AS h FROM t GROUP BY k ORDER BY k"
    with dpsql.testing.exact(CATALOG, source={"t": FRAME}) as exact:
        truth = [row[0] for row in exact.execute(f"SELECT {query}").fetchall()]
    with dpsql.connect(CATALOG, source={"t": FRAME}) as conn:
        rows = conn.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY {options} {query}").fetchall()
    told = [(low[i], exact[i], high[i]) for exact, (_, low, high) in zip(truth, rows, strict=True) for i in exact]
    assert len(told) == GROUPS * 8
    inside = sum(low <= value <= high for low, value, high in told)
    assert least(0.8, len(told)) <= inside <= len(told) * 0.8 + 5.2 * math.sqrt(len(told) * 0.16) + 0.06 * len(told)


CHOSEN = [
    "MEDIAN(x)",
    "MIN(i)",
    "MAX(x)",
    "MODE(i)",
    "QUANTILE_DISC(i, 0.9)",
    "AVG(x) - MEDIAN(x)",
    "COUNT(*) + MODE(i)",
    "CASE WHEN AVG(x) > MEDIAN(x) THEN COUNT(*) ELSE 0 END",
    "SIN(COUNT(*))",
]


def test_every_aggregate_is_here() -> None:
    """Each has its interval's coverage simulated above, or is known to have none."""
    lists = ["APPROX_TOP_K(i, 3)"]
    text = " ".join([*PLAIN, *MADE, *CHOSEN, *lists, "HISTOGRAM(i)", "QUANTILE_CONT(x, [0.45, 0.5, 0.55])"])
    said = text.replace("STDDEV(", "STDDEV_SAMP(")
    assert [name for name in BY_NAME if f"{name.upper()}(" not in said] == []


@pytest.mark.parametrize("item", CHOSEN)
def test_what_is_chosen_has_no_interval_and_says_so(item: str) -> None:
    """How far a choice is off in values is in the data alone; what it is put together with must not hide that."""
    with dpsql.connect(CATALOG, source={"t": FRAME}, epsilon=1) as conn:
        sql = f"{item} AS v, COUNT(*) AS n FROM t"
        cursor = conn.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(intervals=0.95) {sql}")
        names = [column[0] for column in cursor.description or ()]
        assert names == ["v", "v_low", "v_high", "n", "n_low", "n_high"]
        value, low, high, n, n_low, n_high = cursor.fetchone() or ()
        assert value is not None and low is None and high is None and n_low < n < n_high
        assert cursor.privacy is not None and set(cursor.privacy.intervals) == {"n"}


def test_ends_of_dates_are_dates_and_lists_have_none() -> None:
    columns = {"person": "integer", "d": bounded("date", "2020-01-01", "2020-12-31")}
    table = private(columns, unit="person", max_groups=1, max_rows=1)
    frame = pd.DataFrame({"person": range(100), "d": pd.date_range("2020-01-01", periods=100)})
    catalog = again(CATALOG, tables={"t": table})
    with dpsql.connect(catalog, source={"t": frame}, epsilon=1) as conn:
        conn.execute("SET intervals = 0.9")
        cursor = conn.execute("SELECT QUANTILE_CONT(d, [0.2, 0.8]) AS q, MIN(d) AS first, COUNT(*) AS n FROM t")
        types = {column[0]: str(column[1]) for column in cursor.description or ()}
        assert types["first"] == types["first_low"] == types["first_high"] == "DATE" and "q_low" not in types
        assert (cursor.fetchone() or ())[2:4] == (None, None)


def test_refused_where_nothing_can_have_an_interval() -> None:
    for sql in (
        "SELECT QUANTILE_CONT(x, [0.1, 0.9]) FROM t",
        "SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM t GROUP BY k) AS s",
    ):
        with dpsql.connect(CATALOG, source={"t": FRAME}, epsilon=1) as conn:
            conn.execute("SET intervals = 0.95")
            with pytest.raises(dpsql.Error, match="DPSQL-135"):
                conn.execute(sql)


REPORTED = ["AVG(x)", "VAR_SAMP(i)", "CORR(x, y)", "SUM(x) / COUNT(*)", MADE[-1], "COUNT(*)", "SUM(i)"]


@pytest.mark.parametrize("grouped", [True, False])
def test_the_reports_half_widths_are_those_of_the_columns(grouped: bool) -> None:
    """privacy.intervals has the widest row's, of_row each row's; both after the connection is closed, too."""
    by = "GROUP BY k ORDER BY k LIMIT 40" if grouped else ""
    key = "k, " if grouped else ""
    listed = ", ".join(f"{item} AS v{n}" for n, item in enumerate(REPORTED))
    asked = f"{key}{listed} FROM t {by}"
    versioned = again(CATALOG)
    with dpsql.connect(versioned, source={"t": FRAME}, epsilon=40) as conn:
        cursor = conn.execute(f"SELECT {asked}", query_id="one")
        wide = conn.execute(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(intervals=0.95) {asked}", query_id="one")
        rows, ends = cursor.fetchall(), wide.fetchall()
        assert wide.privacy is not None and wide.privacy.repeated
        wide_names = [column[0] for column in wide.description or ()]
    assert cursor.privacy is not None
    first = 1 if grouped else 0
    for n, item in enumerate(REPORTED):
        at = wide_names.index(f"v{n}")
        halves = []
        for row, with_ends in zip(rows, ends, strict=True):
            value, low, high = with_ends[at : at + 3]
            assert row[first + n] == value
            told = cursor.privacy.intervals.of_row(row).get(f"v{n}")
            if value is None or low is None or high is None:
                halves.append(None if value is None else math.inf)
                assert told is None or item in ("COUNT(*)", "SUM(i)")
            else:
                halves.append(max(high - value, value - low))
                assert told == pytest.approx(halves[-1], abs=0.500001 if item in ("COUNT(*)", "SUM(i)") else 1e-12)
        widest = max((half for half in halves if half is not None), default=math.inf)
        half_width = cursor.privacy.intervals.get(f"v{n}")
        if math.isinf(widest):
            assert half_width is None
        else:
            assert half_width == pytest.approx(widest, abs=0.500001 if item in ("COUNT(*)", "SUM(i)") else 1e-12)


def test_a_name_that_two_columns_have_says_nothing() -> None:
    with dpsql.connect(again(CATALOG), source={"t": FRAME}, epsilon=9) as conn:
        cursor = conn.execute("SELECT AVG(x) AS a, SUM(x) AS a, COUNT(*) AS n, AVG(x) AS N FROM t")
        assert cursor.privacy is not None and set(cursor.privacy.intervals) == {"n", "N"}
        second = conn.execute("SELECT COUNT(*) AS a, SUM(x) AS a FROM t")
        assert second.privacy is not None and not second.privacy.intervals and "±" not in second._as_text()


def test_many_rows_are_not_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the widest of each column is worked out in SQL: the same."""
    with dpsql.connect(again(CATALOG), source={"t": FRAME}, epsilon=9) as conn:
        sql = "SELECT k, AVG(x) AS v, SUM(x) / COUNT(*) AS r, NULLIF(COUNT(*), 1) * 2 AS c FROM t GROUP BY k"
        first = conn.execute(sql, query_id="q").privacy
        second = conn.execute(sql, query_id="q").privacy
    assert first is not None and second is not None
    apart = dict(first.intervals)
    monkeypatch.setattr("dpsql.execution.row_intervals.MOST_ROWS", 5)
    assert dict(second.intervals) == apart and {"v", "c"} <= set(apart)
    assert second.intervals.of_row((0, 1.0, 1.0, 2.0)) == apart


def test_asking_for_intervals_of_what_was_answered_is_a_free_repeat(tmp_path: Path) -> None:
    yaml = write(tmp_path)
    sql = "SELECT kind, AVG(x) AS v, VAR_POP(x) AS w FROM visits GROUP BY kind"
    with dpsql.connect(yaml, analyst="ana") as conn:
        plain = conn.execute(sql).fetchall()
        wide = conn.execute(sql.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(intervals=0.9)"))
        assert wide.privacy is not None and wide.privacy.repeated
        assert [(row[0], row[1], row[4]) for row in wide.fetchall()] == plain
        assert conn.budget.spent.epsilon == 1


def test_rows_are_shown_with_their_own_intervals() -> None:
    """A group of few rows has a wide average; it must not widen what is shown of the others."""
    frame = pd.DataFrame({"person": np.arange(5010), "k": [0] * 5000 + [1] * 10, "x": [2.0] * 5010})
    with dpsql.connect(again(CATALOG), source={"t": frame.assign(y=1.0, i=1)}, epsilon=2) as conn:
        cursor = conn.execute("SELECT k, AVG(x) AS mean, HISTOGRAM(i) AS h FROM t WHERE k < 2 GROUP BY k ORDER BY k")
        shown = cursor._as_text().splitlines()
        widths = [float(line.split("±")[1].split()[0]) for line in shown[2:4]]
        assert cursor.privacy is not None
        assert widths[0] < 0.1 < 0.5 < widths[1] == pytest.approx(cursor.privacy.intervals["mean"], rel=0.1)
        assert all("} ± " in line for line in shown[2:4])


def test_shapes_and_settings() -> None:
    with dpsql.connect(CATALOG, source={"t": FRAME}, epsilon=1) as conn:
        conn.execute("SET intervals = 0.9")
        cursor = conn.execute(
            "SELECT k, COUNT(*) AS n, MEDIAN(x) AS m FROM t GROUP BY k HAVING n > 0 ORDER BY m LIMIT 3"
        )
        assert [column[0] for column in cursor.description or ()] == [
            "k",
            "n",
            "n_low",
            "n_high",
            "m",
            "m_low",
            "m_high",
        ]
        rows = cursor.fetchall()
        assert len(rows) == 3 and [row[4] for row in rows] == sorted(row[4] for row in rows)


def far_off(rows: int) -> tuple[float, float]:
    """How often a median is not where all of a group's rows are, with half of them away in rank, whichever else it is; and
    how far it is said to be off at most."""
    groups, grid = 1000, 1024
    columns = {
        "person": "integer",
        "k": bounded("integer", 0, groups - 1, nullable=False),
        "x": bounded("integer", 1, grid),
    }
    tables = {"t": private(columns, unit="person", max_groups=1, max_rows=1)}
    people = np.arange(groups * rows)
    frame = pd.DataFrame({"person": people, "k": people // rows, "x": grid // 2})
    with dpsql.connect(again(CATALOG, tables=tables), source={"t": frame}, epsilon=1) as conn:
        cursor = conn.execute("SELECT MEDIAN(x) FROM t GROUP BY k")
        assert cursor.privacy is not None
        return sum(row[0] != grid // 2 for row in cursor.fetchall()) / groups, cursor.privacy.measurements[0].half_width


def test_a_choices_rank_is_off_by_no_more_than_it_says() -> None:
    """At the worst: everybody at one candidate, so that all the others are equally wrong. Then not much is given away."""
    half = far_off(1)[1]
    assert far_off(2 * math.ceil(half))[0] <= 0.05 + 5.2 * math.sqrt(0.05 * 0.95 / 1000)
    assert far_off(2 * math.floor(0.7 * half))[0] > 0.2
